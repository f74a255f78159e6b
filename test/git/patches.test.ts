import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git } from '../../src/git/index.ts'
import { openRepository } from '../../src/git/repository.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { times } from '../counts.ts'
import { sharedShell } from '../shells/setup.ts'
import { commitAll, gitWith, loaded, newRepository, git as realGit, temporary } from './repositories.ts'

/** A number from 0 to below 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 0x1_0000_0000
  }
}

const MESSAGES = [
  'Change a file',
  'A subject\n\nA body\nwith lines',
  'A subject in\ntwo lines\n\n---\nno end of the message',
  'Grüße, 世界 👋\n\nKörper',
  'diff in the body\n\ndiff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+injected',
  'headers in the body\n\nFrom: eve <eve@example.com>\n\nFrom abc Mon Sep 17 00:00:00 2001\nIndex: x\n-- \nend',
  'A very long subject '.repeat(12).trim(),
]

/** Changes files of a repository in a random way, and commits them. */
function randomCommit(directory: string, random: () => number, names: string[]): void {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    rmSync(join(directory, name), { force: true })
    writeFileSync(join(directory, name), content)
  }
  const text = () =>
    Array.from({ length: 1 + Math.floor(random() * 12) }, () => `line ${Math.floor(random() * 9)}\n`).join('')
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--) {
    const what = random()
    if (what < 0.4 || names.length < 3) {
      const name = pick(['a.txt', 'b c.txt', 'd/e.txt', 'd/ü.txt', 'f/g/h.txt', `n${names.length}.txt`])
      write(name, random() < 0.2 ? text().trimEnd() : text())
      if (!names.includes(name)) names.push(name)
    } else if (what < 0.55) {
      const name = pick(names)
      rmSync(join(directory, name), { force: true })
      names.splice(names.indexOf(name), 1)
    } else if (what < 0.7) {
      const [from, to] = [pick(names), `moved/${names.length}-${Math.floor(random() * 100)}.txt`]
      mkdirSync(join(directory, 'moved'), { recursive: true })
      renameSync(join(directory, from), join(directory, to))
      names[names.indexOf(from)] = to
    } else if (what < 0.8)
      write(
        'binary',
        Uint8Array.from({ length: 300 }, () => Math.floor(random() * 256)),
      )
    else if (what < 0.9) chmodSync(join(directory, pick(names)), random() < 0.5 ? 0o755 : 0o644)
    else {
      rmSync(join(directory, 'link'), { force: true })
      symlinkSync(pick(names), join(directory, 'link'))
    }
  }
  write(`t/${names.length}`, `${random()}\n`)
  realGit(directory, 'add', '-A', '-f')
  gitWith(directory, pick(MESSAGES), 'commit', '-q', '--no-verify', '--cleanup=verbatim', '-F', '-')
}

const openOver = (directory: string) =>
  openRepository({ backend: loaded(directory), mayRead: () => true, now: () => 0, change: async () => {} })

describe('the mails of formatPatch()', () => {
  it('give the same trees through the real git am, commit by commit', async () => {
    let checked = 0
    for (let seed = 1; seed <= times(2, 200); seed++) {
      const random = randomOf(seed)
      const directory = newRepository()
      const names: string[] = []
      for (let i = 0; i < 8; i++) randomCommit(directory, random, names)
      const base = realGit(directory, 'rev-parse', 'HEAD~6').trim()
      const mails = await openOver(directory).formatPatch({ base })
      const target = temporary()
      realGit(target, 'clone', '-q', directory, '.')
      realGit(target, 'reset', '-q', '--hard', base)
      gitWith(target, mails, 'am', '-q', '--keep-cr')
      const log = (where: string, format: string) => realGit(where, 'log', '-6', `--format=${format}`)
      expect(log(target, '%T %an <%ae> %at'), `seed ${seed}`).toBe(log(directory, '%T %an <%ae> %at'))
      expect(log(target, '%s'), `seed ${seed}`).toBe(log(directory, '%s'))
      checked += 6
    }
    expect(checked).toBe(6 * times(2, 200))
  })

  it('are those of bash(), and contain no file that may not be read and no secret', async () => {
    const directory = newRepository()
    writeFileSync(join(directory, 'a.txt'), 'one\r\n')
    commitAll(directory, 'first')
    writeFileSync(join(directory, 'a.txt'), 'one\r\ntwo\n')
    commitAll(directory, 'second')
    writeFileSync(join(directory, 'b.txt'), 'b\n')
    commitAll(directory, 'third')
    const workspace = await createWorkspace({
      ...{ backend: loaded(directory), policy: 'autonomous', shell: sharedShell, git: git() },
    })
    const run = async (command: string) =>
      (await workspace.call('run_command', { command })) as { stdout?: string; stderr?: string; exitCode?: number }
    const mails = await workspace.git?.formatPatch({ base: 'HEAD~2' })
    expect((await run('git format-patch --stdout HEAD~2')).stdout).toBe(mails)
    expect((await run('git format-patch --stdout HEAD~2..main')).stdout).toBe(mails)
    expect((await run('git format-patch --stdout -2')).stdout).toBe(mails)
    expect(mails).toMatch(
      /^From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\nFrom: A <a@example.com>\nDate: Thu, 1 Jan 2026 00:00:00 \+0000\nSubject: \[PATCH 1\/2\] second\n\n---\n a.txt \| 1 \+\n 1 file changed, 1 insertion\(\+\)\n\ndiff --git a\/a.txt b\/a.txt\n/,
    )
    expect(await run('git format-patch HEAD~2')).toMatchObject({
      exitCode: 128,
      stderr: expect.stringContaining('--stdout BASE > FILE'),
    })
    expect(await run('git format-patch --stdout')).toMatchObject({ exitCode: 128 })
    await run(
      `git switch -qc secrets && printf 'token = "ghp_%s"\\n' ${'a1B2c3D4e5'.repeat(4).slice(0, 36)} > c.txt && git add c.txt && git commit -qm fourth`,
    )
    expect(await run('git format-patch --stdout HEAD~1')).toMatchObject({
      exitCode: 128,
      stdout: '',
      stderr: expect.stringContaining('"c.txt" contains a secret'),
    })
    await expect(workspace.git?.formatPatch({ base: 'main' })).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    const shown = await workspace.git?.pullRequest({ base: 'main' })
    expect(shown).toMatchObject({ title: 'fourth', leftOut: 0 })
    expect(shown?.diff).not.toContain('a1B2c3D4e5')
    writeFileSync(join(directory, '.env'), 'X=1\n')
    commitAll(directory, 'with env')
    const other = await createWorkspace({
      backend: loaded(directory),
      policy: 'autonomous',
      shell: sharedShell,
      git: git(),
    })
    await expect(other.git?.formatPatch({ base: 'HEAD~1' })).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect(await other.git?.pullRequest({ base: 'HEAD~1' })).toMatchObject({ diff: '', files: [], leftOut: 1 })
    expect(await other.call('run_command', { command: 'git format-patch --stdout HEAD~1' })).toMatchObject({
      exitCode: 128,
    })
  })
})

describe('pullRequest()', () => {
  it('has title, body, commits, files and the diff since the histories parted', async () => {
    const directory = newRepository()
    writeFileSync(join(directory, 'a.txt'), 'one\n')
    commitAll(directory, 'first')
    realGit(directory, 'checkout', '-q', '-b', 'ada/add-the_parser')
    writeFileSync(join(directory, 'b.txt'), 'b\nc\n')
    commitAll(directory, 'Add b\n\nWhy it is there.\n\n- point\n')
    realGit(directory, 'checkout', '-q', 'main')
    writeFileSync(join(directory, 'c.txt'), 'c\n')
    const main = commitAll(directory, 'on main')
    realGit(directory, 'checkout', '-q', 'ada/add-the_parser')
    const repository = openOver(directory)
    const one = await repository.pullRequest({ base: 'main' })
    expect(one).toMatchObject({
      ...{ title: 'Add b', body: 'Why it is there.\n\n- point', insertions: 2, deletions: 0, leftOut: 0 },
      files: [{ path: 'b.txt', status: 'added', insertions: 2, deletions: 0 }],
      base: realGit(directory, 'merge-base', 'main', 'HEAD').trim(),
    })
    expect(one.commits.map(({ commit }) => commit)).toEqual([one.head])
    realGit(directory, 'mv', 'a.txt', 'z.txt')
    commitAll(directory, 'Move a')
    realGit(directory, 'merge', '-q', '--no-edit', 'main')
    writeFileSync(join(directory, 'b.txt'), 'b\n')
    commitAll(directory, 'Shorten b')
    const several = await openOver(directory).pullRequest({ base: 'main' })
    expect(several).toMatchObject({ title: 'Add the parser', base: main, insertions: 1, deletions: 0 })
    expect(several.body).toBe("- Add b\n- Move a\n- Merge branch 'main' into ada/add-the_parser\n- Shorten b\n")
    expect(several.files.map(({ path, oldPath }) => [path, oldPath])).toEqual([
      ['b.txt', undefined],
      ['z.txt', 'a.txt'],
    ])
    const listed = realGit(directory, 'rev-list', '--reverse', '--topo-order', 'main..HEAD').trim().split('\n')
    expect(several.commits.map(({ commit }) => commit)).toEqual(listed)
    const target = temporary()
    realGit(target, 'clone', '-q', directory, '.')
    realGit(target, 'checkout', '-q', main)
    gitWith(target, several.diff, 'apply', '--index', '-')
    expect(realGit(target, 'write-tree')).toBe(realGit(directory, 'rev-parse', 'HEAD^{tree}'))
    const none = await openOver(directory).pullRequest({ base: 'HEAD' })
    expect(none).toMatchObject({ title: '', body: '', diff: '', commits: [], files: [] })
    await expect(repository.pullRequest({} as never)).rejects.toThrow(TypeError)
    await expect(repository.pullRequest({ base: 'nothing' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
