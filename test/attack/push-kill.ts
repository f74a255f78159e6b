import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveGit } from '../git/http-server.ts'
import { environment } from '../git/repositories.ts'
import { outputOf } from '../run-program.ts'
import { bundle } from './bundle.ts'
import { killOne, withVictims } from './victims.ts'

export interface PushKillReport {
  kills: number
  /** Kills between the start of a push and its acknowledgement. */
  insidePush: number
  /** Kills of a push after which the server had its commit, and after which it had not. */
  done: number
  undone: number
  /** Descriptions of the violations. */
  broken: string[]
  lost: string[]
}

/** The last commits that the victims acknowledged. */
interface Said {
  readonly commit?: string
  readonly pushed?: string
}

/** Kills a process that commits and pushes, and examines both repositories by the real git after each kill. */
export async function killPushes(kills: number): Promise<PushKillReport> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'kill-push-')))
  const [root, state, bare] = ['root', 'state', 'x.git'].map((name) => join(base, name)) as [string, string, string]
  mkdirSync(root)
  const git = (cwd: string, ...args: string[]) => outputOf('git', args, { cwd, env: environment }).toString()
  git(base, 'init', '-q', '--bare', '-b', 'main', '--template=', bare)
  git(bare, 'config', 'http.receivepack', 'true')
  git(root, 'init', '-q', '-b', 'main', '--template=')
  writeFileSync(join(root, 'a.txt'), 'a\n')
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'first')
  const server = await serveGit(base)
  git(root, 'remote', 'add', 'origin', `${server.url}/x.git`)
  const script = await bundle('test/attack/pushed.ts', base)
  const report: PushKillReport = { kills: 0, insidePush: 0, done: 0, undone: 0, broken: [], lost: [] }
  let said: Said = {}
  const tip = (cwd: string, ref: string) => git(cwd, 'for-each-ref', '--format=%(objectname)', ref).trim()
  try {
    await withVictims(script, [root, state], async (victim) => {
      const before = tip(bare, 'refs/heads/main')
      const { last, said: now } = await killOne(victim, 2, 600)
      said = { ...said, ...now }
      await server.idle()
      const at = `kill ${report.kills}`
      for (const directory of [bare, root]) {
        try {
          git(directory, 'fsck', '--strict', '--no-dangling')
        } catch (error) {
          report.broken.push(`${at}, ${directory}: ${error}`)
        }
      }
      const [there, here, recorded] = [
        tip(bare, 'refs/heads/main'),
        tip(root, 'refs/heads/main'),
        tip(root, 'refs/remotes/origin/main'),
      ]
      const leadsTo = (from: string | undefined, to: string, what: string) => {
        if (from === undefined || from === '' || git(root, 'rev-list', '--count', from, `^${to}`).trim() === '0') return
        report.lost.push(`${at}: ${what}: ${from} is not in ${to}`)
      }
      leadsTo(said.commit, here, 'an acknowledged commit')
      leadsTo(said.pushed, there, 'an acknowledged push')
      leadsTo(there, here, 'the server')
      leadsTo(recorded, there, 'the recorded branch')
      if (last === 'push') {
        report.insidePush += 1
        report[there === before || there === said.pushed ? 'undone' : 'done'] += 1
      }
      report.kills += 1
      return report.kills < kills && report.broken.length + report.lost.length === 0
    })
    return report
  } finally {
    await server.close()
    rmSync(base, { recursive: true, force: true })
  }
}
