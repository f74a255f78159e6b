import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { memorySink } from '../../../src/audit/sinks.ts'
import { type GithubOptions, github, type LazyOptions, lazy } from '../../../src/backends/lazy/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import { createWorkspace, ToolError } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { type GithubServer, type GithubServerOptions, type Repository, startGithub } from './github-server.ts'

const TOKEN = 'github_pat_the-secret-token'
const servers: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function serve(repository: Repository, options?: GithubServerOptions): Promise<GithubServer> {
  const server = await startGithub(repository, options)
  servers.push(server)
  return server
}

const open = (server: GithubServer, options: GithubOptions = {}, lazyOptions: LazyOptions = {}) =>
  lazy(github('octo/files', { api: server.url, ...options }), lazyOptions)

async function textAt(backend: Backend, path: string): Promise<string> {
  return new TextDecoder().decode((await backend.read(path as Path)).bytes)
}

/** The error of a read. Never contains the token or an address with a path. */
async function errorOf(action: () => Promise<unknown>): Promise<ToolError> {
  const error = await action().then(
    () => expect.unreachable('it must fail'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ToolError)
  const { message, stack, details, cause } = error as ToolError
  const all = JSON.stringify([message, stack, details, String(cause)])
  expect(all).not.toContain(TOKEN)
  expect(all).not.toContain('/git/')
  return error as ToolError
}

/** 30,000 files in 300 directories. */
function large(): Repository {
  const directory = (i: number) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, k) => [`file${k}.ts`, `export const value = ${i * 100 + k}\n`]))
  return Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`package${i}`, directory(i)]))
}

describe('a repository of 30,000 files', () => {
  it('is open in one request, and a file costs one', async () => {
    const server = await serve(large())
    const workspace = await createWorkspace({ backend: overlay(open(server)), policy: 'autonomous' })
    const listed = await workspace.call('list_directory', { path: '.' })
    expect(listed.ok).toBe(true)
    const found = await workspace.call('find_files', { pattern: '**/file7.ts' })
    expect(found.ok && found.totalFound).toBe(300)
    expect(server.requests).toEqual(['GET /trees/HEAD?recursive=1'])

    const path = 'package7/file42.ts'
    expect(await workspace.call('read_file', { path })).toMatchObject({
      ok: true,
      content: 'export const value = 742\n',
    })
    expect(server.requests.length).toBe(2)
    expect(await workspace.call('file_info', { path })).toMatchObject({ ok: true, totalLines: 1 })
    await workspace.call('edit_file', { path, oldText: '742', newText: '743' })
    expect(await workspace.call('read_file', { path })).toMatchObject({ content: 'export const value = 743\n' })
    const written = await workspace.call('write_file', {
      path: 'package7/new.ts',
      content: 'new\n',
      expectedSha256: null,
    })
    expect(written.ok).toBe(true)
    const diff = await workspace.call('diff_workspace', {})
    expect(diff.ok).toBe(true)
    expect(server.requests.length).toBe(2)
    await workspace.close()
  })
})

describe('an overlay of a repository', () => {
  it('is opened without a request, reads ignore files once, and loads nothing to list', async () => {
    const ignored = { '.gitignore': '*.log\n', 'b.ts': 'b\n', 'b.log': 'b\n' }
    const server = await serve({ '.gitignore': 'out/\n', 'a.ts': 'a\n', out: { 'c.ts': 'c\n' }, src: ignored })
    const workspace = await createWorkspace({ backend: overlay(open(server)), policy: 'autonomous' })
    expect(server.requests).toEqual([])
    const listed = await workspace.call('list_directory', { path: '.', includeIgnored: true })
    expect(listed.ok).toBe(true)
    expect(server.requests.length).toBe(1)
    for (let i = 0; i < 3; i++) {
      const found = await workspace.call('find_files', { pattern: '**/*' })
      expect(found.ok && found.files).toEqual(['a.ts', 'src/b.ts'])
    }
    expect(server.requests.length).toBe(3)
    expect(await workspace.call('file_info', { path: 'src' })).toMatchObject({ ok: true, type: 'directory' })
    expect(server.requests.length).toBe(3)
  })

  it('keeps its changes: a commit to the repository is refused before anybody is asked', async () => {
    const server = await serve({ 'a.ts': 'a\n', d: { 'b.ts': 'b\n' } })
    let questions = 0
    const workspace = await createWorkspace({
      backend: overlay(open(server)),
      policy: 'supervised',
      approve() {
        questions += 1
        return 'allow'
      },
    })
    expect((await workspace.call('delete_file', { path: 'd/b.ts' })).ok).toBe(true)
    expect(await workspace.call('find_files', { pattern: '**' })).toMatchObject({ files: ['a.ts'] })
    expect(questions).toBe(1)
    expect(await workspace.commit()).toMatchObject({ ok: false, code: 'READ_ONLY' })
    expect(questions).toBe(1)
    expect(server.requests.length).toBe(2)
  })
})

describe('the entries of a repository', () => {
  const repository: Repository = {
    'a.txt': 'one\n',
    'run.sh': ['executable', '#!/bin/sh\n'],
    src: { 'deep.ts': 'export {}\n', link: ['link', '../a.txt'], empty: '' },
    out: ['link', '../../etc/passwd'],
    vendor: { library: ['submodule', 'b'.repeat(40)] },
  }

  it.each([{ json: false }, { json: true }])('are those of git, with $json as the form of blobs', async ({ json }) => {
    const server = await serve(repository, { json })
    const backend = open(server)
    expect(await backend.list('' as Path)).toEqual([
      { name: 'a.txt', type: 'file' },
      { name: 'out', type: 'link' },
      { name: 'run.sh', type: 'file' },
      { name: 'src', type: 'directory' },
      { name: 'vendor', type: 'directory' },
    ])
    expect((await backend.stat('run.sh' as Path))?.mode).toBe(0o755)
    expect((await backend.stat('a.txt' as Path))?.mode).toBe(0o644)
    expect(await textAt(backend, 'src/deep.ts')).toBe('export {}\n')
    expect(await textAt(backend, 'src/empty')).toBe('')
    expect(await backend.canonical('src/link' as Path)).toBe('a.txt')
    expect((await errorOf(() => backend.canonical('out' as Path))).code).toBe('PATH_REJECTED')
    expect((await backend.stat('vendor/library' as Path))?.type).toBe('other')
    expect(await backend.omitted()).toEqual([
      { path: 'vendor/library', reason: `a submodule at commit ${'b'.repeat(40)}` },
    ])
    expect((await errorOf(() => backend.read('vendor/library' as Path))).code).toBe('PATH_REJECTED')
    expect((await errorOf(() => backend.read('src' as Path))).code).toBe('IS_DIRECTORY')
    expect((await errorOf(() => backend.read('a.txt/x' as Path))).code).toBe('NOT_A_DIRECTORY')
    expect((await errorOf(() => backend.read('none' as Path))).code).toBe('NOT_FOUND')
    // The tree, deep.ts, and the two links; the empty file needs no request.
    expect(server.requests.length).toBe(4)
  })

  it.each([{ json: false }, { json: true }])(
    'can be several megabytes large, with $json as the form of blobs',
    async ({ json }) => {
      const large = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2654435761) >>> 13)
      const server = await serve({ large }, { json })
      const { bytes } = await open(server).read('large' as Path, { start: 2_000_000, end: 2_000_010 })
      expect(bytes).toEqual(large.subarray(2_000_000, 2_000_010))
      expect((await errorOf(() => open(server, {}, { cacheBytes: 1000 }).read('large' as Path))).code).toBe(
        'LIMIT_EXCEEDED',
      )
    },
  )

  it('leave out what git does not check out, and names that the guard refuses', async () => {
    const server = await serve({
      ...{ 'a.txt': 'ok\n', README: 'upper\n', readme: 'lower\n' },
      ...{
        '.git': { config: '[core]\n' },
        '.GIT': { hooks: 'x' },
        'git~1': { config: 'x' },
        sub: { '.git': 'gitdir: ../..\n' },
      },
      ...{ '..': 'up', 'a\\b': 'x', 'c:d': 'x', 'e\u202ef': 'x', 'g\ufffdh': 'x' },
      top: { '..': { '..': { passwd: 'x' } } },
    })
    const backend = open(server)
    const names = (await backend.list('' as Path)).map(({ name }) => name)
    expect(names).toEqual(['README', 'a.txt', 'readme'])
    expect([await textAt(backend, 'README'), await textAt(backend, 'readme')]).toEqual(['upper\n', 'lower\n'])
    const omitted = (await backend.omitted()).map(({ path }) => path).sort()
    expect(omitted).toEqual(
      [
        ...['..', '.GIT/hooks', '.git/config', 'a\\b', 'c:d', 'e\u202ef', 'g\ufffdh', 'git~1/config', 'sub/.git'],
        'top/../../passwd',
      ].sort(),
    )
  })

  it('are found directory by directory if the listing is truncated', async () => {
    const server = await serve(
      {
        'a.txt': 'a\n',
        b: { 'c.txt': 'c\n', d: { 'e.txt': 'e\n', 'f.txt': 'f\n', 'g.txt': 'g\n' } },
        h: { 'i.txt': 'i\n' },
      },
      { maxEntries: 3 },
    )
    const workspace = await createWorkspace({ backend: open(server), policy: 'readOnly' })
    const found = await workspace.call('find_files', { pattern: '**' })
    expect(found.ok && found.files).toEqual(['a.txt', 'b/c.txt', 'b/d/e.txt', 'b/d/f.txt', 'b/d/g.txt', 'h/i.txt'])
    // The root twice; b twice, because it is truncated itself; d, h.
    expect(server.requests.length).toBe(6)
  })
})

describe('a GitHub that refuses', () => {
  const repository = { 'a.txt': 'one\n', 'b.txt': 'two\n' }

  it.each([
    [
      'primary limit',
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 3000) },
      '',
      3000,
    ],
    ['limit with seconds', 429, { 'retry-after': '120' }, '', 120],
    ['limit with a date', 429, { 'retry-after': new Date(Date.now() + 600_000).toUTCString() }, '', 600],
    ['limit without a time', 429, {}, '', 60],
    ['secondary limit in words', 403, {}, '{"message":"You have exceeded a secondary rate limit."}', 60],
    ['a time far away', 429, { 'retry-after': '9'.repeat(300) }, '', 86_400],
    ['a time that is none', 429, { 'retry-after': 'soon' }, '', 60],
  ] as const)('%s: tells the time, and sends nothing until then', async (_name, status, headers, body, seconds) => {
    const server = await serve(repository)
    const backend = open(server, { token: TOKEN })
    expect(await textAt(backend, 'a.txt')).toBe('one\n')
    server.intercept = (_request, response) => {
      response.writeHead(status, headers).end(body)
      return true
    }
    const { code, message, details } = await errorOf(() => backend.read('b.txt' as Path))
    expect(code).toBe('BACKEND_ERROR')
    const until = Date.parse(/until (\S+)$/.exec(message)?.[1] ?? '')
    expect(Math.abs(until - Date.now() - seconds * 1000)).toBeLessThan(30_000)
    expect(Math.abs((details.retryAfterMs ?? 0) - seconds * 1000)).toBeLessThan(30_000)
    server.intercept = undefined
    const sent = server.requests.length
    expect((await errorOf(() => backend.read('b.txt' as Path))).message).toBe(message)
    expect(server.requests.length).toBe(sent)
    expect(await textAt(backend, 'a.txt')).toBe('one\n')
  })

  it.each([
    [401, 'token'],
    [403, 'does not allow'],
    [404, 'no such repository'],
    [418, 'status 418'],
  ])('%i is an error that says why', async (status, why) => {
    const server = await serve(repository)
    server.intercept = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(`{"message":"${TOKEN}"}`)
      return true
    }
    const backend = open(server, { token: TOKEN })
    const error = await errorOf(() => backend.list('' as Path))
    expect([error.code, error.message.includes(why)]).toEqual(['BACKEND_ERROR', true])
    expect(server.requests.length).toBe(1)
    // Nothing of the failure is kept.
    server.intercept = undefined
    expect(await textAt(backend, 'a.txt')).toBe('one\n')
  })

  it('an unknown branch is an error, an empty repository has no files', async () => {
    const server = await serve(repository)
    expect((await errorOf(() => open(server, { ref: 'none' }).list('' as Path))).message).toContain('no such')
    expect((await open(server, { ref: 'feature/x' }).list('' as Path)).length).toBe(2)
    server.intercept = (_request, response) => {
      response.writeHead(409, { 'content-type': 'application/json' }).end('{"message":"Git Repository is empty."}')
      return true
    }
    expect(await open(server).list('' as Path)).toEqual([])
  })

  it('a passing failure is tried again, up to three times', async () => {
    const server = await serve(repository)
    let failures = 2
    server.intercept = (request, response) => {
      failures -= 1
      if (failures < 0) return false
      if (failures === 0) request.socket.destroy()
      else response.writeHead(502).end()
      return true
    }
    expect(await textAt(open(server), 'a.txt')).toBe('one\n')
    failures = 100
    expect((await errorOf(() => open(server).stat('a.txt' as Path))).message).toMatch(/status 502|cannot be reached/)
  })

  it.each([
    ['{"sha": 1}', 'unknown form'],
    ['nonsense', 'unknown form'],
    ['{"sha":"../../x","tree":[],"truncated":false}', 'unknown form'],
    [
      `{"sha":"${'a'.repeat(40)}","tree":[{"path":"x","mode":"100644","type":"blob","sha":"../../../user","size":1}],"truncated":false}`,
      'unknown form',
    ],
    [
      `{"sha":"${'a'.repeat(40)}","tree":[{"path":"x","mode":"100644","type":"blob","sha":"${'a'.repeat(40)}","size":-1}],"truncated":false}`,
      'unknown form',
    ],
  ])('an answer %s is refused', async (answer, why) => {
    const server = await serve(repository)
    server.intercept = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
      return true
    }
    expect((await errorOf(() => open(server).list('' as Path))).message).toContain(why)
  })

  it.each(['two!', 'three characters more\n', ''])(
    'a content that is not the listed one is refused: %j',
    async (content) => {
      const server = await serve(repository)
      const backend = open(server)
      await backend.list('' as Path)
      server.intercept = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.github.raw+json' }).end(content)
        return true
      }
      expect((await errorOf(() => backend.read('b.txt' as Path))).code).toBe('BACKEND_ERROR')
      server.intercept = undefined
      expect(await textAt(backend, 'b.txt')).toBe('two\n')
    },
  )
})

describe('the token', () => {
  it('is sent to the API', async () => {
    const server = await serve({ 'a.txt': 'one\n' })
    await textAt(open(server, { token: TOKEN }), 'a.txt')
    expect(server.headers.map(({ authorization }) => authorization)).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`])
  })

  it('is not sent to another origin, and a repository that was renamed is asked by its new address', async () => {
    const server = await serve({ 'a.txt': 'one\n' })
    const other = await serve({ 'a.txt': 'one\n' })
    server.intercept = (request, response) => {
      if (!request.url?.includes('/blobs/')) return false
      response.writeHead(302, { location: `${other.url}${request.url}` }).end()
      return true
    }
    expect(await textAt(open(server, { token: TOKEN }), 'a.txt')).toBe('one\n')
    expect(other.headers.map(({ authorization }) => authorization)).toEqual([undefined])

    server.requests.length = 0
    server.intercept = (request, response) => {
      if (!request.url?.startsWith('/repos/octo/old')) return false
      response.writeHead(301, { location: `${server.url}${request.url.replace('octo/old', 'octo/files')}` }).end()
      return true
    }
    for (const token of [TOKEN, undefined]) {
      const options = { api: server.url, ...(token === undefined ? {} : { token }) }
      const renamed = lazy(github('octo/old', options))
      expect(await textAt(renamed, 'a.txt')).toBe('one\n')
    }
    expect(server.requests.filter((request) => request.includes('octo/old')).length).toBe(2)
  })

  it('is in no error, result or record, whatever fails', async () => {
    const server = await serve({ 'a.txt': 'one\n' })
    const failing = lazy(
      github('octo/files', {
        api: server.url,
        token: TOKEN,
        fetch: async (url, { headers }) => {
          throw new Error(`${url} ${JSON.stringify(headers)}`)
        },
      }),
    )
    const audit = memorySink()
    const workspace = await createWorkspace({ backend: overlay(failing), policy: 'autonomous', audit })
    const result = await workspace.call('read_file', { path: 'a.txt' })
    expect(result).toMatchObject({ ok: false, code: 'BACKEND_ERROR' })
    expect(JSON.stringify([result, audit.records(), workspace])).not.toContain(TOKEN)
    for (const token of ['', 'two words', 'line\nbreak']) {
      expect(() => github('octo/files', { token })).toThrow(TypeError)
    }
    expect(() => github('octo/files', { token: 'x y z' })).not.toThrow('x y z')
  })

  it('and the repository are checked', () => {
    for (const name of ['octo', 'octo/', '/files', 'octo/files/x', '../files', 'octo/..', 'octo/fi les', 'octo/a?b']) {
      expect(() => github(name)).toThrow(TypeError)
    }
    expect(() => github('octo/files', { api: 'file:///etc' })).toThrow(TypeError)
    expect(() => github('octo/files', { api: 'https://user:word@host' })).toThrow(TypeError)
  })
})

describe('loading', () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}.txt`, `text ${i}\n`]))

  it('is shared by readers of one file, and bounded for a search', async () => {
    const server = await serve(many, { delay: 10 })
    const backend = open(server, {}, { concurrency: 5 })
    const texts = await Promise.all(Array.from({ length: 20 }, () => textAt(backend, 'f7.txt')))
    expect(new Set(texts)).toEqual(new Set(['text 7\n']))
    expect(server.requests.length).toBe(2)
    const workspace = await createWorkspace({ backend: overlay(backend), policy: 'readOnly' })
    const found = await workspace.call('search_text', { query: 'text 5' })
    expect(found.ok && found.matches.length).toBe(11)
    expect(server.requests.length).toBe(61)
    expect(server.atOnce).toBeGreaterThan(2)
    expect(server.atOnce).toBeLessThanOrEqual(5)
  })

  it('keeps contents within a number of bytes', async () => {
    const server = await serve(many)
    const backend = open(server, {}, { cacheBytes: 20 })
    for (const path of ['f1.txt', 'f2.txt', 'f1.txt', 'f3.txt', 'f1.txt', 'f2.txt']) await textAt(backend, path)
    // Of 7 bytes each, two stay: f1 and the one before or after it.
    expect(server.requests.length).toBe(1 + 4)
  })

  it('ends when its signal aborts, when the backend is closed, and after its time', async () => {
    const server = await serve(many, { delay: 2000 })
    const controller = new AbortController()
    const aborted = errorOf(() => open(server, {}, { signal: controller.signal }).list('' as Path))
    const closing = open(server)
    const closed = errorOf(() => closing.list('' as Path))
    await new Promise((resolve) => setTimeout(resolve, 50))
    controller.abort()
    await closing.close()
    expect([(await aborted).code, (await closed).code]).toEqual(['ABORTED', 'ABORTED'])
    expect((await errorOf(() => open(server, {}, { signal: controller.signal }).list('' as Path))).code).toBe('ABORTED')
    const late = await errorOf(() => open(server, {}, { timeoutMs: 30 }).list('' as Path))
    expect([late.code, late.message]).toEqual(['BACKEND_ERROR', 'Cannot list ".": no answer within 30 ms'])
  })

  it('asks whether the commit changed when the same source is listed again', async () => {
    const server = await serve({ 'a.txt': 'one\n' })
    const source = github('octo/files', { api: server.url })
    for (const workspace of [lazy(source), lazy(source)]) expect(await textAt(workspace, 'a.txt')).toBe('one\n')
    expect(server.headers.map((headers) => headers['if-none-match'] !== undefined)).toEqual([false, false, true, false])
  })

  it('of a body that never ends is cut off', async () => {
    const endless = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"sha":')
    }).listen(0, '127.0.0.1')
    servers.push({
      close: async () => {
        endless.closeAllConnections()
        endless.close()
      },
    })
    await new Promise((resolve) => endless.once('listening', resolve))
    const api = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`
    const error = await errorOf(() => lazy(github('octo/files', { api }), { timeoutMs: 200 }).list('' as Path))
    expect(error.message).toContain('no answer')
  })
})
