import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { createWorkspace, defineTool, type ToolName } from '../../src/index.ts'

const files = { 'a.txt': 'one\n', '.env': 'KEY=1\n' }

/** Replaces the built-in `read_file` by a tool with another schema. */
const readFirst = defineTool({
  name: 'read_file',
  title: 'Read the first characters',
  description: 'Read the first characters of a file.',
  input: z.strictObject({ file: z.string(), chars: z.number().default(2) }),
  output: z.object({ start: z.string() }),
  permission: 'file:read',
  mutates: false,
  idempotent: true,
  plan: ({ file }) => [{ permission: 'file:read', path: file }],
  async draft({ chars }, context) {
    const { text } = await context.files.document(context.accesses[0]?.path as never, context.limits.textFileBytes)
    return { summary: 'Read', result: () => ({ start: text.slice(0, chars) }) }
  },
})

/** A tool with an empty plan that returns its name. */
const answering = <const N extends string>(name: N) =>
  defineTool({
    name,
    title: name,
    description: name,
    input: z.strictObject({}),
    output: z.object({ answer: z.string() }),
    permission: 'file:info',
    mutates: false,
    idempotent: true,
    plan: () => [],
    draft: async () => ({ summary: name, result: () => ({ answer: name }) }),
  })

const open = (more: { readonly tools?: 'minimal' | readonly ToolName[] } = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', extraTools: [readFirst], ...more })

describe('an own tool with the name of a built-in tool', () => {
  it('replaces that tool, also in the runs and forks of the workspace', async () => {
    const workspace = await open()
    for (const run of [workspace, workspace.run(), await workspace.fork()]) {
      expect(await run.call('read_file', { file: 'a.txt' })).toMatchObject({ ok: true, start: 'on' })
      expect(await run.callTool('read_file', { path: 'a.txt' })).toMatchObject({ code: 'INVALID_INPUT' })
    }
    const offered = workspace.tools.filter(({ name }) => name === 'read_file')
    expect(offered.map(({ title }) => title)).toEqual(['Read the first characters'])
    const other = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
    expect(await other.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
  })

  it('replaces the types of that tool', async () => {
    const workspace = await open()
    const result = await workspace.call('read_file', { file: 'a.txt', chars: 3 })
    if (result.ok) expectTypeOf(result.start).toEqualTypeOf<string>()
    expect(result).toMatchObject({ start: 'one' })
    // @ts-expect-error the input of the built-in tool
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('is evaluated by its own plan', async () => {
    const workspace = await open()
    expect(await workspace.call('read_file', { file: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await workspace.call('read_file', { file: '../a.txt' })).toMatchObject({ code: 'PATH_REJECTED' })
  })

  it('is registered once, whatever the tool set contains', async () => {
    for (const tools of ['minimal', ['list_directory'], ['read_file']] as const) {
      const { tools: registered } = await open({ tools })
      expect(registered.filter(({ name }) => name === 'read_file')).toHaveLength(1)
    }
  })

  it('serves a dialect and workspace.files only if its schema accepts the call', async () => {
    const options = { backend: memory(files), policy: 'autonomous', dialect: snakeCase() } as const
    const refused = await createWorkspace({ ...options, extraTools: [readFirst] })
    expect((await refused.call('read_file', { path: 'a.txt' })).failure).toMatchObject({ code: 'INVALID_INPUT' })
    await expect(refused.files.read('a.txt')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('does not provide the workspace hash that other tools return', async () => {
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: { preset: 'autonomous', tools: { diff_workspace: 'allow' } },
      extraTools: [answering('diff_workspace')],
    })
    const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n'
    expect(await workspace.call('apply_patch', { patch })).toMatchObject({ ok: true, newWorkspaceDiffSha256: null })
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ answer: 'diff_workspace' })
  })
})

describe('an own tool with the name of an operation', () => {
  it.each([
    'undo',
    'rollback',
    'commit',
    'git_add',
    'git_checkout',
    'git_push',
    'policy',
    'report',
    'resume',
    'approve_plan',
  ] as const)('%s is called by name, and the operation stays', async (name) => {
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: 'autonomous',
      extraTools: [answering(name)],
    })
    expect(await workspace.call(name, {})).toMatchObject({ ok: true, answer: name })
    const result = await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })
    if (!result.ok) throw new Error(result.message)
    expect(await workspace.undo(result.callId)).toMatchObject({ ok: true })
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
  })

  it('is the only tool that the name calls', async () => {
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
    for (const name of ['undo', 'rollback', 'commit', 'git_add', 'git_checkout', 'git_push', 'policy', 'report']) {
      expect(await workspace.callTool(name, {}), name).toMatchObject({ code: 'UNKNOWN_TOOL' })
    }
  })
})
