import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  ElicitRequestSchema,
  type ElicitResult,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ClientRoot } from '../../src/adapters/mcp/index.ts'
import { type PlacedRoot, placeClientRoots } from '../../src/adapters/mcp-roots/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace, mounts, readOnly, ToolError, type Workspace } from '../../src/index.ts'
import { connect, settled, workspaceOver } from './mcp-client.ts'

let home = ''
const uriOf = (path: string) => pathToFileURL(join(home, path)).href
const rootsAt = (...paths: string[]): ClientRoot[] => paths.map((path) => ({ uri: uriOf(path) }))

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'wardspace-roots-')))
  for (const path of ['one/api/src', 'one/web', 'one/.git/hooks', 'two/api', 'two/a\\b', 'out']) {
    await mkdir(join(home, path), { recursive: true })
  }
  await writeFile(join(home, 'one/api/src/a.ts'), 'one\n')
  await writeFile(join(home, 'one/api/.env'), 'PASSWORD=hunter2\n')
  await writeFile(join(home, 'two/api/b.ts'), 'two\n')
  await writeFile(join(home, 'out/secret.txt'), 'hunter2\n')
  await symlink(join(home, 'out'), join(home, 'one/link'))
  await symlink(join(home, 'gone'), join(home, 'one/broken'))
})

afterAll(() => rm(home, { recursive: true, force: true }))

/** Resolves roots and returns the result without the path of the temporary directory. */
async function placed(client: readonly ClientRoot[], within?: readonly PlacedRoot[]) {
  const { roots, refused } = await placeClientRoots(client, within)
  return {
    roots: roots.map(({ at, directory }) => [at, directory.slice(home.length + 1)]),
    refused: refused.map(({ why }) => why.replaceAll(pathToFileURL(home).href, '')),
  }
}

describe("a client's roots", () => {
  it('become the root if there is one, and directories of it if there are several', async () => {
    expect(await placed(rootsAt('one'))).toEqual({ roots: [['', 'one']], refused: [] })
    expect(await placed([])).toEqual({ roots: [], refused: [] })
    expect(await placed(rootsAt('one/api', 'two/api', 'one/web', 'two/a\\b'))).toEqual({
      roots: [
        ['api', 'one/api'],
        ['api-2', 'two/api'],
        ['web', 'one/web'],
        ['root', 'two/a\\b'],
      ],
      refused: [],
    })
  })

  it('are resolved through links, without duplicates', async () => {
    expect(await placed(rootsAt('one/link'))).toEqual({ roots: [['', 'out']], refused: [] })
    expect(await placed(rootsAt('one', 'one/api', 'one/', 'one/link', 'out'))).toEqual({
      roots: [
        ['one', 'one'],
        ['out', 'out'],
      ],
      refused: ['it is inside "/one" and part of that root', 'it is a duplicate', 'it is a duplicate'],
    })
  })

  it.each([
    ['http://localhost/one', 'it is not a file: URI'],
    ['one/api', 'it is not a file: URI'],
    ['', 'it is not a file: URI'],
    ['file://server/share', 'it is on another machine'],
    ['file:///no/such/directory', 'the directory does not exist'],
    ['file:///%2e%2e%2fetc', 'the directory does not exist'],
    ['FILE', 'it is not a directory'],
    ['BROKEN', 'the directory does not exist'],
    ['GIT', 'it is inside .git'],
  ])('are refused if they are not local directories: %s', async (uri, why) => {
    const entry: Record<string, string> = { FILE: 'out/secret.txt', BROKEN: 'one/broken', GIT: 'one/.git/hooks' }
    const root = { uri: entry[uri] === undefined ? uri : uriOf(entry[uri]) }
    expect(await placed([root, ...rootsAt('two')])).toEqual({ roots: [['', 'two']], refused: [why] })
    await expect(placeClientRoots([root])).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/^None of the client's roots can be served/),
    })
  })

  it('narrow the granted directories without changing paths, and number at most 100', async () => {
    const within = (...paths: string[]) =>
      paths.map((path) => ({ at: paths.length === 1 ? '' : path.replace('/', '-'), directory: join(home, path) }))
    const outside = 'it is outside the granted directories'
    expect(await placed(rootsAt('one/api'), within('one'))).toEqual({ roots: [['api', 'one/api']], refused: [] })
    expect(await placed(rootsAt('one'), within('one'))).toEqual({ roots: [['', 'one']], refused: [] })
    // A wider root does not widen the grant.
    expect(await placed(rootsAt(''), within('one/api', 'two'))).toEqual({
      roots: [
        ['one-api', 'one/api'],
        ['two', 'two'],
      ],
      refused: [],
    })
    expect(await placed(rootsAt('two', 'one/api/src'), within('one/api', 'out'))).toEqual({
      roots: [['one-api/src', 'one/api/src']],
      refused: [outside],
    })
    const whole = await placeClientRoots(rootsAt('one'), [{ at: 'disk', directory: '/' }])
    expect(whole.roots).toEqual([{ at: `disk${home}/one`, directory: join(home, 'one') }])
    // Links are resolved, and a directory with a common prefix in its name is outside.
    expect(await placed(rootsAt('one/link', 'one/web'), within('one'))).toEqual({
      roots: [['web', 'one/web']],
      refused: [outside],
    })
    expect((await placed(rootsAt('two/api', 'two/a\\b'), within('two'))).refused).toEqual([
      'its path is not valid in a workspace',
    ])
    await expect(placeClientRoots(rootsAt('out'), within('one'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const many = Array.from({ length: 101 }, () => ({ uri: uriOf('one') }))
    await expect(placeClientRoots(many)).rejects.toMatchObject({ message: expect.stringContaining('more than 100') })
  })
})

/** Connects a client to a server that serves the client's roots. */
async function rooted(
  rootsOf: () => readonly ClientRoot[] | Promise<readonly ClientRoot[]>,
  {
    policy = 'autonomous',
    answer,
    timeoutMs,
  }: { policy?: 'autonomous' | 'supervised'; answer?: () => Promise<ElicitResult>; timeoutMs?: number } = {},
) {
  const base = await workspaceOver({ 'base.txt': 'base\n' }, { policy })
  let current: Workspace = base
  const opened: (readonly ClientRoot[])[] = []
  const warnings: unknown[] = []
  const open = async (client: readonly ClientRoot[]) => {
    opened.push(client)
    await current.close()
    const { roots, refused } = await placeClientRoots(client)
    const parts = Object.fromEntries(
      roots.map(({ at, directory }) => [at, nodeBackend(directory, { stateDir: join(home, 'state') })]),
    )
    current = await createWorkspace({ backend: mounts({ '': readOnly(memory()), ...parts }), policy })
    return { workspace: current, refused }
  }
  const capabilities = { roots: { listChanged: true }, ...(answer === undefined ? {} : { elicitation: {} }) }
  const connected = await connect(
    base,
    { roots: { open, ...(timeoutMs === undefined ? {} : { timeoutMs }) } },
    capabilities,
    (client) => {
      client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [...(await rootsOf())] }))
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void warnings.push(params.data))
      if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, answer)
    },
  )
  return { ...connected, opened, warnings, current: () => current }
}

describe('a server for the roots of its client', () => {
  it('reaches only these roots, from the first call on', async () => {
    const { call, client, warnings } = await rooted(() => [
      { uri: uriOf('one/api'), name: 'API' },
      { uri: 'http://x/' },
    ])
    expect(await call('read_file', { path: 'src/a.ts' })).toMatchObject({ ok: true, content: 'one\n' })
    expect(await call('read_file', { path: 'base.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await call('read_file', { path: '../web' })).toMatchObject({ code: 'PATH_REJECTED' })
    expect(await call('read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(warnings).toEqual(['The root "http://x/" is not served: it is not a file: URI'])
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toContain('src/a.ts')
  })

  it('serves changed roots after the calls in progress and before later ones', async () => {
    let roots = rootsAt('one/api')
    let answer = (_: ElicitResult) => {}
    const questions: number[] = []
    const { call, client, opened, count, sent } = await rooted(() => roots, {
      policy: 'supervised',
      answer: () => {
        questions.push(1)
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    })
    await client.subscribeResource({ uri: 'wardspace://files/src/a.ts' })
    await client.listResources()
    const lists = count('notifications/tools/list_changed')
    const edit = call('edit_file', { path: 'src/a.ts', oldText: 'one', newText: 'uno' })
    await vi.waitFor(() => expect(questions).toHaveLength(1))
    roots = rootsAt('two/api', 'one/web')
    for (let i = 0; i < 5; i++) await client.sendRootsListChanged()
    const read = call('read_file', { path: 'api/b.ts' })
    await settled()
    expect(opened).toHaveLength(1)
    answer({ action: 'accept', content: { decision: 'allow once' } })
    expect(await edit).toMatchObject({ ok: true })
    expect(await read).toMatchObject({ ok: true, content: 'two\n' })
    // Several notifications cause one request.
    expect(opened.map((client) => client.length)).toEqual([1, 2])
    expect(count('notifications/tools/list_changed')).toBe(lists + 1)
    await settled()
    // One for the diff of the edit, one for the other files.
    expect(count('notifications/resources/list_changed')).toBe(2)
    const updated = sent.flatMap((message) =>
      'method' in message && message.method.endsWith('/updated') ? [message.params] : [],
    )
    expect(updated).toEqual([{ uri: 'wardspace://files/src/a.ts' }, { uri: 'wardspace://files/src/a.ts' }])
    // The subscription to the missing file has ended.
    const other = call('write_file', { path: 'api/c.ts', content: 'x\n', expectedSha256: null })
    await vi.waitFor(() => expect(questions).toHaveLength(2))
    answer({ action: 'accept', content: { decision: 'allow once' } })
    expect(await other).toMatchObject({ ok: true })
    expect(count('notifications/resources/updated')).toBe(2)
  })

  it('refuses every call with a reason if no root can be served, until the roots change', async () => {
    let roots = rootsAt('no-such')
    const { call, client, warnings } = await rooted(() => roots)
    const refused = expect.stringMatching(/^None of the client's roots can be served .*the directory does not exist/)
    expect(await call('read_file', { path: 'base.txt' })).toMatchObject({ code: 'NOT_FOUND', message: refused })
    expect((await client.listTools()).tools).toEqual([])
    await expect(client.listResources()).rejects.toMatchObject({ code: -32002 })
    await expect(client.readResource({ uri: 'wardspace://policy' })).rejects.toMatchObject({ code: -32002 })
    await expect(client.listPrompts()).rejects.toMatchObject({ code: -32002 })
    expect(warnings).toEqual([refused])
    roots = rootsAt('one/api')
    await client.sendRootsListChanged()
    expect(await call('file_info', { path: 'src/a.ts' })).toMatchObject({ ok: true })
  })

  it('refuses every call if the client never sends its roots', async () => {
    const { call, opened } = await rooted(() => new Promise(() => {}), { timeoutMs: 30 })
    expect(await call('read_file', { path: 'base.txt' })).toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'The client did not send its roots',
    })
    expect(opened).toEqual([])
  })

  it.each([
    ['a refusal', new ToolError('POLICY_DENIED', 'No roots on Fridays'), 'POLICY_DENIED', 'No roots on Fridays'],
    ['a fault', new Error('/home/somebody is full'), 'BACKEND_ERROR', "The client's roots could not be opened"],
  ])('refuses calls after %s of the program that opens the roots', async (_, error, code, message) => {
    const open = () => Promise.reject(error)
    const { call } = await connect(await workspaceOver({}), { roots: { open } }, { roots: {} }, (client) => {
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: rootsAt('one') }))
    })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ code, message })
  })

  it('opens an empty list for a client without roots, and does not ask a client without the capability', async () => {
    const opened: unknown[] = []
    const workspace = await workspaceOver({ 'base.txt': 'base\n' })
    const roots = {
      open: async (client: readonly ClientRoot[]) => {
        opened.push(client)
        return { workspace, run: workspace.run({ id: 'own' }) }
      },
    }
    const { call, client } = await connect(workspace, { roots }, { roots: { listChanged: true } })
    expect(await call('read_file', { path: 'base.txt' })).toMatchObject({ ok: true, callId: 'own-1' })
    expect(opened).toEqual([[]])
    const plain = await connect(workspace, { roots })
    expect(await plain.call('read_file', { path: 'base.txt' })).toMatchObject({ ok: true })
    expect(opened).toHaveLength(1)
    // Without the option, changed roots are ignored.
    await client.close()
    const deaf = await connect(workspace, {}, { roots: { listChanged: true } })
    await deaf.client.sendRootsListChanged()
    expect(await deaf.call('read_file', { path: 'base.txt' })).toMatchObject({ ok: true })
  })
})
