import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anthropicTools, nativeTools, openAiTools } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { anthropic } from '../../src/dialects/anthropic/index.ts'
import { codex } from '../../src/dialects/codex/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { execWorkspace } from '../../src/workspace/exec-workspace.ts'

/** A conversation in a dialect: calls in the shapes that agents send, and their answers. */
interface Fixture {
  readonly dialect: string
  readonly files: Readonly<Record<string, string>>
  readonly steps: readonly {
    readonly tool: string
    readonly input: unknown
    readonly isError: boolean
    readonly output: unknown
    /** Answer of the original, if it was run; `the same` means an identical answer. */
    readonly original?: 'the same' | { readonly isError: boolean; readonly output: unknown }
    /** Reason for a different answer. */
    readonly differs?: string
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
  it('returns the recorded answers', async () => {
    const workspace = await open(dialect, files)
    for (const { tool, input, isError, output } of steps) {
      const answer = await workspace.call(tool, input)
      expect({ tool, input, isError: answer.isError, output: answer.output }).toEqual({ tool, input, isError, output })
    }
    expect(workspace.verifyAudit().ok).toBe(true)
    await workspace.close()
  })

  it('contains a success and a refusal of every tool', async () => {
    const workspace = await open(dialect)
    const names = workspace.tools.map(({ name }) => name)
    for (const expected of [true, false]) {
      const missing = names.filter((name) => !steps.some(({ tool, isError }) => tool === name && isError === expected))
      expect(missing.filter((name) => name !== 'save_memory')).toEqual([])
    }
    await workspace.close()
  })

  it('has the answers of the original, or the reason for each difference', () => {
    for (const { isError, output, original, differs } of steps) {
      if (original === undefined || original === 'the same') expect(differs).toBeUndefined()
      else {
        expect({ isError, output }).not.toEqual(original)
        expect(differs).toMatch(/^[a-z].{10}/)
      }
    }
  })

  it('contains no byte of a protected file', () => {
    expect(JSON.stringify(steps.map(({ output }) => output))).not.toContain('hidden-value-1')
  })
})

describe('the content that a run in a dialect has seen', () => {
  const long = 'x'.repeat(50)
  /** Two blocks of lines, 66 KiB together. */
  const large = `${`${long}\n`.repeat(1300)}`

  it('excludes a file that was read and then refused as too large', async () => {
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

  it('is the part that was shown of a large file that is cut', async () => {
    const workspace = await open('gemini', { 'large.txt': `${large}${large}${large}` })
    const first = await workspace.call('read_file', { file_path: '/workspace/large.txt' })
    expect(first.output).toContain('Showing lines 1-2000 of 3900 total lines.')
    expect(first.output).toContain('start_line: 2001')
    const blind = await workspace.call('write_file', { file_path: '/workspace/large.txt', content: 'gone\n' })
    expect(blind.failure?.code).toBe('WRITE_CONFLICT')
    await workspace.call('read_file', { file_path: '/workspace/large.txt', start_line: 2001 })
    const result = await workspace.call('write_file', { file_path: '/workspace/large.txt', content: 'new\n' })
    expect(result.isError).toBe(false)
    await workspace.close()
  })

  it('is the version that a change without an instruction expects', async () => {
    const workspace = await open('gemini', { 'a.txt': 'one\n' })
    await workspace.call('read_file', { file_path: '/workspace/a.txt' })
    const change = { file_path: '/workspace/a.txt', old_string: 'one', new_string: 'two' }
    expect(await workspace.call('replace', change)).toMatchObject({ isError: false })
    await workspace.close()
  })

  it.each([
    ['deepagents', 'edit_file'],
    ['anthropic', 'str_replace_based_edit_tool'],
  ])('rejects an input that is not an object: %s', async (dialect, tool) => {
    const workspace = await open(dialect)
    expect(await workspace.call(tool, 'a text')).toMatchObject({ isError: true, failure: { code: 'INVALID_INPUT' } })
    await workspace.close()
  })

  it('is the only version into which lines are inserted by number', async () => {
    const workspace = await open('anthropic', { 'a.txt': 'one\ntwo\n' })
    const edit = (command: object) =>
      workspace.call('str_replace_based_edit_tool', { path: '/workspace/a.txt', ...command })
    const insert = { command: 'insert', insert_line: 1, insert_text: 'between\n' }
    expect((await edit(insert)).failure?.code).toBe('WRITE_CONFLICT')
    expect((await edit({ ...insert, path: '/workspace/../a.txt' })).failure?.code).toBe('PATH_REJECTED')
    await edit({ command: 'view' })
    // Another process inserts a line at the top.
    await workspace.run().own.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'zero\none' })
    expect((await edit(insert)).output).toContain('it was not viewed as it is now')
    await edit({ command: 'view' })
    expect((await edit(insert)).isError).toBe(false)
    // The run has seen the result of its own change.
    expect((await edit({ ...insert, insert_text: '' })).isError).toBe(false)
    expect(await workspace.files.read('a.txt')).toMatchObject({ content: 'zero\n\nbetween\none\ntwo\n' })
    await workspace.close()
  })
})

describe('output that does not fit into an answer', () => {
  const names = Array.from({ length: 600 }, (_, i) => `many/f${String(i).padStart(3, '0')}.txt`)
  const many = Object.fromEntries(names.map((name) => [name, `needle ${'y'.repeat(200)}\n`]))
  const wide = Array.from({ length: 8 }, (_, i) => [`wide/${i}.txt`, 'z'.repeat(12_000)] as const)

  it.each([
    ['gemini', 'list_directory', { dir_path: 'many' }, '(100 of 600 entries are not shown'],
    ['gemini', 'glob', { pattern: '**/*.txt', dir_path: 'many' }, '(400 of 600 paths are not shown'],
    ['gemini', 'grep_search', { pattern: 'needle', dir_path: 'many' }, 'Found 100 matches'],
    ['gemini', 'read_many_files', { include: ['wide/*'] }, '/workspace/wide/5.txt (there was no room for it)'],
    ['gemini', 'read_many_files', { include: ['wide/*'] }, '/workspace/wide/7.txt (there was no room for it)'],
    ['gemini', 'read_many_files', { include: ['long.txt'] }, '[WARNING: This file was truncated.'],
    ['deepagents', 'ls', { path: '/many' }, '(100 of 600 entries are not shown'],
    ['deepagents', 'glob', { pattern: '**/*.txt', path: '/many' }, '(400 of 600 paths are not shown'],
    ['deepagents', 'read_file', { file_path: '/long.txt' }, '@@ lines 1-1 of 1 @@'],
    ['mastra', 'mastra_workspace_list_files', { path: 'many' }, '(100 of 600 entries are not shown'],
    ['mastra', 'mastra_workspace_grep', { pattern: 'needle', path: 'many' }, 'across 100 files (truncated)'],
    ['mastra', 'mastra_workspace_read_file', { path: 'long.txt' }, 'long.txt (lines 1-1 of 1, cut)'],
    ['python-harness', 'list_directory', { path: 'many' }, '(300 of 600 entries are not shown'],
    ['python-harness', 'find_files', { pattern: '*.txt', path: 'many' }, '(400 of 600 paths are not shown'],
    ['python-harness', 'run_command', { command: 'cat many/*' }, '[only the end is shown; all of it: artifact://'],
    ['exec', 'exec.run', { command: 'cat many/*' }, '"truncated":true,"outputUri":"artifact://'],
    ['anthropic', 'bash', { command: 'cat many/*' }, '[only the end is shown; all of it: artifact://'],
    ['anthropic', 'str_replace_based_edit_tool', { command: 'view', path: '/workspace/long.txt' }, 'view_range'],
  ])('is reported: %s, %s %j', async (dialect, tool, input, message) => {
    const workspace = await open(dialect, {
      ...many,
      ...Object.fromEntries(wide),
      'long.txt': 'w'.repeat(70_000),
    })
    expect(JSON.stringify((await workspace.call(tool, input)).output).replaceAll('\\"', '"')).toContain(message)
    await workspace.close()
  })

  it('does not count as seen if it was left out', async () => {
    const workspace = await open('gemini', Object.fromEntries(wide))
    await workspace.call('read_many_files', { include: ['wide/*'] })
    const write = (file_path: string) => workspace.call('write_file', { file_path, content: '' })
    expect((await write('wide/4.txt')).isError).toBe(false)
    expect((await write('wide/5.txt')).failure?.code).toBe('WRITE_CONFLICT')
    await workspace.close()
  })

  it('does not count as seen if the line is cut', async () => {
    const workspace = await open('gemini', { 'long.txt': 'w'.repeat(70_000) })
    const read = await workspace.call('read_file', { file_path: 'long.txt' })
    expect(read.output).toContain('Showing lines 1-1 of 1 total lines.\n\n---')
    const result = await workspace.call('write_file', { file_path: 'long.txt', content: '' })
    expect(result.failure?.code).toBe('WRITE_CONFLICT')
    await workspace.close()
  })
})

describe('dialects of agents: other inputs', () => {
  async function ask(dialect: string, files: Record<string, string>, tool: string, input: unknown, more: object = {}) {
    const workspace = await open(dialect, files, more)
    const answer = await workspace.call(tool, input)
    await workspace.close()
    return answer
  }

  it('anthropic: accepts a file without a final line end and former field names, and shortens quoted input', async () => {
    const editor = 'str_replace_based_edit_tool'
    const files = { 'a.txt': 'one\ntwo', 'memories/large.md': 'x'.repeat(1536), 'memories/.x/y': '' }
    const view = { command: 'view', path: 'a.txt' }
    expect((await ask('anthropic', files, editor, view)).output).toContain('     1\tone\n     2\ttwo\n')
    const listed = await ask('anthropic', files, 'memory', { command: 'view', path: '/memories' })
    expect(listed.output).toContain('1.5K\t/memories/large.md')
    const missing = { command: 'str_replace', path: 'a.txt', old_str: 'x'.repeat(5000), new_str: '' }
    expect(String((await ask('anthropic', files, editor, missing)).output).length).toBeLessThan(400)
    const workspace = await open('anthropic', files)
    await workspace.call(editor, view)
    await workspace.call(editor, { command: 'insert', path: 'a.txt', insert_line: 0, new_str: 'zero' })
    expect(await workspace.files.read('a.txt')).toMatchObject({ content: 'zero\none\ntwo' })
    const both = await workspace.call('bash', { command: 'printf out; cat none', restart: true })
    expect(both.output).toBe('out\ncat: none: No such file or directory\n')
    await workspace.close()
    expect(anthropic({ '/repo': '' }).tools.map(({ name }) => name)).toEqual([editor, 'bash'])
  })

  it('anthropic: views in a read-only workspace, and refuses every other command as read-only', async () => {
    const workspace = await open('anthropic', { 'a.txt': 'one\n' }, { readOnly: true, shell: undefined })
    expect(workspace.tools.map(({ name, mutates }) => [name, mutates])).toEqual([
      ['str_replace_based_edit_tool', false],
      ['memory', false],
    ])
    const editor = (input: object) =>
      workspace.call('str_replace_based_edit_tool', { path: '/workspace/a.txt', ...input })
    expect((await editor({ command: 'view' })).isError).toBe(false)
    expect((await editor({ command: 'str_replace', old_str: 'one' })).failure?.code).toBe('READ_ONLY')
    expect((await editor({ command: 'create', file_text: '' })).failure?.code).toBe('READ_ONLY')
    await workspace.close()
  })

  it('codex: returns logical paths, and quotes arguments for the shell', async () => {
    expect(codex().pathMapping.outward('')).toBe('.')
    expect(codex().pathMapping.outward('src/a.ts')).toBe('src/a.ts')
    const odd = await ask('codex', { "it's": 'fine\n' }, 'shell', { command: ['cat', "it's"] })
    expect(odd.output).toContain('Output:\nfine\n')
    const shells = await ask('codex', {}, 'shell', { command: ['sh', '-c', 'echo $0', 'more'] })
    expect(shells.output).toContain('Output:\nmore\n')
  })

  it('gemini: handles links, protected notes and several searches', async () => {
    const backend = memory({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'four\n' })
    const link = { path: 'link' as never, expect: 'absent' as const, to: { type: 'link' as const, target: 'a.txt' } }
    await backend.commit([link], { durability: 'durable' })
    const workspace = await open('gemini', {}, { backend })
    expect((await workspace.call('list_directory', { dir_path: '.' })).output).toContain('\nlink')
    const around = await workspace.call('grep_search', { pattern: 'two|four', context: 1 })
    expect(around.output).toContain('L1- one\nL2: two\nL3- three\n---\nFile: b.txt\nL1: four\n---')
    expect((await workspace.call('grep_search', { pattern: 'absent', names_only: true })).output).toContain(
      'No matches',
    )
    const slashed = await workspace.call('grep_search', { pattern: 'two', include_pattern: './a.txt' })
    expect(slashed.isError).toBe(false)
    const quiet = await workspace.call('run_shell_command', { command: 'printf quiet; false' })
    expect(quiet.output).toBe('Output: quiet\nExit Code: 1')
    await workspace.close()
    // A directory has no size.
    const directory = await ask('gemini', { 'src/a.txt': '' }, 'read_many_files', { include: ['src'] })
    expect(directory.output).toContain('/workspace/src (IS_DIRECTORY)')
    const closed = { policy: { preset: 'autonomous', deniedPaths: ['GEMINI.md'] } }
    const refused = await ask('gemini', { 'GEMINI.md': 'x\n' }, 'save_memory', { fact: 'x' }, closed)
    expect(refused.failure?.code).toBe('POLICY_DENIED')
    const blank = await ask('gemini', {}, 'save_memory', { fact: ' \n' })
    expect(blank.output).toContain('fact must not be empty')
  })

  it('python-harness: reports a command that fails without output', async () => {
    const { output } = await ask('python-harness', {}, 'run_command', { command: 'false' })
    expect(output).toEqual({ success: false, output: null, error: 'Exit code 1' })
  })

  it('exec: has a separate workspace, in which build output is writable and secrets are unreadable', async () => {
    const main = memory({ 'a.txt': 'main\n' })
    const scratch = await execWorkspace({ shell: bash(), files: { 'dist/a.js': '1\n', '.env': 'A=1\n' } })
    expect((await scratch.call('exec.read', { path: 'dist/a.js' })).isError).toBe(false)
    expect((await scratch.call('exec.write', { path: 'dist/a.js', content: '2\n' })).isError).toBe(false)
    expect((await scratch.call('exec.write', { path: 'node_modules/x/index.js', content: '' })).isError).toBe(false)
    expect((await scratch.call('exec.read', { path: '.env' })).failure?.code).toBe('POLICY_DENIED_SECRET')
    expect((await scratch.call('exec.read', { path: 'a.txt' })).failure?.code).toBe('NOT_FOUND')
    const result = await scratch.call('exec.run', { command: 'printf 3 > a.txt; cat dist/a.js a.txt' })
    expect(result.output).toMatchObject({ exitCode: 0, stdout: '2\n3', filesChanged: ['a.txt'] })
    expect((await main.read(await main.canonical('a.txt' as never))).bytes).toHaveLength(5)
    await scratch.close()
    const empty = await execWorkspace({ shell: bash(), backend: main, run: { id: 'own' } })
    expect(empty.id).toBe('own')
    expect((await empty.call('exec.read', { path: 'a.txt' })).output).toEqual({ path: 'a.txt', content: 'main\n' })
    await empty.close()
  })
})

describe('native tool definitions', () => {
  it('are returned with the schemas, under the same names', async () => {
    const workspace = await open('anthropic')
    const native = nativeTools(workspace.tools, 'anthropic')
    expect(native).toEqual([
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'memory_20250818', name: 'memory' },
    ])
    expect(nativeTools(workspace.tools, 'openai')).toEqual([])
    const box = anthropicTools(workspace)
    expect(box.tools.map(({ name }) => name)).toEqual(native.map(({ name }) => name))
    const use = { id: 'toolu_1', name: 'bash', input: { command: 'echo hello' } }
    expect(await box.call(use)).toEqual({ type: 'tool_result', tool_use_id: 'toolu_1', content: 'hello\n' })
    await workspace.close()
  })

  it('codex: define a custom tool whose input is the patch itself', async () => {
    const workspace = await open('codex')
    const [patching, ...others] = nativeTools(workspace.tools, 'openai')
    expect(others).toEqual([])
    expect(patching).toMatchObject({ type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark' } })
    const patch = '*** Begin Patch\n*** Add File: a.txt\n+Hello\n*** End Patch'
    const answer = await openAiTools(workspace).call({ call_id: 'call_1', name: 'apply_patch', arguments: patch })
    expect(answer).toMatchObject({ call_id: 'call_1', output: 'Success. Updated the following files:\nA a.txt\n' })
    expect(await workspace.files.read('a.txt')).toMatchObject({ content: 'Hello\n' })
    await workspace.close()
  })
})

describe('search_files of snake-case', () => {
  const search = async (pattern: string) => {
    const workspace = await open('snake-case', { 'a.txt': 'one\n' })
    const { isError, failure, output } = await workspace.call('search_files', {
      path: '.',
      pattern,
      content_search: true,
    })
    await workspace.close()
    return { isError, failure, output }
  }

  const foreign = [
    ...[
      'foo(?=bar)',
      'foo(?!bar)',
      '(?<=a)b',
      '(?<!a)b',
      '(a)\\1',
      '(?<n>a)\\k<n>',
      '(?P<n>a)(?P=n)',
      '(?>a)b',
      'a++',
      'a*+',
    ],
    ...[
      'a?+',
      'a{2}+',
      '\\Aone',
      'one\\Z',
      '(?(1)a|b)',
      '(?#text)a',
      '(?|a|b)',
      '(?R)',
      '(?x)a',
      '\\Qa\\E',
      '\\Ka',
      '\\R',
      'a\\nb',
    ],
  ]
  it.each(foreign)('refuses a regular expression of another language: %s', async (pattern) => {
    expect(await search(pattern)).toMatchObject({
      isError: true,
      failure: { code: 'INVALID_PATTERN', hint: expect.stringContaining('is_regex: false') },
    })
  })

  it.each(['(', 'call(', 'list[', '*.ts', '**kwargs', 'what?)', 'a)', 'C:\\', '?', '+1', '[(?', 'if (?'])(
    'searches for a pattern that is not a regular expression as text: %s',
    async (pattern) => {
      expect(await search(pattern)).toMatchObject({
        isError: false,
        output: { warnings: [expect.stringContaining('as text')] },
      })
    },
  )
})

describe('an error of a dialect', () => {
  const answerOf = async (dialect: string, tool: string, input: object, more: object = {}) => {
    const workspace = await open(dialect, { 'a.txt': 'one\n' }, more)
    const { output } = await workspace.call(tool, input)
    await workspace.close()
    return typeof output === 'string' ? output : JSON.stringify(output)
  }

  it.each([
    ['snake-case', 'run_command', { command: 'ls', timeout: 5 }, 'did you mean \\"timeout_seconds\\"?'],
    ['codex', 'shell', { command: ['ls'], timeout: 5 }, 'did you mean "timeout_ms"?'],
    ['exec', 'exec.run', { cmd: 'ls' }, 'did you mean \\"command\\"?'],
    ['exec', 'exec.run', { command: 'ls', cwdd: '.' }, 'did you mean \\"cwd\\"?'],
    ['exec', 'exec.run', { command: 'pytest' }, 'work without it'],
    ['anthropic', 'str_replace_editor', { command: 'view' }, 'Use one of: str_replace_based_edit_tool, bash, memory'],
    ['anthropic', 'memry', {}, 'Did you mean "memory"?'],
    ['anthropic', 'memory', { command: 'view', path: '/workspace/a.txt' }, 'Use a path below /memories; the same'],
    ['python-harness', 'read_file', { path: 'a.txt', offset: 7 }, /Line 8 is after the last line 1/],
    ['deepagents', 'read_file', { file_path: '/a.txt', offset: 7 }, /Line 8 is after the last line 1/],
    ['gemini', 'read_file', { file_path: '/workspace/a.txt', offset: 7 }, /Line 8 is after the last line 1/],
    ['gemini', 'read_file', { file_path: '/workspace/a.txt', limit: 0 }, 'limit must be a whole number from 1'],
    ['gemini', 'read_file', { file_path: '/workspace/a.txt', offset: -1 }, 'offset must be a whole number from 0'],
    ['gemini', 'read_file', { file_path: '/workspace/a.txt', limit: 1.5 }, 'limit must be a whole number from 1'],
  ])('names what the caller wrote: %s %s %j', async (dialect, tool, input, text) => {
    expect(await answerOf(dialect, tool, input)).toMatch(text)
  })

  it('says that a read-only path is read-only, and not the workspace', async () => {
    const policy = { preset: 'autonomous', readOnlyPaths: ['a.txt'] }
    const answer = await answerOf('snake-case', 'write_file', { path: 'a.txt', content: 'x' }, { policy })
    expect(answer).toContain('READ_ONLY')
    expect(answer).not.toContain('workspace is read-only')
  })
})
