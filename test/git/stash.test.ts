import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { git as gitProvider } from '../../src/git/index.ts'
import { quote } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { everyNth } from '../counts.ts'
import { commitAll, git, gitWith, newRepository, temporary } from './repositories.ts'

/** A repository on disk with changes of every kind. */
function changedRepository(): string {
  const directory = newRepository()
  mkdirSync(join(directory, 'd'))
  for (const [path, text] of Object.entries({
    'a.txt': 'one\n',
    'gone.txt': 'g\n',
    'd/b.txt': 'b\n',
    'staged.txt': 's\n',
  })) {
    writeFileSync(join(directory, path), text)
  }
  commitAll(directory, 'first\n\nwith a body')
  change(directory)
  return directory
}

function change(directory: string): void {
  writeFileSync(join(directory, 'a.txt'), 'two\n')
  rmSync(join(directory, 'gone.txt'))
  writeFileSync(join(directory, 'staged.txt'), 'staged\n')
  writeFileSync(join(directory, 'new.txt'), 'new\n')
  git(directory, 'add', 'staged.txt', 'new.txt')
  writeFileSync(join(directory, 'untracked.txt'), 'u\n')
}

async function open(directory: string, options: Partial<WorkspaceOptions> = {}) {
  const backend = nodeBackend(directory, { stateDir: temporary() })
  const workspace = await createWorkspace({
    ...{
      backend,
      policy: 'autonomous',
      shell: bash(),
      git: gitProvider({ author: { name: 'A', email: 'a@example.com' } }),
    },
    ...options,
  })
  onTestFinished(() => workspace.close())
  const { git: own } = workspace
  if (own === undefined) throw new Error('no git')
  const run = async (command: string) => {
    const result = await workspace.call('run_command', { command })
    if (!result.ok) throw new Error(`${result.code}: ${result.message}`)
    return { stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode }
  }
  return { workspace, own, run }
}

const filesOf = (directory: string) =>
  Object.fromEntries(
    ['a.txt', 'gone.txt', 'd/b.txt', 'staged.txt', 'new.txt', 'untracked.txt'].map((path) => {
      const file = join(directory, path)
      return [path, existsSync(file) ? readFileSync(file, 'utf8') : undefined]
    }),
  )
const statusOf = (directory: string) => git(directory, 'status', '--porcelain')
/** The trees of a stash and of its parents, which say everything but who made it and when. */
const treesOf = (directory: string, untracked: boolean) =>
  ['stash', 'stash^1', 'stash^2', ...(untracked ? ['stash^3'] : [])].map((ref) =>
    git(directory, 'rev-parse', `${ref}^{tree}`),
  )

describe('a stash', () => {
  it.each([false, true])('is what git makes of the same changes (untracked files: %s)', async (untracked) => {
    const [ours, theirs] = [changedRepository(), changedRepository()]
    const { own } = await open(ours)
    expect(await own.stash({ untracked })).toMatch(/^[0-9a-f]{40}$/)
    git(theirs, 'stash', 'push', '-q', ...(untracked ? ['-u'] : []))
    expect(filesOf(ours)).toEqual(filesOf(theirs))
    expect(statusOf(ours)).toBe(statusOf(theirs))
    expect(treesOf(ours, untracked)).toEqual(treesOf(theirs, untracked))
    expect(git(ours, 'stash', 'list')).toBe(git(theirs, 'stash', 'list'))
    expect(git(ours, 'fsck', '--strict')).toBe('')
    git(ours, 'stash', 'pop', '-q')
    git(theirs, 'stash', 'pop', '-q')
    expect(filesOf(ours)).toEqual(filesOf(theirs))
    expect(statusOf(ours)).toBe(statusOf(theirs))
  })

  it.each([false, true])('of git is brought back as git does it (untracked files: %s)', async (untracked) => {
    const [ours, theirs] = [changedRepository(), changedRepository()]
    for (const directory of [ours, theirs])
      git(directory, 'stash', 'push', '-q', '-m', 'work', ...(untracked ? ['-u'] : []))
    if (untracked) expect(filesOf(ours)['untracked.txt']).toBeUndefined()
    const { own } = await open(ours)
    expect((await own.stashes()).map(({ message }) => message)).toEqual(['On main: work'])
    await own.applyStash()
    git(theirs, 'stash', 'apply', '-q')
    expect(filesOf(ours)).toEqual(filesOf(theirs))
    expect(statusOf(ours)).toBe(statusOf(theirs))
    await own.dropStash()
    expect(git(ours, 'stash', 'list')).toBe('')
    await expect(own.applyStash()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is one of several, and each is dropped as git drops it', async () => {
    const [ours, theirs] = [changedRepository(), changedRepository()]
    const { own } = await open(ours)
    for (let i = 0; i < 3; i++) {
      await own.stash({ message: `m${i}` })
      git(theirs, 'stash', 'push', '-q', '-m', `m${i}`)
      for (const directory of [ours, theirs]) change(directory)
    }
    await own.dropStash(1)
    git(theirs, 'stash', 'drop', '-q', 'stash@{1}')
    expect(git(ours, 'stash', 'list')).toBe(git(theirs, 'stash', 'list'))
    expect(git(ours, 'rev-parse', 'stash@{1}^{tree}')).toBe(git(theirs, 'rev-parse', 'stash@{1}^{tree}'))
    git(ours, 'stash', 'drop', '-q')
    expect((await own.stashes()).map(({ message }) => message)).toEqual(['On main: m0'])
  })

  it.each([
    ['U+2028', 'fix\u2028it'],
    ['U+2029', 'fix\u2029it'],
    ['CR', 'fix\rit'],
    ['VT', 'fix\vit'],
    ['a tab', 'fix\tit'],
    ['U+0085', 'fix\u0085it'],
    ['other control characters', 'fix\u0001\u001b[31m\u007fit'],
  ])('keeps its place in the log with %s in the subject of its commit', async (_, subject) => {
    const directory = changedRepository()
    git(directory, 'stash', '-q')
    git(directory, 'commit', '-q', '--allow-empty', '--cleanup=verbatim', '-m', subject)
    change(directory)
    const { own, run } = await open(directory)
    const listed = async () => {
      const { stdout } = await run('git stash list')
      expect(stdout).toBe(git(directory, 'stash', 'list'))
      return (await own.stashes()).map(({ commit }) => commit)
    }
    const ours = await own.stash()
    change(directory)
    git(directory, 'stash', '-q')
    const all = await listed()
    expect(all).toHaveLength(3)
    expect(all[1]).toBe(ours)
    expect((await run('git stash drop')).exitCode).toBe(0)
    expect(await listed()).toEqual(all.slice(1))
    await own.dropStash(1)
    expect(await listed()).toEqual([ours])
  })

  it('is written beside lines of the log that name no stash or are not UTF-8, which stay', async () => {
    const directory = changedRepository()
    const { own } = await open(directory)
    const log = join(directory, '.git/logs/refs/stash')
    const first = await own.stash()
    const made = readFileSync(log, 'latin1')
    const separator = made.replace(/\n$/, ' \u00e2\u0080\u00a8 \u00ff\n')
    const bare = made.replace(/\t.*/, '')
    writeFileSync(log, `no stash \u00ff\n${separator}${bare}`, 'latin1')
    expect(await own.stashes()).toHaveLength(2)
    expect(git(directory, 'stash', 'list').split('\n')).toHaveLength(3)
    await own.dropStash()
    expect(readFileSync(log, 'latin1')).toBe(`no stash \u00ff\n${separator}`)
    expect(git(directory, 'rev-parse', 'stash').trim()).toBe(first)
    await own.dropStash()
    expect(readFileSync(log, 'latin1')).toBe('no stash \u00ff\n')
    expect(git(directory, 'stash', 'list')).toBe('')
    change(directory)
    await own.stash()
    expect(git(directory, 'stash', 'list').split('\n')).toHaveLength(2)
  })

  /** Stores a tree of raw entries, which git itself would refuse. */
  function rawTree(directory: string, entries: readonly (readonly [mode: string, name: string, id: string])[]): string {
    const bytes = entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])
    return gitWith(directory, Buffer.concat(bytes), 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin').trim()
  }

  const hostileEntries = [
    ['..', '100644', 'x'],
    ['.', '100644', 'x'],
    ['', '100644', 'x'],
    ['/y', '100644', 'x'],
    ['x/../../y', '100644', 'x'],
    ['x|..|..|y', '100644', 'x'],
    ['..|y', '100644', 'x'],
    ['|y', '100644', 'x'],
    ['x|', '100644', 'x'],
    ['x/y', '100644', 'x'],
    ['..\\z', '100644', 'x'],
    ['c:z', '100644', 'x'],
    ['.git|hooks|post-checkout', '100755', 'x'],
    ['.git/config', '100644', 'x'],
    ['.GIT', '100644', 'x'],
    ['.Git|config', '100644', 'x'],
    ['git~1', '100644', 'x'],
    ['git~1|config', '100644', 'x'],
    ['.g\u200cit|config', '100644', 'x'],
    ['sub|.git', '100644', 'x'],
    ['sub|.git|config', '100644', 'x'],
    ['a\nb', '100644', 'x'],
    ['link', '120000', 'a\nb'],
    ['link', '120000', '../outside'],
    ['link', '120000', '/etc/passwd'],
    ['link', '120000', ''],
    ['a.txt|below', '100644', 'x'],
    ['module', '160000', 'x'],
  ] as const
  it.each(everyNth(hostileEntries, 3))('with %j (%s) is refused as a whole', async (path, mode, content) => {
    const directory = changedRepository()
    git(directory, 'stash', '-q', '-u')
    const [blob = '', changed = ''] = [content, 'changed'].map((text) =>
      gitWith(directory, text, 'hash-object', '-w', '--stdin').trim(),
    )
    // A bar in the path stands between the names of directories.
    const [name = '', ...above] = path.split('|').reverse()
    let entry = [mode, name, blob] as readonly [string, string, string]
    for (const one of above) entry = ['40000', one, rawTree(directory, [entry])]
    const plain = rawTree(directory, [['100644', 'a.txt', changed]])
    const hostile = rawTree(directory, [['100644', 'a.txt', changed], entry])
    const commit = (tree: string, ...parents: string[]) =>
      git(directory, 'commit-tree', tree, '-m', 'm', ...parents.flatMap((id) => ['-p', id])).trim()
    const { own, run } = await open(directory)
    const base = [git(directory, 'rev-parse', 'HEAD').trim(), commit(plain)]
    for (const stash of [commit(hostile, ...base), commit(plain, ...base, commit(hostile))]) {
      git(directory, 'update-ref', '-m', 'hostile', 'refs/stash', stash)
      const state = () => [
        readFileSync(join(directory, '.git/index'), 'hex'),
        readFileSync(join(directory, '.git/logs/refs/stash'), 'utf8'),
        filesOf(directory),
        readdirSync(directory),
        readdirSync(join(directory, '.git')),
        existsSync(join(directory, '../y')),
      ]
      const before = state()
      await expect(own.applyStash()).rejects.toMatchObject({ code: 'PATH_REJECTED' })
      const popped = await run('git stash pop')
      expect(popped).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('The stash entry is kept') })
      expect(popped.stderr).toContain(quote(path.replaceAll('|', '/')))
      expect(state()).toEqual(before)
      expect((await own.stashes())[0]?.commit).toBe(stash)
    }
  })

  it('that is refused names no unreadable path', async () => {
    const directory = changedRepository()
    git(directory, 'stash', '-q', '-u')
    const blob = gitWith(directory, 'x', 'hash-object', '-w', '--stdin').trim()
    const tree = rawTree(directory, [['40000', 'd', rawTree(directory, [['100644', '.git', blob]])]])
    const stash = git(directory, 'commit-tree', tree, '-m', 'm', '-p', 'HEAD').trim()
    git(directory, 'update-ref', '-m', 'hostile', 'refs/stash', stash)
    const rules = [{ name: 'hide', action: 'deny', permissions: ['file:view'], paths: ['d/**'] }] as const
    const { own } = await open(directory, { policy: { preset: 'autonomous', rules } })
    const error = await own.applyStash().catch((one) => one)
    expect(error.message).toContain('one of its files')
  })

  it('stays, and nothing changes, when a file is no longer as it was', async () => {
    const directory = changedRepository()
    const { own } = await open(directory)
    await own.stash()
    writeFileSync(join(directory, 'a.txt'), 'other\n')
    const before = filesOf(directory)
    await expect(own.applyStash()).rejects.toMatchObject({ code: 'WRITE_CONFLICT', details: { paths: ['a.txt'] } })
    expect(filesOf(directory)).toEqual(before)
    expect(await own.stashes()).toHaveLength(1)
  })

  it('leaves unreadable files alone and names none of them', async () => {
    const directory = changedRepository()
    const rules = [{ name: 'hide', action: 'deny', permissions: ['file:view'], paths: ['d/**'] }] as const
    const { own } = await open(directory, { policy: { preset: 'autonomous', rules } })
    writeFileSync(join(directory, 'd/b.txt'), 'hidden change\n')
    await own.stash()
    expect(filesOf(directory)['d/b.txt']).toBe('hidden change\n')
    expect(git(directory, 'show', '--stat', '--format=', 'stash')).not.toContain('d/b.txt')
    git(directory, 'stash', 'drop', '-q')
    git(directory, 'stash', 'push', '-q')
    writeFileSync(join(directory, 'd/b.txt'), 'another\n')
    const error = await own.applyStash().catch((one) => one)
    expect(error.code).toBe('WRITE_CONFLICT')
    expect(JSON.stringify([error.message, error.details])).not.toContain('d/b')
  })

  it('is taken back when policy refuses to change the files', async () => {
    const directory = changedRepository()
    const rules = [{ name: 'fixed', action: 'deny', permissions: ['file:change'], paths: ['a.txt'] }] as const
    const { own, run } = await open(directory, { policy: { preset: 'autonomous', rules } })
    const before = [filesOf(directory), statusOf(directory)]
    await expect(own.stash()).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect((await run('git stash')).exitCode).not.toBe(0)
    expect([filesOf(directory), statusOf(directory)]).toEqual(before)
    expect(git(directory, 'stash', 'list')).toBe('')
  })

  it('is audited and undone as a call', async () => {
    const directory = changedRepository()
    const { workspace, own } = await open(directory)
    await own.stash()
    const last = workspace.auditRecords().findLast(({ toolName }) => toolName === 'git_checkout')
    expect(last?.pathsWritten.toSorted()).toEqual(['a.txt', 'gone.txt', 'new.txt', 'staged.txt'])
    expect(await workspace.undo(last?.toolCallId ?? '')).toMatchObject({ ok: true })
    expect(filesOf(directory)['a.txt']).toBe('two\n')
  })
})

describe('git stash in bash()', () => {
  it('prints what git prints', async () => {
    const [ours, theirs] = [changedRepository(), changedRepository()]
    const { run } = await open(ours)
    // Diffs here name no objects.
    const plain = (text: string) => text.replace(/\([0-9a-f]{40}\)/, '(ID)').replace(/^index .*\n/gm, '')
    for (const line of [
      'stash list',
      'stash',
      'stash list',
      'stash show',
      'stash show --name-status',
      'stash show -p',
      'stash',
      'stash pop -q',
      'stash push -u -m "two words"',
      'stash list',
      'stash drop stash@{0}',
      'stash list',
    ]) {
      const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
      const expected = git(theirs, ...words)
      const { stdout, stderr, exitCode } = await run(`git ${line}`)
      expect([line, plain(stdout), stderr, exitCode]).toEqual([line, plain(expected), '', 0])
      expect([line, statusOf(ours), filesOf(ours)]).toEqual([line, statusOf(theirs), filesOf(theirs)])
    }
  })

  it('refuses what is not there, and what the shell does not have', async () => {
    const { run } = await open(changedRepository())
    expect(await run('git stash pop')).toMatchObject({
      exitCode: 128,
      stderr: expect.stringContaining('No stash entries'),
    })
    expect((await run('git stash branch x')).stderr).toContain('git stash branch is not available')
    expect((await run('git stash push -- a.txt')).exitCode).not.toBe(0)
    await run('git stash')
    expect((await run('git stash show 5')).stderr).toContain('stash@{5} is not a valid reference')
    expect((await run('git stash drop HEAD')).stderr).toContain('is not a stash-like commit')
    const conflict = await run('echo other > a.txt; git stash pop')
    expect(conflict).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('The stash entry is kept') })
    expect((await run('git stash list')).stdout).toMatch(/^stash@\{0\}: WIP on main: /)
  })
})
