import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
  ProgressNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openProgress } from '../../src/adapters/mcp/progress.ts'
import { createServedState } from '../../src/adapters/mcp/served-workspace.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { codex } from '../../src/dialects/codex/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { nodeShell } from '../../src/shells/node/index.ts'
import { connect, settled, workspaceOver } from './mcp-client.ts'

const edit = (path = 'a.txt', oldText = 'one', newText = 'uno') => ['edit_file', { path, oldText, newText }] as const
const files = { 'a.txt': 'one\n', 'b.txt': 'one\n' }

/** Connects a client that answers questions with `answer`. */
async function asked(
  answer: ElicitResult | (() => Promise<ElicitResult>) | 'fails' | 'form is missing' | undefined,
  options: Partial<WorkspaceOptions> = {},
  approvalTimeoutMs = 60_000,
) {
  const workspace = await workspaceOver(files, { policy: 'supervised', ...options })
  const questions: string[] = []
  const elicitation = answer === 'form is missing' ? { url: {} } : {}
  const capabilities = answer === undefined ? {} : { elicitation }
  const connected = await connect(workspace, { approvalTimeoutMs }, capabilities, (client) => {
    if (answer === undefined || answer === 'form is missing') return
    client.setRequestHandler(ElicitRequestSchema, ({ params }: ElicitRequest) => {
      questions.push(params.message)
      if (answer === 'fails') throw new Error('no window')
      return typeof answer === 'function' ? answer() : answer
    })
  })
  return { ...connected, questions }
}

const yes: ElicitResult = { action: 'accept', content: { decision: 'allow once' } }

describe('an approval over MCP', () => {
  it('is requested from a client with elicitation, with the preview', async () => {
    const { workspace, questions, call } = await asked(yes)
    expect(await call(...edit())).toMatchObject({ ok: true })
    expect(await call(...edit('a.txt', 'uno', 'eins'))).toMatchObject({ ok: true })
    expect(questions).toHaveLength(2)
    expect(questions[0]).toMatch(/^edit_file on a\.txt\n[\s\S]*-one\n\+uno/)
    expect((await workspace.report()).approvals).toMatchObject([
      { how: 'once', by: 'the person at test client' },
      { how: 'once' },
    ])
  })

  it('shows risks and paths, but no secrets in the preview or the input', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const { questions, call } = await asked({ action: 'decline' })
    await call('write_file', { path: 'package.json', content: `{"token":"${token}"}\n`, reason: `for ${token}` })
    await call('delete_file', { path: 'a.txt', reason: token })
    expect(questions[0]).toContain('Risk: touchesBuildFile (package.json)')
    expect(questions[1]).toContain('Risk: deletesFile (a.txt)')
    expect(questions[0]).toContain('[REDACTED:')
    expect(questions.join()).not.toContain(token)
    const { approvalText } = await import('../../src/policy/approval-text.ts')
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIB'.repeat(16)}\n-----END PRIVATE KEY-----`
    const verdict = { decision: 'ask', reason: 'Policy asks', rules: [] } as const
    const text = approvalText({
      tool: 'run_command',
      input: { command: `echo '${key}'` },
      accesses: [],
      verdict,
      risks: [],
    })
    expect(text).toContain('[REDACTED:')
    expect(text).not.toContain('MIIBMIIB')
  })

  it('holds for the run if the user decides so', async () => {
    const { questions, call } = await asked({ action: 'accept', content: { decision: 'allow for this run' } })
    await call(...edit())
    expect(await call(...edit('a.txt', 'uno', 'eins'))).toMatchObject({ ok: true })
    expect(questions).toHaveLength(1)
    await call(...edit('b.txt'))
    expect(questions).toHaveLength(2)
  })

  it.each<[string, ElicitResult, string]>([
    ['denied', { action: 'accept', content: { decision: 'deny', reason: 'not on a Friday' } }, 'not on a Friday'],
    ['denied without a reason', { action: 'accept', content: { decision: 'deny', reason: ' ' } }, 'declined'],
    ['declined', { action: 'decline' }, 'declined'],
    ['dismissed', { action: 'cancel' }, 'dismissed'],
  ])('is denied if it is %s, and the agent sees the reason', async (_, answer, why) => {
    const { call } = await asked(answer)
    expect(await call(...edit())).toMatchObject({ code: 'APPROVAL_DENIED', message: expect.stringContaining(why) })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
  })

  it.each<[string, unknown]>([
    ['an unknown decision', { action: 'accept', content: { decision: 'allow' } }],
    ['no content', { action: 'accept' }],
    ['a decision of another type', { action: 'accept', content: { decision: true } }],
    ['no action', { content: { decision: 'allow once' } }],
    ['an unknown action', { action: 'allow', content: { decision: 'allow once' } }],
    [
      'an object instead of a text',
      { action: 'accept', content: { decision: 'allow once', reason: { toString: 'x' } } },
    ],
  ])('is not granted by %s', async (_, answer) => {
    const { call } = await asked(answer as ElicitResult)
    expect(await call(...edit())).toMatchObject({ code: expect.stringMatching(/^(HOOK_FAILED|APPROVAL_DENIED)$/) })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
  })

  it('is not granted by a raw response with an invalid action', async () => {
    const { call, transport } = await asked(yes)
    const { send } = transport
    transport.send = (message, settings) =>
      send.call(
        transport,
        'result' in message && 'action' in message.result ? { ...message, result: { action: 'allow' } } : message,
        settings,
      )
    expect(await call(...edit())).toMatchObject({ code: 'HOOK_FAILED' })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
  })

  it.each<[string, Parameters<typeof asked>[0]]>([
    ['has no elicitation', undefined],
    ['has no forms', 'form is missing'],
    ['fails', 'fails'],
    ['never answers', () => new Promise<never>(() => {})],
  ])('stays pending if the client %s', async (_, answer) => {
    const { workspace, call } = await asked(answer, {}, 30)
    const refused = await call(...edit())
    expect(refused).toMatchObject({ code: 'APPROVAL_REQUIRED', approvalId: expect.any(String) })
    expect(await workspace.resume(String(refused.approvalId), 'allow')).toMatchObject({ ok: true })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'uno\n' })
  })

  it('uses the approver of the workspace if there is one', async () => {
    const { questions, call } = await asked(yes, { approve: () => ({ deny: 'the program says no' }) })
    expect(await call(...edit())).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(questions).toEqual([])
  })

  it('ends with a cancelled call: nothing changes, and the client is notified', async () => {
    const never = () => new Promise<never>(() => {})
    const { workspace, client, questions, count } = await asked(never)
    const cancel = new AbortController()
    const [name, input] = edit()
    const cancelled = client.callTool({ name, arguments: input }, undefined, { signal: cancel.signal })
    await vi.waitFor(() => expect(questions).toHaveLength(1))
    cancel.abort('enough')
    await expect(cancelled).rejects.toThrow('enough')
    await vi.waitFor(() => expect(workspace.auditRecords().at(-1)).toMatchObject({ code: 'ABORTED' }))
    expect(count('notifications/cancelled')).toBe(1)
    expect((await workspace.files.read('a.txt')).content).toBe('one\n')
  })
})

describe('plan mode over MCP', () => {
  it('shows in the tool list, which changes when the plan is approved', async () => {
    const { questions, call, client, count } = await asked(yes, { policy: 'autonomous', mode: 'plan' })
    const before = (await client.listTools()).tools.find(({ name }) => name === 'edit_file')
    expect(before?.description).toMatch(/^\(Refused until the plan is approved/)
    expect(await call(...edit())).toMatchObject({ code: 'PLAN_MODE' })
    expect(count('notifications/tools/list_changed')).toBe(0)
    expect(await call('submit_plan', { plan: 'Translate a.txt', paths: ['a.txt'] })).toMatchObject({ approved: true })
    expect(questions[0]).toContain('Translate a.txt')
    expect(count('notifications/tools/list_changed')).toBe(1)
    const after = (await client.listTools()).tools.find(({ name }) => name === 'edit_file')
    expect(after?.description).not.toContain('plan')
    expect(await call(...edit())).toMatchObject({ ok: true })
  })

  it('ends for all clients of the workspace at once, and notifies no closed client', async () => {
    const workspace = await workspaceOver(files, { mode: 'plan' })
    const first = await connect(workspace, { run: workspace.run({ id: 'first' }) })
    const second = await connect(workspace, { run: workspace.run({ id: 'second' }) })
    const gone = await connect(workspace, { run: workspace.run({ id: 'gone' }) })
    await gone.client.close()
    await first.call('submit_plan', { plan: 'Translate', paths: ['a.txt'] })
    await workspace.approvePlan({ by: 'reviewer' })
    await workspace.approvePlan()
    await settled()
    expect([first, second, gone].map(({ count }) => count('notifications/tools/list_changed'))).toEqual([1, 1, 0])
    expect(await second.call(...edit())).toMatchObject({ ok: true })
  })

  it('may end during a call, which finishes under its original mode', async () => {
    let answer = (_: ElicitResult) => {}
    const { workspace, call, count, questions } = await asked(
      () =>
        new Promise((resolve) => {
          answer = resolve
        }),
      {
        policy: { preset: 'autonomous', tools: { read_file: 'ask' } },
        mode: 'plan',
      },
    )
    const reading = call('read_file', { path: 'a.txt' })
    await vi.waitFor(() => expect(questions).toHaveLength(1))
    await workspace.approvePlan()
    await settled()
    expect(count('notifications/tools/list_changed')).toBe(1)
    answer(yes)
    expect(await reading).toMatchObject({ ok: true, content: 'one\n' })
  })
})

const patch = ['a', 'b', 'c', 'd'].map((name) => `--- /dev/null\n+++ b/${name}.new\n@@ -0,0 +1 @@\n+${name}\n`).join('')

describe('progress', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('of a call counts its files, and ends before its result', async () => {
    const { client, sent } = await connect(await workspaceOver(files))
    const seen: number[] = []
    await client.callTool({ name: 'apply_patch', arguments: { patch } }, undefined, {
      onprogress: ({ progress, total, message }) => {
        seen.push(progress)
        expect({ total, message }).toEqual({ total: 4, message: `${progress} of 4 files patched` })
      },
    })
    await settled()
    expect(seen.length).toBeGreaterThan(0)
    const methods = sent.map((message) => ('method' in message ? message.method : 'result'))
    expect(methods.lastIndexOf('notifications/progress')).toBeLessThan(methods.lastIndexOf('result'))
  })

  it('of a command counts its lines without showing them', async () => {
    const root = await mkdtemp(join(tmpdir(), 'wardspace-progress-'))
    const stateDir = `${root}-state`
    const workspace = await createWorkspace({
      backend: nodeBackend(root, { stateDir }),
      policy: 'autonomous',
      approve: () => 'allow',
      shell: nodeShell({ root, stateDir, sandbox: 'none' }),
    })
    try {
      const { client, sent } = await connect(workspace)
      const seen: unknown[] = []
      const command = "printf 'hunter2\\nb\\n'"
      const result = await client.callTool({ name: 'run_command', arguments: { command } }, undefined, {
        onprogress: ({ message }) => seen.push(message),
      })
      expect(result.structuredContent).toMatchObject({ ok: true, stdout: 'hunter2\nb\n' })
      expect(seen).toContainEqual(expect.stringMatching(/^[12] lines of output$/))
      expect(JSON.stringify(sent.filter((message) => 'method' in message))).not.toContain('hunter2')
    } finally {
      await workspace.close()
      for (const directory of [root, stateDir]) await rm(directory, { recursive: true, force: true })
    }
  })

  it('is not sent without a token', async () => {
    const { call, count } = await connect(await workspaceOver(files))
    expect(await call('apply_patch', { patch })).toMatchObject({ ok: true })
    expect(count('notifications/progress')).toBe(0)
  })

  it('is sent for the first of two concurrent calls with one token', async () => {
    const never = () => new Promise<never>(() => {})
    const { client, count, questions } = await asked(never, {
      policy: { preset: 'autonomous', tools: { edit_file: 'ask' } },
    })
    client.setNotificationHandler(ProgressNotificationSchema, () => {})
    const [name, input] = edit()
    const first = new AbortController()
    const params = { name, arguments: input, _meta: { progressToken: 'mine' } }
    const waiting = client.callTool(params, undefined, { signal: first.signal }).catch(() => {})
    await vi.waitFor(() => expect(questions).toHaveLength(1))
    expect(count('notifications/progress')).toBe(1)
    const again = { name: 'apply_patch', arguments: { patch }, _meta: { progressToken: 'mine' } }
    expect(await client.callTool(again)).toMatchObject({ structuredContent: { ok: true } })
    expect(count('notifications/progress')).toBe(1)
    first.abort()
    await waiting
    await settled()
    // The token is free again.
    const other = {
      name: 'apply_patch',
      arguments: { patch: patch.replaceAll('.new', '.newer') },
      _meta: { progressToken: 'mine' },
    }
    expect(await client.callTool(other)).toMatchObject({ structuredContent: { ok: true } })
    expect(count('notifications/progress')).toBe(2)
  })

  it('only increases, is rate-limited, and repeats its status every 15 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const seen: { progress: number; total?: number; message: string }[] = []
    const sendNotification = async ({ params }: { params: (typeof seen)[number] & { progressToken: unknown } }) => {
      const { progressToken, ...rest } = params
      seen.push(rest)
      if (seen.length > 4) throw new Error('The client has disconnected')
    }
    const progress = openProgress({ _meta: { progressToken: 7 }, sendNotification }, new Set())
    progress.report({ done: 10, unit: 'files' })
    progress.report({ done: 11, unit: 'files' })
    vi.advanceTimersByTime(200)
    progress.report({ done: 3, unit: 'files' })
    progress.report({ done: 12, total: 20, unit: 'files' })
    progress.setStatus('waits for an approval')
    expect(seen).toEqual([
      { progress: 10, message: '10 files' },
      { progress: 12, total: 20, message: '12 of 20 files' },
      { progress: 12.001, total: 20, message: 'waits for an approval' },
    ])
    vi.advanceTimersByTime(30_000)
    expect(seen.slice(3).map(({ message }) => message)).toEqual(['waits for an approval', 'waits for an approval'])
    expect(seen.map((one) => one.progress)).toEqual([...seen.map((one) => one.progress)].sort((a, b) => a - b))
    progress.end()
    vi.advanceTimersByTime(60_000)
    expect(seen).toHaveLength(5)
  })

  it('sends heartbeats only if there was no other progress', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const sendNotification = vi.fn(async () => {})
    const progress = openProgress({ _meta: { progressToken: 'a' }, sendNotification }, new Set())
    vi.advanceTimersByTime(12_000)
    progress.report({ done: 1, unit: 'files' })
    vi.advanceTimersByTime(3000)
    expect(sendNotification).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(15_000)
    expect(sendNotification).toHaveBeenCalledTimes(2)
    progress.end()
  })
})

describe('cancelling', () => {
  it('a call that has ended has no effect', async () => {
    const { client, call, transport, sent } = await connect(await workspaceOver(files))
    expect(await call(...edit())).toMatchObject({ ok: true })
    const answered = sent.length
    for (const requestId of [0, 1, 2, 99, 'x']) {
      await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    }
    await settled()
    expect(sent).toHaveLength(answered)
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'uno\n' })
    await client.close()
  })
})

describe('a dialect', () => {
  it('serves its own tools; resources, subscriptions and prompts stay the same', async () => {
    const backend = memory({ ...files, '.env': 'PASSWORD=hunter2\n' })
    const dialect = mcpFilesystem({ '/w': '' })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', dialect })
    const { client, call, count } = await connect(workspace)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(workspace.tools.map(({ name }) => name))
    expect(client.getInstructions()).toBeUndefined()
    const read = await client.callTool({ name: 'read_text_file', arguments: { path: '/w/a.txt' } })
    expect(read).toMatchObject({ content: [{ type: 'text', text: 'one\n' }] })
    expect(read.isError).toBeUndefined()
    const secret = await client.callTool({ name: 'read_text_file', arguments: { path: '/w/.env' } })
    expect(secret).toMatchObject({
      isError: true,
      _meta: { 'wardspace/failure': { code: 'POLICY_DENIED_SECRET', path: '.env' } },
    })
    expect(JSON.stringify(secret)).not.toContain('hunter2')
    // Everything except tool calls uses the workspace's own tools.
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toEqual(['diff', 'report', 'report.json', 'policy', 'a.txt', 'b.txt'])
    await client.subscribeResource({ uri: 'wardspace://files/a.txt' })
    await workspace.own.call('append_file', { path: 'a.txt', content: 'two\n' })
    expect(count('notifications/resources/updated')).toBe(1)
    expect(await client.readResource({ uri: 'wardspace://files/a.txt' })).toMatchObject({
      contents: [{ text: 'one\ntwo\n' }],
    })
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['review_diff', 'explain_run'])
    expect(await call('no_such_tool', {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
    const other = await createWorkspace({ backend: memory(files), policy: 'autonomous', dialect: codex() })
    const { tools: patching } = await (await connect(other)).client.listTools()
    expect(patching.map(({ outputSchema }) => outputSchema)).toContain(undefined)
  })
})

describe('the server', () => {
  it('explains to a model how the available tools work together', async () => {
    const few = await connect(await workspaceOver(files, { tools: ['list_directory'] }))
    expect(few.client.getInstructions()).not.toContain('edit_file')
    expect(few.client.getInstructions()).not.toMatch(/read_file;|submit_plan|run_command|diff_workspace/)
    const more = await connect(await workspaceOver(files, { mode: 'plan' }))
    expect(more.client.getInstructions()).toMatch(/expectedSha256[\s\S]*submit_plan/)
  })

  it('makes calls in the given run', async () => {
    const workspace = await workspaceOver(files)
    const { call, client } = await connect(workspace, {
      run: workspace.run({ id: 'session-1', actor: 'mcp' }),
      name: 'n',
      version: '2',
    })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ callId: 'session-1-1' })
    // Missing arguments count as an empty object.
    expect(await client.callTool({ name: 'list_directory' })).toMatchObject({ structuredContent: { ok: true } })
  })

  it('switches workspaces in order: calls in progress finish first, later ones wait', async () => {
    const log: string[] = []
    const entry = (name: string) => ({ failure: { ok: false, code: 'NOT_FOUND', message: name, hint: '' } }) as const
    const serving = createServedState(entry('first'), async () => void log.push('changed'))
    let end = () => {}
    const running = serving.use(async (serves) => {
      await new Promise<void>((resolve) => {
        end = resolve
      })
      log.push(`ended with ${'failure' in serves ? serves.failure.message : ''}`)
    })
    const replaced = serving.replace(async () => {
      log.push('opened')
      return entry('second')
    })
    const after = serving.use((serves) => void log.push(`used ${'failure' in serves ? serves.failure.message : ''}`))
    await settled()
    expect(log).toEqual([])
    end()
    await Promise.all([running, replaced, after])
    expect(log).toEqual(['ended with first', 'opened', 'changed', 'used second'])
    await serving.replace(async () => entry('third'))
    await serving.use((serves) => expect(serves).toEqual(entry('third')))
  })
})
