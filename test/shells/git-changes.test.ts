import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { git } from '../../src/git/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash.ts'
import type { WorkspaceOptions } from '../../src/workspace.ts'
import { serveGit } from '../git/http-server.ts'
import { commitAll, loaded, newRepository, onDisk, git as realGit, temporary } from '../git/repositories.ts'
import { shellBench } from './setup.ts'

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
const tree = { 'a.txt': 'a\n', 'src/b.ts': 'b\n', '.env': 'PASSWORD=hunter2\n', 'private/plan.txt': 'plan\n' }

/** With the judge of lines, as a program has it. */
function opened(options: Partial<WorkspaceOptions> = {}) {
  return shellBench(tree, { shell: bash(), git: git(), clock: () => 1_767_225_600_000, ...options })
}

const started = 'git init -q && git add . && git commit -qm first'

describe('git that changes the repository', () => {
  it('sees its own work in one line, as one change that one undo takes back', async () => {
    const { run, workspace, snapshot, backend } = await opened()
    const before = await snapshot()
    const line = `${started} && git checkout -qb topic && echo more >> a.txt && git commit -qam second && git log --oneline`
    const done = await run(line)
    expect(done).toMatchObject({ ok: true, exitCode: 0, stderr: '', filesChanged: ['.git', 'a.txt'] })
    expect(done.stdout).toMatch(/^[0-9a-f]{7} second\n[0-9a-f]{7} first\n$/)
    const records = workspace.auditRecords().filter(({ toolCallId }) => toolCallId === done.callId)
    expect(records.at(-1)?.pathsWritten).toContain('.git/refs/heads/topic')
    const artifact = await workspace.call('read_file', { path: done.artifactUri })
    expect(artifact).toMatchObject({ ok: true, content: expect.stringContaining("Git's own data: ") })

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

  it('keeps nothing where the line is late, and takes back the last of several commits alone', async () => {
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

  it('works in the background and in a fork, and what the fork did can be taken over', async () => {
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

  it('takes no protected or hidden file into a commit, and shows none out of one', async () => {
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
    const told = JSON.stringify(answers)
    for (const secret of ['hunter', 'PASSWORD', 'SECOND', 'THIRD', 'planned', TOKEN, [...TOKEN].reverse().join('')]) {
      expect(told, secret).not.toContain(secret)
    }
    expect(answers[1]).toMatchObject({ exitCode: 128, refused: [{ path: '.env', code: 'POLICY_DENIED_SECRET' }] })
    expect(answers[3]).toMatchObject({ exitCode: 128, refused: [{ path: 'private/plan.txt', code: 'POLICY_DENIED' }] })
    // A checkout that would bring a protected file is refused whole.
    expect(answers[8]).toMatchObject({ exitCode: 128, filesChanged: [] })
    const refused = workspace.auditRecords().flatMap(({ refusals = [] }) => refusals)
    expect(refused).toContainEqual({ permission: 'file:read', path: '.env', code: 'POLICY_DENIED_SECRET' })
    // What stood as a mark is whole again where it is written.
    await run('git show HEAD:conf.ts > copy.ts')
    expect(decoder.decode((await backend.read('copy.ts' as Path)).bytes)).toBe(`x = '${TOKEN}'\ny\n`)

    // Nor that a hidden file is there, which is changed in the files and differs between the commits.
    for (const line of ['git reset --hard', 'git checkout HEAD~1', 'git restore .', 'git restore private/plan.txt']) {
      const answer = await run(line)
      expect(JSON.stringify(answer), line).not.toContain(line.includes('plan') ? 'Policy' : 'private')
    }
    const added = await run('git add .env; git add private/plan.txt; git add .; git status -s')
    expect(added.stderr).toContain('Policy denies file:read of ".env"')
    expect(added.stderr).toContain('pathspec "private/plan.txt" did not match any files')
    expect(added.stdout).toBe('A  copy.ts\n')
  })

  it('writes into .git by no other command', async () => {
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

  it('says what it has not, and what to do instead', async () => {
    const { run } = await opened()
    await run(started)
    for (const verb of ['merge', 'rebase', 'push', 'pull', 'stash', 'config', 'tag', 'cherry-pick', 'gc']) {
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

describe('git and policy', () => {
  const closed = {
    preset: 'autonomous',
    rules: [{ name: 'no commits', action: 'deny', permissions: ['git:write'] }],
  } as const

  it('denies the change of the repository where a rule does, and lets it be looked at', async () => {
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
    // Paths that are allowed are all that may be changed, git's own among them or not.
    const narrow = await opened({ backend: first.backend, policy: { preset: 'autonomous', allowedPaths: ['src/**'] } })
    expect((await narrow.run('git commit --allow-empty -m x')).exitCode).toBe(128)
    expect(await snapshot()).toEqual(before)
  })

  it('asks once, at the end, for all that a line did', async () => {
    const asking = {
      preset: 'autonomous',
      rules: [{ name: 'commits', action: 'ask', permissions: ['git:write'] }],
    } as const
    const asked: string[][] = []
    const yes = await opened({
      policy: asking,
      approve: async ({ accesses }) => {
        asked.push([...new Set(accesses.map(({ permission }) => permission))])
        return 'allow' as const
      },
    })
    expect(await yes.run(started)).toMatchObject({ ok: true, exitCode: 0 })
    expect(asked).toEqual([expect.arrayContaining(['git:write'])])
    const no = await opened({ policy: asking, approve: async () => ({ deny: 'not yet' }) })
    const before = await no.snapshot()
    expect(await no.run(started)).toMatchObject({ ok: false, code: 'APPROVAL_DENIED' })
    expect(await no.snapshot()).toEqual(before)
  })

  it('comes to the very commit that was approved, when it is resumed', async () => {
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
  it('reaches the hosts that policy names, and no other', async () => {
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
      const named = await open([host])
      const done = await named.run(line)
      expect(done).toMatchObject({ ok: true, exitCode: 0, stdout: expect.stringMatching(/^one\n[0-9a-f]{7} x\n$/) })
      const directory = await onDisk(named.backend)
      realGit(directory, 'fsck')
      expect(realGit(directory, 'status', '--porcelain')).toBe('')
      expect(await named.workspace.undo(done.callId)).toMatchObject({ ok: true })
      expect(await named.snapshot()).toEqual({})

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
        const refused = await named.run(`git clone ${address} .`)
        expect(refused.ok && refused.exitCode === 0, address).toBe(false)
      }
    } finally {
      await server.close()
      moved.close()
    }
  })
})

const decoder = new TextDecoder()
