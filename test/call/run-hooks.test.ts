import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { createWorkspace, type Hooks, type WorkspaceOptions } from '../../src/index.ts'

const files = () =>
  memory({
    'src/app.ts': 'export const answer = 41\n',
    '.env': 'PASSWORD=hunter2\n',
    'people/salaries.csv': 'Ann,70\n',
  })

function open(options: Partial<WorkspaceOptions> = {}) {
  return createWorkspace({ backend: files(), policy: 'autonomous', ...options })
}

describe('hooks', () => {
  const withHooks = (hooks: Hooks) => open({ hooks, limits: { hookTimeoutMs: 50 } })

  it('refuse calls, and policy evaluates narrowed input again', async () => {
    const refusing = await withHooks({
      preToolCall: ({ tool }) => (tool === 'read_file' ? { refuse: 'no reading' } : undefined),
    })
    expect(await refusing.call('read_file', { path: 'src/app.ts' })).toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringContaining('no reading'),
    })
    const narrowing = await withHooks({ preToolCall: () => ({ input: { path: '.env' } }) })
    expect(await narrowing.call('read_file', { path: 'src/app.ts' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
  })

  it('refuse the call if they fail or hang before it', async () => {
    const failing: Hooks['preToolCall'][] = [
      () => {
        throw new Error('secret detail')
      },
      () => new Promise(() => {}),
    ]
    for (const preToolCall of failing) {
      const workspace = await withHooks({ ...(preToolCall === undefined ? {} : { preToolCall }) })
      const result = await workspace.call('write_file', { path: 'a.txt', content: 'a' })
      expect(result).toMatchObject({ code: 'HOOK_FAILED' })
      expect(JSON.stringify(result)).not.toContain('secret detail')
      expect(await workspace.explain('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({
        accesses: [{ permission: 'file:write:create' }],
      })
    }
  })

  it('withhold the result if they fail after the call, and the failure reports that the changes remain', async () => {
    const workspace = await withHooks({
      postToolResponse: ({ tool }) => {
        if (tool === 'write_file') throw new Error('broken')
        return undefined
      },
    })
    const result = await workspace.call('write_file', { path: 'a.txt', content: 'a' })
    expect(result).toMatchObject({ code: 'HOOK_FAILED', hint: expect.stringContaining('effect of the call stands') })
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'a' })
    expect(workspace.verifyAudit()).toMatchObject({ ok: true })
  })

  it('redact the result', async () => {
    const workspace = await withHooks({ postToolResponse: ({ result }) => ({ ...result, content: 'hidden' }) })
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ content: 'hidden' })
  })

  it('raise the label of a result, and fail with an unknown label', async () => {
    const labels = { sources: [{ label: 'restricted', paths: ['people'] }] } as const
    for (const [label, expected] of [
      ['confidential', 'confidential'],
      [undefined, 'public'],
    ] as const) {
      const workspace = await open({
        policy: { preset: 'autonomous', labels },
        hooks: { postToolResponse: ({ result }) => ({ ...result, label }) },
      })
      expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true, label: expected })
      expect(workspace.taint.label()).toBe(expected)
    }
    const misspelled = await withHooks({ postToolResponse: ({ result }) => ({ ...result, label: 'secret!' }) })
    expect(await misspelled.call('read_file', { path: 'src/app.ts' })).toMatchObject({
      ...{ code: 'HOOK_FAILED', message: expect.stringContaining('unknown label') },
    })
  })

  it('cannot bypass policy, approval, plan mode or labels by narrowing the input', async () => {
    const hooks: Hooks = { preToolCall: ({ input }) => ({ input: { ...input, path: 'src/other.ts' } }) }
    const call = ['write_file', { path: 'src/new.ts', content: 'x' }] as const
    const denied = await open({ hooks, policy: { preset: 'autonomous', deniedPaths: ['src/other.ts'] } })
    expect(await denied.call(...call)).toMatchObject({ code: 'POLICY_DENIED', path: 'src/other.ts' })
    const rules = [{ name: 'other', action: 'ask', paths: ['src/other.ts'] }] as const
    const supervised = await open({ hooks, policy: { preset: 'autonomous', rules } })
    const waits = await supervised.call(...call)
    expect(waits).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    expect(await supervised.resume(String((waits as { approvalId?: unknown }).approvalId), 'allow')).toMatchObject({
      ok: true,
      path: 'src/other.ts',
    })
    const labels = {
      sources: [{ label: 'restricted', paths: ['people'] }],
      sinks: [{ name: 'other', ceiling: 'public', paths: ['src/other.ts'] }],
    } as const
    const tainted = await open({ hooks: {}, policy: { preset: 'autonomous', labels } })
    await tainted.call('read_file', { path: 'people/salaries.csv' })
    const carried = { taint: tainted.taint.origin() ?? { label: 'public', callId: '', tool: '' } } as const
    const later = await open({ hooks, policy: { preset: 'autonomous', labels }, run: carried })
    expect(await later.call(...call)).toMatchObject({ code: 'TAINT_DENIED' })
    expect(await supervised.call('read_file', { path: 'src/app.ts' })).toMatchObject({ code: 'APPROVAL_REQUIRED' })
  })

  it('cannot change the evaluated call except by their answer', async () => {
    const backend = files()
    const hooks: Hooks = {
      preToolCall({ input }) {
        ;(input as Record<string, unknown>).path = '.env'
        return undefined
      },
    }
    const workspace = await open({ backend, hooks })
    expect(await workspace.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ code: 'HOOK_FAILED' })
    const input = { path: 'a.txt', content: 'x' }
    await workspace.call('write_file', input)
    expect(Object.isFrozen(input)).toBe(false)
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['true', true],
    ['a word', 'refuse'],
    ['nothing', {}],
    ['a refusal without a reason', { refuse: true }],
    ['both', { refuse: 1, input: {} }],
  ])('refuse the call if they answer with %s', async (_, answer) => {
    const workspace = await withHooks({ preToolCall: () => answer as undefined })
    expect(await workspace.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ code: 'HOOK_FAILED' })
    expect(await workspace.call('file_info', { path: 'a.txt' })).toMatchObject({ code: 'HOOK_FAILED' })
    expect(workspace.auditRecords().every(({ pathsWritten }) => pathsWritten.length === 0)).toBe(true)
  })

  it('run in order, each with the call that the previous one returned', async () => {
    const calls: string[] = []
    const to = (path: string) => ({
      preToolCall: ({ input }: { input: Readonly<Record<string, unknown>> }) => {
        calls.push(String(input.path))
        return { input: { ...input, path } }
      },
    })
    const workspace = await withHooks({
      preToolCall: [to('b.txt').preToolCall, to('c.txt').preToolCall],
      postToolResponse: [
        ({ result }) => ({ ...result, summary: `${result.summary}!` }),
        () => undefined,
        ({ result }) => ({ ...result, summary: `${result.summary}?` }),
      ],
    })
    const creation = await workspace.call('write_file', { path: 'a.txt', content: 'x' })
    expect(calls).toEqual(['a.txt', 'b.txt'])
    expect(creation).toMatchObject({ ok: true, path: 'c.txt', summary: expect.stringMatching(/!\?$/) })
    const refused = await withHooks({ preToolCall: [() => ({ refuse: 'first' }), () => calls.push('second') as never] })
    expect(await refused.call('read_file', { path: 'src/app.ts' })).toMatchObject({ code: 'POLICY_DENIED' })
    expect(calls).toEqual(['a.txt', 'b.txt'])
  })

  it('withhold the result if they hang or return an invalid one after the call, and the changes remain', async () => {
    for (const answer of [() => new Promise<undefined>(() => {}), () => 'text' as never, () => null as never]) {
      const backend = files()
      const workspace = await open({ backend, hooks: { postToolResponse: answer }, limits: { hookTimeoutMs: 50 } })
      const result = await workspace.call('write_file', { path: 'a.txt', content: 'x' })
      expect(result).toMatchObject({ code: 'HOOK_FAILED', hint: expect.stringContaining('effect of the call stands') })
      expect((await backend.list('' as never)).map(({ name }) => name)).toContain('a.txt')
    }
  })

  it.each<[name: string, change: (result: object) => object, word: string]>([
    ['changes ok', (result) => ({ ...result, ok: false }), '"ok"'],
    ['changes callId', (result) => ({ ...result, callId: 'other' }), '"callId"'],
    ['refuses after the call', (result) => ({ ...result, refuse: 'too late' }), '{ refuse }'],
    ['returns only a refusal', () => ({ refuse: 'too late' }), '{ refuse }'],
    ['returns an empty object', () => ({}), 'without "ok"'],
    ['drops a field', ({ summary: _, ...result }: { summary?: string }) => result, 'without "summary"'],
  ])('withholds the result of a hook that %s, in own tools and in a dialect', async (_, change, word) => {
    const hooks: Hooks = { postToolResponse: ({ result }) => change(result) as never }
    const workspace = await withHooks(hooks)
    const result = await workspace.callTool('write_file', { path: 'a.txt', content: 'x' })
    expect(result).toMatchObject({ ok: false, code: 'HOOK_FAILED', message: expect.stringContaining(word) })
    expect(String(result.hint)).toContain('The effect of the call stands')
    const dialect = await createWorkspace({
      ...{ backend: memory({ 'a.txt': 'x\n' }), policy: 'autonomous', dialect: snakeCase(), hooks },
    })
    const answer = await dialect.call('read_file', { path: 'a.txt' })
    expect(answer).toMatchObject({ isError: true, failure: { code: 'HOOK_FAILED' } })
  })

  it.each([{ refuse: '' }, { refuse: ' ' }, { refuse: 'no', input: {} }, { deny: 'no' }])(
    'refuses the call if preToolCall returns %j, which is no answer',
    async (answer) => {
      const workspace = await withHooks({ preToolCall: () => answer as never })
      const result = await workspace.callTool('write_file', { path: 'a.txt', content: 'x' })
      expect(result).toMatchObject({ ok: false, code: 'HOOK_FAILED' })
    },
  )
})
