import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { bubblewrap } from '../../../src/shells/node/bubblewrap.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { testSandbox } from '../../../src/shells/node/probe.ts'
import { unshareSandbox } from '../../../src/shells/node/unshare.ts'
import { registerContract, shellContract } from '../../../src/testing/index.ts'

/** Every sandbox that works on this machine. */
for (const sandbox of [unshareSandbox('overlayfs'), unshareSandbox('in-place'), bubblewrap()]) {
  const name = `nodeShell() in ${sandbox.name}, writing ${sandbox.overlayfs ? 'to an overlayfs' : 'in place'}`
  const reason = testSandbox(sandbox)
  if (reason !== undefined) {
    it.skip(`${name}: not available on this machine: ${reason}`, () => {})
    continue
  }
  const create = () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'shell-contract-')))
    const root = join(base, 'root')
    mkdirSync(root)
    const stateDir = join(base, 'state')
    return {
      shell: nodeShell({ root, stateDir, sandbox, graceMs: 200 }),
      backend: nodeBackend(root, { stateDir }),
      physical: base,
      dispose: () => rmSync(base, { recursive: true, force: true }),
    }
  }
  registerContract(name, shellContract({ name, create }), { describe, it })
}
