import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

const files = {
  'a.txt': 'one\ntwo\none\n',
  'b.txt': 'one\none\none\n',
  'docs/x.md': 'hi\n',
}

const open = async (name: string) => {
  const dialect = dialects[name]?.()
  if (dialect === undefined) throw new Error(`no dialect ${name}`)
  const shell = bash()
  return createWorkspace({ backend: memory(files), policy: 'autonomous', dialect, shell })
}

type Row = readonly [tool: string, input: object, answer: string]

describe('the fields of deepagents', () => {
  const rows: readonly Row[] = [
    ['read_file', { path: '/a.txt' }, '@@ lines 1-3 of 3 @@\none\ntwo\none'],
    ['read_file', { path: '/a.txt', offset: '1', limit: '1' }, '@@ lines 2-2 of 3 | next offset 2 @@\ntwo'],
    ['write_file', { path: '/n.txt', content: 'x' }, "Successfully wrote to '/n.txt'"],
    ['edit_file', { path: '/a.txt', old_string: 'two', new_string: '2' }, 'Successfully replaced 1 occurrence(s)'],
    ['delete', { path: '/a.txt' }, 'Deleted /a.txt'],
  ]
  it.each(rows)('have their effect in %s %j', async (tool, input, answer) => {
    const workspace = await open('deepagents')
    const result = await workspace.call(tool, input)
    expect(result).toMatchObject({ isError: false, output: expect.stringContaining(answer) })
    await workspace.close()
  })

  it('refuse the same path in both spellings', async () => {
    const workspace = await open('deepagents')
    expect(await workspace.call('read_file', { path: '/a.txt', file_path: '/a.txt' })).toMatchObject({ isError: true })
    await workspace.close()
  })
})

describe('the fields of Mastra', () => {
  const name = (tool: string) => `mastra_workspace_${tool}`
  const rows: readonly Row[] = [
    ['read_file', { path: 'a.txt', encoding: 'utf-8' }, 'a.txt (12 bytes)'],
    ['delete', { path: 'a.txt', recursive: false }, 'Deleted a.txt'],
    ['mkdir', { path: 'n/m', recursive: true }, 'Created directory n/m'],
    ['mkdir', { path: 'docs/m', recursive: false }, 'Created directory docs/m'],
    ['mkdir', { path: './m/', recursive: false }, 'Created directory ./m/'],
    ['grep', { pattern: 'one', maxCount: 1 }, '2 matches across 2 files\n---\na.txt:1:1: one\nb.txt:1:1: one'],
    ['grep', { pattern: 'one', maxCount: 2, path: 'b.txt' }, '2 matches across 1 file'],
    ['execute_command', { command: 'cat a.txt', tail: 1 }, 'one\n'],
    ['execute_command', { command: 'cat a.txt', tail: '-2', timeout: '30' }, 'two\none\n'],
    ['execute_command', { command: 'cat a.txt', tail: 0 }, 'one\ntwo\none\n'],
    ['execute_command', { command: 'cat a.txt', tail: null, timeout: null, cwd: null }, 'one\ntwo\none\n'],
  ]
  it.each(rows)('have their effect in %s %j', async (tool, input, answer) => {
    const workspace = await open('mastra')
    const { isError, output } = await workspace.call(name(tool), input)
    expect(isError).toBe(false)
    if (tool === 'execute_command') expect(output).toBe(answer)
    else expect(output).toContain(answer)
    await workspace.close()
  })

  it('are refused where they could have no effect', async () => {
    const workspace = await open('mastra')
    const refused: readonly (readonly [string, object, string])[] = [
      ['read_file', { path: 'a.txt', encoding: 'base64' }, 'encoding'],
      ['delete', { path: 'docs', recursive: true }, 'recursive'],
      ['mkdir', { path: 'none/m', recursive: false }, '"none" does not exist'],
      ['get_process_output', { pid: 'process-1', wait: true }, 'wait'],
    ]
    for (const [tool, input, message] of refused) {
      const { isError, output } = await workspace.call(name(tool), input)
      expect({ tool, isError, output }).toEqual({ tool, isError: true, output: expect.stringContaining(message) })
    }
    expect(await workspace.call(name('file_stat'), { path: 'none' })).toMatchObject({ output: 'none: not found' })
    await workspace.close()
  })

  it('show the last lines of a background command', async () => {
    const workspace = await open('mastra')
    await workspace.call(name('execute_command'), { command: 'cat a.txt', background: true })
    await expect
      .poll(async () => (await workspace.call(name('get_process_output'), { pid: 'process-1', tail: 1 })).output)
      .toBe('one\n')
    await workspace.close()
  })
})
