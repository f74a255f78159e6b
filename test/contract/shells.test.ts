import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory.ts'
import { bash } from '../../src/shells/bash.ts'
import { registerContract, type ShellSubject, shellContract } from '../../src/testing/index.ts'

/** One line per shell. */
const table: Readonly<Record<string, () => ShellSubject | Promise<ShellSubject>>> = {
  bash: () => ({ shell: bash(), backend: memory() }),
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
