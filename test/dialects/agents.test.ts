import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash.ts'

/** A conversation in a dialect: what was asked, in its real shapes, and what was answered. */
interface Fixture {
  readonly dialect: string
  readonly files: Readonly<Record<string, string>>
  readonly steps: readonly {
    readonly tool: string
    readonly input: unknown
    readonly isError: boolean
    readonly output: unknown
  }[]
}

const folder = join(import.meta.dirname, 'fixtures')
const fixtures = readdirSync(folder)
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Fixture)
  .filter(({ steps }) => steps !== undefined)

async function open(name: string, files: Readonly<Record<string, string>> = {}, more: object = {}) {
  const dialect = dialects[name]?.()
  if (dialect === undefined) throw new Error(`no dialect ${name}`)
  return createWorkspace({
    backend: memory(files),
    policy: 'autonomous',
    dialect,
    shell: bash(),
    clock: () => 0,
    ...more,
  })
}

describe.each(fixtures)('a conversation in $dialect', ({ dialect, files, steps }) => {
  it('is answered as it is written down', async () => {
    const workspace = await open(dialect, files)
    for (const { tool, input, isError, output } of steps) {
      const answer = await workspace.call(tool, input)
      expect({ tool, input, isError: answer.isError, output: answer.output }).toEqual({ tool, input, isError, output })
    }
    expect(workspace.verifyAudit().ok).toBe(true)
    await workspace.close()
  })

  it('calls every tool with success, and is refused something by every one', async () => {
    const workspace = await open(dialect)
    const names = workspace.tools.map(({ name }) => name)
    for (const wanted of [true, false]) {
      const missing = names.filter((name) => !steps.some(({ tool, isError }) => tool === name && isError === wanted))
      expect(missing.filter((name) => name !== 'save_memory')).toEqual([])
    }
    await workspace.close()
  })

  it('tells no byte of a protected file', () => {
    expect(JSON.stringify(steps.map(({ output }) => output))).not.toContain('hidden-value-1')
  })
})
