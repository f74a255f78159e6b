import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import type { ErrorDetails } from '../../src/errors.ts'
import {
  createWorkspace,
  defineTool,
  type ErrorCode,
  type Explanation,
  type Failure,
  type PolicyRule,
  type Success,
  type Tool,
  ToolError,
  type ToolFailure,
  type ToolInput,
  type ToolName,
  type ToolResult,
  type Workspace,
  type WorkspaceRun,
} from '../../src/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import type { ToolInputs } from '../../src/workspace/tool-types.ts'

const hash = '0'.repeat(64)
const range = { path: 'a.txt', startLine: 1, endLine: 2, expectedSha256: hash }

/** Compiled and never run: for each built-in tool a correct call, wrong ones, and the types of result fields. */
const builtinCalls: { readonly [N in ToolName]: (run: WorkspaceRun) => Promise<unknown> } = {
  async list_directory({ call }) {
    const result = await call('list_directory', { path: 'src', maxDepth: 2 })
    // @ts-expect-error an unknown field
    await call('list_directory', { directory: 'src' })
    // @ts-expect-error a wrong type
    await call('list_directory', { maxDepth: '2' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.entires
    expectTypeOf(result.entries[0]?.path).toEqualTypeOf<string | undefined>()
    expectTypeOf(result.totalEntries).toEqualTypeOf<number>()
  },
  async find_files({ call }) {
    const result = await call('find_files', { pattern: '**/*.ts' })
    // @ts-expect-error an unknown field
    await call('find_files', { pattern: '**', glob: '**' })
    // @ts-expect-error a missing field
    await call('find_files', { path: 'src' })
    // @ts-expect-error a wrong type
    await call('find_files', { pattern: /ts/ })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.fiels
    expectTypeOf(result.files).toEqualTypeOf<string[]>()
    expectTypeOf(result.totalFound).toEqualTypeOf<number>()
  },
  async search_text({ call }) {
    const result = await call('search_text', { query: 'a', mode: 'regex' })
    // @ts-expect-error an unknown field
    await call('search_text', { query: 'a', regex: true })
    // @ts-expect-error a missing field
    await call('search_text', { path: 'src' })
    // @ts-expect-error a wrong type
    await call('search_text', { query: 'a', mode: 'glob' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.mathces
    expectTypeOf(result.matches[0]?.line).toEqualTypeOf<number | undefined>()
    expectTypeOf(result.filesSearched).toEqualTypeOf<number>()
  },
  async read_file({ call }) {
    const result = await call('read_file', { path: 'a.txt' })
    // @ts-expect-error an unknown field
    await call('read_file', { path: 'a.txt', lines: 1 })
    // @ts-expect-error a missing field
    await call('read_file', {})
    // @ts-expect-error a wrong type
    await call('read_file', { path: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.conetnt
    expectTypeOf(result.content).toEqualTypeOf<string>()
    expectTypeOf(result.totalLines).toEqualTypeOf<number>()
    expectTypeOf(result.unchangedSince).toEqualTypeOf<string | undefined>()
  },
  async file_info({ call }) {
    const result = await call('file_info', { path: 'a.txt' })
    // @ts-expect-error an unknown field
    await call('file_info', { path: 'a.txt', hash: true })
    // @ts-expect-error a missing field
    await call('file_info', {})
    // @ts-expect-error a wrong type
    await call('file_info', { path: ['a.txt'] })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.tyep
    expectTypeOf(result.type).toEqualTypeOf<'file' | 'directory' | 'link' | 'other'>()
    expectTypeOf(result.readable).toEqualTypeOf<boolean>()
  },
  async diff_workspace({ call }) {
    const result = await call('diff_workspace', { statOnly: true })
    // @ts-expect-error an unknown field
    await call('diff_workspace', { stat: true })
    // @ts-expect-error a wrong type
    await call('diff_workspace', { paths: 'src' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.dif
    expectTypeOf(result.diff).toEqualTypeOf<string>()
    expectTypeOf(result.baseCommit).toEqualTypeOf<string | null>()
  },
  async edit_file({ call }) {
    const result = await call('edit_file', { path: 'a.txt', oldText: 'a', newText: 'b' })
    // @ts-expect-error an unknown field
    await call('edit_file', { path: 'a.txt', old: 'a', new: 'b' })
    // @ts-expect-error a missing field
    await call('edit_file', { oldText: 'a', newText: 'b' })
    // @ts-expect-error a wrong type
    await call('edit_file', { path: 'a.txt', oldText: 'a', newText: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.replacmeents
    expectTypeOf(result.replacements).toEqualTypeOf<number>()
    expectTypeOf(result.newSha256).toEqualTypeOf<string | null>()
  },
  async replace_range({ call }) {
    const result = await call('replace_range', { ...range, newText: 'b' })
    // @ts-expect-error an unknown field
    await call('replace_range', { ...range, newText: 'b', dryRun: true })
    // @ts-expect-error a missing field
    await call('replace_range', range)
    // @ts-expect-error a wrong type
    await call('replace_range', { ...range, newText: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.newSah256
    expectTypeOf(result.newSha256).toEqualTypeOf<string>()
    expectTypeOf(result.insertions).toEqualTypeOf<number>()
  },
  async apply_patch({ call }) {
    const result = await call('apply_patch', { patch: '', expectedSha256s: { 'a.txt': null } })
    // @ts-expect-error an unknown field
    await call('apply_patch', { patch: '', expectedSha256: hash })
    // @ts-expect-error a missing field
    await call('apply_patch', { dryRun: true })
    // @ts-expect-error a wrong type
    await call('apply_patch', { patch: '', expectedSha256s: [hash] })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.filesTuoched
    expectTypeOf(result.filesTouched[0]?.kind).toEqualTypeOf<'create' | 'delete' | 'modify' | undefined>()
    expectTypeOf(result.newWorkspaceDiffSha256).toEqualTypeOf<string | null>()
  },
  async write_file({ call }) {
    const result = await call('write_file', { path: 'a.txt', content: 'a', mode: 'CREATE_NEW' })
    // @ts-expect-error an unknown field
    await call('write_file', { path: 'a.txt', text: 'a', content: 'a' })
    // @ts-expect-error a missing field
    await call('write_file', { path: 'a.txt' })
    // @ts-expect-error a wrong type
    await call('write_file', { path: 'a.txt', content: 'a', mode: 'create' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.bytesWirtten
    expectTypeOf(result.bytesWritten).toEqualTypeOf<number>()
    expectTypeOf(result.oldSha256).toEqualTypeOf<string | null>()
  },
  async append_file({ call }) {
    const result = await call('append_file', { path: 'a.txt', content: 'a' })
    // @ts-expect-error an unknown field
    await call('append_file', { path: 'a.txt', content: 'a', mode: 'CREATE_NEW' })
    // @ts-expect-error a missing field
    await call('append_file', { path: 'a.txt' })
    // @ts-expect-error a wrong type
    await call('append_file', { path: 'a.txt', content: null })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.bytesAppende
    expectTypeOf(result.bytesAppended).toEqualTypeOf<number>()
    expectTypeOf(result.newSha256).toEqualTypeOf<string>()
  },
  async create_directory({ call }) {
    const result = await call('create_directory', { path: 'src' })
    // @ts-expect-error an unknown field
    await call('create_directory', { path: 'src', recursive: true })
    // @ts-expect-error a missing field
    await call('create_directory', {})
    // @ts-expect-error a wrong type
    await call('create_directory', { path: 'src', expectedSha256: hash })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.cretaed
    expectTypeOf(result.created).toEqualTypeOf<boolean>()
    expectTypeOf(result.path).toEqualTypeOf<string>()
  },
  async copy_file({ call }) {
    const result = await call('copy_file', { path: 'a.txt', to: 'b.txt' })
    // @ts-expect-error an unknown field
    await call('copy_file', { path: 'a.txt', to: 'b.txt', overwrite: true })
    // @ts-expect-error a missing field
    await call('copy_file', { path: 'a.txt' })
    // @ts-expect-error a wrong type
    await call('copy_file', { path: 'a.txt', to: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.t
    expectTypeOf(result.to).toEqualTypeOf<string>()
    expectTypeOf(result.sizeBytes).toEqualTypeOf<number>()
  },
  async move_file({ call }) {
    const result = await call('move_file', { path: 'a.txt', to: 'b.txt', expectedSha256: hash })
    // @ts-expect-error an unknown field
    await call('move_file', { path: 'a.txt', to: 'b.txt', from: 'a.txt' })
    // @ts-expect-error a missing field
    await call('move_file', { to: 'b.txt' })
    // @ts-expect-error a wrong type
    await call('move_file', { path: 'a.txt', to: 'b.txt', createParents: 'yes' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.entires
    expectTypeOf(result.entries).toEqualTypeOf<number>()
    expectTypeOf(result.sha256).toEqualTypeOf<string | null>()
  },
  async delete_file({ call }) {
    const result = await call('delete_file', { path: 'a.txt' })
    // @ts-expect-error an unknown field
    await call('delete_file', { path: 'a.txt', recursive: true })
    // @ts-expect-error a missing field
    await call('delete_file', {})
    // @ts-expect-error a wrong type
    await call('delete_file', { path: 'a.txt', expectedSha256: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.tyep
    expectTypeOf(result.type).toEqualTypeOf<'file' | 'link'>()
    expectTypeOf(result.oldSha256).toEqualTypeOf<string | null>()
  },
  async run_command({ call }) {
    const result = await call('run_command', { command: 'ls', timeoutMs: 1_000 })
    // @ts-expect-error an unknown field
    await call('run_command', { command: 'ls', timeout: 1_000 })
    // @ts-expect-error a missing field
    await call('run_command', { cwd: 'src' })
    // @ts-expect-error a wrong type
    await call('run_command', { command: ['ls'] })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.stduot
    expectTypeOf(result.stdout).toEqualTypeOf<string>()
    expectTypeOf(result.exitCode).toEqualTypeOf<number>()
    expectTypeOf(result.filesChanged).toEqualTypeOf<string[]>()
  },
  async start_command({ call }) {
    const result = await call('start_command', { command: 'ls' })
    // @ts-expect-error an unknown field
    await call('start_command', { command: 'ls', background: true })
    // @ts-expect-error a missing field
    await call('start_command', {})
    // @ts-expect-error a wrong type
    await call('start_command', { command: 'ls', cwd: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.i
    expectTypeOf(result.id).toEqualTypeOf<string>()
    expectTypeOf(result.state).toEqualTypeOf<'running' | 'ended'>()
  },
  async check_command({ call }) {
    const result = await call('check_command', { id: '1' })
    // @ts-expect-error an unknown field
    await call('check_command', { id: '1', command: 'ls' })
    // @ts-expect-error a missing field
    await call('check_command', {})
    // @ts-expect-error a wrong type
    await call('check_command', { id: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.stduot
    expectTypeOf(result.stdout).toEqualTypeOf<string>()
    expectTypeOf(result.exitCode).toEqualTypeOf<number | undefined>()
  },
  async stop_command({ call }) {
    const result = await call('stop_command', { id: '1' })
    // @ts-expect-error an unknown field
    await call('stop_command', { id: '1', signal: 'SIGTERM' })
    // @ts-expect-error a missing field
    await call('stop_command', { reason: 'done' })
    // @ts-expect-error a wrong type
    await call('stop_command', { id: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.stdrer
    expectTypeOf(result.stderr).toEqualTypeOf<string>()
    expectTypeOf(result.truncated).toEqualTypeOf<boolean>()
  },
  async memory_search({ call }) {
    const result = await call('memory_search', { query: 'plan' })
    // @ts-expect-error an unknown field
    await call('memory_search', { query: 'plan', path: 'notes' })
    // @ts-expect-error a missing field
    await call('memory_search', {})
    // @ts-expect-error a wrong type
    await call('memory_search', { query: 'plan', maxResults: '3' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.mathces
    expectTypeOf(result.matches[0]?.snippet).toEqualTypeOf<string | undefined>()
    expectTypeOf(result.truncated).toEqualTypeOf<boolean>()
  },
  async memory_get({ call }) {
    const result = await call('memory_get', { id: 'plan' })
    // @ts-expect-error an unknown field
    await call('memory_get', { id: 'plan', query: 'a' })
    // @ts-expect-error a missing field
    await call('memory_get', {})
    // @ts-expect-error a wrong type
    await call('memory_get', { id: null })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.conetnt
    expectTypeOf(result.content).toEqualTypeOf<string>()
    expectTypeOf(result.labels).toEqualTypeOf<string[]>()
  },
  async memory_recall({ call }) {
    const result = await call('memory_recall', { maxNotes: 3 })
    // @ts-expect-error an unknown field
    await call('memory_recall', { id: 'plan' })
    // @ts-expect-error a wrong type
    await call('memory_recall', { query: 1 })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.noets
    expectTypeOf(result.notes[0]?.id).toEqualTypeOf<string | undefined>()
    expectTypeOf(result.truncated).toEqualTypeOf<boolean>()
  },
  async memory_store({ call }) {
    const result = await call('memory_store', { id: 'plan', content: 'a' })
    // @ts-expect-error an unknown field
    await call('memory_store', { id: 'plan', content: 'a', path: 'notes' })
    // @ts-expect-error a missing field
    await call('memory_store', { content: 'a' })
    // @ts-expect-error a wrong type
    await call('memory_store', { id: 'plan', content: 'a', labels: 'b' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.newSah256
    expectTypeOf(result.newSha256).toEqualTypeOf<string>()
    expectTypeOf(result.scopes).toEqualTypeOf<string[]>()
  },
  async submit_plan({ call }) {
    const result = await call('submit_plan', { plan: 'a', paths: ['src/**'] })
    // @ts-expect-error an unknown field
    await call('submit_plan', { plan: 'a', files: ['src/**'] })
    // @ts-expect-error a missing field
    await call('submit_plan', { paths: ['src/**'] })
    // @ts-expect-error a wrong type
    await call('submit_plan', { plan: 'a', paths: 'src/**' })
    if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    // @ts-expect-error a mistyped field of the result
    void result.apprvoed
    expectTypeOf(result.approved).toEqualTypeOf<true>()
    expectTypeOf(result.planUri).toEqualTypeOf<string | undefined>()
  },
}

const measure = defineTool({
  name: 'measure',
  title: 'Measure',
  description: 'Measure a text.',
  input: z.strictObject({ text: z.string(), unit: z.enum(['chars', 'lines']).default('chars') }),
  output: z.object({ size: z.number() }),
  permission: 'file:info',
  mutates: false,
  idempotent: true,
  plan: () => [],
  draft: async ({ text, unit }) => ({
    summary: 'Measured',
    result: () => ({ size: unit === 'chars' ? text.length : text.split('\n').length }),
  }),
})

const open = () => createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'readOnly' })
const openWithMeasure = () => createWorkspace({ backend: memory(), policy: 'autonomous', extraTools: [measure] })

describe('call', () => {
  it('has a type test for every built-in tool', () => {
    expect(Object.keys(builtinCalls)).toEqual(builtinTools.map(({ name }) => name))
  })

  it('returns the result type of a built-in tool', async () => {
    const workspace = await open()
    const file = await workspace.call('read_file', { path: 'a.txt' })
    expect(file.ok && file.content).toBe('a\n')
    if (file.ok) {
      expectTypeOf(file.content).toEqualTypeOf<string>()
      expectTypeOf(file.totalLines).toEqualTypeOf<number>()
    }
    expectTypeOf<ToolInput<'read_file'>>().toHaveProperty('path').toEqualTypeOf<string>()
    expectTypeOf<'no_such_tool'>().not.toExtend<ToolName>()
  })

  it('does not compile with a mistyped field of a result', async () => {
    type Fields<R> = string extends keyof Extract<R, { ok: true }> | keyof Extract<R, { ok: false }> ? 'open' : 'closed'
    expectTypeOf<{ [N in ToolName]: Fields<ToolResult<N>> }>().toEqualTypeOf<Record<ToolName, 'closed'>>()
    expectTypeOf<Fields<Success | Failure>>().toEqualTypeOf<'open'>()

    const workspace = await open()
    const file = await workspace.call('read_file', { path: 'missing.txt' })
    // @ts-expect-error a mistyped field of a success
    expect(file.contnet).toBeUndefined()
    // @ts-expect-error a field of the success only
    expect(file.content).toBeUndefined()
    if (file.ok) return expectTypeOf(file.warnings).toEqualTypeOf<readonly string[]>()
    // @ts-expect-error a mistyped detail of a failure
    expect(file.currentSha).toBeUndefined()
    expectTypeOf(file).toEqualTypeOf<ToolFailure>()
    expectTypeOf(file.currentSha256).toEqualTypeOf<string | null | undefined>()
    expectTypeOf(file.suggestions).toEqualTypeOf<readonly string[] | undefined>()
    expectTypeOf(file.code).toEqualTypeOf<ErrorCode>()
    expectTypeOf(file).toExtend<Failure>()
  })

  it('types the results of undo, rollback, commit and consult', async () => {
    const workspace = await open()
    for (const result of [await workspace.undo('1'), await workspace.rollback('1'), await workspace.commit()]) {
      // @ts-expect-error a mistyped field of the result
      expect(result.pahts).toBeUndefined()
      if (result.ok) expectTypeOf(result.paths).toEqualTypeOf<readonly string[]>()
      else expectTypeOf(result).toEqualTypeOf<ToolFailure>()
    }
    const consulted = await workspace.consult('policy')
    // @ts-expect-error a mistyped field of the result
    expect(consulted.txet).toBeUndefined()
    if (consulted.ok) expectTypeOf(consulted.text).toEqualTypeOf<string>()
    expect(consulted.ok && JSON.parse(consulted.text)).toMatchObject({ mode: 'act' })
  })

  it('does not compile with an unknown name', async () => {
    const workspace = await open()
    // @ts-expect-error a mistyped name
    expect(await workspace.call('raed_file', { path: 'a.txt' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
    const name: string = 'read_file'
    // @ts-expect-error a name known at run time only
    expect(await workspace.call(name, { path: 'a.txt' })).toMatchObject({ ok: true })
    // @ts-expect-error a wrong option
    expect(await workspace.call('read_file', { path: 'a.txt' }, { timeout: 1 })).toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('does not compile with a wrong input', async () => {
    const workspace = await open()
    // @ts-expect-error a mistyped field
    expect(await workspace.call('read_file', { pth: 'a.txt' })).toMatchObject({ code: 'INVALID_INPUT' })
    // @ts-expect-error a wrong type
    expect(await workspace.call('read_file', { path: 1 })).toMatchObject({ code: 'INVALID_INPUT' })
    // @ts-expect-error no input
    expect(await workspace.call('read_file')).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('has the same types in runs and forks', async () => {
    const workspace = await open()
    expectTypeOf(workspace.run().call).toEqualTypeOf(workspace.call)
    expectTypeOf((await workspace.fork()).call).toEqualTypeOf(workspace.call)
    // @ts-expect-error a mistyped name
    expect(await workspace.run().call('raed_file', {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
    // @ts-expect-error a mistyped name
    expect(await (await workspace.fork()).call('raed_file', {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
})

describe('call of an own tool', () => {
  it('takes the input of the tool, without fields that have a default, and returns its result', async () => {
    const workspace = await openWithMeasure()
    const result = await workspace.call('measure', { text: 'abc' })
    expect(result).toMatchObject({ ok: true, size: 3 })
    if (result.ok) expectTypeOf(result.size).toEqualTypeOf<number>()
    // @ts-expect-error an unknown field
    expect(await workspace.call('measure', { text: 'a', units: 'lines' })).toMatchObject({ code: 'INVALID_INPUT' })
    // @ts-expect-error a missing field
    expect(await workspace.call('measure', { unit: 'lines' })).toMatchObject({ code: 'INVALID_INPUT' })
    // @ts-expect-error a wrong type
    expect(await workspace.call('measure', { text: 'a', unit: 'bytes' })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('does not compile with a mistyped field of a result', async () => {
    const workspace = await openWithMeasure()
    for (const each of [workspace, workspace.run(), await workspace.fork()]) {
      const result = await each.call('measure', { text: 'abc' })
      // @ts-expect-error a mistyped field of the result
      expect(result.sise).toBeUndefined()
      if (!result.ok) return expectTypeOf(result).toEqualTypeOf<ToolFailure>()
      // @ts-expect-error a mistyped field of every success
      expect(result.summry).toBeUndefined()
      expect(result.size).toBe(3)
    }
  })

  it('has the same types in runs and forks, together with the built-in tools', async () => {
    const workspace = await openWithMeasure()
    const run = workspace.run()
    const fork = await workspace.fork()
    expectTypeOf(run).toEqualTypeOf<WorkspaceRun<readonly [typeof measure]>>()
    expectTypeOf(fork).toEqualTypeOf<Workspace<readonly [typeof measure]>>()
    for (const each of [run, fork, fork.run()]) {
      const result = await each.call('measure', { text: 'a\nb', unit: 'lines' })
      if (result.ok) expectTypeOf(result.size).toEqualTypeOf<number>()
      expect(result).toMatchObject({ ok: true, size: 2 })
      expect(await each.call('list_directory', {})).toMatchObject({ ok: true, entries: [] })
    }
  })

  it('does not compile in a workspace without the tool', async () => {
    const workspace = await open()
    // @ts-expect-error a tool of another workspace
    expect(await workspace.call('measure', { text: 'abc' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })

  it('is typed like callTool if the compiler does not know the tools', async () => {
    const extraTools: readonly Tool[] = [measure]
    const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', extraTools })
    // @ts-expect-error a tool of a plain Tool[]
    expect(await workspace.call('measure', { text: 'abc' })).toMatchObject({ size: 3 })
    expect(await workspace.callTool('measure', { text: 'abc' })).toMatchObject({ size: 3 })
    expect(await workspace.call('list_directory', {})).toMatchObject({ ok: true })
  })

  it('does not prevent passing the workspace where a plain Workspace is expected', async () => {
    const workspace: Workspace = await openWithMeasure()
    expect(await workspace.callTool('measure', { text: 'abc' })).toMatchObject({ size: 3 })
  })
})

describe('callTool', () => {
  it('takes any name and any input, and returns refusals', async () => {
    const workspace = await open()
    expectTypeOf(workspace.callTool).parameter(0).toEqualTypeOf<string>()
    expectTypeOf(workspace.callTool).returns.resolves.toEqualTypeOf<Success | Failure>()
    for (const run of [workspace, workspace.run(), await workspace.fork()]) {
      expect(await run.callTool('read_file', { path: 'a.txt' })).toMatchObject({ ok: true, content: 'a\n' })
      expect(await run.callTool('raed_file', null)).toMatchObject({ code: 'UNKNOWN_TOOL' })
      expect(await run.callTool('read_file', { pth: 'a.txt' })).toMatchObject({ code: 'INVALID_INPUT' })
    }
  })

  it('calls the tools of the dialect, and `own` those of the workspace', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': 'a\n' }),
      policy: 'autonomous',
      dialect: snakeCase(),
      extraTools: [measure],
    })
    const run = workspace.run()
    const input = { path: 'a.txt' }
    expect((await run.callTool('read_file', input)).output).toEqual((await run.call('read_file', input)).output)
    const file = await run.own.call('read_file', input)
    if (file.ok) expectTypeOf(file.content).toEqualTypeOf<string>()
    const result = await workspace.own.call('measure', { text: 'abc' })
    if (result.ok) expectTypeOf(result.size).toEqualTypeOf<number>()
    expect(result).toMatchObject({ size: 3 })
    expect(await workspace.own.callTool('measure', { text: 'abc' })).toMatchObject({ size: 3 })
    // @ts-expect-error a tool that neither the dialect's workspace nor the library has
    expect(await workspace.own.call('raed_file', {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
})

/** Compiled and never run: `explain` takes the input of each tool by its name, and nothing else. */
const explained = {
  everyTool: <N extends ToolName>({ explain }: WorkspaceRun, name: N, input: ToolInputs[N]) => explain(name, input),
  ownTool: (run: WorkspaceRun<readonly [typeof measure]>) => run.explain('measure', { text: 'abc' }),
  // @ts-expect-error a missing field of an own tool
  wrongOwnInput: (run: WorkspaceRun<readonly [typeof measure]>) => run.explain('measure', { unit: 'lines' }),
}

describe('explain', () => {
  it('takes the same names and inputs as call, in runs and forks too', async () => {
    expectTypeOf(explained.everyTool).returns.resolves.toEqualTypeOf<Explanation>()
    const workspace = await openWithMeasure()
    expect(await explained.ownTool(workspace)).toMatchObject({ ok: true })
    expect(await explained.wrongOwnInput(workspace)).toMatchObject({ code: 'INVALID_INPUT' })
    expectTypeOf(workspace.run().explain).toEqualTypeOf(workspace.explain)
    expectTypeOf((await workspace.fork()).explain).toEqualTypeOf(workspace.explain)
  })

  it('does not compile with an unknown name or a wrong input', async () => {
    const workspace = await open()
    // @ts-expect-error a mistyped name
    expect(await workspace.explain('raed_file', { path: 'a.txt' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
    // @ts-expect-error a tool of another workspace
    expect(await workspace.explain('measure', { text: 'abc' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
    // @ts-expect-error a mistyped field
    expect(await workspace.explain('read_file', { pth: 'a.txt' })).toMatchObject({ code: 'INVALID_INPUT' })
    // @ts-expect-error a wrong type
    expect(await workspace.explain('read_file', { path: 1 })).toMatchObject({ code: 'INVALID_INPUT' })
    // @ts-expect-error no input
    expect(await workspace.explain('read_file')).toMatchObject({ code: 'INVALID_INPUT' })
    const name: string = 'read_file'
    // @ts-expect-error a name known at run time only
    expect(await workspace.explain(name, { path: 'a.txt' })).toMatchObject({ ok: true })
  })
})

describe('explainTool', () => {
  it('takes any name and any input', async () => {
    const workspace = await open()
    expectTypeOf(workspace.explainTool).parameters.toEqualTypeOf<[name: string, input: unknown]>()
    for (const run of [workspace, workspace.run(), await workspace.fork()]) {
      expect(await run.explainTool('read_file', { path: 'a.txt' })).toEqual(
        await run.explain('read_file', { path: 'a.txt' }),
      )
      expect(await run.explainTool('raed_file', null)).toMatchObject({ code: 'UNKNOWN_TOOL' })
    }
  })

  it('explains the tools of the dialect, and `own` those of the workspace', async () => {
    const options = { backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', dialect: snakeCase() } as const
    const workspace = await createWorkspace({ ...options, extraTools: [measure] })
    const input = { path: '/workspace/a.txt', old_text: 'a', new_text: 'b' }
    expect(await workspace.explain('edit_file', input)).toMatchObject({ ok: true })
    expect(await workspace.explainTool('edit_file', input)).toMatchObject({ ok: true })
    expect(await workspace.own.explainTool('edit_file', input)).toMatchObject({ ok: false })
    expect(await workspace.own.explain('measure', { text: 'abc' })).toMatchObject({ ok: true })
    // @ts-expect-error a tool that neither the dialect's workspace nor the library has
    expect(await workspace.own.explain('raed_file', {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
})

it('an approve handler can return a plain string, directly or as a promise', async () => {
  const answers = [async () => 'allow', () => 'allow-run' as const, async () => ({ deny: 'no' })]
  const results: unknown[] = []
  for (const approve of answers) {
    const workspace = await createWorkspace({ backend: memory(), policy: 'supervised', approve })
    results.push((await workspace.call('write_file', { path: 'a.txt', content: 'a\n' })).ok)
  }
  const inPlace = await createWorkspace({ backend: memory(), policy: 'supervised', approve: async () => 'allow' })
  results.push((await inPlace.call('write_file', { path: 'a.txt', content: 'a\n' })).ok)
  const wrong = await createWorkspace({ backend: memory(), policy: 'supervised', approve: async () => 'yes' })
  expect(await wrong.call('write_file', { path: 'a.txt', content: 'a\n' })).toMatchObject({ code: 'HOOK_FAILED' })
  expect(results).toEqual([true, true, false, true])
})

it('a ToolError takes known details, and further ones if they are declared', () => {
  expectTypeOf<string extends keyof ErrorDetails ? 'open' : 'closed'>().toEqualTypeOf<'closed'>()
  // @ts-expect-error a mistyped detail
  expect(new ToolError('WRITE_CONFLICT', 'Changed', { currentSha: null }).details).toEqual({ currentSha: null })
  // @ts-expect-error a wrong type
  expect(new ToolError('WRITE_CONFLICT', 'Changed', { currentSha256: 1 }).details).toEqual({ currentSha256: 1 })
  const full = new ToolError<{ seats: number }>('LIMIT_EXCEEDED', 'Full', { seats: 3, hint: 'Wait.' })
  expect(full.details).toEqual({ seats: 3, hint: 'Wait.' })
  const error: unknown = full
  if (error instanceof ToolError) expectTypeOf(error.details).toEqualTypeOf<ErrorDetails>()
})

describe('the list of tools', () => {
  it('has the names of built-in and own tools', async () => {
    const own = defineTool({
      ...{ name: 'count', title: 'Count', description: 'Counts', mutates: false, idempotent: true },
      permission: 'file:read',
      input: z.strictObject({}),
      output: z.object({ count: z.number() }),
      plan: () => [],
      draft: async () => ({ summary: 'Counted', result: () => ({ count: 1 }) }),
    })
    const base = { backend: memory(), policy: 'autonomous', extraTools: [own] } as const
    const opened = await createWorkspace({ ...base, tools: ['read_file', 'count'] })
    expect(opened.tools.map(({ name }) => name)).toEqual(['read_file', 'count'])
    // @ts-expect-error a mistyped name of a built-in tool
    await expect(createWorkspace({ ...base, tools: ['raed_file'] })).rejects.toThrow('did you mean "read_file"?')
    // @ts-expect-error a mistyped name of an own tool
    await expect(createWorkspace({ ...base, tools: ['read_file', 'coutn'] })).rejects.toThrow('did you mean "count"?')
    // @ts-expect-error a mistyped set
    await expect(createWorkspace({ ...base, tools: 'mimimal' })).rejects.toThrow('did you mean "minimal"?')
  })
})

describe('the permissions of a rule', () => {
  const open = (permissions: PolicyRule['permissions'] & {}) =>
    createWorkspace({
      backend: memory(),
      policy: { preset: 'autonomous', rules: [{ name: 'rule', action: 'deny', permissions, paths: ['docs/**'] }] },
    })

  it('are permissions, groups and patterns', async () => {
    await open([
      '*',
      'file:change',
      'file:view',
      'file:*',
      'file:write:*',
      'file:write:create',
      'file:*:create',
      'git:*',
    ])
  })

  it('do not compile if they are mistyped', async () => {
    // @ts-expect-error a mistyped part of a pattern
    await expect(open(['fiel:*'])).rejects.toThrow('names no permission')
    // @ts-expect-error a mistyped group
    await expect(open(['file:chnage'])).rejects.toThrow('did you mean "file:change"?')
    // @ts-expect-error the first parts of permissions, without the others
    await expect(open(['file:write'])).rejects.toThrow('did you mean "file:write:*"?')
    // @ts-expect-error the permission of another system
    await expect(open(['write'])).rejects.toThrow('did you mean "file:change"?')
  })
})
