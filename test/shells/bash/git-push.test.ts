import { chmodSync, cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApprovalRequest } from '../../../src/policy/approval.ts'
import { everyNth } from '../../counts.ts'
import { ACCOUNT, gitAsync, serveRemotes } from '../../git/remote-bench.ts'
import { commitAll, git as realGit, temporary } from '../../git/repositories.ts'
import type { Answer } from '../setup.ts'
import { sharedShell } from '../setup.ts'

let remotes: Awaited<ReturnType<typeof serveRemotes>>
beforeAll(async () => {
  remotes = await serveRemotes()
})
afterAll(() => remotes.close())

type Options = Parameters<Awaited<ReturnType<typeof serveRemotes>>['open']>[0]
const open = async (options: Options = {}) => {
  const bench = await remotes.open({ shell: sharedShell, ...options })
  const run = (command: string) => bench.workspace.call('run_command', { command }) as Promise<Answer>
  return { ...bench, run }
}

/** What a command has printed, and how it ended. */
type Outcome = Awaited<ReturnType<typeof gitAsync>>

describe('git push', () => {
  /** What is on the server before, by a script in the bare repository; the lines, each compared with the real git. */
  const cases: Record<string, readonly [lines: readonly string[], before?: (bare: string) => void]> = {
    'updates the branch on the server': [['git push', 'git push', 'git push -q', 'git push origin main']],
    'creates a branch': [
      ['git push -u origin topic', 'git push origin topic:refs/heads/team/t', 'git push origin HEAD'],
    ],
    'pushes several branches': [['git push origin main topic HEAD:third']],
    'deletes a branch': [['git push origin --delete topic', 'git push origin :topic', 'git push -d origin nothing']],
    'needs an upstream': [
      ['git switch -q -c new', 'git push', 'git push origin', 'git push -u origin new', 'git push'],
    ],
    'needs a branch': [['git checkout -q --detach', 'git push', 'git push origin HEAD:refs/heads/detached']],
    'knows the branches': [['git push origin nothing', 'git push origin nothing:x', 'git push nowhere main']],
    'is rejected if the server has more': [['git push', 'git push --force-with-lease'], pushOfOther],
    'is rejected without a common end': [['git push origin topic:main']],
    'replaces commits with a lease': [
      [
        'git push --force-with-lease origin main:topic',
        'git push --force-with-lease=topic origin topic',
        'git push --force-with-lease=main: origin main',
        `git push --force-with-lease=main:${'1'.repeat(40)} origin main`,
      ],
    ],
    'shows what hooks print': [['git push'], (bare) => hook(bare, 'echo no; echo "two lines" >&2; exit 1')],
    'shows what hooks print that agree': [['git push'], (bare) => hook(bare, 'echo welcome')],
  }

  it.each(everyNth(Object.entries(cases), 2, 1))('%s, with the messages of git', async (_, [lines, before]) => {
    const bench = await open({ credentials: () => ACCOUNT })
    const other = remotes.copy()
    for (const bare of [bench.bare, other.bare]) before?.(bare)
    const clone = join(temporary(), 'clone')
    cpSync(remotes.clone, clone, { recursive: true })
    realGit(
      clone,
      'remote',
      'set-url',
      'origin',
      other.url.replace('://', `://${ACCOUNT.username}:${ACCOUNT.password}@`),
    )
    for (const line of lines) {
      const own = await bench.run(line)
      const real = await gitAsync(clone, ...line.split(' ').slice(1))
      expect(normal(own as unknown as Outcome, bench.url), line).toEqual(normal(real, other.url))
    }
    const refs = (bare: string) =>
      realGit(bare, 'for-each-ref', '--format=%(refname) %(objectname)').replace(/.*\/other\n/, '')
    expect(refs(bench.bare)).toEqual(refs(other.bare))
  })

  /** What a line printed, without the address, the hints of the real git, and the ids of other people's commits. */
  function normal({ exitCode, stdout, stderr }: Outcome, url: string) {
    const text = String(stderr)
      .replaceAll(url, 'URL')
      .replaceAll(/^hint: .*\n/gm, '')
      .replaceAll(/^remote: (.*?)\s*$/gm, 'remote: $1')
      // The real git goes on to advise a setting.
      .replace(/\nTo have this happen automatically[\s\S]*$/, '')
      .replace(/\nTo choose either option[\s\S]*$/, '')
      .replace(/^fatal: 'nowhere' does not appear[\s\S]*$/, 'fatal: nowhere\n')
      .replace(/^fatal: The repository has no remote "nowhere"\n$/, 'fatal: nowhere\n')
      .trimEnd()
    return { exitCode, stdout, stderr: text }
  }

  it('refuses what it does not have, and says what to do instead', async () => {
    const { run, at, url } = await open()
    const refused = {
      'git push --force': 'without a condition is not available',
      'git push -f origin main': '--force-with-lease replaces only what was fetched last',
      'git push origin +topic:main': 'without a condition is not available',
      'git push --all': 'an option of it is not available in this shell: --all',
      'git push --tags': '--tags',
      'git push origin "refs/heads/*"': "invalid refspec 'refs/heads/*'",
      'git push origin a:b:c': "invalid refspec 'a:b:c'",
      'git push origin --delete a:b': '--delete only accepts plain target ref names',
      'git push origin main:refs/tags/v1': 'only branches are pushed',
      [`git push ${url.replace('://', `://ada:${ACCOUNT.password}@`)} main`]: 'must hold no name and no password',
      'git push ssh://git.example/x.git main': 'only http and https',
      'git push file:///x.git main': 'only http and https',
    }
    for (const [line, reason] of Object.entries(refused)) {
      const answer = await run(line)
      expect(answer, line).toMatchObject({ exitCode: 128, stderr: expect.stringContaining(reason) })
      expect(String(answer.stderr), line).not.toContain(ACCOUNT.password)
    }
    expect(at()).toBe(remotes.second)
  })

  it('reaches only the hosts that policy names, with credentials that no output and no record contains', async () => {
    const before = remotes.requests.length
    const closed = await open({ policy: 'autonomous' })
    const refused = await closed.run('git push')
    expect(refused).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('policy names no network host') })
    const { host } = new URL(closed.url)
    expect(refused.refused).toEqual([
      expect.objectContaining({ permission: 'git:push', path: host, code: 'POLICY_DENIED' }),
    ])
    const rules = [{ name: 'no push', action: 'deny', permissions: ['git:push'] }] as const
    const denied = await open({ policy: { preset: 'autonomous', network: { hosts: ['127.0.0.1:*'] }, rules } })
    expect(await denied.run('git push')).toMatchObject({
      ...{ exitCode: 128, refused: [expect.objectContaining({ permission: 'git:push', code: 'POLICY_DENIED' })] },
    })
    const labels = {
      sources: [{ label: 'restricted', commands: ['echo secret*'] }],
      sinks: [{ name: 'out', ceiling: 'public', hosts: ['127.0.0.1'] }],
    } as const
    const tainted = await open({ policy: { preset: 'autonomous', network: { hosts: ['127.0.0.1:*'] }, labels } })
    for (const line of ['echo secret > x.md; git push', 'git push']) {
      expect(await tainted.run(line)).toMatchObject({ refused: [expect.objectContaining({ code: 'TAINT_DENIED' })] })
    }
    expect(remotes.requests).toHaveLength(before)
    const wrong = await open({ credentials: () => ({ ...ACCOUNT, username: 'eve' }) })
    const unauthorized = await wrong.run('git push; cat .git/config; env; git log -1')
    expect(unauthorized).toMatchObject({ stderr: expect.stringContaining('it refuses the credentials') })
    const done = await open()
    const pushed = await done.run('git push; env; git status')
    for (const { workspace } of [wrong, done]) {
      expect(JSON.stringify([pushed, unauthorized, workspace.auditRecords()])).not.toContain(ACCOUNT.password)
    }
    expect(done.workspace.auditRecords().at(-1)).toMatchObject({
      toolName: 'run_command',
      pushes: [{ url: done.url, ref: 'refs/heads/main', from: remotes.second, to: remotes.third }],
    })
  })

  it('sends only commits of the workspace, not those that the line itself has just made', async () => {
    const { run, at } = await open()
    const line = 'echo more >> a.txt && git commit -qam fourth && git push'
    expect(await run(line)).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('when the line has ended') })
    expect(at()).toBe(remotes.second)
    expect(await run('git push')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('main -> main') })
    expect(at()).not.toBe(remotes.second)
  })

  it('asks with what would be pushed, and sends it once, also if the line runs again', async () => {
    const requests: ApprovalRequest[] = []
    const bench = await open({
      policy: {
        preset: 'autonomous',
        network: { hosts: ['127.0.0.1:*'] },
        rules: [
          { name: 'push', action: 'ask', permissions: ['git:push'] },
          { name: 'read', action: 'ask', permissions: ['file:read'], paths: ['b.txt'] },
        ],
      },
      approve: (request) => {
        requests.push(request)
        return requests.length === 1 ? { deny: 'no' } : 'allow'
      },
    })
    expect(await bench.run('git push')).toMatchObject({ ok: false, code: 'APPROVAL_DENIED' })
    await bench.workspace.files.write('b.txt', 'b\n')
    const before = remotes.requests.length
    const done = await bench.run('git push && git push origin --delete topic && cat b.txt')
    expect(done).toMatchObject({
      exitCode: 0,
      stdout: 'b\n',
      stderr: expect.stringContaining(' - [deleted]         topic'),
    })
    expect(requests.map(({ tool, diff }) => [tool, diff?.split('\n')[1]])).toEqual([
      ...Array(2).fill([
        'run_command',
        `refs/heads/main ${remotes.second.slice(0, 12)} -> ${remotes.third.slice(0, 12)}`,
      ]),
      ['run_command', `refs/heads/topic ${remotes.topic.slice(0, 12)} -> nothing`],
      ['run_command', undefined],
    ])
    expect(requests[0]?.diff).toContain('+three\n')
    expect(remotes.requests.slice(before).filter((one) => one.startsWith('POST'))).toHaveLength(2)
    expect([bench.at(), bench.at('topic')]).toEqual([remotes.third, ''])
    expect(bench.workspace.auditRecords().at(-1)?.pushes).toHaveLength(2)
  })

  it('that waits for its approval is not approved for other commits', async () => {
    const bench = await open({
      policy: {
        preset: 'autonomous',
        network: { hosts: ['127.0.0.1:*'] },
        rules: [{ name: 'push', action: 'ask', permissions: ['git:push'] }],
      },
    })
    const parked = await bench.run('git push')
    expect(parked).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    await bench.run('echo more >> a.txt && git commit -qam fourth')
    const other = await bench.workspace.resume(String(parked.approvalId), 'allow')
    expect(other).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
    expect(bench.at()).toBe(remotes.second)
    const again = await bench.workspace.resume(String((other as { approvalId?: string }).approvalId), 'allow')
    expect(again).toMatchObject({ ok: true, exitCode: 0 })
    expect(bench.at()).not.toBe(remotes.second)
  })
})

function hook(bare: string, script: string): void {
  writeFileSync(join(bare, 'hooks/pre-receive'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bare, 'hooks/pre-receive'), 0o755)
}

/** Another person pushes to the server. */
function pushOfOther(bare: string): void {
  const directory = join(temporary(), 'other')
  realGit(bare, 'clone', '-q', bare, directory)
  writeFileSync(join(directory, 'other.txt'), 'other\n')
  commitAll(directory, 'of another person')
  realGit(directory, 'push', '-q', 'origin', 'main')
}
