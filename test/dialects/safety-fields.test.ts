import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { safetyFieldsOf } from '../../src/dialects/runtime/safety-fields.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { everyNth, times } from '../counts.ts'
import { cases, values } from './safety-calls.ts'
import { checkSafetyFields, checkUnknownFields, openedDialects, run, silentValues } from './safety-checks.ts'

describe('the table of calls', () => {
  it('has a successful call of every tool of every dialect', async () => {
    for (const { name, dialect, cases } of openedDialects) {
      expect([...new Set(cases.map(({ tool }) => tool))].sort(), name).toEqual(
        dialect.tools.map(({ name }) => name).sort(),
      )
      for (const one of cases) {
        const { result } = await run(dialect, one)
        expect(result.isError, `${name} ${JSON.stringify(one)} ${JSON.stringify(result.output)}`).toBe(false)
      }
    }
  })

  it('has a value of every safety field', () => {
    const fieldNames = new Set(builtinTools.flatMap(({ name }) => safetyFieldsOf(name)))
    expect(Object.keys(values).sort()).toEqual([...fieldNames].sort())
  })
})

describe('the safety fields', () => {
  it('are the optional fields of the workspace tools, except those that identify the subject of a call', () => {
    const others = builtinTools.flatMap(({ name, input }) =>
      Object.entries(input.shape)
        .filter(([field, schema]) => schema.safeParse(undefined).success && !safetyFieldsOf(name).includes(field))
        .map(([field]) => `${name}.${field}`),
    )
    expect(others).toEqual([
      ...['list_directory.path', 'find_files.path'],
      ...['mode', 'path', 'caseSensitive', 'contextLines', 'hashes', 'filesOnly'].map(
        (field) => `search_text.${field}`,
      ),
      ...['read_file.lineNumbers', 'read_file.ifChanged', 'read_file.cells'],
      ...['diff_workspace.statOnly', 'diff_workspace.paths', 'diff_workspace.base'],
      ...['oldText', 'newText', 'replaceAll', 'edits'].map((field) => `edit_file.${field}`),
      ...['run_command.cwd', 'start_command.cwd', 'memory_recall.query'],
      ...['memory_store.title', 'memory_store.labels', 'memory_store.scopes', 'submit_plan.paths'],
    ])
  })
})

describe.each(openedDialects)('$name', (opened) => {
  it('applies every safety field, or refuses it before any effect', async () => {
    expect((await checkSafetyFields(opened, times(9, 3))).effective).toBeGreaterThan(times(0, 3))
  })

  it('refuses any other field, and names it', async () => {
    expect(await checkUnknownFields(opened, times(23, 7))).toBeGreaterThan(times(5, 20))
  })

  it('ignores no value of a field, and lists its own fields', async () => {
    expect(await silentValues(opened, times(797, 97))).toMatchObject({ silent: [], wrongHints: [] })
  })
})

describe('a dialect', () => {
  const call = async (name: string, tool: string, input: unknown) => {
    const opened = openedDialects.find((one) => one.name === name) as (typeof openedDialects)[number]
    const [one] = cases[name] ?? []
    const { result, changed } = await run(opened.dialect, {
      tool,
      input: input as Record<string, unknown>,
      before: one?.before,
    })
    return [result.failure?.code, changed, String(result.failure?.message)] as const
  }

  it('names the nearest field', async () => {
    const [code, , message] = await call('snake-case', 'write_file', { path: 'x', content: '', expected_sha: null })
    expect(code).toBe('INVALID_INPUT')
    expect(message).toContain('expected_sha is unknown; did you mean "expected_sha256"?')
    expect((await call('deepagents', 'edit_file', { dryrun: true }))[2]).toContain('file_path')
  })

  it.each(openedDialects)('suggests only fields of its own tools: $name', async ({ dialect }) => {
    const workspace = await createWorkspace({
      ...{ backend: memory(), policy: { preset: 'autonomous', memory: {} }, shell: bash(), dialect },
    })
    const common =
      'timeout timeoutMs limit offset path file text cmd max max_results hash dry mode depth start end glob dir all old'
    for (const { name, inputSchema } of workspace.tools) {
      const own = Object.keys(inputSchema.shape)
      const words = [...own, ...common.split(' ')].flatMap((word) => [word, `${word}s`, word.slice(0, -1)])
      // In `npm test`, the tools share the words.
      for (const field of everyNth(words, 4, name.length)) {
        if (own.includes(field)) continue
        const { output, failure } = await workspace.callTool(name, { [field]: 1 })
        const suggestions = JSON.stringify([output, failure]).matchAll(/[Dd]id you mean \\*"([^"\\]+)\\*"/g)
        for (const [, suggestion] of suggestions) expect(own, `${name} ${field}`).toContain(suggestion)
      }
    }
  })

  it('ignores a safety field that is undefined', async () => {
    const write = { path: 'x', content: '', dryRun: undefined, expectedSha256: undefined, mode: undefined }
    expect((await call('file-read-write', 'file_write', { ...write, dryRun: false })).slice(0, 2)).toEqual([
      'INVALID_INPUT',
      [],
    ])
    const { dryRun: _, ...others } = write
    expect((await call('file-read-write', 'file_write', others)).slice(0, 2)).toEqual([undefined, ['x']])
  })

  it('refuses unknown fields in nested objects', async () => {
    const edits = [{ oldText: 'one', newText: 'ONE', replaceAll: true }]
    expect(await call('mcp-filesystem', 'edit_file', { path: '/workspace/a.txt', edits })).toEqual([
      'INVALID_INPUT',
      [],
      expect.stringContaining('edits.0.replaceAll is unknown'),
    ])
    const options = { dir_path: '.', file_filtering_options: { respect_gitignore: false } }
    expect(await call('gemini', 'list_directory', options)).toEqual([
      'INVALID_INPUT',
      [],
      expect.stringContaining('file_filtering_options.respect_gitignore'),
    ])
  })

  it('refuses two spellings with different values, and accepts them with the same', async () => {
    const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n-one\n+ONE\n two\n three\n four\n'
    const differing = await call('patch-and-diff', 'apply_patch', { patch, dry_run: true, dryRun: false })
    expect(differing.slice(0, 2)).toEqual(['INVALID_INPUT', []])
    const write = { path: 'x', content: '', mode: 'CREATE_NEW', expected_sha256: null, expectedSha256: 'a'.repeat(64) }
    expect((await call('file-read-write', 'file_write', write)).slice(0, 2)).toEqual(['INVALID_INPUT', []])
    const same = await call('patch-and-diff', 'apply_patch', { patch, dry_run: true, dryRun: true })
    expect(same.slice(0, 2)).toEqual([undefined, []])
  })

  it('refuses to replace a file with CREATE_NEW, and to write onto another version', async () => {
    const writes = openedDialects.flatMap(({ name, dialect }) =>
      dialect.tools
        .filter(({ uses, input }) => uses.includes('write_file') && 'content' in input.shape)
        .map((tool) => [name, tool.name, 'file_path' in tool.input.shape ? 'file_path' : 'path'] as const),
    )
    expect(writes.length).toBe(10)
    for (const [name, tool, field] of writes) {
      const path = ['mcp-filesystem', 'named-roots', 'gemini'].includes(name) ? '/workspace/a.txt' : 'a.txt'
      const input = { [field]: name === 'deepagents' ? '/a.txt' : path, content: 'new' }
      expect([name, ...(await call(name, tool, { ...input, mode: 'CREATE_NEW' }))].slice(0, 3)).toEqual([
        name,
        'ALREADY_EXISTS',
        [],
      ])
      const stale = { ...input, expectedSha256: 'a'.repeat(64) }
      expect([name, ...(await call(name, tool, stale))].slice(0, 3)).toEqual([name, 'WRITE_CONFLICT', []])
    }
  })

  it('refuses the parameters of another command', async () => {
    const view = { command: 'view', path: '/workspace/a.txt', old_str: 'one' }
    expect(await call('anthropic', 'str_replace_based_edit_tool', view)).toEqual([
      'INVALID_INPUT',
      [],
      expect.stringContaining('old_str'),
    ])
    const patch = ['apply_patch', '*** Begin Patch\n*** Add File: x\n+x\n*** End Patch']
    expect(await call('codex', 'shell', { command: patch, workdir: 'src' })).toEqual([
      'INVALID_INPUT',
      [],
      expect.stringContaining('workdir'),
    ])
  })
})
