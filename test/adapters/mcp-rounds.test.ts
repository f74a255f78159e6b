import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, vi } from 'vitest'
import { createMcpServer } from '../../src/adapters/mcp/index.ts'
import { workspaceOver } from './mcp-client.ts'

const files = { 'a.txt': 'one\n', 'b.txt': 'one\n' }
const edit = (path: string) => ({ name: 'edit_file', arguments: { path, oldText: 'one', newText: 'uno' } })
const yes = { approval: { action: 'accept', content: { decision: 'allow once' } } }

interface Asked {
  readonly requestState: string
  readonly inputRequests: { readonly approval: { readonly params: { readonly message: string } } }
}

/** A client of protocol 2026-07-28 that continues its requests by itself. */
async function connect(workspace: Awaited<ReturnType<typeof workspaceOver>>, approvalTimeoutMs = 60_000) {
  const client = new Client(
    { name: 'manual', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const server = createMcpServer(workspace, { approvalTimeoutMs })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  await client.connect(near)
  /** Makes one round of a call. */
  async function round(params: object) {
    const result = await client.callTool(params as never, { allowInputRequired: true })
    return result as unknown as Asked & {
      readonly structuredContent?: object
      readonly _meta?: Record<string, { readonly code: string }>
    }
  }
  return { client, server, round }
}

const supervised = () => workspaceOver(files, { policy: 'supervised' })

describe('a request that asks the user, since protocol 2026-07-28', () => {
  it('ends its round with the question, and is continued by the answer', async () => {
    const workspace = await supervised()
    const { round } = await connect(workspace)
    const asked = await round(edit('a.txt'))
    expect(asked.inputRequests.approval.params.message).toContain('edit_file on a.txt')
    expect((await workspace.files.read('a.txt')).content).toBe('one\n')
    const done = await round({ ...edit('a.txt'), inputResponses: yes, requestState: asked.requestState })
    expect(done.structuredContent).toMatchObject({ ok: true })
    expect((await workspace.files.read('a.txt')).content).toBe('uno\n')
  })

  it('is answered once, on its own connection, and only under its own identifier', async () => {
    const workspace = await supervised()
    const [first, second] = [await connect(workspace), await connect(workspace)]
    const { requestState } = await first.round(edit('a.txt'))
    const forged = [
      [second, requestState],
      [first, `${requestState}x`],
      [first, requestState.toUpperCase()],
      [first, ''],
      [first, 'approval'],
    ] as const
    for (const [{ round }, state] of forged) {
      const params = { ...edit('a.txt'), inputResponses: yes, requestState: state }
      await expect(round(params), state).rejects.toThrow(/not open any more|requestState/)
    }
    expect((await workspace.files.read('a.txt')).content).toBe('one\n')
    const answer = { ...edit('a.txt'), inputResponses: yes, requestState }
    expect((await first.round(answer)).structuredContent).toMatchObject({ ok: true })
    await expect(first.round(answer)).rejects.toThrow('not open any more')
  })

  it('carries out the call that was asked about, whatever the next round names', async () => {
    const workspace = await supervised()
    const { round } = await connect(workspace)
    const { requestState } = await round(edit('a.txt'))
    await round({ ...edit('b.txt'), inputResponses: yes, requestState })
    expect((await workspace.files.read('a.txt')).content).toBe('uno\n')
    expect((await workspace.files.read('b.txt')).content).toBe('one\n')
  })

  it.each<[string, unknown]>([
    ['no answer', undefined],
    ['an answer to another question', { other: yes.approval }],
    ['an answer of another kind', { approval: { roots: [] } }],
    ['an unknown decision', { approval: { action: 'accept', content: { decision: 'allow' } } }],
    ['a decision of another type', { approval: { action: 'accept', content: { decision: true } } }],
    ['no decision', { approval: { action: 'accept', content: {} } }],
    [
      'an inherited decision',
      { approval: { action: 'accept', content: JSON.parse('{"__proto__":{"decision":"allow once"}}') } },
    ],
    ['a declined form with a decision', { approval: { action: 'decline', content: { decision: 'allow once' } } }],
  ])('changes nothing by %s', async (_, inputResponses) => {
    const workspace = await supervised()
    const { round } = await connect(workspace)
    const { requestState } = await round(edit('a.txt'))
    const responses = inputResponses === undefined ? {} : { inputResponses }
    const result = await round({ ...edit('a.txt'), ...responses, requestState })
    expect(result._meta?.['wardspace/failure']?.code).toMatch(/^(HOOK_FAILED|APPROVAL_DENIED)$/)
    expect((await workspace.files.read('a.txt')).content).toBe('one\n')
  })

  it('stays pending without an answer in time, and ends with the connection', async () => {
    const workspace = await supervised()
    const { round } = await connect(workspace, 20)
    const { requestState } = await round(edit('a.txt'))
    await vi.waitFor(() => expect(workspace.auditRecords().at(-1)).toMatchObject({ code: 'APPROVAL_REQUIRED' }))
    const late = { ...edit('a.txt'), inputResponses: yes, requestState }
    await expect(round(late)).rejects.toThrow('not open any more')

    const patient = await connect(workspace)
    await patient.round(edit('b.txt'))
    await patient.client.close()
    await vi.waitFor(() => expect(workspace.auditRecords().at(-1)).toMatchObject({ code: 'ABORTED' }))
  })

  it('needs a client that declares forms', async () => {
    const client = new Client({ name: 'bare', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const workspace = await supervised()
    const [near, far] = InMemoryTransport.createLinkedPair()
    await createMcpServer(workspace).connect(far)
    await client.connect(near)
    const { _meta } = await client.callTool(edit('a.txt'))
    expect(_meta?.['wardspace/failure']).toMatchObject({ code: 'APPROVAL_REQUIRED' })
  })
})

describe('a server', () => {
  it('serves one client at a time, and another one after it', async () => {
    const server = createMcpServer(await supervised())
    const ended = vi.fn()
    server.onclose = ended
    const [near, far] = InMemoryTransport.createLinkedPair()
    await server.connect(far)
    await expect(server.connect(InMemoryTransport.createLinkedPair()[0])).rejects.toThrow('connected already')
    const client = new Client({ name: 'first', version: '1' })
    await client.connect(near)
    await client.close()
    expect(ended).toHaveBeenCalledOnce()
    const [nearNext, farNext] = InMemoryTransport.createLinkedPair()
    await server.connect(farNext)
    const next = new Client({ name: 'second', version: '1' })
    await next.connect(nearNext)
    expect((await next.listTools()).tools.length).toBeGreaterThan(5)
    await server.close()
    expect(ended).toHaveBeenCalledTimes(2)
  })

  it('reports a transport that does not start', async () => {
    const server = createMcpServer(await supervised())
    const [near] = InMemoryTransport.createLinkedPair()
    near.start = () => Promise.reject(new Error('no pipe'))
    await expect(server.connect(near)).rejects.toThrow('no pipe')
    await server.connect(InMemoryTransport.createLinkedPair()[0])
  })
})
