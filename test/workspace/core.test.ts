import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace as createFull, defineTool, type PolicyInput, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import {
  allTools,
  deleteFile,
  editFile,
  fileTools,
  listDirectory,
  minimalTools,
  readFile,
  searchText,
} from '../../src/tools/entry.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { toolFields } from '../../src/tools/tool-fields.ts'
import { resolveToolSet } from '../../src/tools/tool-sets.ts'
import { createWorkspace } from '../../src/workspace/core.ts'
import { snapshot } from '../tools/setup.ts'
import { toolRows, tree } from '../tools/table.ts'

const labels = {
  sources: [{ label: 'restricted', paths: ['d'] }],
  sinks: [{ name: 'root', ceiling: 'public', paths: ['*.ts'] }],
} as const

const policies: readonly (readonly [string, PolicyInput])[] = [
  ['autonomous', { preset: 'autonomous', memory: {} }],
  ['supervised', { preset: 'supervised', memory: {} }],
  ['labelled', { preset: 'autonomous', memory: {}, labels }],
  ['an allowlist', { allowedPaths: ['d'], tools: { delete_file: 'deny' } }],
]

const oddPaths = ['', '../x', '/etc/passwd', '.env', 'to-secret', 'to-nothing', 'blob.dat', 'latin.txt', 'd', 'none/a']
const protectedPaths = ['.git/config', 'node_modules/p/i.js', 'package-lock.json']

/** The input of a row, every wrong value, and every odd path in each field that holds a path. */
function inputsOf([, { input, wrong, paths }]: (typeof toolRows)[number]): readonly unknown[] {
  const fields = wrong.map(([field, value]) => ({ ...input, [field]: value }))
  const places = paths.flatMap((field) => [...oddPaths, ...protectedPaths].map((path) => ({ ...input, [field]: path })))
  return [input, { ...input, surprise: 1 }, ...fields, ...places]
}

function optionsOf(policy: PolicyInput, name: string): WorkspaceOptions & { backend: ReturnType<typeof memory> } {
  let next = 0
  return {
    ...{ backend: memory(tree), policy, ...(name.endsWith('_command') ? { shell: bash() } : {}) },
    mode: name === 'submit_plan' ? 'plan' : 'act',
    clock: () => 1000,
    ids: () => `id-${next++}`,
    run: { id: 'run' },
  }
}

describe('createWorkspace of wardspace/core', () => {
  it.each(policies.flatMap(([title, policy]) => toolRows.map((row) => [row[0], title, policy, row] as const)))(
    'answers and records %s as wardspace does: %s',
    async (name, _, policy, row) => {
      const outcomes: unknown[] = []
      for (const create of [
        (options: WorkspaceOptions) => createFull(options),
        (options: Omit<WorkspaceOptions, 'tools' | 'dialect'>) => createWorkspace({ ...options, tools: allTools }),
      ]) {
        const options = optionsOf(policy as never, name)
        const workspace = await create(options)
        const results: unknown[] = [workspace.tools.map((tool) => tool.name)]
        for (const input of inputsOf(row)) {
          results.push(await workspace.explainTool(name, input), await workspace.callTool(name, input))
        }
        const records = workspace.auditRecords().map((record) => ({ ...record, durationMs: 0, hash: '', previous: '' }))
        outcomes.push({ results, records, files: await snapshot(options.backend), ok: workspace.verifyAudit().ok })
        await workspace.close()
      }
      expect(JSON.parse(JSON.stringify(outcomes[1]))).toEqual(JSON.parse(JSON.stringify(outcomes[0])))
    },
  )

  it('has only the given tools', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': 'one\n', '.env': 'TOKEN=1\n' }),
      policy: 'autonomous',
      tools: [readFile, listDirectory],
    })
    expect(workspace.tools.map(({ name }) => name)).toEqual(['read_file', 'list_directory'])
    const read = await workspace.call('read_file', { path: 'a.txt' })
    if (read.ok) expectTypeOf(read.content).toEqualTypeOf<string>()
    expect(read).toMatchObject({ ok: true, content: 'one\n' })
    expect(await workspace.call('read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    // @ts-expect-error this workspace does not have the tool
    expect(await workspace.call('write_file', { path: 'a.txt', content: '' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
    // @ts-expect-error a mistyped field
    expect(await workspace.call('read_file', { file: 'a.txt' })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('has no tools by default', async () => {
    const workspace = await createWorkspace({ backend: memory({}), policy: 'readOnly' })
    expect(workspace.tools).toEqual([])
    expect(await workspace.callTool('read_file', {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })

  it('undoes, forks, commits, asks and resumes', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': 'one\n' }),
      policy: { preset: 'autonomous', tools: { delete_file: 'ask' } },
      tools: [editFile, deleteFile],
    })
    const edited = await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
    if (!edited.ok) throw new Error(edited.message)
    expect(edited.diff).toContain('+two')
    const fork = await workspace.fork()
    expect(await fork.call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'three' })).toMatchObject({
      ok: true,
    })
    expect(await workspace.undo(edited.callId)).toMatchObject({ ok: true, paths: ['a.txt'] })
    expect(await fork.commit()).toMatchObject({ code: 'WRITE_CONFLICT' })
    const asked = await workspace.call('delete_file', { path: 'a.txt' })
    if (asked.ok) throw new Error('no approval was requested')
    expect(await workspace.resume(asked.approvalId ?? '', 'allow')).toMatchObject({ ok: true })
    expect(workspace.verifyAudit()).toMatchObject({ ok: true })
  })

  it('takes own tools beside the built-in ones', async () => {
    const workspace = await createWorkspace({
      backend: memory({}),
      policy: 'autonomous',
      tools: [searchText],
      extraTools: [ownTool],
    })
    const result = await workspace.call('say', {})
    if (result.ok) expectTypeOf(result.word).toEqualTypeOf<string>()
    expect(result).toMatchObject({ ok: true, word: 'a' })
  })

  it.each([
    ['a set', { tools: 'minimal' }, /"tools".*list of tools of wardspace\/tools/],
    ['a name', { tools: ['read_file'] }, /tools\[0\].*wardspace\/tools/],
    ['an own tool', { tools: [readFile, { ...readFile }] }, /tools\[1\].*extraTools/],
    ['a repeated tool', { tools: [readFile, readFile] }, /"read_file".*twice/],
    ['a dialect', { dialect: {} }, /"dialect"/],
    ['an unknown option', { tool: [] }, /"tool".*"tools"/],
  ])('refuses %s', async (_, options, message) => {
    const creating = createWorkspace({ backend: memory({}), policy: 'autonomous', ...(options as object) })
    await expect(creating).rejects.toThrow(TypeError)
    await expect(creating).rejects.toThrow(message)
  })

  it('accepts a policy that names built-in tools which the page does not have, and refuses other names', async () => {
    const options = { backend: memory({}), tools: [readFile] } as const
    const named = { preset: 'autonomous', tools: { apply_patch: 'deny' }, rules: [rule('replace_range', 'newText')] }
    await expect(createWorkspace({ ...options, policy: named as never })).resolves.toBeDefined()
    const misspelled = { ...named, rules: [rule('replace_range', 'text')] }
    await expect(createWorkspace({ ...options, policy: misspelled as never })).rejects.toThrow(/"text"/)
  })
})

describe('the tools of wardspace/tools', () => {
  it('have the input fields that policies may name', () => {
    const fields = builtinTools.map(({ name, input }) => [name, Object.keys(input.shape).join(' ')])
    expect(toolFields).toEqual(Object.fromEntries(fields))
  })

  it('form the same sets as those of wardspace, in the same order', () => {
    const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name)
    const registry = names(builtinTools)
    expect(names(minimalTools)).toEqual(resolveToolSet('minimal', registry))
    expect(names(fileTools)).toEqual(resolveToolSet('files', registry))
    expect(names(allTools)).toEqual(registry)
  })

  it('are each an export of its own', async () => {
    const entry: Readonly<Record<string, unknown>> = await import('../../src/tools/entry.ts')
    const exported = new Set(Object.values(entry))
    expect(builtinTools.filter((tool) => !exported.has(tool)).map(({ name }) => name)).toEqual([])
  })
})

const ownTool = defineTool({
  name: 'say',
  title: 'Say',
  description: 'Say a word.',
  input: z.strictObject({}),
  output: z.object({ word: z.string() }),
  permission: 'file:info',
  mutates: false,
  idempotent: true,
  plan: () => [],
  draft: async () => ({ summary: 'Said', result: () => ({ word: 'a' }) }),
})

function rule(tool: string, field: string) {
  return { name: 'r', action: 'deny', tools: [tool], args: { [field]: ['x'] } } as const
}
