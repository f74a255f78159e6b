import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend as directory } from '../../src/backends/node/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { type NodeShellOptions, nodeShell } from '../../src/shells/node/index.ts'
import { probeSandbox } from '../../src/shells/node/probe.ts'
import { registerContract, type ShellSubject, shellContract } from '../../src/testing/index.ts'
import { isLong } from '../counts.ts'

/** A shell over its own directory. */
function onDisk(options: Partial<NodeShellOptions>): ShellSubject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'shell-contract-')))
  const root = join(base, 'root')
  mkdirSync(root)
  const stateDir = join(base, 'state')
  return {
    shell: nodeShell({ root, stateDir, graceMs: 200, ...options }),
    backend: directory(root, { stateDir }),
    physical: base,
    dispose: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** One line per shell. */
const table: Record<string, () => ShellSubject | Promise<ShellSubject>> = {
  bash: () => ({ shell: bash(), backend: memory() }),
  'bash at /home/user/repo': () => ({ shell: bash({ root: '/home/user/repo' }), backend: memory() }),
  "node, sandbox: 'none'": () => onDisk({ sandbox: 'none' }),
}

const match = probeSandbox()
const hasSandbox = 'sandbox' in match
if ('sandbox' in match) {
  table[`node in a sandbox (${match.sandbox.name})`] = () => onDisk({ sandbox: match.sandbox })
} else {
  it.skip(`node in a sandbox: not available on this machine: ${match.why}`, () => {})
}

/** Sixty lines in sixty sandboxes take as long as all other tests. `sandbox.test.ts` runs them in one sandbox. */
const skip = {
  'no command reads or copies the content of a protected file': 'it runs with the long tests',
}

for (const [name, create] of Object.entries(table)) {
  const isSandbox = name.startsWith('node in a sandbox')
  // In `npm test`, the two shells of a kind share the cases; `bash()` at its own root runs all, for the matrix.
  const turn = name === 'bash' ? undefined : isSandbox ? 1 : 0
  // Each case has its own shell and directory, and often waits.
  const cases = shellContract({ name, create, ...(isSandbox ? { skip } : {}) })
  const share = cases.filter((_, index) => isLong || turn === undefined || !hasSandbox || index % 2 === turn)
  registerContract(name, share, { describe, it: it.concurrent })
}

describe('the contract itself', () => {
  it('has cases with unique names', () => {
    const names = shellContract({ name: 'bash', create: () => ({ shell: bash() }) }).map(({ name }) => name)
    expect(names.length).toBeGreaterThanOrEqual(30)
    expect(new Set(names).size).toBe(names.length)
  })
})
