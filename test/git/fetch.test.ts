import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { git as gitProvider } from '../../src/git/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
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
  it('names two branches of which one is below the other, and works again without them', async () => {
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

  it('writes nothing more after its signal, however many branches there are', async () => {
    const { directory, own, other, push } = await open()
    const many = Array.from({ length: 500 }, (_, i) => `create refs/heads/many/b${i} ${tipOf(other)}\n`)
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
