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

describe('what a run of a dialect has seen', () => {
  const long = 'x'.repeat(50)
  /** Two lots of lines, 66 KiB together. */
  const large = `${`${long}\n`.repeat(1300)}`

  it('is nothing of a file that was read and then refused as too large', async () => {
    const workspace = await open('python-harness', { 'large.txt': large })
    expect((await workspace.call('read_file', { path: 'large.txt' })).failure?.code).toBe('FILE_TOO_LARGE')
    const blind = await workspace.call('write_file', { path: 'large.txt', content: 'gone\n' })
    expect(blind.failure?.code).toBe('WRITE_CONFLICT')
    for (const [start_line, end_line] of [
      [1, 700],
      [701, 1300],
    ]) {
      await workspace.call('read_file', { path: 'large.txt', start_line, end_line })
    }
    expect(await workspace.call('write_file', { path: 'large.txt', content: 'new\n' })).toMatchObject({
      isError: false,
    })
    await workspace.close()
  })

  it('is what was shown in the end, where a large file is cut', async () => {
    const workspace = await open('gemini', { 'large.txt': `${large}${large}${large}` })
    const first = await workspace.call('read_file', { file_path: '/workspace/large.txt' })
    expect(first.output).toContain('Showing lines 1-2000 of 3900 total lines.')
    expect(first.output).toContain('start_line: 2001')
    const blind = await workspace.call('write_file', { file_path: '/workspace/large.txt', content: 'gone\n' })
    expect(blind.failure?.code).toBe('WRITE_CONFLICT')
    await workspace.call('read_file', { file_path: '/workspace/large.txt', start_line: 2001 })
    const seen = await workspace.call('write_file', { file_path: '/workspace/large.txt', content: 'new\n' })
    expect(seen.isError).toBe(false)
    await workspace.close()
  })

  it('is the only version in which lines are inserted by their number', async () => {
    const workspace = await open('anthropic', { 'a.txt': 'one\ntwo\n' })
    const edit = (command: object) =>
      workspace.call('str_replace_based_edit_tool', { path: '/workspace/a.txt', ...command })
    const insert = { command: 'insert', insert_line: 1, insert_text: 'between\n' }
    expect((await edit(insert)).failure?.code).toBe('WRITE_CONFLICT')
    await edit({ command: 'view' })
    // Someone else puts a line on top.
    await workspace.run().own.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'zero\none' })
    expect((await edit(insert)).output).toContain('it was not viewed as it is now')
    await edit({ command: 'view' })
    expect((await edit(insert)).isError).toBe(false)
    // And what it made of it, it knows.
    expect((await edit({ ...insert, insert_text: '' })).isError).toBe(false)
    expect(await workspace.files.read('a.txt')).toMatchObject({ content: 'zero\n\nbetween\none\ntwo\n' })
    await workspace.close()
  })
})
