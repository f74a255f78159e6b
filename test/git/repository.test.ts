import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { ToolError } from '../../src/errors.ts'
import { openRepository, type Repository } from '../../src/git/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { runProgram } from '../run-program.ts'
import { serveGit } from './http-server.ts'
import { commitAll, git, loaded, newRepository, onDisk, temporary } from './repositories.ts'

function opened(backend: Backend, mayRead: (path: string) => boolean = () => true): Repository {
  return openRepository(
    {
      backend,
      mayRead,
      now: () => 1_767_225_600_000,
      async change(changes) {
        await backend.commit(changes, { durability: 'durable' })
      },
    },
    { author: { name: 'A', email: 'a@example.com' } },
  )
}

async function put(backend: Backend, path: string, text: string | null, mode?: number): Promise<void> {
  const names = path.split('/').slice(0, -1)
  const parents = names.map((_, i) => ({
    path: names.slice(0, i + 1).join('/') as Path,
    expect: 'any' as const,
    to: { type: 'directory' as const },
  }))
  const bytes = new TextEncoder().encode(text ?? '')
  const to = text === null ? null : ({ type: 'file', bytes, ...(mode === undefined ? {} : { mode }) } as const)
  await backend.commit([...(text === null ? [] : parents), { path: path as Path, expect: 'any', to }], {
    durability: 'durable',
  })
}

async function text(backend: Backend, path: string): Promise<string | undefined> {
  if ((await backend.stat(path as Path))?.type !== 'file') return undefined
  return new TextDecoder().decode((await backend.read(path as Path)).bytes)
}

const backends: Readonly<Record<string, () => Backend>> = {
  memory: () => memory(),
  node: () => nodeBackend(temporary(), { stateDir: temporary() }),
}

describe.each(Object.entries(backends))('a repository over %s', (_, make) => {
  it('inits, adds, commits, branches and checks out as git does', async () => {
    const backend = make()
    const repository = opened(backend)
    await repository.init()
    await put(backend, 'a.txt', 'one\n')
    await put(backend, 'src/b.ts', 'b\n')
    await put(backend, 'x.log', 'ignored\n')
    await put(backend, '.gitignore', '*.log\n')
    expect((await repository.status()).map(({ path, status, staged }) => [path, status, staged])).toEqual([
      ['.gitignore', 'added', false],
      ['a.txt', 'added', false],
      ['src/b.ts', 'added', false],
    ])
    expect((await repository.add('.')).staged).toEqual(['.gitignore', 'a.txt', 'src/b.ts'])
    expect((await repository.status()).every(({ staged }) => staged)).toBe(true)
    const first = await repository.commit({ message: 'first' })
    expect(await repository.status()).toEqual([])

    await repository.branch('topic')
    await repository.checkout('topic')
    expect(await repository.currentBranch()).toBe('topic')
    await put(backend, 'a.txt', 'two\n')
    await put(backend, 'src/b.ts', null)
    await put(backend, 'deep/er/new.ts', 'new\n')
    await repository.add(['a.txt', 'src', 'deep'])
    const second = await repository.commit({ message: 'second\n\nwith a body' })

    await repository.checkout('main')
    expect([
      await text(backend, 'a.txt'),
      await text(backend, 'src/b.ts'),
      await text(backend, 'deep/er/new.ts'),
    ]).toEqual(['one\n', 'b\n', undefined])
    expect(await backend.stat('deep' as Path)).toBeUndefined()
    expect(await text(backend, 'x.log')).toBe('ignored\n')
    expect(await repository.status()).toEqual([])
    await repository.checkout('topic')
    expect(await repository.log()).toMatchObject([
      { commit: second, parents: [first], message: 'second\n\nwith a body\n' },
      { commit: first, parents: [], author: { name: 'A', at: 1_767_225_600_000 } },
    ])
    expect((await repository.branches()).toSorted()).toEqual(['main', 'topic'])

    const directory = await onDisk(backend)
    git(directory, 'fsck', '--strict')
    expect(git(directory, 'status', '--porcelain')).toBe('')
    expect(git(directory, 'log', '--format=%H').trim().split('\n')).toEqual([second, first])
    expect(git(directory, 'show', 'topic:deep/er/new.ts')).toBe('new\n')
    await backend.close()
  })

  it('never overwrites changed files, unless forced', async () => {
    const backend = make()
    const repository = opened(backend)
    await repository.init()
    await put(backend, 'a.txt', 'one\n')
    await put(backend, 'b.txt', 'same\n')
    await repository.add('.')
    const first = await repository.commit({ message: 'first' })
    await put(backend, 'a.txt', 'two\n')
    await put(backend, 'c.txt', 'new\n')
    await repository.add('.')
    await repository.commit({ message: 'second' })
    await put(backend, 'a.txt', 'mine\n')
    await expect(repository.checkout(first)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    expect([await text(backend, 'a.txt'), await text(backend, 'c.txt')]).toEqual(['mine\n', 'new\n'])
    await put(backend, 'a.txt', 'two\n')
    await put(backend, 'b.txt', 'mine\n')
    await repository.checkout(first)
    expect([await text(backend, 'b.txt'), await text(backend, 'c.txt')]).toEqual(['mine\n', undefined])
    await put(backend, 'c.txt', 'not known here\n')
    await expect(repository.checkout('main')).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await text(backend, 'c.txt')).toBe('not known here\n')
    await repository.checkout('main', { force: true })
    expect([await text(backend, 'a.txt'), await text(backend, 'b.txt'), await text(backend, 'c.txt')]).toEqual([
      'two\n',
      'same\n',
      'new\n',
    ])
    await backend.close()
  })

  it('replaces files by directories and back', async () => {
    const backend = make()
    const repository = opened(backend)
    await repository.init()
    await put(backend, 'x', 'file\n')
    await put(backend, 'y/z', 'below\n')
    await repository.add('.')
    const first = await repository.commit({ message: 'first' })
    await put(backend, 'x', null)
    await put(backend, 'y/z', null)
    await put(backend, 'y', null)
    await put(backend, 'x/inner', 'below\n')
    await put(backend, 'y', 'file\n')
    await repository.add('.')
    await repository.commit({ message: 'second' })
    await repository.checkout(first)
    expect([await text(backend, 'x'), await text(backend, 'y/z')]).toEqual(['file\n', 'below\n'])
    await repository.checkout('main')
    expect([await text(backend, 'x/inner'), await text(backend, 'y')]).toEqual(['below\n', 'file\n'])
    await backend.close()
  })

  it('refuses to replace an untracked file by a directory, in a first checkout too', async () => {
    const backend = make()
    const repository = opened(backend)
    await repository.init()
    await put(backend, 'a', 'a\n')
    await repository.add('.')
    const first = await repository.commit({ message: 'first' })
    await put(backend, 'x/inner', 'below\n')
    await repository.add('.')
    const second = await repository.commit({ message: 'second' })
    await repository.checkout(first)
    await put(backend, 'x', 'mine\n')
    await expect(repository.checkout(second)).rejects.toMatchObject({
      code: 'WRITE_CONFLICT',
      details: { paths: ['x'] },
    })
    await repository.moveTo('none')
    await put(backend, 'a', null)
    await expect(repository.checkout(second)).rejects.toMatchObject({
      code: 'WRITE_CONFLICT',
      details: { paths: ['x'] },
    })
    expect([await text(backend, 'x'), await text(backend, 'a')]).toEqual(['mine\n', undefined])
    await repository.checkout(second, { force: true })
    expect(await text(backend, 'x/inner')).toBe('below\n')
    await backend.close()
  })

  it('refuses a missing repository, an unknown commit and an invalid name', async () => {
    const backend = make()
    const repository = opened(backend)
    for (const act of [repository.status, repository.log, repository.branches, () => repository.add('.')]) {
      await expect(act()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    await repository.init()
    await put(backend, 'a.txt', 'one\n')
    await repository.add('.')
    await repository.commit({ message: 'first' })
    for (const message of ['', ' \n', 'a\0b'])
      await expect(repository.commit({ message })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    for (const part of ['a\nb', 'a\0', 'a <b', 'b> c', '\r']) {
      for (const author of [
        { name: part, email: 'e' },
        { name: 'n', email: part },
      ])
        await expect(repository.commit({ message: 'm', author })).rejects.toThrow(/without line breaks/)
    }
    await repository.branch('there')
    await expect(repository.branch('there')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    await expect(repository.checkout('nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(repository.add('../x')).rejects.toMatchObject({ code: 'PATH_REJECTED' })
    await backend.close()
  })
})

it('allows the names of branches that git allows', async () => {
  const directory = newRepository()
  writeFileSync(join(directory, 'a.txt'), 'one\n')
  commitAll(directory)
  const backend = memory({ 'a.txt': 'one\n' })
  const repository = opened(backend)
  await repository.init()
  await repository.add('.')
  await repository.commit({ message: 'first' })
  const parts = [
    'a',
    'Z9',
    '-',
    '.',
    '..',
    '/',
    '@',
    '@{',
    '{',
    '~',
    ' ',
    ':',
    '?',
    '*',
    '[',
    '\\',
    '^',
    '.lock',
    'HEAD',
    'ü',
    '字',
    '\n',
    '\x7f',
    '"',
    '$',
    '<',
    '%',
  ]
  const names = new Set(parts.flatMap((one) => [one, `x${one}`, `${one}x`, `x/${one}`, `x${one}/y`]))
  for (const name of names) {
    const { status } = runProgram('git', ['branch', '--', name], { cwd: directory })
    if (status === 0) git(directory, 'branch', '-D', '--', name)
    const code = await repository.branch(name).then(
      () => repository.deleteBranch(name),
      (error: ToolError) => error.code,
    )
    expect([name, code !== 'INVALID_INPUT']).toEqual([name, status === 0])
  }
})

describe('a file that may not be read', () => {
  it('is never committed', async () => {
    const backend = memory({ 'a.txt': 'a\n', '.env': 'PASSWORD=hunter2\n' })
    const repository = opened(backend, (path) => path !== '.env')
    await repository.init()
    expect(await repository.add('.')).toEqual({ staged: ['a.txt'], leftOut: 1, outside: [] })
    await repository.commit({ message: 'x' })
    expect(git(await onDisk(backend), 'ls-tree', '-r', '--name-only', 'HEAD')).toBe('a.txt\n')
  })

  it('is not reachable through the content of a repository', async () => {
    const directory = newRepository()
    writeFileSync(join(directory, 'a.txt'), 'one\n')
    commitAll(directory)
    writeFileSync(join(directory, '.git/refs/heads/evil'), 'ref: ../../.env\n')
    writeFileSync(join(directory, '.git/refs/heads/circle'), 'ref: refs/heads/circle\n')
    const repository = opened(loaded(directory))
    for (const name of ['evil', 'circle', '../.env', 'refs/../../.env']) {
      await expect(repository.checkout(name)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
  })
})

describe('over HTTP, from the real git http-backend', async () => {
  const root = temporary()
  const source = newRepository()
  mkdirSync(join(source, 'src'))
  for (let i = 0; i < 30; i++) {
    writeFileSync(join(source, `src/f${i % 7}.ts`), `line\n`.repeat(200) + i)
    commitAll(source, `commit ${i}`)
  }
  git(source, 'branch', 'old', 'HEAD~10')
  git(root, 'clone', '-q', '--bare', source, 'x.git')
  const server = await serveGit(root)
  const slow = await serveGit(root, { delayMs: 20_000 })
  afterAll(async () => {
    await server.close()
    await slow.close()
  })
  const head = git(source, 'rev-parse', 'HEAD').trim()

  it.each(Object.entries(backends))('clones into %s, with progress', async (_, make) => {
    const backend = make()
    const phases = new Set<string>()
    const repository = opened(backend)
    const cloned = await repository.clone(`${server.url}/x.git`, { onProgress: ({ phase }) => phases.add(phase) })
    expect(cloned).toEqual({ commit: head, skipped: [] })
    expect(phases.size).toBeGreaterThan(0)
    expect(await repository.currentBranch()).toBe('main')
    expect(await repository.status()).toEqual([])
    expect((await repository.log()).length).toBe(30)
    const directory = await onDisk(backend)
    git(directory, 'fsck')
    expect(git(directory, 'status', '--porcelain')).toBe('')
    await backend.close()
  })

  it('fetches new commits, a single branch, and a limited history', async () => {
    const backend = memory()
    const repository = opened(backend)
    await repository.clone(`${server.url}/x.git`, { ref: 'old', depth: 1 })
    expect((await repository.log()).map(({ message }) => message)).toEqual(['commit 19\n'])
    expect(await repository.fetch({ ref: 'main' })).toBe(head)
    await repository.checkout('origin/main')
    expect(await text(backend, 'src/f1.ts')).toMatch(/29$/)
  })

  it('fetches through a CORS proxy', async () => {
    const before = server.requests.length
    await opened(memory()).clone('https://git.example/x.git', { corsProxy: `${server.url}/proxy` })
    expect(server.requests.slice(before).every((request) => request.includes('/proxy/git.example/x.git/'))).toBe(true)
  })

  it('is cancelled at once, without changing files', async () => {
    const backend = memory({ 'mine.txt': 'mine\n' })
    const controller = new AbortController()
    const started = performance.now()
    setTimeout(() => controller.abort(), 100)
    const cloning = opened(backend).clone(`${slow.url}/x.git`, { signal: controller.signal })
    await expect(cloning).rejects.toMatchObject({ code: 'ABORTED' })
    expect(performance.now() - started).toBeLessThan(15_000)
    expect((await backend.list('' as Path)).map(({ name }) => name)).toEqual(['mine.txt'])
  })

  it('reports a missing remote repository, and clones only once', async () => {
    const repository = opened(memory())
    await expect(repository.clone(`${server.url}/nothing.git`)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    await repository.clone(`${server.url}/x.git`)
    await expect(repository.clone(`${server.url}/x.git`)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
  })
})
