import { InMemoryTransport, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, vi } from 'vitest'
import { createMcpServer, type McpServerOptions } from '../../src/adapters/mcp/index.ts'
import { mcpHandler } from '../../src/adapters/mcp-http/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { createWorkspace, type DialectWorkspace, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import { settled, workspaceOver } from './mcp-client.ts'
import { type OfficialClientOptions, officialClients, type PersonsAnswer } from './mcp-official-clients.ts'

const files = { 'a.txt': 'one\n', 'b.txt': 'one\n', '.env': 'KEY=hunter2\n' }
const yes: PersonsAnswer = { action: 'accept', content: { decision: 'allow once' } }
const edit = (path = 'a.txt', oldText = 'one', newText = 'uno') => ['edit_file', { path, oldText, newText }] as const

describe.each(officialClients)('the official client %s', (_, create, version) => {
  async function serve(
    workspace: Workspace | DialectWorkspace,
    options: OfficialClientOptions = {},
    serverOptions: McpServerOptions = {},
  ) {
    const client = create(options)
    const server = createMcpServer(workspace, serverOptions)
    const [near, far] = InMemoryTransport.createLinkedPair()
    await server.connect(far)
    await client.connect(near)
    return { client, server, far }
  }

  async function asked(answer: OfficialClientOptions['answer'], options: Partial<WorkspaceOptions> = {}) {
    const workspace = await workspaceOver(files, { policy: 'supervised', ...options })
    const questions: string[] = []
    const clientOptions: OfficialClientOptions =
      answer === undefined
        ? {}
        : {
            answer: (message) => {
              questions.push(message)
              return answer(message)
            },
          }
    return { workspace, questions, ...(await serve(workspace, clientOptions, { approvalTimeoutMs: 60_000 })) }
  }

  it('negotiates its version, lists the tools and calls them', async () => {
    const workspace = await workspaceOver(files)
    const { client } = await serve(workspace)
    expect(client.version()).toBe(version)
    expect((await client.listTools()).map(({ name }) => name).sort()).toEqual(
      workspace.tools.map(({ name }) => name).sort(),
    )
    expect(await client.call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true, content: 'one\n' })
    expect(await client.call(...edit())).toMatchObject({ ok: true })
    expect((await workspace.files.read('a.txt')).content).toBe('uno\n')
    await client.close()
  })

  it('gets refusals with code and hint, and no content of a protected file', async () => {
    const { client } = await serve(await workspaceOver(files))
    const refused = await client.call('read_file', { path: '.env' })
    expect(refused).toMatchObject({ ok: false, code: 'POLICY_DENIED_SECRET', hint: expect.any(String) })
    expect(JSON.stringify(refused)).not.toContain('hunter2')
    await expect(client.readResource('wardspace://files/.env')).rejects.toThrow('POLICY_DENIED_SECRET')
    await expect(client.readResource('wardspace://files/none.txt')).rejects.toMatchObject({
      code: version === '2026-07-28' ? -32602 : -32002,
    })
  })

  it('reads and lists resources, prompts and completions', async () => {
    const { client } = await serve(await workspaceOver(files))
    expect(await client.listResources()).toContain('wardspace://files/a.txt')
    expect(await client.readResource('wardspace://files/a.txt')).toBe('one\n')
    expect(await client.getPrompt('explain_run', {})).toContain('Report of run')
    expect(await client.complete('a')).toEqual(['a.txt'])
  })

  it('is asked for approvals, with the preview, and each question counts once', async () => {
    const { client, questions, workspace } = await asked(() => yes)
    expect(await client.call(...edit())).toMatchObject({ ok: true })
    expect(await client.call(...edit('a.txt', 'uno', 'eins'))).toMatchObject({ ok: true })
    expect(questions).toHaveLength(2)
    expect(questions[0]).toMatch(/^edit_file on a\.txt\n[\s\S]*-one\n\+uno/)
    expect((await workspace.report()).approvals).toMatchObject([
      { how: 'once', by: 'the person at test client' },
      { how: 'once' },
    ])
    // One record of the intent and one of the outcome for each call.
    expect(workspace.auditRecords().filter(({ toolName }) => toolName === 'edit_file')).toHaveLength(4)
  })

  it('allows for the run, denies with a reason, declines and dismisses', async () => {
    const answers: PersonsAnswer[] = [
      { action: 'accept', content: { decision: 'deny', reason: 'not on a Friday' } },
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'accept', content: { decision: 'allow for this run' } },
    ]
    const { client, questions } = await asked(() => answers.shift() ?? { action: 'cancel' })
    for (const why of ['not on a Friday', 'declined', 'dismissed']) {
      expect(await client.call(...edit())).toMatchObject({
        code: 'APPROVAL_DENIED',
        message: expect.stringContaining(why),
      })
    }
    expect(await client.call(...edit())).toMatchObject({ ok: true })
    expect(await client.call(...edit('a.txt', 'uno', 'eins'))).toMatchObject({ ok: true })
    expect(questions).toHaveLength(4)
  })

  it.each<[string, unknown]>([
    ['an unknown decision', { action: 'accept', content: { decision: 'allow' } }],
    ['no content', { action: 'accept' }],
    ['no action', { content: { decision: 'allow once' } }],
    ['an unknown action', { action: 'allow', content: { decision: 'allow once' } }],
  ])('allows nothing by %s', async (_, answer) => {
    const { client, workspace } = await asked(() => answer as PersonsAnswer)
    await client.call(...edit()).then(
      (result) => expect(result).toMatchObject({ ok: false }),
      (error) => expect(error).toBeInstanceOf(Error),
    )
    expect((await workspace.files.read('a.txt')).content).toBe('one\n')
  })

  it('leaves the call pending without elicitation', async () => {
    const { client, workspace } = await asked(undefined)
    const refused = await client.call(...edit())
    expect(refused).toMatchObject({ code: 'APPROVAL_REQUIRED', approvalId: expect.any(String) })
    expect(await workspace.resume(String(refused.approvalId), 'allow')).toMatchObject({ ok: true })
  })

  it('is asked about resources and by the tools of a dialect too', async () => {
    const policy = { preset: 'autonomous', tools: { read_file: 'ask' } } as const
    const { client, questions } = await asked(() => yes, { policy })
    expect(await client.readResource('wardspace://files/a.txt')).toBe('one\n')
    expect(questions).toHaveLength(1)
    const spoken = await createWorkspace({ backend: memory(files), policy, dialect: mcpFilesystem() })
    const second = await serve(spoken, { answer: () => yes })
    expect(await second.client.call('read_text_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
  })

  it('sees progress, and cancels a call that waits for an answer', async () => {
    const policy = { preset: 'autonomous', tools: { edit_file: 'ask' } } as const
    const cancel = new AbortController()
    const untilCancelled = () =>
      new Promise<never>((_, reject) => cancel.signal.addEventListener('abort', () => reject(cancel.signal.reason)))
    const { client, questions, workspace } = await asked(untilCancelled, { policy })
    const seen: number[] = []
    const patch = ['a', 'b', 'c'].map((name) => `--- /dev/null\n+++ b/${name}.new\n@@ -0,0 +1 @@\n+${name}\n`).join('')
    await client.call('apply_patch', { patch }, { onprogress: ({ progress }) => seen.push(progress) })
    expect(seen.length).toBeGreaterThan(0)
    const cancelled = client.call(...edit(), { signal: cancel.signal })
    await vi.waitFor(() => expect(questions).toHaveLength(1))
    cancel.abort(new Error('enough'))
    await expect(cancelled).rejects.toThrow('enough')
    await client.close()
    await vi.waitFor(() => expect(workspace.auditRecords().at(-1)).toMatchObject({ code: 'ABORTED' }))
    expect((await workspace.files.read('a.txt')).content).toBe('one\n')
  })

  it('is notified of changed lists', async () => {
    const workspace = await workspaceOver(files, { mode: 'plan' })
    const changes: string[] = []
    const { client } = await serve(workspace, { onChange: (list) => changes.push(list) })
    await client.listen()
    await client.listResources()
    expect((await client.listTools()).find(({ name }) => name === 'edit_file')?.description).toMatch(/^\(Refused/)
    await workspace.approvePlan()
    await settled()
    expect(changes).toEqual(['tools'])
    await client.call('write_file', { path: 'c.txt', content: 'three\n' })
    await settled()
    expect(changes).toContain('resources')
  })
})

describe.each(officialClients)('over HTTP, the official client %s', (name, create, version) => {
  /** Serves a workspace over HTTP, one run for each session. */
  async function serve(options: OfficialClientOptions = {}) {
    const workspace = await workspaceOver(files, { policy: 'supervised' })
    const handler = mcpHandler({
      token: 'a-token-of-the-tests',
      open() {
        const run = workspace.run({ actor: 'mcp' })
        return { server: createMcpServer(workspace, { run }), close: () => run.close() }
      },
    })
    const Transport = name === 'v1' ? TransportV1 : TransportV2
    const transport = new Transport(new URL('http://localhost/mcp'), {
      requestInit: { headers: { Authorization: 'Bearer a-token-of-the-tests' } },
      fetch: (address, init) => handler.fetch(new Request(address, init)),
    })
    return { client: create(options), transport, workspace, handler }
  }

  if (name === 'v2 of protocol 2026-07-28 only') {
    it('is refused, because sessions belong to the versions before', async () => {
      const { client, transport, handler } = await serve()
      await expect(client.connect(transport)).rejects.toThrow()
      expect(handler.size).toBe(0)
      await handler.close()
    })
    return
  }

  it('has a session with calls, refusals, questions and resources', async () => {
    const { client, transport, workspace, handler } = await serve({ answer: () => yes })
    await client.connect(transport)
    expect(client.version()).toBe(version === '2026-07-28' ? '2025-11-25' : version)
    expect((await client.listTools()).length).toBeGreaterThan(5)
    expect(await client.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
    expect(await client.call('read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await client.call(...edit())).toMatchObject({ ok: true })
    expect((await workspace.files.read('a.txt')).content).toBe('uno\n')
    expect(await client.readResource('wardspace://files/b.txt')).toBe('one\n')
    expect(handler.size).toBe(1)
    await client.close()
    await handler.close()
  })
})
