import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { git as gitProvider, type Repository } from '../../src/git/index.ts'
import { pktLine } from '../../src/git/pkt-line.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { isLong } from '../counts.ts'
import { runProgram } from '../run-program.ts'
import { serveGit } from './http-server.ts'
import { commitAll, git, gitWith, newRepository, temporary } from './repositories.ts'

const root = temporary()
const server = await serveGit(root)
afterAll(() => server.close())
let count = 0

/** A repository on the server with one commit, the directory of another person who works on it, and a workspace with a clone. */
async function open({ hosts = [new URL(server.url).host], depth }: { hosts?: string[]; depth?: number } = {}) {
  const name = `${count++}.git`
  const other = newRepository()
  const commit = (path: string, text: string) => {
    writeFileSync(join(other, path), text)
    commitAll(other, `${path} ${text}`)
  }
  for (const text of ['0\n', '1\n']) commit('a.txt', text)
  git(root, 'clone', '-q', '--bare', other, name)
  git(other, 'remote', 'add', 'origin', join(root, name))
  const url = `${server.url}/${name}`
  const directory = temporary()
  const policy = { preset: 'autonomous' as const, network: { hosts } }
  const workspace = await createWorkspace({
    backend: nodeBackend(directory, { stateDir: temporary() }),
    policy,
    shell: bash(),
    git: gitProvider({ author: { name: 'A', email: 'a@example.com' } }),
  })
  onTestFinished(() => workspace.close())
  const { git: own } = workspace
  if (own === undefined) throw new Error('no git')
  await own.clone(url, depth === undefined ? {} : { depth })
  const run = async (command: string) => {
    const result = await workspace.call('run_command', { command })
    if (!result.ok) throw new Error(result.message)
    return result
  }
  const push = (...refs: string[]) => git(other, 'push', '-q', 'origin', ...refs)
  return { directory, own, run, other, commit, push, workspace }
}

const tipOf = (directory: string, ref = 'HEAD') => git(directory, 'rev-parse', ref).trim()

describe('git fetch in bash()', () => {
  it('fetches all branches, or a named one, and changes no file', async () => {
    const { directory, run, other, commit, push } = await open()
    const [before, short] = [tipOf(directory), tipOf(directory).slice(0, 7)]
    commit('a.txt', '2\n')
    git(other, 'branch', 'topic')
    push('main', 'topic')
    const [tip] = [tipOf(other)]
    const named = await run('git fetch origin topic')
    expect(named).toMatchObject({ exitCode: 0, stdout: '' })
    expect(named.stderr).toBe('From origin\n * [new branch]      topic      -> origin/topic\n')
    expect(tipOf(directory, 'origin/main')).toBe(before)
    expect((await run('git fetch')).stderr).toBe(
      `From origin\n   ${`${short}..${tip.slice(0, 7)}`.padEnd(17)} main       -> origin/main\n`,
    )
    expect([tipOf(directory), tipOf(directory, 'origin/main')]).toEqual([before, tip])
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('1\n')
    expect(await run('git fetch -q; git fetch')).toMatchObject({ stdout: '', stderr: '', exitCode: 0 })
    expect((await run('git log --oneline -1 origin/main')).stdout).toContain('a.txt 2')
    expect(git(directory, 'fsck')).toBe('')
  })

  it('is refused by policy, for other remotes and for what it does not have, and says what', async () => {
    const { run, workspace } = await open({ hosts: ['other.example'] })
    expect(await run('git fetch')).toMatchObject({
      exitCode: 128,
      stderr: expect.stringContaining('policy names no network host'),
    })
    for (const [line, reason] of [
      ['git fetch upstream', "'upstream' is not available"],
      ['git fetch origin a b', 'one branch'],
      ['git fetch origin a:b', 'one branch'],
      ['git fetch --depth 0', 'depth 0'],
      ['git fetch --prune', '--prune'],
      ['git pull --rebase', '--rebase'],
    ] as const) {
      expect((await run(line)).stderr, line).toContain(reason)
    }
    expect(await workspace.verifyAudit()).toMatchObject({ ok: true })
  })
})

describe('a fetch', () => {
  it.runIf(isLong)('names two branches of which one is below the other, and works again without them', async () => {
    const { run, other, push } = await open()
    for (const [old, next] of [
      ['feat', 'feat/x'],
      ['deep/y', 'deep'],
    ] as const) {
      git(other, 'branch', old)
      push(old)
      expect(await run('git fetch')).toMatchObject({ exitCode: 0 })
      push('--delete', old)
      git(other, 'branch', '-m', old, next)
      push(next)
      expect(await run('git fetch')).toMatchObject({
        exitCode: 128,
        stderr: expect.stringContaining('cannot both exist'),
      })
      push('--delete', next)
      expect(await run('git fetch')).toMatchObject({ exitCode: 0 })
    }
  })

  it.runIf(isLong)('writes nothing more after its signal, however many branches there are', async () => {
    const { directory, own, other, push } = await open()
    const many = Array.from({ length: 200 }, (_, i) => `create refs/heads/many/b${i} ${tipOf(other)}\n`)
    gitWith(other, many.join(''), 'update-ref', '--stdin')
    push('--all')
    // The server has closed the connection of the clone meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 20))
    const stop = new AbortController()
    const branches = join(directory, '.git/refs/remotes/origin/many')
    const written = () => (existsSync(branches) ? readdirSync(branches).length : 0)
    const fetched = own.fetch({ signal: stop.signal }).then(
      () => undefined,
      (error: unknown) => error,
    )
    await expect.poll(written, { interval: 1 }).toBeGreaterThan(0)
    stop.abort()
    expect(await fetched).toMatchObject({ code: 'ABORTED' })
    const count = written()
    expect(count).toBeLessThan(500)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(written()).toBe(count)
  })
})

describe('git pull', () => {
  it('moves the branch and its files forward, as git does it, and can be undone', async () => {
    const { directory, run, other, commit, push, workspace } = await open()
    const before = tipOf(directory)
    commit('a.txt', '2\n')
    commit('b.txt', 'new\n')
    push('main')
    const { stdout } = await run('git pull')
    const pulled = workspace.history().entries.at(-1)?.callId ?? ''
    expect(stdout).toContain(`Updating ${before.slice(0, 7)}..${tipOf(other).slice(0, 7)}\nFast-forward\n`)
    expect(stdout).toContain('2 files changed')
    expect(tipOf(directory)).toBe(tipOf(other))
    expect(readFileSync(join(directory, 'b.txt'), 'utf8')).toBe('new\n')
    expect(await workspace.undo(pulled)).toMatchObject({ ok: true })
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('1\n')
    expect(tipOf(directory)).toBe(before)
    expect(await run('git pull -q')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(git(directory, 'status', '--porcelain')).toBe('')
    expect((await run('git pull --ff-only origin main')).stdout).toBe('Already up to date.\n')
  })

  it('keeps commits and changed files of its own', async () => {
    const { directory, own, run, commit, push } = await open()
    commit('a.txt', '2\n')
    push('main')
    writeFileSync(join(directory, 'a.txt'), 'mine\n')
    const before = tipOf(directory)
    expect(await run('git pull')).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('a.txt') })
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('mine\n')
    expect(tipOf(directory)).toBe(before)
    await run('git commit -qam mine')
    const mine = tipOf(directory)
    expect(await run('git pull')).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('commits that the') })
    await expect(own.pull()).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(tipOf(directory)).toBe(mine)
    expect(git(directory, 'status', '--porcelain')).toBe('')
  })

  it('of the library works in a shallow clone, and needs a branch', async () => {
    const { directory, own, other, commit, push } = await open({ depth: 1 })
    const from = tipOf(directory)
    commit('a.txt', '2\n')
    push('main')
    expect(await own.pull()).toEqual({ from, to: tipOf(other), status: 'updated', skipped: [] })
    expect([...(await own.remoteBranches())]).toEqual([['main', tipOf(other)]])
    expect(await own.pull()).toMatchObject({ status: 'upToDate' })
    expect(git(directory, 'fsck')).toBe('')
    expect(git(directory, 'log', '--format=%s').trim().split('\n')).toEqual(['a.txt 2', 'a.txt 1'])
    await own.checkout(from)
    await expect(own.pull()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(own.pull({ ref: 'missing' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('the refs that a server names', () => {
  /** Opens a server that adds refs to the list of git, and a workspace in memory. */
  async function openWith(names: readonly string[]) {
    const own = temporary()
    const other = newRepository()
    writeFileSync(join(other, 'a.txt'), '0\n')
    commitAll(other, 'first')
    git(own, 'clone', '-q', '--bare', other, 'r.git')
    const tip = tipOf(other)
    const lines = names.map((name) => pktLine(`${tip} ${name}\n`))
    const changeRefs = (list: Buffer) => Buffer.concat([list.subarray(0, -4), ...lines, Buffer.from('0000')])
    const served = await serveGit(own, { changeRefs })
    onTestFinished(() => served.close())
    const backend = memory()
    const workspace = await createWorkspace({
      backend,
      policy: { preset: 'autonomous', network: { hosts: [new URL(served.url).host] } },
      shell: bash(),
      git: gitProvider({ author: { name: 'A', email: 'a@example.com' } }),
    })
    onTestFinished(() => workspace.close())
    return { url: `${served.url}/r.git`, backend, workspace, repository: workspace.git as Repository }
  }

  const odd = [
    ...[
      'a..b',
      'a b',
      'a~1',
      'a^b',
      'a:b',
      'a?',
      'a*',
      'a[b',
      'a\\b',
      'a@{b',
      '.a',
      'a/.b',
      'a.lock',
      'a.lock/b',
      'a.',
      'a/',
    ],
    ...['a//b', 'x\u0007', '\u007f', '../../evil', '../HEAD', '.git/config', 'a\nb', 'a\tb', 'a\rb', ''],
  ]
  const good = [
    ...[
      `ghp_${'a1B2'.repeat(9)}`,
      'feature/x-1',
      'ünï/cödé',
      'a@b',
      '@',
      'a.b',
      '-dash',
      'a{b}',
      'a%2e',
      `${'deep/'.repeat(20)}x`,
    ],
    ...['AKIAIOSFODNN7EXAMPLE', 'password=hunter2', "quote'd", '$(x)', '𝒳'],
  ]

  it('are left out and told if their name is not allowed, as in git, and the others are fetched', async () => {
    const names = [...odd, ...good].map((name) => `refs/heads/${name}`)
    const { url, repository, workspace } = await openWith([
      ...names,
      'refs/pull/1/head',
      'refs/tags/v1',
      'evil',
      '../../x',
    ])
    const leftOut: string[] = []
    await repository.clone(url, { onLeftOut: (ref) => leftOut.push(ref) })
    expect(leftOut.toSorted()).toEqual(odd.map((name) => `refs/heads/${name}`).toSorted())

    const isAllowed = (name: string) =>
      runProgram('git', ['check-ref-format', `refs/heads/${name}`], { cwd: root }).status === 0
    expect([odd.filter(isAllowed), good.filter((name) => !isAllowed(name))]).toEqual([[], []])
    expect([...(await repository.remoteBranches()).keys()].toSorted()).toEqual([...good, 'main'].toSorted())

    const again = await workspace.call('run_command', { command: 'git fetch' })
    expect(again).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Ignoring funny ref "refs/heads/a..b"'),
    })
    expect(again).toMatchObject({ stderr: expect.stringContaining(`and ${odd.length - 10} more`) })
  })

  it.runIf(isLong)('are bounded in number, and one of them is fetched by its name', async () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `refs/heads/b${i}`)
    const { url, repository } = await openWith(names)
    await expect(repository.clone(url)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { hint: 'Fetch one branch by its name.' },
    })
    await repository.clone(url, { ref: 'b77' })
    expect([...(await repository.remoteBranches()).keys()]).toEqual(['b77'])
  })

  it('let timers run while they are written, also to memory', async () => {
    const { url, backend, repository } = await openWith(Array.from({ length: 3000 }, (_, i) => `refs/heads/b${i}`))
    const commit = backend.commit.bind(backend)
    let [written, turns] = [0, 0]
    const turn = () => {
      turns += 1
      if (written < 3000) setImmediate(turn)
    }
    backend.commit = async (changes, options) => {
      if (changes.some(({ path }) => path.startsWith('.git/refs/remotes/'))) written += 1
      if (written === 1) setImmediate(turn)
      if (written === 2900) expect(turns).toBeGreaterThan(0)
      return commit(changes, options)
    }
    await repository.clone(url)
    expect(written).toBeGreaterThan(3000)
  })
})
