import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { git } from '../../../src/git/index.ts'
import { parseIndexFile } from '../../../src/git/index-file.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { forms } from '../../../src/shells/bash/git/forms.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import type { WorkspaceOptions } from '../../../src/workspace/create-workspace.ts'
import { isLong } from '../../counts.ts'
import { serveGit } from '../../git/http-server.ts'
import { commitAll, loaded, newRepository, onDisk, git as realGit, temporary } from '../../git/repositories.ts'
import { shellBench, unjudged } from '../setup.ts'

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
const tree = { 'a.txt': 'a\n', 'src/b.ts': 'b\n', '.env': 'PASSWORD=hunter2\n', 'private/plan.txt': 'plan\n' }

/** With the evaluation of lines, as in an embedding program. */
function opened(options: Partial<WorkspaceOptions> = {}) {
  return shellBench(tree, { shell: bash(), git: git(), clock: () => 1_767_225_600_000, ...options })
}

const started = 'git init -q && git add . && git commit -qm first'

describe('git commands that change the repository', () => {
  it('do not show by their number whether a file has the content of another one', async () => {
    const outcomes = ['guess', 'other'].map(async (content) => {
      const { run, workspace } = await opened()
      await run(`echo guess > a.txt && echo ${content} > mine.txt && git init -q`)
      const { artifactUri } = await run('git add a.txt mine.txt')
      const artifact = await workspace.call('read_file', { path: artifactUri })
      return [artifactUri.split('/').at(-1), artifact.ok && artifact.content]
    })
    const [same, different] = await Promise.all(outcomes)
    expect(same).toEqual(different)
  })

  it('see the earlier changes of their line, which one undo reverts as a whole', async () => {
    const { run, workspace, snapshot, backend } = await opened()
    const before = await snapshot()
    const line = `${started} && git checkout -qb topic && echo more >> a.txt && git commit -qam second && git log --oneline`
    const done = await run(line)
    expect(done).toMatchObject({ ok: true, exitCode: 0, stderr: '', filesChanged: ['.git', 'a.txt'] })
    expect(done.stdout).toMatch(/^[0-9a-f]{7} second\n[0-9a-f]{7} first\n$/)
    const records = workspace.auditRecords().filter(({ toolCallId }) => toolCallId === done.callId)
    expect(records.at(-1)?.pathsWritten).toContain('.git/refs/heads/topic')
    const artifact = await workspace.call('read_file', { path: done.artifactUri })
    expect(artifact).toMatchObject({ ok: true, content: expect.stringContaining("Git's own data changed") })

    const directory = await onDisk(backend)
    realGit(directory, 'fsck', '--strict')
    expect(realGit(directory, 'status', '--porcelain')).toBe('?? .env\n')
    expect(realGit(directory, 'log', '--format=%an <%ae> %at %s')).toBe(
      'Wardspace <wardspace@localhost> 1767225600 second\nWardspace <wardspace@localhost> 1767225600 first\n',
    )
    expect(await workspace.undo(done.callId)).toMatchObject({ ok: true })
    expect(await snapshot()).toEqual(before)
    expect((await run('git status')).stderr).toBe('fatal: not a git repository\n')
  })

  it('keep nothing after a timeout, and undo only the last of several commits', async () => {
    const { run, workspace, snapshot } = await opened()
    await run(started)
    const before = await snapshot()
    const late = await run('echo b > a.txt; git commit -qam second; while true; do true; done', { timeoutMs: 300 })
    expect(late.code).toMatch(/^(COMMAND_TIMEOUT|LIMIT_EXCEEDED)$/)
    expect(await snapshot()).toEqual(before)
    await run('echo b > a.txt; git commit -qam second')
    const third = await run('echo c > a.txt; git commit -qam third')
    expect(await workspace.undo(third.callId)).toMatchObject({ ok: true })
    expect((await run('git log --format=%s; git status -s; cat a.txt')).stdout).toBe('second\nfirst\nb\n')
  })

  it('work in the background and in a fork, whose changes can be accepted', async () => {
    const { run, workspace } = await opened()
    await run(started)
    await workspace.call('start_command', { command: 'echo b > a.txt; git commit -qam second' })
    const state = async () => ((await workspace.call('check_command', { id: 'process-1' })) as { state?: string }).state
    await expect.poll(state, { timeout: 20_000 }).toBe('ended')
    expect((await run('git log --format=%s; git status -s')).stdout).toBe('second\nfirst\n')
    const fork = await workspace.fork()
    expect(
      await fork.call('run_command', {
        command: 'git checkout -qb side; echo c > c.txt; git add .; git commit -qm third',
      }),
    ).toMatchObject({ ok: true, exitCode: 0 })
    expect((await run('git branch')).stdout).toBe('* main\n')
    expect(await fork.commit()).toMatchObject({ ok: true })
    expect((await run('git log --format=%s; git branch; git status -s')).stdout).toBe(
      'third\nsecond\nfirst\n  main\n* side\n',
    )
  })

  it('commit no protected or hidden file, and show none from a commit', async () => {
    const directory = newRepository()
    for (const [path, text] of Object.entries({ ...tree, 'conf.ts': `x = '${TOKEN}'\n` })) {
      execFileSync('sh', ['-c', 'mkdir -p "$(dirname "$1")" && cat > "$1"', 'sh', path], {
        cwd: directory,
        input: text,
      })
    }
    commitAll(directory)
    execFileSync('sh', ['-c', 'echo y >> conf.ts; echo SECOND=hunter3 > .env; echo planned > private/plan.txt'], {
      cwd: directory,
    })
    commitAll(directory, 'second')
    execFileSync('sh', ['-c', 'echo THIRD=hunter4 > .env; echo planned again > private/plan.txt'], { cwd: directory })
    const policy = { preset: 'autonomous', deniedPaths: ['private/**'] } as const
    const { run, workspace, backend } = await opened({ backend: loaded(directory), policy })
    const lines = ['git show', 'git show HEAD:.env', 'git show HEAD~1:.env', 'git show HEAD:private/plan.txt']
    lines.push('git diff HEAD~1', 'git diff HEAD~1 HEAD', 'git show HEAD:conf.ts | rev', 'git checkout HEAD~1 -- .env')
    lines.push('git checkout HEAD~1', 'git show --stat', 'git restore --source HEAD~1 --staged .env; git diff --cached')
    const answers = []
    for (const line of lines) answers.push(await run(line))
    const shownText = JSON.stringify(answers)
    for (const secret of ['hunter', 'PASSWORD', 'SECOND', 'THIRD', 'planned', TOKEN, [...TOKEN].reverse().join('')]) {
      expect(shownText, secret).not.toContain(secret)
    }
    expect(answers[1]).toMatchObject({ exitCode: 128, refused: [{ path: '.env', code: 'POLICY_DENIED_SECRET' }] })
    expect(answers[3]).toMatchObject({ exitCode: 128, refused: [{ path: 'private/plan.txt', code: 'POLICY_DENIED' }] })
    // A checkout that would create a protected file is refused as a whole.
    expect(answers[8]).toMatchObject({ exitCode: 128, filesChanged: [] })
    const refused = workspace.auditRecords().flatMap(({ refusals = [] }) => refusals)
    expect(refused).toContainEqual({ permission: 'file:read', path: '.env', code: 'POLICY_DENIED_SECRET' })
    // A mark becomes the secret again when it is written.
    await run('git show HEAD:conf.ts > copy.ts')
    expect(decoder.decode((await backend.read('copy.ts' as Path)).bytes)).toBe(`x = '${TOKEN}'\ny\n`)

    // Nor does it reveal a hidden file that was changed and differs between the commits.
    for (const line of ['git reset --hard', 'git checkout HEAD~1', 'git restore .', 'git restore private/plan.txt']) {
      const answer = await run(line)
      expect(JSON.stringify(answer), line).not.toContain(line.includes('plan') ? 'Policy' : 'private')
    }
    const added = await run('git add .env; git add private/plan.txt; git add .; git status -s')
    expect(added.stderr).toContain('Policy denies file:read of ".env"')
    expect(added.stderr).toContain('pathspec "private/plan.txt" did not match any files')
    expect(added.stdout).toBe('A  copy.ts\n')
  })

  it('are the only commands that write into .git', async () => {
    const { run, snapshot } = await opened()
    await run(started)
    const before = await snapshot()
    const lines = [
      'echo x > .git/config',
      'rm -rf .git',
      'mv .git x',
      'cp a.txt .git/hooks/pre-commit',
      'cat .git/HEAD',
    ]
    lines.push(
      'mkdir sub && mkdir sub/.git && git init sub',
      'git -c core.editor=x commit -m x',
      'ln -s .git g; cat g/HEAD',
    )
    for (const line of lines) {
      const answer = await run(line)
      expect(JSON.stringify(answer)).not.toContain('refs/heads/main')
    }
    const { sub: _, g: __, ...after } = await snapshot()
    expect(after).toEqual(before)
  })

  it('name an alternative to unavailable commands and options', async () => {
    const { run } = await opened()
    await run(started)
    for (const verb of ['merge', 'rebase', 'config', 'tag', 'cherry-pick', 'gc']) {
      expect(await run(`git ${verb} x`), verb).toMatchObject({
        exitCode: 128,
        stderr: expect.stringMatching(`^fatal: git ${verb} is not available in this shell`),
      })
    }
    for (const line of [
      'git commit',
      'git commit -m ""',
      'git commit -m x',
      'git checkout nothing',
      'git add nothing',
    ]) {
      expect((await run(line)).exitCode, line).toBeGreaterThan(0)
    }
    const bare = await shellBench(tree, { shell: bash() })
    expect((await bare.run('git init')).stderr).toContain('opened without git')
  })
})

/** One session. After `~`, only the exit code of a line must equal git's, because its message differs. */
const session = [
  'git init -q -b trunk',
  'git init -q',
  '~git init',
  'git status',
  'git status -sb',
  'git branch',
  'git log',
  'git commit --amend --no-edit',
  'git checkout -q -b main',
  'git branch --show-current',
  '~git add',
  'git add .',
  'git status',
  'git commit -m first -m "with a body"',
  'git status',
  'git log --oneline',
  'echo more >> a.txt; rm b.txt; echo new > d/new.txt; printf "#!/bin/sh\\n" > e/f/run.sh',
  'git status',
  'git status --porcelain --branch',
  'git status -s -uall; git status --short --untracked-files=all; git status -s -u; git status -s -uno; git status -s -unormal',
  'git add d; git status',
  'echo x > o.txt; mkdir -p e/n/m; echo n > e/n/m/n.txt; (cd e/f; git status -s; git status; git status --porcelain); (cd e; git status -sb); (cd e/n/m; git status -s -uall; git status -s); (cd e/n; git status); rm -r e/n o.txt',
  'git diff --stat; git diff --shortstat; git diff --cached --stat; git diff --staged --name-status',
  'git diff --quiet; git diff --cached --quiet',
  'git diff --exit-code --name-only; git diff --exit-code --name-only -- d',
  'printf "second\\n\\n\\n\\nand why  \\n\\n" | git commit -q -a -F -',
  'git show --stat --oneline; git show -s --format="%H|%h|%s|%an|%ae|%B%n%%"',
  'git show --no-patch --format=format:%b; git show --pretty=oneline --shortstat',
  'git log --format=tformat:%h%n%s --reverse; git log -1 --pretty=%s; git log -n 1 --format=%an main; git log --max-count=0',
  'git diff HEAD~1 HEAD --shortstat; git diff HEAD~1.. --stat; git diff ..HEAD --name-only; git diff HEAD~1..HEAD --name-status',
  'git show HEAD:d/new.txt HEAD~1:b.txt; cd d; git show HEAD:./new.txt HEAD:../a.txt; git rev-parse --show-prefix',
  'git rev-parse --show-toplevel; git rev-parse --is-inside-work-tree; git rev-parse --show-prefix; git rev-parse --abbrev-ref HEAD',
  'git rev-parse --short HEAD; git rev-parse --verify HEAD~1; git rev-parse main~1',
  '~git rev-parse nothing',
  'git -C d status --porcelain; git --no-pager -P log --oneline',
  'git branch one; git branch two HEAD~1; git branch; git branch --list -v',
  '~git branch one',
  'git checkout one; git checkout one; git checkout -b three two',
  'git switch main; git switch -c four HEAD~1; git switch -q main; git switch -d HEAD~1',
  'git status; git status -sb; git branch --show-current; git rev-parse --abbrev-ref HEAD',
  '~git branch -d main',
  'git checkout -q main; git branch -d one two; git branch -q -D three',
  '~git branch -d main',
  'git switch -q four; echo apart > apart.txt; git add .; git commit -m apart; git switch -q main',
  'git switch -q --detach; echo more > apart.txt; git add .; git commit -m "on no branch"; git commit --amend -m again; git rev-parse --abbrev-ref HEAD; git switch -q main; git branch -v',
  '~git branch -d four',
  'git branch -D four',
  '~git branch -d four',
  '~git checkout nothing',
  '~git switch nothing',
  '~git switch',
  '~git checkout -b main',
  'echo x > a.txt; git checkout -q -- a.txt; cat a.txt; echo x > a.txt; git checkout -q HEAD~1 -- b.txt a.txt; git status -s',
  '~git checkout a.txt; git checkout HEAD -- a.txt d/c.txt',
  'git reset; git status -s',
  'git reset -q; rm a.txt; git reset; git add .; git reset -- a.txt; git reset HEAD a.txt d; git status -s; git reset @',
  '~git reset --hard a.txt',
  'git reset --hard; git status',
  'echo y > a.txt; git add a.txt; echo z > a.txt; git restore a.txt; cat a.txt; git restore --staged a.txt; git status -s; git restore .; git status -s',
  'git restore --staged --worktree --source HEAD~1 b.txt; git restore -S -W -s HEAD~1 a.txt; git status -s; git commit -q -m third',
  '~git restore',
  'git commit -q --amend -m "third again"; git log --oneline -1',
  '~git commit -m nothing',
  'git commit --allow-empty -m nothing; : > a.txt; git commit -am cleared',
  'git checkout -q --detach; git branch; git reset -q --hard; git switch -q main; git checkout -q main',
  'echo y > a.txt; git add a.txt; git reset; git reset -q --hard',
  'touch empty; git add empty; git diff --cached --stat; git diff --shortstat; git reset -q; rm empty',
  'git log --oneline --max-count=-1',
  'echo u > u.txt; (cd d; git commit -m nothing); rm u.txt',
  'git commit -q --allow-empty -m empty; git show --stat --format=%s',
  'git reset -q --hard; git commit -q --amend --no-edit --allow-empty; git log --oneline -1',
  'echo a > g.txt; git add g.txt; rm g.txt; git status -s; git commit -q -m g; git status -s; git add -u; git commit -q -m gone',
  'git checkout -q --detach HEAD~1; git switch -q main; git checkout -q -f main; git switch -q --discard-changes main',
  'echo w > w.txt; git add -A; git checkout -q -f main; git status -s; ls',
  '~git add -v nothing',
  '~git -C d add ../../outside',
  '~git log nothing',
  '~git show HEAD:nothing',
]

describe('git commands on a repository of another git', () => {
  async function withObjects() {
    const bench = await opened()
    await bench.run(`printf 'x.log\\nout/\\n' > .gitignore; ${started}`)
    const { backend } = bench
    const first = (await bench.run('git rev-parse HEAD')).stdout.trim()
    const put = async (name: string, bytes: Uint8Array) => {
      const path = `.git/${name}` as Path
      const above = { path: dirname(path) as Path, expect: 'any', to: { type: 'directory' } } as const
      await backend.commit([above, { path, expect: 'any', to: { type: 'file', bytes } }], { durability: 'relaxed' })
    }
    const commit = async (text: string) => {
      const object = Buffer.from(`commit ${text.length}\0${text}`)
      const id = createHash('sha1').update(object).digest('hex')
      await put(`objects/${id.slice(0, 2)}/${id.slice(2)}`, deflateSync(object))
      return id
    }
    const object = (await backend.read(`.git/objects/${first.slice(0, 2)}/${first.slice(2)}` as Path)).bytes
    const tree = /tree ([0-9a-f]{40})/.exec(decoder.decode(inflateSync(object)))?.[1]
    return { ...bench, first, tree, put, commit }
  }
  const by = (at: number, message: string) =>
    `author B <b@x.y> ${at} +0000\ncommitter B <b@x.y> ${at} +0000\n\n${message}\n`

  it('show packed branches, merges, and commits without a message', async () => {
    const { run, first, tree, put, commit } = await withObjects()
    const left = await commit(`tree ${tree}\nparent ${first}\n${by(1_767_225_601, 'left')}`)
    const right = await commit(`tree ${tree}\nparent ${first}\n${by(1_767_225_602, 'right')}`)
    const merge = await commit(`tree ${tree}\nparent ${left}\nparent ${right}\n${by(1_767_225_603, 'merge')}`)
    const silent = await commit(`tree ${tree}\nparent ${first}`)
    const packed = `# pack-refs with: peeled fully-peeled sorted\n${merge} refs/heads/merged\n${silent} refs/heads/silent\n${first} refs/tags/v1\n`
    await put('packed-refs', Buffer.from(packed))
    expect((await run('git branch')).stdout).toBe('* main\n  merged\n  silent\n')
    expect((await run('git log --format=%s merged')).stdout).toBe('merge\nright\nleft\nfirst\n')
    expect((await run('git log -1 --format="%an %ad" merged')).stdout).toBe('B 2026-01-01T00:00:03.000Z\n')
    const result = await run('git show merged')
    expect(result.stdout).toContain('    merge\n')
    expect(result.stdout).not.toContain('diff --git')
    expect((await run('git log --format="<%an|%ae|%s>" silent')).stdout).toBe(
      '<||>\n<Wardspace|wardspace@localhost|first>\n',
    )
  })

  it('report a renamed file, and a file that only the index has lost', async () => {
    const { run, backend, put, workspace } = await withObjects()
    const moved = await run(
      'mkdir out; echo x > out/made.js; mv a.txt c.txt; git add .; git diff --cached; git status -s',
    )
    expect(moved.stdout).toContain('rename from a.txt\nrename to c.txt\n')
    expect(moved.stdout).not.toContain('out/')
    const record = workspace.auditRecords().findLast(({ toolCallId }) => toolCallId === moved.callId)
    expect(record?.pathsRead).toEqual(expect.arrayContaining(['a.txt', 'c.txt']))
    await run('git commit -qm moved')
    await backend.commit([{ path: '.git/index' as Path, expect: 'any', to: null }], { durability: 'relaxed' })
    expect((await run('git status -s')).stdout).toBe(
      'D  .gitignore\nD  c.txt\nD  private/plan.txt\nD  src/b.ts\n?? .gitignore\n?? c.txt\n?? private/\n?? src/\n',
    )
    await put('index', Buffer.from('no index'))
    const damaged = await run('git checkout c.txt')
    expect(damaged).toMatchObject({ exitCode: 128, filesChanged: [] })
    expect(damaged.stderr).toContain('index')
  })

  it('report an ignored file, and files that a checkout would overwrite', async () => {
    const { run } = await withObjects()
    expect(await run('echo x > x.log; git add x.log')).toMatchObject({
      exitCode: 128,
      stderr: expect.stringContaining('is ignored by one of the .gitignore files'),
    })
    await run(
      'git checkout -qb other; echo other > a.txt; git commit -qam other; git checkout -q main; echo mine > a.txt',
    )
    expect(await run('git checkout other; cat a.txt')).toMatchObject({
      stdout: 'mine\n',
      stderr: expect.stringContaining('would be overwritten, such as "a.txt"'),
    })
  })
})

describe('git compared with the real git, line by line', () => {
  it('has the same effects and the same output', async () => {
    const files = { 'a.txt': 'a\nb\n', 'b.txt': 'b\n', 'd/c.txt': 'c', 'e/f/g.txt': 'g' }
    const { run, backend } = await shellBench(files, {
      shell: unjudged(bash()),
      git: git(),
      clock: () => 1_767_225_600_000,
    })
    const directory = temporary()
    const lines = session.map((line) => line.replace(/^~/, ''))
    const put = Object.entries(files).map(
      ([path, text]) => `mkdir -p "$(dirname ${path})"; printf '${text.replaceAll('\n', '\\n')}' > ${path}`,
    )
    const echoedLines = lines.map(
      (line) => `cd "$here"; ( ${line}\n) 2> "$here.err"; printf '\\0%s\\0' $?; cat "$here.err"; printf '\\0'`,
    )
    const person = { NAME: 'Wardspace', EMAIL: 'wardspace@localhost', DATE: '1767225600 +0000' }
    const env = Object.fromEntries(
      Object.entries(person).flatMap(([name, value]) => [
        [`GIT_AUTHOR_${name}`, value],
        [`GIT_COMMITTER_${name}`, value],
      ]),
    )
    const script = [`cd "${directory}"; here=${directory}`, ...put, ...echoedLines].join('\n')
    const { stdout } = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      env: { ...env, PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_GLOBAL: '/dev/null', GIT_PAGER: 'cat' },
    })
    const answers = stdout.split('\0')
    for (const [index, line] of session.entries()) {
      const [out = '', code, err = ''] = answers.slice(index * 3)
      const ours = await run(line.replace(/^~/, ''))
      expect(`${ours.exitCode}`, `${line}\n${ours.stderr}`).toBe(code)
      if (line.startsWith('~')) continue
      // Only git prints hints, modes and dates in these words.
      const plain = out.replace(/^ {2}\(use .*\n|^ (create|delete) mode .*\n|^ Date: .*\n/gm, '')
      const normalize = (text: string) => text.replaceAll(directory, '/workspace').replace(/\n+/g, '\n')
      expect(normalize(ours.stdout), line).toBe(normalize(plain))
      expect(ours.stderr, line).toBe(normalize(err))
    }
    const ours = await onDisk(backend)
    realGit(ours, 'fsck', '--strict')
    expect(realGit(ours, 'log', '--all', '--format=%H %D')).toBe(realGit(directory, 'log', '--all', '--format=%H %D'))
  })

  it.runIf(isLong)('names in each refusal the option and the forms that there are, and has these', async () => {
    const { run } = await opened({ shell: unjudged(bash()) })
    await run(started)
    expect(await run('git stash push -- a.txt')).toMatchObject({
      exitCode: 128,
      stderr:
        'fatal: git stash: an option of it is not available in this shell: push -- a.txt\nhint: there is: git stash [push] [-q] [-u] [-m MESSAGE], git stash show [-p], git stash list | apply | pop | drop | clear\n',
    })
    for (const [verb, text] of Object.entries(forms)) {
      expect((await run(`git ${verb} --nothing`)).stderr, verb).toContain(`--nothing\nhint: there is: ${text}\n`)
      for (const form of text.split(', ')) {
        const command = /^git(?: [a-z][a-z-]*)+/.exec(form)?.[0]
        for (const [option = ''] of form.matchAll(/(?<=[ [])-{1,2}[a-zA-Z][a-z-]*/g)) {
          const said = (await run(`${command} ${option}`)).stderr
          // An option that needs a value is refused without one.
          const again = said.includes(`shell: ${option}`) ? (await run(`${command} ${option} 1`)).stderr : said
          expect(again, `${command} ${option}`).not.toContain(`not available in this shell: ${option}\n`)
        }
      }
    }
  })

  it('refuses unknown options and changes nothing', async () => {
    const { run, snapshot, backend } = await opened({ shell: unjudged(bash()) })
    await run(
      `${started} && git checkout -q -b other && echo c > c.txt && git add c.txt && git commit -q -m other && git checkout -q main`,
    )
    const before = await snapshot()
    const unknown = 'an option of it is not available in this shell'
    const rows: (readonly [line: string, said: string])[] = [
      ...[
        'init',
        'clone',
        'add',
        'commit',
        'checkout',
        'switch',
        'restore',
        'reset',
        'status',
        'diff',
        'log',
        'show',
        'branch',
        'branch -d',
      ].map((verb) => [`${verb} --nothing`, unknown] as const),
      ...[
        'init a b',
        'init --initial-branch',
        'clone a b c',
        'commit x',
        'commit --message',
        'commit -m',
        'commit --all=x',
        'branch -f x',
        'branch a b c',
        'checkout',
      ].map((line) => [line, unknown] as const),
      ...[
        'checkout -b a b c',
        'checkout -b a -- a.txt',
        'checkout main other -- a.txt',
        'switch main other',
        'restore -s HEAD a.txt',
        'status a.txt',
        'status -ux',
      ].map((line) => [line, unknown] as const),
      ...[
        'diff a b c',
        'diff main...other',
        'diff --cached main other',
        'log a b',
        'log -n x',
        'log --format=plain',
        'log --format=%Z',
        'show -- a.txt',
        'show --pretty=full',
        'branch -v -x',
      ].map((line) => [line, unknown] as const),
      ...['rev-parse', 'rev-parse --all', 'rev-parse HEAD HEAD'].map((line) => [line, unknown] as const),
      [
        'reset other',
        'git reset to another commit is not available in this shell; git checkout other -- . restores its files',
      ],
      ['reset --hard other', 'git reset to another commit is not available in this shell'],
      ['log --graph', 'git log: an option of it is not available in this shell: --graph'],
      ['log -n', 'git log: an option of it is not available in this shell: -n'],
      ['init sub', 'a repository here is that of the workspace: git init in /workspace'],
      ['clone', 'You must specify a repository to clone.'],
      ['clone https://example.com/x', 'is that of the workspace itself: git clone https://example.com/x .'],
      ['clone https://example.com/x y', 'is that of the workspace itself'],
      ['clone ssh://example.com/x .', 'only http and https'],
      ['clone no-address .', 'only http and https'],
      ['clone https://a@example.com/x .', 'must hold no name and no password'],
      ['clone --depth 0 https://example.com/x .', 'depth 0 is not a positive number'],
      ['clone --depth=1 -b main -q https://example.com/x .', 'the workspace already has a repository'],
      ['commit -F message.txt', '-F takes the message from the input only: -F -'],
      ['commit --amend', 'there is no editor here'],
      ['commit -m ""', 'Aborting commit due to empty commit message.'],
      ['commit -m x', ''],
      ['branch -d', 'branch name required'],
      ['-c a=b status', 'an option before the command is not available in this shell'],
      ['-C', 'an option before the command is not available in this shell'],
      ['', 'git is not available in this shell'],
      ['--no-pager', 'git is not available in this shell'],
      ['revert HEAD', 'git revert is not available in this shell: git show COMMIT'],
    ]
    for (const [line, message] of rows) {
      const answer = await run(`git ${line}`)
      expect(answer.exitCode, line).toBeGreaterThan(0)
      expect(answer.stderr, line).toContain(message)
    }
    // Restoring the parent's content empties the second commit.
    await run('git checkout -q other; rm c.txt; git add -u')
    expect(await run('git commit --amend -m x')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('would be empty'),
    })
    await run('git reset -q --hard; git checkout -q main')
    const unborn = new TextEncoder().encode('ref: refs/heads/unborn\n')
    await backend.commit([{ path: '.git/HEAD' as Path, expect: 'any', to: { type: 'file', bytes: unborn } }], {
      durability: 'relaxed',
    })
    expect((await run('git branch -d other')).stderr).toContain("'other' is not fully merged")
    expect((await run('git reset; git checkout -q main')).stderr).toContain(unknown)
    const { '.git/index': _, ...remaining } = await snapshot()
    const { '.git/index': __, ...expected } = before
    expect(remaining).toEqual(expected)
    expect(await run('git add .env missing; cd src; git clone https://example.com/x .')).toMatchObject({
      exitCode: 128,
      stderr: expect.stringContaining('git clone https://example.com/x /workspace'),
    })
  })
})

describe('git commands under policy', () => {
  const closed = {
    preset: 'autonomous',
    rules: [{ name: 'no commits', action: 'deny', permissions: ['git:write'] }],
  } as const

  it('refuse changes of the repository that a rule denies, and still read it', async () => {
    const first = await opened()
    await first.run(started)
    const { run, snapshot, workspace } = await opened({ backend: first.backend, policy: closed })
    const before = await snapshot()
    for (const line of [
      'git add .',
      'git commit --allow-empty -m x',
      'git branch x',
      'git checkout -b x',
      'git branch -D x',
    ]) {
      const answer = await run(line)
      expect(answer.exitCode, line).toBeGreaterThan(0)
    }
    expect((await run('git log --format=%s')).stdout).toBe('first\n')
    expect(await snapshot()).toEqual(before)
    expect(workspace.auditRecords().flatMap(({ refusals = [] }) => refusals)).toContainEqual({
      permission: 'git:write',
      path: '.git',
      code: 'POLICY_DENIED',
    })
    const sealed = await opened({ backend: first.backend, readOnly: true })
    expect((await sealed.run('git commit --allow-empty -m x')).exitCode).toBe(128)
    const planning = await opened({ backend: first.backend, mode: 'plan' })
    expect(await planning.run('git commit --allow-empty -m x')).toMatchObject({ code: 'PLAN_MODE' })
    // Only allowed paths may be changed, including those of git itself.
    const narrow = await opened({ backend: first.backend, policy: { preset: 'autonomous', allowedPaths: ['src/**'] } })
    expect((await narrow.run('git commit --allow-empty -m x')).exitCode).toBe(128)
    expect(await snapshot()).toEqual(before)
  })

  it('ask once, at the end, for all changes of a line', async () => {
    const asking = {
      preset: 'autonomous',
      rules: [{ name: 'commits', action: 'ask', permissions: ['git:write'] }],
    } as const
    const questions: string[][] = []
    const yes = await opened({
      policy: asking,
      approve: async ({ accesses }) => {
        questions.push([...new Set(accesses.map(({ permission }) => permission))])
        return 'allow' as const
      },
    })
    expect(await yes.run(started)).toMatchObject({ ok: true, exitCode: 0 })
    expect(questions).toEqual([expect.arrayContaining(['git:write'])])
    const no = await opened({ policy: asking, approve: async () => ({ deny: 'not yet' }) })
    const before = await no.snapshot()
    expect(await no.run(started)).toMatchObject({ ok: false, code: 'APPROVAL_DENIED' })
    expect(await no.snapshot()).toEqual(before)
  })

  it('commit a readable file without showing its changes', async () => {
    const rules = [{ name: 'no diff', action: 'deny', permissions: ['file:diff'], paths: ['a.txt'] }] as const
    const { run, backend } = await opened({ policy: { preset: 'autonomous', rules: [...rules] } })
    const done = await run('git init -q; git add a.txt src/b.ts; git commit -qm first; git show --format=%s')
    expect(done).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('b/src/b.ts') })
    expect(done.stdout).not.toContain('a.txt')
    const { entries: index } = parseIndexFile((await backend.read('.git/index' as Path)).bytes)
    expect([...index.keys()]).toEqual(['a.txt', 'src/b.ts'])
  })

  it('make exactly the approved commit when resumed', async () => {
    let now = 1_767_225_600_000
    const asking = {
      preset: 'autonomous',
      rules: [{ name: 'commits', action: 'ask', permissions: ['git:write'] }],
    } as const
    const { run, workspace } = await opened({ policy: asking, clock: () => now })
    const parked = await run(started)
    expect(parked).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
    now += 60_000
    expect(await workspace.resume(parked.approvalId, 'allow')).toMatchObject({ ok: true, exitCode: 0 })
    expect((await run('git log')).stdout).toContain('2026-01-01T00:00:00.000Z')
  })
})

describe('git clone', () => {
  it('reaches only the hosts that policy names', async () => {
    const root = temporary()
    const source = newRepository()
    execFileSync('sh', ['-c', 'echo one > a.txt; echo X=1 > notes.md'], { cwd: source })
    commitAll(source)
    realGit(root, 'clone', '-q', '--bare', source, 'x.git')
    const server = await serveGit(root)
    const moved = createServer((request, response) => {
      response.writeHead(302, { location: `${server.url}${request.url}` }).end()
    })
    await new Promise<void>((ready) => moved.listen(0, '127.0.0.1', ready))
    const elsewhere = `127.0.0.1:${(moved.address() as AddressInfo).port}`
    const { host } = new URL(server.url)
    try {
      const open = (hosts: string[], more: object = {}) =>
        shellBench({}, { shell: bash(), git: git(), policy: { preset: 'autonomous', network: { hosts }, ...more } })
      const line = `git clone ${server.url}/x.git . && cat a.txt && git log --oneline`
      const namedHost = await open([host])
      const done = await namedHost.run(line)
      expect(done).toMatchObject({ ok: true, exitCode: 0, stdout: expect.stringMatching(/^one\n[0-9a-f]{7} x\n$/) })
      const directory = await onDisk(namedHost.backend)
      realGit(directory, 'fsck')
      expect(realGit(directory, 'status', '--porcelain')).toBe('')
      expect(await namedHost.workspace.undo(done.callId)).toMatchObject({ ok: true })
      expect(await namedHost.snapshot()).toEqual({})

      const before = server.requests.length
      for (const hosts of [[], ['127.0.0.1'], [elsewhere], ['*.0.0.1:1']]) {
        const closed = await open(hosts)
        const refused = await closed.run(hosts[0] === elsewhere ? line.replace(host, elsewhere) : line)
        expect(refused, hosts.join()).toMatchObject({ exitCode: 128, filesChanged: [] })
        expect(refused.refused).toEqual([expect.objectContaining({ path: host, code: 'POLICY_DENIED' })])
        expect(closed.workspace.auditRecords().at(-1)?.refusals).toHaveLength(1)
        expect(await closed.snapshot()).toEqual({})
      }
      const labels = {
        sources: [{ label: 'restricted', commands: ['echo secret*'] }],
        sinks: [{ name: 'out', ceiling: 'public', hosts: ['127.0.0.1'] }],
      }
      const tainted = await open([host], { labels })
      await tainted.run('echo secret')
      expect((await tainted.run(line)).exitCode).toBe(128)
      expect(server.requests).toHaveLength(before)
      for (const address of [`http://a:b@${host}/x.git`, '/x.git', 'file:///x.git', 'ext::sh']) {
        const refused = await namedHost.run(`git clone ${address} .`)
        expect(refused.ok && refused.exitCode === 0, address).toBe(false)
      }
    } finally {
      await server.close()
      moved.close()
    }
  })
})

const decoder = new TextDecoder()
