import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ExampleServer, exampleTokens, startExample } from './example-server.ts'

const tokens = exampleTokens

let data: string
let server: ExampleServer | undefined

async function start(): Promise<void> {
  server = await startExample(data)
}

async function kill(): Promise<void> {
  await server?.kill()
  server = undefined
}

async function send(method: string, path: string, body?: unknown, token = tokens.AGENT_TOKEN) {
  const response = await fetch(`${server?.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const call = (tool: string, input: unknown, workspace = 'demo') =>
  send('POST', `/workspaces/${workspace}/tools/${tool}`, input)
const resume = (id: unknown, answer: unknown) =>
  send('POST', `/workspaces/demo/approvals/${id}`, { answer }, tokens.APPROVER_TOKEN)

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'edge-example-'))
  await start()
})
afterAll(async () => {
  await kill()
  rmSync(data, { recursive: true, force: true })
})

it('example worker accepts only the right token', async () => {
  const paths = [
    '/tools',
    '/workspaces/demo/tools/list_directory',
    '/workspaces/demo/audit',
    '/workspaces/demo/approvals',
  ]
  for (const path of paths) {
    for (const token of ['', 'wrong', 'Bearer', `${tokens.AGENT_TOKEN}x`]) {
      expect((await send('GET', path, undefined, token)).status, `${path} with ${token}`).toBe(401)
    }
  }
  // An agent cannot approve its own request.
  expect((await send('POST', '/workspaces/demo/approvals/x', { answer: 'allow' })).status).toBe(401)
  expect((await send('GET', '/workspaces/demo/audit')).status).toBe(401)
  expect((await call('list_directory', {}, '..')).status).toBe(404)
  expect((await call('list_directory', '{')).status).toBe(400)
})

it('example worker lists its tools', async () => {
  const { body } = await send('GET', '/tools')
  expect((body as unknown as { name: string }[]).map(({ name }) => name)).toContain('apply_patch')
})

it('example worker keeps changes and a pending approval after a kill', async () => {
  const result = await call('write_file', { path: 'src/app.ts', content: 'export const answer = 41\n' })
  expect(result).toMatchObject({ status: 200, body: { ok: true, created: true } })
  const sha = result.body.newSha256
  expect(
    (await call('edit_file', { path: 'src/app.ts', oldText: '41', newText: '42', expectedSha256: sha })).body,
  ).toMatchObject({ ok: true })
  expect((await call('write_file', { path: '../out', content: 'x' })).body).toMatchObject({ code: 'PATH_REJECTED' })
  expect((await call('search_text', { query: 'answer' })).body).toMatchObject({
    ok: true,
    matches: [{ path: 'src/app.ts' }],
  })
  expect((await call('read_file', { path: 'src/app.ts' }, 'another')).body).toMatchObject({ code: 'NOT_FOUND' })
  const first = await call('write_file', { path: 'published/a.md', content: '# A\n' })
  const second = await call('write_file', { path: 'published/b.md', content: '# B\n' })
  expect([first, second]).toMatchObject([{ status: 202 }, { status: 202 }])

  await kill()
  await start()

  expect((await call('read_file', { path: 'src/app.ts' })).body).toMatchObject({
    content: 'export const answer = 42\n',
  })
  expect((await call('read_file', { path: 'published/a.md' })).body).toMatchObject({ code: 'NOT_FOUND' })
  const { body: waiting } = await send('GET', '/workspaces/demo/approvals', undefined, tokens.APPROVER_TOKEN)
  expect(waiting).toMatchObject([{ tool: 'write_file', id: first.body.approvalId }, { id: second.body.approvalId }])
  expect(await resume(first.body.approvalId, 'yes')).toMatchObject({ status: 422, body: { code: 'INVALID_INPUT' } })
  expect(await resume(first.body.approvalId, 'allow')).toMatchObject({ status: 200, body: { ok: true } })
  expect((await call('read_file', { path: 'published/a.md' })).body).toMatchObject({ content: '# A\n' })
  expect(await resume(first.body.approvalId, 'allow')).toMatchObject({ status: 422, body: { code: 'NOT_FOUND' } })
  expect(await resume(second.body.approvalId, { deny: 'not yet' })).toMatchObject({ body: { code: 'APPROVAL_DENIED' } })
  expect(await resume(second.body.approvalId, 'allow')).toMatchObject({ body: { code: 'NOT_FOUND' } })

  const { body: audit } = await send('GET', '/workspaces/demo/audit', undefined, tokens.APPROVER_TOKEN)
  expect(audit.check).toMatchObject({ ok: true })
  expect((audit.records as unknown[]).length).toBeGreaterThan(10)
})

it('example worker lets exactly one of ten writers win that expect the same version', async () => {
  const { body } = await call('write_file', { path: 'race.txt', content: 'base' })
  for (let round = 0, sha = body.newSha256; round < 5; round++) {
    const writes = Array.from({ length: 10 }, (_, i) =>
      call('write_file', { path: 'race.txt', content: `writer ${i} in round ${round}`, expectedSha256: sha }),
    )
    const results = await Promise.all(writes)
    const winners = results.filter(({ body: { ok } }) => ok)
    expect(winners).toHaveLength(1)
    expect(results.filter(({ body: { code } }) => code === 'WRITE_CONFLICT')).toHaveLength(9)
    const { body: read } = await call('read_file', { path: 'race.txt' })
    sha = winners[0]?.body.newSha256
    expect(read.sha256).toBe(sha)
  }
})
