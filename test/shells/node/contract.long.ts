import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { nodeBackend as directory } from '../../../src/backends/node/index.ts'
import { bubblewrap } from '../../../src/shells/node/bubblewrap.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { testSandbox } from '../../../src/shells/node/probe.ts'
import { unshareSandbox } from '../../../src/shells/node/unshare.ts'
import { registerContract, shellContract } from '../../../src/testing/index.ts'

/** Every sandbox, as far as this machine gives it. */
for (const sandbox of [unshareSandbox('apart'), unshareSandbox('in-place'), bubblewrap()]) {
  const name = `node in a sandbox that writes ${sandbox.apart ? 'apart' : 'in place'} (${sandbox.name})`
  const why = testSandbox(sandbox)
  if (why !== undefined) {
    it.skip(`${name}: this machine does not give it, ${why}`, () => {})
    continue
  }
  const create = () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'shell-contract-')))
    const root = join(base, 'root')
    mkdirSync(root)
    const stateDir = join(base, 'state')
    return {
      shell: nodeShell({ root, stateDir, sandbox, graceMs: 200 }),
      backend: directory(root, { stateDir }),
      physical: base,
      dispose: () => rmSync(base, { recursive: true, force: true }),
    }
  }
  registerContract(name, shellContract({ name, create }), { describe, it })
}
