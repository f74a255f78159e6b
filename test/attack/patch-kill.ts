import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { ROOT } from '../../src/paths/logical-path.ts'
import { straysIn, treeOf } from '../backends/node/tree.ts'
import { writeFiles } from '../write-files.ts'
import { bundle } from './bundle.ts'
import { generationOf } from './killed-files.ts'
import { hasJournal, leftBehind } from './left-behind.ts'
import { patchedTree, patchTo } from './patched-files.ts'

export interface PatchKillReport {
  kills: number
  /** Kills during the commit of a patch, recognized by the files they left: temporaries, a journal or a log entry. */
  insideCommit: number
  /** Kills while the journal existed, so that some files may have been new and some old. */
  withJournal: number
  /** Kills after which the interrupted patch was applied completely (`wholeNew`) or not at all (`wholeOld`). */
  wholeNew: number
  wholeOld: number
  /** Descriptions of the violations. */
  torn: string[]
  lost: string[]
  strays: string[]
}

/**
 * Repeatedly kills a process that applies 20-file patches, reopens the root after each kill, and checks the tree. Ends
 * after `kills` kills if half were during a commit and every state occurred, and after `maximum` kills in any case.
 */
export async function killPatches(kills: number, maximum = kills): Promise<PatchKillReport> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'kill-patch-')))
  const root = join(base, 'root')
  const stateDir = join(base, 'state')
  writeTree(root)
  const script = await bundle('test/attack/patched.ts', base)
  const report: PatchKillReport = {
    kills: 0,
    insideCommit: 0,
    withJournal: 0,
    wholeNew: 0,
    wholeOld: 0,
    torn: [],
    lost: [],
    strays: [],
  }
  // The next victim starts while the current one works.
  const victim = () => fork(script, [root, stateDir], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  let next = victim()
  // Kills are spread over slightly more than the measured duration of a commit.
  const times = [100]
  try {
    let generation = 0
    const isEnough = () =>
      report.kills >= kills &&
      report.insideCommit >= kills / 2 &&
      report.withJournal > 0 &&
      report.wholeNew > 0 &&
      report.wholeOld > 0
    for (; !isEnough() && report.kills < maximum && report.torn.length === 0; report.kills++) {
      const child = next
      next = victim()
      // Few random moments meet a journal: the first kill with one waits for it.
      const isMoment = () => report.withJournal === 0 && hasJournal(stateDir)
      const { acknowledged, commits } = await killOne(child, generation, 1.2 * median(times.slice(-9)), isMoment)
      times.push(...commits)
      const left = leftBehind(root, stateDir)
      if (left.temporaries || left.journal || left.logged) report.insideCommit += 1
      if (left.journal) report.withJournal += 1
      const backend = nodeBackend(root, { stateDir })
      await backend.stat(ROOT)
      await backend.close()
      const at = `kill ${report.kills}`
      const match = inspect(root, report, at)
      const now = leftBehind(root, stateDir)
      if (now.journal || now.logged) report.strays.push(`${at}: the journal or the log is not empty`)
      if (match < Math.max(generation, acknowledged)) report.lost.push(`${at}: patch ${acknowledged}, found ${match}`)
      if (match > acknowledged + 1) report.torn.push(`${at}: patch ${match} after ${acknowledged}`)
      if (match > acknowledged) report.wholeNew += 1
      else report.wholeOld += 1
      generation = match
    }
    return report
  } finally {
    next.kill('SIGKILL')
    await closing(next)
    rmSync(base, { recursive: true, force: true })
  }
}

function writeTree(root: string): void {
  writeFiles(root, Object.fromEntries(patchedTree(0)))
  const entry = /^(?:(?:---|\+\+\+) [ab]\/|rename (?:from|to) )(.*)$/gm
  const paths = new Set([...patchTo(1).matchAll(entry)].map(([, path]) => path))
  if (paths.size !== 20) throw new Error(`The patch is one of ${paths.size} files`)
}

/** The output of a victim before it was killed. */
interface Said {
  /** The last acknowledged generation. */
  readonly acknowledged: number
  /** Durations of its complete commits in milliseconds. */
  readonly commits: readonly number[]
}

/**
 * Starts the work of a victim. Kills it at a random moment within `span` ms after the start of an early commit, or before
 * if it is the `isMoment`.
 */
async function killOne(child: ChildProcess, generation: number, span: number, isMoment: () => boolean): Promise<Said> {
  let acknowledged = generation
  let began = 0
  let left = 1 + Math.floor(Math.random() * 3)
  const commits: number[] = []
  const commitStart = new Promise<void>((done) => {
    createInterface({ input: child.stdout as Readable }).on('line', (line) => {
      if (line === 'intent') {
        began = performance.now()
        left -= 1
        if (left === 0) done()
      } else {
        acknowledged = Number(line.slice('patch '.length))
        commits.push(performance.now() - began)
      }
    })
  })
  const closed = once(child, 'close')
  child.send(generation)
  await Promise.race([commitStart, closed])
  if (began === 0) throw new Error('The victim ended before it committed anything')
  for (const end = performance.now() + Math.random() * span; performance.now() < end && !isMoment(); ) await sleep(1)
  child.kill('SIGKILL')
  await closed
  return { acknowledged, commits }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

async function closing(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** Checks with node:fs that the tree is exactly that of one generation. */
function inspect(root: string, report: PatchKillReport, at: string): number {
  report.strays.push(...straysIn(root).map((path) => `${at}: ${path}`))
  const tree = treeOf(root)
  const files = new Map([...tree].filter(([, label]) => label.startsWith('file ')))
  const generation = generationOf(files.get('part-0/0/file-0.txt') ?? '')
  const expected = new Map<string, string>()
  for (const [path, content] of patchedTree(generation)) {
    expected.set(path, `file ${content}`)
    for (let above = dirname(path); above !== '.'; above = dirname(above)) expected.set(above, 'directory')
  }
  for (const path of new Set([...tree.keys(), ...expected.keys()])) {
    if (path.includes('.wardspace-') || tree.get(path) === expected.get(path)) continue
    report.torn.push(
      `${at}: ${path} is ${tree.get(path)?.slice(0, 80)}, of ${generation} it is ${expected.get(path)?.slice(0, 80)}`,
    )
  }
  return generation
}
