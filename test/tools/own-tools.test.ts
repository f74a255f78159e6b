import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { toJsonSchema } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, defineTool, type Path, type Tool, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { boundOutput } from '../../src/tools/shared/command-output.ts'
import { parseRecording, replay } from '../../src/workspace/replay.ts'

/** Counts the lines of a file, and writes the number to the file `into` on request. */
const countLines = defineTool({
  name: 'count_lines',
  title: 'Count lines',
  description: 'Count the lines of a text file.',
  input: z.strictObject({ path: z.string(), into: z.string().optional() }),
  output: z.object({ lines: z.number() }),
  permission: 'file:write:create',
  mutates: true,
  idempotent: true,
  plan: ({ path, into }) => [
    { permission: 'file:read', path },
    ...(into === undefined ? [] : [{ permission: 'file:write:create' as const, path: into }]),
  ],
  async draft(_input, context) {
    const [from, to] = context.accesses
    const document = await context.files.document(from?.path as never, context.limits.textFileBytes)
    const bytes = new TextEncoder().encode(`${document.totalLines}\n`)
    return {
      summary: `${document.totalLines} lines`,
      changes: to === undefined ? [] : [{ path: to.path, expect: 'absent', to: { type: 'file', bytes } }],
      result: () => ({ lines: document.totalLines }),
    }
  },
})

/** The fields of a tool that plans no access. */
const bare = {
  title: 'Bare',
  description: 'Plans nothing.',
  permission: 'file:read',
  mutates: false,
  idempotent: false,
  plan: () => [],
} as const

const files = { 'a.txt': 'one\ntwo\n', '.env': 'KEY=1\n' }
const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', extraTools: [countLines], ...options })

describe('tools of the embedding program', () => {
  it('go through the pipeline: change, audit and undo', async () => {
    const workspace = await open()
    const counted = await workspace.call('count_lines', { path: 'a.txt', into: 'a.count' })
    expect(counted).toMatchObject({ ok: true, lines: 2, summary: '2 lines' })
    expect(await workspace.call('read_file', { path: 'a.count' })).toMatchObject({ content: '2\n' })
    expect(workspace.auditRecords().find(({ phase }) => phase === 'outcome')).toMatchObject({
      toolName: 'count_lines',
      pathsRead: ['a.txt'],
      pathsWritten: ['a.count'],
    })
    if (counted.ok) expect(await workspace.undo(counted.callId)).toMatchObject({ ok: true })
    expect(await workspace.call('read_file', { path: 'a.count' })).toMatchObject({ code: 'NOT_FOUND' })
  })

  describe('change a path only by an access whose permission fits the change', () => {
    const planned = [
      ...[
        'file:list',
        'file:read',
        'file:search',
        'file:info',
        'file:diff',
        'memory:read',
        'command:run',
        'plan:submit',
      ],
      ...['file:write:create', 'file:write:replace', 'file:append', 'file:copy', 'file:move', 'file:patch:apply'],
      ...['file:delete', 'memory:write'],
    ] as const
    const fitting: Readonly<Record<string, readonly string[]>> = {
      create: [
        'file:write:create',
        'file:write:replace',
        'file:append',
        'file:copy',
        'file:move',
        'file:patch:apply',
        'memory:write',
      ],
      replace: ['file:write:replace', 'file:append', 'file:copy', 'file:move', 'file:patch:apply', 'memory:write'],
      delete: ['file:delete', 'file:move', 'file:patch:apply'],
    }
    const bytes = new TextEncoder().encode('changed\n')
    const changes = {
      create: { path: 'new.txt', expect: 'absent', to: { type: 'file', bytes } },
      replace: { path: 'a.txt', expect: 'any', to: { type: 'file', bytes } },
      delete: { path: 'a.txt', expect: 'any', to: null },
    } as const

    it.each(Object.keys(changes).flatMap((kind) => planned.map((permission) => [kind, permission] as const)))(
      '%s with %s',
      async (kind, permission) => {
        // The permissions of notes are for notes only.
        const directory = permission.startsWith('memory:') ? 'notes' : '.'
        const inside = (path: string) => (directory === '.' ? path : `${directory}/${path}`)
        const change = {
          ...changes[kind as keyof typeof changes],
          path: inside(changes[kind as keyof typeof changes].path),
        }
        const changer = defineTool({
          ...countLines,
          name: 'changer',
          plan: () => [{ permission: permission as 'file:read', path: change.path }],
          draft: async () => ({ summary: 'Changed', changes: [change as never], result: () => ({ lines: 0 }) }),
        })
        const workspace = await open({
          backend: memory({ [inside('a.txt')]: 'one\ntwo' }),
          policy: { preset: 'autonomous', memory: { path: 'notes' } },
          extraTools: [changer] as Tool[],
        })
        const result = await workspace.callTool('changer', { path: change.path })
        if (fitting[kind]?.includes(permission)) expect(result).toMatchObject({ ok: true })
        else expect(result).toMatchObject({ ok: false, code: expect.stringMatching(/^(POLICY_DENIED|NOT_FOUND)$/) })
        const after = await workspace.files.list(directory)
        if (result.ok !== true) expect(after.map(({ path }) => path).sort()).toEqual([inside('a.txt')])
      },
    )

    it.each([
      ['memory:read', 'a.txt'],
      ['memory:write', 'a.txt'],
      ['memory:read', 'notes-of-others/a.md'],
      ['memory:read', 'notes/out.md'],
      ['memory:write', 'notes/away/new.md'],
    ] as const)('have %s only for notes, not for %s', async (permission, path) => {
      const tree = {
        'a.txt': 'one\n',
        'notes/out.md': { link: '../a.txt' },
        'notes/away': { link: '../other' },
        other: { directory: true },
      }
      const noter = defineTool({
        ...countLines,
        name: 'noter',
        plan: () => [{ permission, path }],
        draft: async (_input, { files, accesses }) => {
          const stat = await files.stat(accesses[0]?.path as Path)
          return { summary: 'Read', result: () => ({ lines: stat?.size ?? 0 }) }
        },
      })
      for (const notes of [{}, { memory: { path: 'notes' } }]) {
        const backend = memory(tree as never)
        const workspace = await open({
          backend,
          policy: { preset: 'autonomous', ...notes },
          extraTools: [noter] as Tool[],
        })
        const result = await workspace.callTool('noter', { path })
        expect(result).toMatchObject({
          code: 'POLICY_DENIED',
          message: expect.stringContaining('outside of the notes'),
        })
      }
    })

    const states = {
      file: { 'd/e': 'file' },
      'an empty directory': { 'd/e': { directory: true } },
      'a directory with a file': { 'd/e/other.txt': 'other' },
      'a link': { 'd/e': { link: '../a.txt' } },
    } as const
    const above = {
      'a removal': { expect: 'any', to: null },
      'a removal of the present version': { expect: 'present', to: null },
      'a directory': { expect: 'any', to: { type: 'directory' } },
    } as const

    it.each(Object.keys(states).flatMap((state) => Object.keys(above).map((change) => [state, change] as const)))(
      '%s above a granted path: %s',
      async (state, name) => {
        const backend = memory({ 'a.txt': 'one\n', ...states[state as keyof typeof states] })
        const before = await backend.stat('d/e' as Path)
        const { expect: expected, to } = above[name as keyof typeof above]
        const change = { path: 'd/e' as Path, expect: expected === 'any' ? expected : { tag: before?.tag ?? '' }, to }
        const remover = defineTool({
          ...countLines,
          name: 'remover',
          plan: () =>
            (['file:delete', 'file:write:create'] as const).map((permission) => ({
              ...{ permission, path: 'd/e/new.txt' },
              ...(state === 'file' || state === 'a link' ? { removedAncestor: 'd/e' } : {}),
            })),
          draft: async () => ({ summary: 'Changed', changes: [change], result: () => ({ lines: 0 }) }),
        })
        const workspace = await open({ backend, extraTools: [remover] as Tool[] })
        const result = await workspace.callTool('remover', { path: 'a.txt' })
        const after = await backend.stat('d/e' as Path)
        const isRemoved = state === 'an empty directory' && name === 'a removal of the present version'
        expect(after?.type).toBe(isRemoved ? undefined : before?.type)
        expect(after?.tag).toBe(isRemoved ? undefined : before?.tag)
        const isAllowed = isRemoved || (state.includes('directory') && name === 'a directory')
        expect(result.ok).toBe(isAllowed)
      },
    )

    it('a write to a generated file is evaluated as a write, although the file was planned as read first', async () => {
      const backend = memory({ 'a.ts': '// @generated by x. DO NOT EDIT\n' })
      const both = defineTool({
        ...countLines,
        name: 'both',
        plan: ({ path }) => [
          { permission: 'file:read', path },
          { permission: 'file:write:replace', path },
        ],
        draft: async (_input, { accesses }) => ({
          summary: 'Changed',
          changes: [{ path: accesses[0]?.path as never, expect: 'any', to: { type: 'file', bytes } }],
          result: () => ({ lines: 0 }),
        }),
      })
      const workspace = await open({ backend, extraTools: [both] as Tool[] })
      expect(await workspace.callTool('both', { path: 'a.ts' })).toMatchObject({ ok: false, code: 'POLICY_DENIED' })
    })
  })

  it('are guarded and subject to policy, and cannot access paths beyond their plan', async () => {
    const greedy = defineTool({
      ...countLines,
      name: 'greedy',
      plan: () => [],
      draft: async (_input, context) => ({
        summary: String(await context.files.stat('a.txt' as never)),
        result: () => ({ lines: 0 }),
      }),
    })
    const workspace = await open({
      extraTools: [countLines, greedy],
      policy: { preset: 'autonomous', tools: { greedy: 'allow' } },
    })
    expect(await workspace.call('count_lines', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await workspace.call('count_lines', { path: '../a.txt' })).toMatchObject({ code: 'PATH_REJECTED' })
    expect(await workspace.callTool('count_lines', { path: 1 })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await workspace.callTool('greedy', { path: 'a.txt' })).toMatchObject({ ok: false, code: 'POLICY_DENIED' })
    const denying = await open({ policy: { preset: 'autonomous', tools: { count_lines: 'deny' } } })
    expect(await denying.call('count_lines', { path: 'a.txt' })).toMatchObject({ code: 'POLICY_DENIED' })
    const sealed = await open({ readOnly: true })
    expect(await sealed.call('count_lines', { path: 'a.txt' })).toMatchObject({ code: 'READ_ONLY' })
  })

  it('with a command line are evaluated by it, and need a shell', async () => {
    const deploy = defineTool({ ...countLines, name: 'deploy', commandLine: () => 'rm -rf /', plan: () => [] })
    const input = { path: 'a.txt' }
    const without = await open({ extraTools: [deploy] as Tool[] })
    expect(await without.callTool('deploy', input)).toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    const looking = defineTool({
      ...bare,
      name: 'looking',
      input: z.strictObject({}),
      output: z.object({ has: z.boolean() }),
      draft: async (_input, { commands }) => ({ summary: 'Looked', result: () => ({ has: commands !== undefined }) }),
    })
    const tools = {
      extraTools: [looking] as Tool[],
      policy: { preset: 'autonomous', tools: { looking: 'allow' } },
    } as const
    expect(await (await open(tools)).callTool('looking', {})).toMatchObject({ ok: true, has: false })
    expect(await (await open({ ...tools, shell: bash() })).callTool('looking', {})).toMatchObject({
      ok: true,
      has: true,
    })
    const workspace = await open({ extraTools: [deploy] as Tool[], shell: bash() })
    expect(await workspace.callTool('deploy', input)).toMatchObject({ ok: false, code: 'COMMAND_DENIED' })
    expect(await workspace.explainTool('deploy', input)).toMatchObject({
      verdict: { decision: 'deny' },
      line: { commands: [{ text: 'rm -rf /' }] },
    })
  })

  it('can get the taint of the run, and check a host before they contact it', async () => {
    const send = defineTool({
      ...bare,
      name: 'send',
      input: z.strictObject({}),
      output: z.object({ taint: z.string() }),
      async draft(_input, context) {
        const taint = context.taint()
        context.requireHostAllowed('api.example.com')
        return { summary: 'Sent', result: () => ({ taint }) }
      },
    })
    const labels = {
      sources: [{ label: 'confidential', paths: ['a.txt'] }],
      sinks: [{ name: 'outside', ceiling: 'internal', hosts: ['*.example.com'] }],
    } as const
    const workspace = await open({
      extraTools: [send] as Tool[],
      policy: { preset: 'autonomous', labels, tools: { send: 'allow' } },
    })
    expect(await workspace.callTool('send', {})).toMatchObject({ ok: true, taint: 'public' })
    await workspace.call('read_file', { path: 'a.txt' })
    expect(await workspace.callTool('send', {})).toMatchObject({
      code: 'TAINT_DENIED',
      message: expect.stringContaining('reach "api.example.com"'),
      sink: 'outside',
    })
  })

  it('that fill the artifact storage leave no room for diffs and plans, and calls continue', async () => {
    const fill = defineTool({
      ...bare,
      name: 'fill',
      input: z.strictObject({}),
      output: z.object({ kept: z.boolean(), more: z.boolean() }),
      async draft(_input, context) {
        const isKept = context.keepArtifact('all.txt', ' '.repeat(64 * 1024 * 1024)) !== undefined
        const more = context.keepArtifact('more.txt', 'more') !== undefined
        const stdout = 'x\n'.repeat(context.limits.commandOutputBytes)
        const { uri, truncated } = boundOutput({ stdout, stderr: '' }, context)
        return { summary: 'Filled', result: () => ({ kept: isKept, more: more || uri !== undefined || !truncated }) }
      },
    })
    const workspace = await open({
      extraTools: [fill] as Tool[],
      policy: { preset: 'autonomous', tools: { fill: 'allow' } },
    })
    expect(await workspace.callTool('fill', {})).toMatchObject({ ok: true, kept: true, more: false })
    const edited = await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'uno' })
    expect(edited).toMatchObject({ ok: true, warnings: [expect.stringContaining('The diff was not kept')] })
    expect(edited).not.toHaveProperty('artifactUri')
    expect(workspace.auditRecords().at(-1)).toMatchObject({
      phase: 'outcome',
      pathsWritten: ['a.txt'],
      artifactUris: [],
    })
  })

  it('are available with any set, and are listed like the others', async () => {
    for (const tools of ['minimal', ['read_file'], ['read_file', 'count_lines']] as const) {
      const workspace = await open({ tools })
      expect(workspace.tools.at(-1)?.name).toBe('count_lines')
      expect(toJsonSchema(workspace.tools).at(-1)?.inputSchema).toMatchObject({ required: ['path'] })
    }
    expect((await open({ extraTools: [] })).tools.map(({ name }) => name)).not.toContain('count_lines')
  })

  describe('are checked when the workspace is created', () => {
    const { draft: _draft, ...withoutDraft } = countLines
    const { plan: _plan, ...withoutPlan } = countLines
    const { output: _output, ...withoutOutput } = countLines
    const wrong: Readonly<Record<string, readonly [tool: unknown, message: string]>> = {
      'an unknown permission': [{ ...countLines, permission: 'file:raed' }, 'did you mean "file:read"?'],
      'the permission of git': [{ ...countLines, permission: 'git:write' }, 'unknown permission "git:write"'],
      'an unknown field': [
        { ...countLines, idempotant: true },
        'unknown field "idempotant"; did you mean "idempotent"?',
      ],
      'a misspelled method': [{ ...countLines, commandline: () => '' }, 'did you mean "commandLine"?'],
      'no draft': [withoutDraft, '"draft" is missing; it must be a function'],
      'no plan': [withoutPlan, '"plan" is missing; it must be a function'],
      'no output': [withoutOutput, '"output" is missing; it must be a zod 4 object schema'],
      'a draft that is not a function': [{ ...countLines, draft: {} }, '"draft" must be a function'],
      'a flag that is not a boolean': [{ ...countLines, mutates: 'yes' }, '"mutates" must be true or false'],
      'a description that is not a string': [{ ...countLines, description: 1 }, '"description" must be a string'],
      'a plain object as input': [
        { ...countLines, input: { path: 'string' } },
        '"input" must be a zod 4 object schema',
      ],
      'an output that is not an object': [
        { ...countLines, output: z.string() },
        '"output" must be a zod 4 object schema',
      ],
      'a field that every result has': [{ ...countLines, output: z.object({ ok: z.boolean() }) }, 'the field "ok"'],
      'a change that it denies': [{ ...countLines, mutates: false }, '"mutates" is false'],
      'no tool': [null, 'extraTools[0] is not a tool'],
    }
    it.each(Object.entries(wrong))('%s', async (_name, [tool, message]) => {
      const created = open({ extraTools: [tool as Tool] })
      await expect(created).rejects.toThrow(TypeError)
      await expect(open({ extraTools: [tool as Tool] })).rejects.toThrow(message)
    })
  })

  describe('that throw report the function and the cause, without its text', () => {
    const error = new RangeError('in /home/me/tool.js')
    const fail = () => {
      throw error
    }
    const result = () => ({ lines: 1 })
    const failing: Readonly<Record<string, readonly [tool: object, step: string, cause: unknown]>> = {
      plan: [{ plan: fail }, 'plan (RangeError)', error],
      'a plan that is not an array': [{ plan: () => ({}) }, 'plan (TypeError)', /not return an array/],
      'a plan with an unknown permission': [
        { plan: () => [{ permission: 'file:raed', path: 'a.txt' }] },
        'plan (TypeError)',
        /did you mean "file:read"/,
      ],
      'a plan with the permission of git': [
        { plan: () => [{ permission: 'git:write', path: '.git/config' }] },
        'plan (TypeError)',
        /unknown permission/,
      ],
      'a plan with an unknown field': [
        { plan: () => [{ permission: 'file:read', path: 'a.txt', recursve: true }] },
        'plan (TypeError)',
        /did you mean "recursive"/,
      ],
      commandLine: [{ commandLine: fail, plan: () => [] }, 'commandLine (RangeError)', error],
      draft: [{ draft: fail }, 'draft (RangeError)', error],
      'a rejecting draft': [{ draft: () => Promise.reject(error) }, 'draft (RangeError)', error],
      'a thrown text': [{ draft: () => Promise.reject('text') }, 'draft', 'text'],
      'a draft without result': [{ draft: async () => ({ summary: 'x' }) }, 'draft (TypeError)', /"result"/],
      'a draft without summary': [{ draft: async () => ({ result }) }, 'draft (TypeError)', /"summary"/],
      result: [{ draft: async () => ({ summary: 'x', result: fail }) }, 'result (RangeError)', error],
      'a result of another type': [
        { draft: async () => ({ summary: 'x', result: () => ({ lines: 'one' }) }) },
        'result (TypeError)',
        /lines must be a number, not a string/,
      ],
      'changes of a reading tool': [
        {
          ...{ mutates: false, permission: 'file:read' },
          draft: async () => ({ summary: 'x', result, changes: [{ path: 'a.txt', expect: 'any', to: null }] }),
        },
        'draft (TypeError)',
        /"mutates" of the tool is false/,
      ],
    }
    it.each(Object.entries(failing))('%s', async (_name, [parts, step, cause]) => {
      const broken = { ...countLines, ...parts, name: 'broken' } as unknown as Tool
      const workspace = await open({ extraTools: [broken], shell: bash() })
      const failure = await workspace.callTool('broken', { path: 'a.txt' })
      expect(failure).toMatchObject({
        ...{ ok: false, code: 'BACKEND_ERROR', message: `The tool broken failed in ${step}` },
        hint: expect.stringContaining('an error of the tool'),
      })
      if (cause instanceof RegExp) expect(String(failure.cause)).toMatch(cause)
      else expect(failure.cause).toBe(cause)
      expect(JSON.stringify({ ...failure })).not.toMatch(/home|stack/)
      expect(JSON.stringify(workspace.auditRecords())).not.toContain('/home')
      expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\ntwo\n' })
    })
  })

  it('return the fields of their output and no others', async () => {
    const chatty = {
      ...countLines,
      name: 'chatty',
      draft: async () => ({ summary: 'x', result: () => ({ lines: 1, ok: false, secret: 'x' }) }),
    } as unknown as Tool
    const result = await (await open({ extraTools: [chatty] })).callTool('chatty', { path: 'a.txt' })
    expect(result).toMatchObject({ ok: true, lines: 1 })
    expect(result).not.toHaveProperty('secret')
  })

  it('report that their changes are committed if their result fails', async () => {
    const workspace = await open({
      extraTools: [
        defineTool({
          ...countLines,
          draft: async (input, context) => ({
            ...(await countLines.draft(input, context)),
            result: () => ({}) as never,
          }),
        }),
      ],
    })
    const failure = await workspace.callTool('count_lines', { path: 'a.txt', into: 'a.count' })
    expect(failure).toMatchObject({ ok: false, hint: expect.stringContaining('The changes of the call stand') })
    expect(await workspace.call('read_file', { path: 'a.count' })).toMatchObject({ content: '2\n' })
  })

  it.each([
    ['raed_file', 'Did you mean "read_file"? Use one of'],
    ['count_line', 'Did you mean "count_lines"? Use one of'],
    ['ReadFile', 'Did you mean "read_file"? Use one of'],
  ])('suggest the nearest name for %j', async (name, hint) => {
    const workspace = await open()
    expect(await workspace.callTool(name, {})).toMatchObject({
      code: 'UNKNOWN_TOOL',
      hint: expect.stringContaining(hint),
    })
  })

  it.each([
    [{ paht: 'a.txt' }, 'path is missing; paht is unknown; did you mean "path"?'],
    [{ path: 'a.txt', itno: 'b' }, 'did you mean "into"?'],
    [{ path: 1, itno: 'b' }, 'path must be a string, not 1; itno is unknown; did you mean "into"?'],
  ])('suggest the nearest fields for %j', async (input, message) => {
    const workspace = await open()
    expect(await workspace.callTool('count_lines', input)).toMatchObject({
      ...{ code: 'INVALID_INPUT', message: expect.stringContaining(message) },
    })
  })

  it.each(['Count', 'count-lines', '', '1st', 'x'.repeat(65)])('cannot be named %j', async (name) => {
    await expect(open({ extraTools: [{ ...countLines, name }] })).rejects.toThrow(TypeError)
  })

  it('cannot share a name', async () => {
    await expect(open({ extraTools: [countLines, countLines] as Tool[] })).rejects.toThrow(
      'Two own tools have the name "count_lines"',
    )
  })

  it('are repeated by a replay that receives them', async () => {
    const lines: string[] = []
    const workspace = await open({ record: (line) => void lines.push(line) })
    await workspace.call('count_lines', { path: 'a.txt', into: 'b.txt' })
    await workspace.close()
    const recording = parseRecording(lines.join('\n'))
    expect(await replay(recording, { backend: memory(files), extraTools: [countLines] })).toEqual({
      ok: true,
      steps: 1,
    })
    await expect(replay(recording, { backend: memory(files) })).rejects.toThrow(TypeError)
  })
})
