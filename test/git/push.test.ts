import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolError } from '../../src/errors.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { ApprovalRequest } from '../../src/policy/approval.ts'
import { everyNth } from '../counts.ts'
import { snapshot } from '../tools/setup.ts'
import { ACCOUNT, type RemoteBench, serveRemotes } from './remote-bench.ts'
import { commitAll, onDisk, git as realGit, temporary } from './repositories.ts'

let remotes: Awaited<ReturnType<typeof serveRemotes>>
/** Answers instead of git, for one test. */
let instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined

beforeAll(async () => {
  remotes = await serveRemotes({ instead: (request, response) => instead?.(request, response) ?? false })
})
afterAll(() => remotes.close())

const message = async (promise: Promise<unknown>): Promise<ToolError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ToolError) return error
  throw new Error(`no refusal: ${String(error)}`)
}

/** Everything that the workspace stores and records, as text. */
async function everything(bench: RemoteBench): Promise<string> {
  return JSON.stringify([await filesOf(bench), bench.workspace.auditRecords()])
}

const filesOf = ({ backend }: RemoteBench) => snapshot(backend)

/** Another person pushes to the server. */
function pushOfOther(bare: string, branch: string): string {
  const directory = join(temporary(), 'other')
  realGit(bare, 'clone', '-q', '-b', branch, bare, directory)
  writeFileSync(join(directory, 'other.txt'), 'other\n')
  const commit = commitAll(directory, 'of another person')
  realGit(directory, 'push', '-q', 'origin', `HEAD:${branch}`)
  return commit
}

describe('a push to the real git http-backend', () => {
  it('updates, creates, replaces and deletes branches, and records where they are', async () => {
    const bench = await remotes.open()
    const { repository, url, at, backend, bare } = bench
    const { second, third, topic } = remotes
    expect(await repository.push()).toEqual({
      ...{ url, ref: 'refs/heads/main', from: second, to: third, status: 'updated', message: '' },
    })
    expect(at()).toBe(third)
    expect(await repository.push()).toMatchObject({ status: 'upToDate', from: third, to: third })
    const created = await repository.push({ ref: 'topic', remoteRef: 'team/new', setUpstream: true })
    expect(created).toMatchObject({ ref: 'refs/heads/team/new', from: null, to: topic, status: 'created' })
    expect(await repository.upstream('topic')).toEqual({ remote: 'origin', branch: 'team/new' })
    // A commit by its id, and an address instead of the remote.
    expect(await repository.push({ url, ref: second, remoteRef: 'old' })).toMatchObject({ status: 'created' })
    expect(await repository.push({ ref: 'main', remoteRef: 'topic', force: 'lease' })).toMatchObject({
      ...{ from: topic, to: third, status: 'forced' },
    })
    expect(await repository.push({ ref: topic, remoteRef: 'topic', force: { expect: third } })).toMatchObject({
      ...{ from: third, status: 'forced' },
    })
    expect(await repository.push({ remoteRef: 'old', delete: true })).toMatchObject({
      ...{ from: second, to: null, status: 'deleted' },
    })
    expect([at(), at('team/new'), at('topic'), at('old')]).toEqual([third, topic, topic, ''])
    realGit(bare, 'fsck', '--strict')
    const directory = await onDisk(backend)
    realGit(directory, 'fsck', '--strict')
    const refs = realGit(directory, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/remotes/origin')
    expect(refs).toContain(`refs/remotes/origin/main ${third}\n`)
    expect(refs).toContain(`refs/remotes/origin/team/new ${topic}\n`)
    expect(refs).not.toContain('origin/old')
    expect(realGit(directory, 'rev-parse', '--abbrev-ref', 'topic@{upstream}').trim()).toBe('origin/team/new')
  })

  it('sends what other histories need: merges, nested directories, modes, links and an empty tree', async () => {
    const source = temporary()
    realGit(source, 'clone', '-q', remotes.clone, '.')
    realGit(source, 'checkout', '-q', '-b', 'side', 'main~1')
    const sh = (script: string) => realGit(source, '-c', `alias.x=!${script}`, 'x')
    sh('mkdir -p d/e && echo d > d/e/f && ln -s e/f d/link && echo x > run.sh && chmod +x run.sh')
    commitAll(source, 'side')
    realGit(source, 'checkout', '-q', 'main')
    realGit(source, 'merge', '-q', '--no-ff', '-m', 'merged', 'side')
    realGit(source, 'rm', '-rq', '.')
    commitAll(source, 'empty')
    sh('cp run.sh . 2>/dev/null; git checkout -q HEAD~1 -- d && mkdir g && cp -R d g/d')
    const last = commitAll(source, 'again')
    const bench = await remotes.open()
    const { memory } = await import('../../src/backends/memory/index.ts')
    const { openRepository } = await import('../../src/git/index.ts')
    const { entriesOf } = await import('./repositories.ts')
    const repository = openRepository(
      { backend: memory(entriesOf(source)), mayRead: () => true, now: () => 0, change: async () => {} },
      { credentials: () => ACCOUNT },
    )
    expect(await repository.push({ url: bench.url })).toMatchObject({ status: 'updated', to: last })
    realGit(bench.bare, 'fsck', '--strict', '--connectivity-only')
    expect(realGit(bench.bare, 'rev-parse', 'main^{tree}')).toBe(realGit(source, 'rev-parse', 'main^{tree}'))
  })

  it('leaves no credentials in files, records, errors and results, also if the server repeats them', async () => {
    const seen: object[] = []
    const secret = Buffer.from(`${ACCOUNT.username}:${ACCOUNT.password}`).toString('base64')
    const bench = await remotes.open({
      credentials: async (request) => {
        seen.push(request)
        return ACCOUNT
      },
    })
    const hook = join(bench.bare, 'hooks/pre-receive')
    writeFileSync(
      hook,
      `#!/bin/sh\necho "you are ${ACCOUNT.password} $HTTP_X ${secret}"; printf '\\033[31mred\\n'; exit 1\n`,
    )
    chmodSync(hook, 0o755)
    const refused = await message(bench.repository.push())
    expect(refused).toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot push main: the remote refuses: pre-receive hook declined',
      details: {
        push: {
          ...{ url: bench.url, ref: 'refs/heads/main', from: remotes.second, to: remotes.third, reason: 'remote' },
          ...{ why: 'pre-receive hook declined', text: 'you are ***  ***\n[31mred' },
        },
      },
    })
    expect(seen).toEqual([{ url: bench.url, operation: 'push' }])
    chmodSync(hook, 0o644)
    const done = await bench.repository.push()
    const shown = [JSON.stringify([refused.message, refused.details, done]), await everything(bench)].join()
    expect(shown).toContain(bench.url)
    for (const text of [ACCOUNT.password, secret]) expect(shown).not.toContain(text)
    const headers = await remotes.open({ credentials: () => ({ headers: { Authorization: `Basic ${secret}` } }) })
    expect(await headers.repository.push()).toMatchObject({ status: 'updated' })
    expect(await everything(headers)).not.toContain(secret)
  })

  it('is in the audit, before and after it happened', async () => {
    const { workspace, repository, url } = await remotes.open()
    await repository.push()
    const [intent, outcome] = workspace.auditRecords().slice(-2)
    const pushes = [{ url, ref: 'refs/heads/main', from: remotes.second, to: remotes.third }]
    expect(intent).toMatchObject({ phase: 'intent', toolName: 'git_push', permission: 'git:push', pushes })
    expect(outcome).toMatchObject({ phase: 'outcome', pushes })
    expect(workspace.verifyAudit()).toMatchObject({ ok: true })
    await repository.push()
    expect(workspace.auditRecords().at(-1)?.pushes).toBeUndefined()
  })
})

describe('a push is refused, and changes nothing,', () => {
  const refusals: Record<string, [open: object, push: object, error: object, requests?: number]> = {
    'to a host that policy does not name': [
      { policy: { preset: 'autonomous', network: { hosts: ['git.example'] } } },
      {},
      { code: 'POLICY_DENIED', message: expect.stringContaining('policy names no network host "127.0.0.1:') },
      0,
    ],
    'without a network in the policy': [{ policy: 'autonomous' }, {}, { code: 'POLICY_DENIED' }, 0],
    'in a read-only workspace': [{ readOnly: true }, {}, { code: 'READ_ONLY' }, 0],
    'before the plan is approved': [{ mode: 'plan' }, {}, { code: 'PLAN_MODE' }, 0],
    'if nobody can be asked': [
      { policy: { preset: 'supervised', network: { hosts: ['127.0.0.1:*'] } } },
      {},
      { code: 'APPROVAL_REQUIRED' },
      2,
    ],
    'by a rule on the branch of a repository': [
      {
        policy: {
          preset: 'autonomous',
          network: { hosts: ['127.0.0.1:*'] },
          rules: [
            { name: 'main', action: 'deny', permissions: ['git:push'], paths: ['.git/push/*/*/refs/heads/main'] },
          ],
        },
      },
      {},
      { code: 'POLICY_DENIED', message: expect.stringContaining('rule "main"') },
      0,
    ],
    'without credentials': [
      { credentials: null },
      {},
      {
        code: 'BACKEND_ERROR',
        message: 'Cannot continue with git: the server answered 401: it demands credentials',
        details: { hint: expect.stringContaining('git({ credentials })') },
      },
      1,
    ],
    'with no credentials for this server': [
      { credentials: () => undefined },
      {},
      { code: 'BACKEND_ERROR', message: expect.stringContaining('it demands credentials') },
      1,
    ],
    'with wrong credentials': [
      { credentials: () => ({ ...ACCOUNT, password: 'wrong-password' }) },
      {},
      { code: 'BACKEND_ERROR', message: expect.stringMatching(/401: it refuses the credentials$/) },
      2,
    ],
    'if the function for the credentials fails': [
      {
        credentials: () => {
          throw new Error(`no ${ACCOUNT.password}`)
        },
      },
      {},
      { code: 'HOOK_FAILED', message: 'Cannot continue with git: the function for its credentials failed' },
      1,
    ],
    'with credentials of a wrong form': [
      { credentials: () => ({ username: 'a:b', password: ACCOUNT.password }) },
      {},
      { code: 'HOOK_FAILED', message: expect.not.stringContaining(ACCOUNT.password) },
      1,
    ],
    'with a header that no request can have': [
      { credentials: () => ({ headers: { Authorization: `${ACCOUNT.password}\nX: y` } }) },
      {},
      { code: 'HOOK_FAILED', message: expect.not.stringContaining(ACCOUNT.password) },
      1,
    ],
    'to an address with a password': [
      {},
      { url: `http://ada:${ACCOUNT.password}@127.0.0.1/x.git` },
      {
        code: 'INVALID_INPUT',
        message: 'Cannot use the remote: an address must hold no name and no password',
        details: { hint: expect.stringContaining('git({ credentials })') },
      },
      0,
    ],
    'to an address with an empty name': [{}, { url: 'http://@127.0.0.1/x.git' }, { code: 'INVALID_INPUT' }, 0],
    'to an address with a query': [{}, { url: 'http://127.0.0.1/x.git?token=1' }, { code: 'INVALID_INPUT' }, 0],
    'to an address of another kind': [{}, { url: 'ssh://git@git.example/x.git' }, { code: 'INVALID_INPUT' }, 0],
    'to an unknown remote': [{}, { remote: 'upstream' }, { code: 'NOT_FOUND' }, 0],
    'of an unknown branch': [{}, { ref: 'nothing' }, { code: 'NOT_FOUND' }, 0],
    'to a tag': [{}, { remoteRef: 'refs/tags/v1' }, { code: 'INVALID_INPUT' }, 0],
    'to a name that git refuses': [{}, { remoteRef: 'a..b' }, { code: 'INVALID_INPUT' }, 0],
    'that sets the upstream of a commit': [
      {},
      { ref: 'HEAD~1', remoteRef: 'old', setUpstream: true },
      {
        code: 'INVALID_INPUT',
        message: 'Cannot set the upstream: only a branch has one, on a remote of the repository',
      },
      0,
    ],
    'that sets an address as upstream': [
      {},
      { url: 'http://127.0.0.1/x.git', setUpstream: true },
      { code: 'INVALID_INPUT', details: { field: 'setUpstream' } },
      0,
    ],
    'of a commit without the name of a branch': [{}, { ref: 'HEAD~1' }, { code: 'INVALID_INPUT' }, 0],
    'of a branch that lacks commits of the server': [
      {},
      { ref: 'topic', remoteRef: 'main' },
      { code: 'WRITE_CONFLICT', details: { push: { reason: 'nonFastForward' } } },
      2,
    ],
    'if the server is not where it is expected': [
      {},
      { force: { expect: '1'.repeat(40) } },
      { code: 'WRITE_CONFLICT', details: { push: { reason: 'stale' } } },
      2,
    ],
    'if the server should not have the branch': [
      {},
      { force: { expect: null } },
      { code: 'WRITE_CONFLICT', details: { push: { reason: 'stale' } } },
      2,
    ],
    'for the deletion of a branch that does not exist': [
      {},
      { remoteRef: 'nothing', delete: true },
      { code: 'NOT_FOUND' },
      2,
    ],
  }

  it.each(everyNth(Object.entries(refusals), 2))('%s', async (_, [open, push, error, requests]) => {
    const bench = await remotes.open(open)
    const before = remotes.requests.length
    const files = await filesOf(bench)
    const refused = await message(bench.repository.push(push))
    expect({ code: refused.code, message: refused.message, details: refused.details }).toMatchObject(error)
    expect(remotes.requests.length - before).toBe(requests)
    expect(remotes.requests.slice(before).filter((one) => one.startsWith('POST'))).toEqual([])
    expect(bench.at()).toBe(remotes.second)
    expect(await filesOf(bench)).toEqual(files)
    expect(await everything(bench)).not.toContain(ACCOUNT.password)
    expect(`${refused.message}${JSON.stringify(refused.details)}`).not.toContain(ACCOUNT.password)
  })

  it('if the configuration of the remote has a password', async () => {
    const bench = await remotes.open()
    const config = '.git/config' as Path
    const text = new TextDecoder().decode((await bench.backend.read(config)).bytes)
    const bytes = new TextEncoder().encode(text.replace('://', '://ada:hunter2222@'))
    await bench.backend.commit([{ path: config, expect: 'any', to: { type: 'file', bytes } }], {
      durability: 'relaxed',
    })
    for (const refused of [await message(bench.repository.push()), await message(bench.repository.fetch())]) {
      expect(refused).toMatchObject({ code: 'INVALID_INPUT' })
      expect(JSON.stringify([refused.message, refused.details])).not.toContain('hunter')
    }
  })

  it('if another person pushed first; a lease is about what was seen last', async () => {
    const bench = await remotes.open()
    const other = pushOfOther(bench.bare, 'main')
    expect(await message(bench.repository.push())).toMatchObject({
      code: 'WRITE_CONFLICT',
      message: 'Cannot push main: the remote has commits that this repository does not have',
      details: { push: { reason: 'fetchFirst', from: other, to: remotes.third } },
    })
    expect(await message(bench.repository.push({ force: 'lease' }))).toMatchObject({
      details: { push: { reason: 'stale' } },
    })
    expect(bench.at()).toBe(other)
    await bench.repository.fetch()
    expect(await message(bench.repository.push())).toMatchObject({ details: { push: { reason: 'nonFastForward' } } })
    expect(await bench.repository.push({ force: 'lease' })).toMatchObject({ from: other, status: 'forced' })
  })

  it('if it would send a file that may not be read, also of an earlier commit', async () => {
    const bench = await remotes.open()
    const source = join(temporary(), 'source')
    realGit(remotes.clone, 'clone', '-q', remotes.clone, source)
    writeFileSync(join(source, '.env'), 'TOKEN=1\n')
    commitAll(source, 'with a secret')
    realGit(source, 'rm', '-q', '.env')
    commitAll(source, 'without')
    const { entriesOf } = await import('./repositories.ts')
    const { createWorkspace } = await import('../../src/workspace/create-workspace.ts')
    const { memory } = await import('../../src/backends/memory/index.ts')
    const { git } = await import('../../src/git/index.ts')
    const workspace = await createWorkspace({
      backend: memory(entriesOf(source)),
      policy: { preset: 'autonomous', network: { hosts: ['127.0.0.1:*'] } },
      git: git({ credentials: () => ACCOUNT }),
    })
    const refused = await message(workspace.git?.push({ url: bench.url }) ?? Promise.resolve())
    expect(refused).toMatchObject({
      code: 'POLICY_DENIED',
      message: 'Cannot push main: its commits contain a file that may not be read',
    })
    expect(bench.at()).toBe(remotes.second)
  })

  it('if the label of the commits, or of what was read, is above the ceiling of the host', async () => {
    const labels = (paths: readonly string[]) => ({
      sources: [{ label: 'confidential', paths }],
      sinks: [{ name: 'out', ceiling: 'internal', hosts: ['127.0.0.1'] }],
    })
    const policy = (paths: readonly string[]) => ({
      ...{ preset: 'autonomous', network: { hosts: ['127.0.0.1:*'] }, labels: labels(paths) },
    })
    // `a.txt` is in every commit, `notes.md` in none.
    const committed = await remotes.open({ policy: policy(['a.txt']) as never })
    const before = remotes.requests.length
    expect(await message(committed.repository.push())).toMatchObject({
      ...{ code: 'TAINT_DENIED', details: { sink: 'out', origin: { label: 'confidential' }, ceiling: 'internal' } },
    })
    const read = await remotes.open({ policy: policy(['notes.md']) as never })
    await read.workspace.files.write('notes.md', 'plan\n')
    expect(await read.workspace.call('read_file', { path: 'notes.md' })).toMatchObject({ ok: true })
    expect(await message(read.repository.push())).toMatchObject({ code: 'TAINT_DENIED' })
    expect(remotes.requests).toHaveLength(before)
    const free = await remotes.open({ policy: policy(['notes.md']) as never })
    expect(await free.repository.push()).toMatchObject({ status: 'updated' })
  })
})

describe('a push that policy asks about', () => {
  const policy = {
    preset: 'autonomous',
    network: { hosts: ['127.0.0.1:*'] },
    rules: [{ name: 'ask', action: 'ask', permissions: ['git:push'] }],
  } as const

  it('shows remote, branch, commits and changes to the person, and asks again for another branch', async () => {
    const requests: ApprovalRequest[] = []
    let answer: 'allow' | 'allow-run' | { deny: string } = { deny: 'not today' }
    const bench = await remotes.open({
      policy,
      approve: (request) => {
        requests.push(request)
        return answer
      },
    })
    const { repository, url, at } = bench
    expect(await message(repository.push())).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(at()).toBe(remotes.second)
    const [request] = requests
    expect(request).toMatchObject({
      tool: 'git_push',
      input: { url, ref: 'refs/heads/main', commit: remotes.third, force: false },
      accesses: [
        {
          permission: 'git:push',
          path: expect.stringMatching(/^\.git\/push\/127\.0\.0\.1\+\d+\/x\d+\.git\/refs\/heads\/main$/),
        },
      ],
    })
    expect(request?.diff).toBe(
      `push ${url}\nrefs/heads/main ${remotes.second.slice(0, 12)} -> ${remotes.third.slice(0, 12)}\n${remotes.third.slice(0, 12)} third\n\n${realGit(remotes.clone, 'diff', 'main~1', 'main').replace(/^index .*\n/m, '')}`,
    )
    answer = 'allow-run'
    expect(await repository.push()).toMatchObject({ status: 'updated' })
    await bench.workspace.files.write('a.txt', 'four\n')
    await repository.add('.')
    await repository.commit({ message: 'four' })
    expect(await repository.push()).toMatchObject({ status: 'updated' })
    expect(requests).toHaveLength(2)
    expect(await repository.push({ remoteRef: 'other' })).toMatchObject({ status: 'created' })
    expect(requests).toHaveLength(3)
    expect(bench.workspace.auditRecords().at(-1)?.approvals).toEqual([{ how: 'run', rules: ['ask'] }])
  })
})

describe('a server that fails', () => {
  afterAll(() => {
    instead = undefined
  })
  const advertised = (text: string) => (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-advertisement' }).end(text)
    return true
  }
  const posts =
    (answer: (response: ServerResponse, request: IncomingMessage) => void) =>
    (request: IncomingMessage, response: ServerResponse) => {
      if (request.method !== 'POST') return false
      request.on('data', () => {})
      answer(response, request)
      return true
    }
  const confirmed = { code: 'BACKEND_ERROR', message: expect.stringContaining('Cannot confirm the push') }
  const broken = { code: 'BACKEND_ERROR', message: expect.stringContaining('not of its protocol') }
  const failures: Record<string, [typeof instead, object]> = {
    'by ending the connection': [
      (_, response) => {
        response.destroy()
        return true
      },
      { code: 'BACKEND_ERROR', message: 'Cannot push: the server cannot be reached' },
    ],
    'by ending the connection within the list': [
      (_, response) => {
        response.writeHead(200, {
          'content-type': 'application/x-git-receive-pack-advertisement',
          'content-length': '999',
        })
        response.write('001f# service=git-receive-pack\n0000')
        setImmediate(() => response.destroy())
        return true
      },
      { code: 'BACKEND_ERROR', message: 'Cannot push: the server cannot be reached' },
    ],
    'with a page': [
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
        return true
      },
      broken,
    ],
    'with another service': [advertised('001e# service=git-upload-pack\n00000000'), broken],
    'with a list that is cut': [advertised('001f# service=git-receive-pack\n00000050aa'), broken],
    'with a list without its end': [advertised('001f# service=git-receive-pack\n0000'), broken],
    'with a list of nonsense': [advertised('001f# service=git-receive-pack\n00000009hello0000'), broken],
    'with an error': [
      advertised('001f# service=git-receive-pack\n0000000fERR go away0000'),
      { code: 'BACKEND_ERROR', message: 'Cannot push: the server refuses: go away' },
    ],
    'with 500': [
      (_, response) => {
        response.writeHead(500).end()
        return true
      },
      { code: 'BACKEND_ERROR', message: 'Cannot continue with git: the server answered 500' },
    ],
    'by ending the connection before the answer': [posts((response) => response.destroy()), confirmed],
    'by ending the connection within the answer': [
      posts((response) => {
        response.writeHead(200, { 'content-length': '999' })
        response.write('0030')
        setImmediate(() => response.destroy())
      }),
      confirmed,
    ],
    'with an empty answer': [posts((response) => response.writeHead(200).end()), confirmed],
    'with an answer of nonsense': [posts((response) => response.writeHead(200).end('hello')), confirmed],
    'with 503 to the push': [
      posts((response) => response.writeHead(503).end()),
      { code: 'BACKEND_ERROR', message: 'Cannot continue with git: the server answered 503' },
    ],
    'by redirecting the push': [
      posts((response) => response.writeHead(307, { location: '/y.git/git-receive-pack' }).end()),
      { code: 'BACKEND_ERROR', message: expect.stringContaining('redirects elsewhere') },
    ],
  }

  it.each(everyNth(Object.entries(failures), 3))(
    '%s, changes nothing, and a second push succeeds',
    async (_, [answer, error]) => {
      const bench = await remotes.open()
      instead = answer
      const refused = await message(bench.repository.push()).finally(() => {
        instead = undefined
      })
      expect({ code: refused.code, message: refused.message }).toMatchObject(error)
      expect(bench.at()).toBe(remotes.second)
      realGit(await onDisk(bench.backend), 'fsck', '--strict')
      expect(await bench.repository.push()).toMatchObject({ status: 'updated' })
    },
  )

  it('after it has done the push, is told apart by the next push', async () => {
    const bench = await remotes.open()
    instead = (request, response) => {
      if (request.method !== 'POST') return false
      response.end = (() => response.destroy()) as never
      return false
    }
    const refused = await message(bench.repository.push()).finally(() => {
      instead = undefined
    })
    expect(refused).toMatchObject(confirmed)
    expect(bench.at()).toBe(remotes.third)
    expect(await bench.repository.push()).toMatchObject({ status: 'upToDate' })
    const directory = await onDisk(bench.backend)
    expect(realGit(directory, 'rev-parse', 'origin/main').trim()).toBe(remotes.third)
  })

  it('gets no credentials and no headers if it is that of a redirect', async () => {
    const received: (string | undefined)[] = []
    const thief = createServer((request, response) => {
      received.push(request.headers.authorization, request.headers['x-token'] as string | undefined)
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end()
    })
    await new Promise<void>((ready) => thief.listen(0, '127.0.0.1', ready))
    const address = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`
    const policy = { preset: 'autonomous', network: { hosts: ['127.0.0.1:*'] } } as const
    const bench = await remotes.open({ policy })
    const options = { headers: { 'x-token': ACCOUNT.password } }
    instead = (request, response) => {
      // The server itself gets them, and then redirects.
      if (request.headers.authorization === undefined) return false
      response.writeHead(302, { location: `${address}${request.url}` }).end()
      return true
    }
    try {
      expect(await message(bench.repository.push(options))).toMatchObject({
        ...{
          code: 'BACKEND_ERROR',
          message: `Cannot continue with git: the server redirects to ${new URL(address).host}`,
        },
      })
      expect(received).toEqual([])
      expect(await message(bench.repository.fetch(options))).toMatchObject({
        ...{
          code: 'BACKEND_ERROR',
          message: expect.stringContaining('401'),
          details: { hint: expect.stringContaining('redirect') },
        },
      })
      expect(received).toEqual([undefined, undefined])
    } finally {
      instead = undefined
      thief.close()
    }
  })

  it('may redirect within itself', async () => {
    const bench = await remotes.open()
    const name = new URL(bench.url).pathname
    const moved = bench.url.replace(name, '/moved.git')
    instead = (request, response) => {
      if (!request.url?.startsWith('/moved.git/')) return false
      response.writeHead(301, { location: request.url.replace('/moved.git', name) }).end()
      return true
    }
    try {
      expect(await bench.repository.push({ url: moved })).toMatchObject({ url: moved, status: 'updated' })
    } finally {
      instead = undefined
    }
  })

  it('is left when the caller cancels', async () => {
    const bench = await remotes.open()
    const controller = new AbortController()
    instead = posts(() => controller.abort())
    const refused = await message(bench.repository.push({ signal: controller.signal })).finally(() => {
      instead = undefined
    })
    expect(refused).toMatchObject({ code: 'ABORTED' })
    expect(bench.at()).toBe(remotes.second)
    expect(await message(bench.repository.push({ signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED' })
  })
})
