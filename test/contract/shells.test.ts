import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory.ts'
import { node as directory } from '../../src/backends/node.ts'
import { bash } from '../../src/shells/bash.ts'
import { node } from '../../src/shells/node.ts'
import { registerContract, type ShellSubject, shellContract } from '../../src/testing/index.ts'

/** One line per shell. */
const table: Readonly<Record<string, () => ShellSubject | Promise<ShellSubject>>> = {
  bash: () => ({ shell: bash(), backend: memory() }),
  "node, sandbox: 'none'": () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'shell-contract-')))
    const root = join(base, 'root')
    mkdirSync(root)
    const stateDir = join(base, 'state')
    return {
      shell: node({ root, stateDir, sandbox: 'none' }),
      backend: directory(root, { stateDir }),
      physical: base,
      dispose: () => rmSync(base, { recursive: true, force: true }),
    }
  },
}

for (const [name, create] of Object.entries(table)) {
  registerContract(name, shellContract({ name, create }), { describe, it })
}

describe('the contract itself', () => {
  it('has cases with names of their own', () => {
    const names = shellContract({ name: 'bash', create: () => ({ shell: bash() }) }).map(({ name }) => name)
    expect(names.length).toBeGreaterThanOrEqual(30)
    expect(new Set(names).size).toBe(names.length)
  })
})
