import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { straysIn } from '../backends/node/tree.ts'
import { bundle } from './bundle.ts'
import type { Answer } from './contender.ts'

export interface ContentionReport {
  rounds: number
  /** Number of rounds in which the killed process held the lock. */
  holdersKilled: number
  /** Rounds without exactly one winner, and answers other than `won` and `lost`. */
  wrong: string[]
  strays: string[]
}

interface Contender {
  readonly name: string
  readonly child: ChildProcess
}

/** Runs rounds in which all processes write one file and expect the same version. `kill` kills holders of the lock. */
export async function contend(
  processes: number,
  rounds: number,
  options: { kill?: boolean } = {},
): Promise<ContentionReport> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'contention-')))
  const root = join(base, 'root')
  const stateDir = join(base, 'state')
  const file = join(root, 'file.txt')
  mkdirSync(root)
  writeFileSync(file, 'the first version\n')
  const script = await bundle('test/attack/contender.ts', base)
  const report: ContentionReport = { rounds: 0, holdersKilled: 0, wrong: [], strays: [] }
  let started = 0
  const start = async (): Promise<Contender> => {
    const name = `process-${++started}`
    const child = fork(script, [root, stateDir, name], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const contender = { name, child }
    await answerOf(contender, -1)
    return contender
  }
  let contenders = await Promise.all(Array.from({ length: processes }, start))
  try {
    for (; report.rounds < rounds; report.rounds++) {
      const round = report.rounds
      const expected = sha256(readFileSync(file))
      const answers = contenders.map((contender) => answerOf(contender, round))
      for (const { child } of contenders) child.send({ round, sha256: expected })
      if (options.kill) report.holdersKilled += await killHolder(stateDir, contenders)
      const outcomes = await Promise.all(answers)
      judge(round, readFileSync(file, 'latin1'), contenders, outcomes, report)
      contenders = await Promise.all(contenders.map((one) => (isDead(one) ? start() : one)))
    }
    report.strays = straysIn(root)
    return report
  } finally {
    for (const { child } of contenders) child.kill('SIGKILL')
    await sleep(50)
    rmSync(base, { recursive: true, force: true })
  }
}

/** Expects exactly one winner, which reported success, or wrote its content and was killed before its report. */
function judge(
  round: number,
  content: string,
  contenders: readonly Contender[],
  outcomes: readonly string[],
  report: ContentionReport,
): void {
  const winners = contenders.filter((_, i) => outcomes[i] === 'won').map(({ name }) => name)
  const author = /^round (\d+) by (process-\d+)\n$/.exec(content)
  const wroteNow = author?.[1] === String(round) ? author[2] : undefined
  const author1 = contenders.findIndex(({ name }) => name === wroteNow)
  if (wroteNow !== undefined && outcomes[author1] === 'killed') winners.push(wroteNow)
  const odd = outcomes.filter((outcome) => !['won', 'lost', 'killed'].includes(outcome))
  if (winners.length === 1 && winners[0] === wroteNow && odd.length === 0) return
  report.wrong.push(
    `round ${round}: winners ${winners.join(', ') || 'none'}; wrote: ${content.trim()}; ${odd.join('; ')}`,
  )
}

/** Kills the process that holds the lock, shortly after the round starts. Returns the number of processes killed. */
async function killHolder(stateDir: string, contenders: readonly Contender[]): Promise<number> {
  await sleep(Math.random() * 8)
  for (let attempt = 0; attempt < 200; attempt++) {
    const holder = holderOf(stateDir)
    const contender = contenders.find(({ child }) => child.pid === holder)
    if (contender !== undefined) {
      contender.child.kill('SIGKILL')
      return 1
    }
    await sleep(0)
  }
  return 0
}

/** The process id of the lock holder: the third line of its claim. */
function holderOf(stateDir: string): number | undefined {
  try {
    const [own = ''] = readdirSync(stateDir)
    return Number(readFileSync(join(stateDir, own, 'lock'), 'latin1').split('\n')[2])
  } catch {
    return undefined
  }
}

function answerOf({ child }: Contender, round: number): Promise<string> {
  return new Promise((done) => {
    const end = () => {
      child.off('message', hear)
      child.off('close', end)
      done('killed')
    }
    const hear = (answer: Answer) => {
      if (answer.round !== round) return
      child.off('message', hear)
      child.off('close', end)
      done(answer.outcome)
    }
    child.on('message', hear)
    child.on('close', end)
    if (isDead({ name: '', child })) end()
  })
}

function isDead({ child }: Contender): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
