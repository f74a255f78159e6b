import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { createMcpServer } from '../../src/adapters/mcp.ts'
import { memory } from '../../src/backends/memory.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'

/** A workspace behind a server, and the official client; it answers what it is asked, where it can. */
async function connect(answer: ElicitResult | 'fails' | undefined, options: Partial<WorkspaceOptions> = {}) {
  const backend = memory({ 'a.txt': 'one\n', 'b.txt': 'one\n' })
  const workspace = await createWorkspace({ backend, policy: 'supervised', ...options })
  const asked: string[] = []
  const capabilities = answer === undefined ? {} : { elicitation: {} }
  const client = new Client({ name: 'test client', version: '1.0.0' }, { capabilities })
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message)
      if (answer === 'fails') throw new Error('no window')
      return answer
    })
  }
  const server = createMcpServer(workspace)
  const [here, there] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(there), client.connect(here)])
  async function call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
    const result = await client.callTool({ name, arguments: input })
    return (result.structuredContent ?? result._meta?.['wardspace/failure']) as Record<string, unknown>
  }
  return { workspace, asked, call }
}

const edit = (path = 'a.txt', oldText = 'one', newText = 'uno') => ['edit_file', { path, oldText, newText }] as const

describe('an approval over MCP', () => {
  it('is asked at a client that has elicitation, with the preview', async () => {
    const { workspace, asked, call } = await connect({ action: 'accept', content: { decision: 'allow once' } })
    expect(await call(...edit())).toMatchObject({ ok: true })
    expect(await call(...edit('a.txt', 'uno', 'eins'))).toMatchObject({ ok: true })
    expect(asked).toHaveLength(2)
    expect(asked[0]).toMatch(/^edit_file on a\.txt\n[\s\S]*-one\n\+uno/)
    expect(workspace.report().approvals).toMatchObject([
      { how: 'once', by: 'the person at test client' },
      { how: 'once' },
    ])
  })

  it('holds for the run where the person says so', async () => {
    const { asked, call } = await connect({ action: 'accept', content: { decision: 'allow for this run' } })
    await call(...edit())
    expect(await call(...edit('a.txt', 'uno', 'eins'))).toMatchObject({ ok: true })
    expect(asked).toHaveLength(1)
    await call(...edit('b.txt'))
    expect(asked).toHaveLength(2)
  })

  it.each<[string, ElicitResult, string]>([
    ['denied', { action: 'accept', content: { decision: 'deny', reason: 'not on a Friday' } }, 'not on a Friday'],
    ['declined', { action: 'decline' }, 'declined'],
    ['dismissed', { action: 'cancel' }, 'dismissed'],
  ])('is refused when it is %s, and the agent learns why', async (_, answer, why) => {
    const { call } = await connect(answer)
    expect(await call(...edit())).toMatchObject({ code: 'APPROVAL_DENIED', message: expect.stringContaining(why) })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
  })

  it('is not given by an answer that is none, nor by a client that fails', async () => {
    for (const answer of [
      'fails',
      { action: 'accept', content: { decision: 'allow' } },
      { action: 'accept' },
    ] as const) {
      const { call } = await connect(answer as ElicitResult)
      expect(await call(...edit())).toMatchObject({ code: expect.stringMatching(/^(HOOK_FAILED|APPROVAL_DENIED)$/) })
      expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
    }
  })

  it('is required, and waits, where the client cannot be asked', async () => {
    const { workspace, call } = await connect(undefined)
    const refused = await call(...edit())
    expect(refused).toMatchObject({ code: 'APPROVAL_REQUIRED', approvalId: expect.any(String) })
    expect(await workspace.resume(String(refused.approvalId), 'allow')).toMatchObject({ ok: true })
  })

  it('is asked of the workspace itself where that has somebody', async () => {
    const { asked, call } = await connect(
      { action: 'accept', content: { decision: 'allow once' } },
      { approve: () => ({ deny: 'the program says no' }) },
    )
    expect(await call(...edit())).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(asked).toEqual([])
  })

  it('approves a plan', async () => {
    const options = { policy: 'autonomous', mode: 'plan' } as const
    const { asked, call } = await connect({ action: 'accept', content: { decision: 'allow once' } }, options)
    expect(await call(...edit())).toMatchObject({ code: 'PLAN_MODE' })
    expect(await call('submit_plan', { plan: 'Translate a.txt', paths: ['a.txt'] })).toMatchObject({ approved: true })
    expect(asked[0]).toContain('Translate a.txt')
    expect(await call(...edit())).toMatchObject({ ok: true })
  })
})
