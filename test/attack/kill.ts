import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { ROOT } from '../../src/paths/logical-path.ts'
import { straysIn, treeOf } from '../backends/node/tree.ts'
import { writeFiles } from '../write-files.ts'
import { bundle } from './bundle.ts'
import { contentOf, generationOf, SET_FILES, SINGLE } from './killed-files.ts'
import { leftBehind } from './left-behind.ts'

export interface KillReport {
  kills: number
  /** Kills during a commit, recognized by the files they left: temporary files, a journal or a log entry. */
  insideCommit: number
  withTemporaries: number
  withJournal: number
  /** Descriptions of the violations. */
  torn: string[]
  lost: string[]
  strays: string[]
}

/**
 * Kills a committing process repeatedly, reopens the root after each kill, and checks the files. Stops after `kills`
 * kills if at least half of that number were during a commit, and after `maximum` kills in any case.
 */
export async function killOften(kills: number, maximum = kills): Promise<KillReport> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'kill-')))
  try {
    const root = join(base, 'root')
    const stateDir = join(base, 'state')
    makeFirstGeneration(root)
    const script = await bundle('test/attack/killed.ts', base)
    const report: KillReport = {
      kills: 0,
      insideCommit: 0,
      withTemporaries: 0,
      withJournal: 0,
      torn: [],
      lost: [],
      strays: [],
    }
    let single = 0
    let set = 0
    const isEnough = () => report.kills >= kills && report.insideCommit >= kills / 2
    for (; !isEnough() && report.kills < maximum; report.kills++) {
      const acknowledged = await killOne(script, [root, stateDir, String(single), String(set)])
      const left = leftBehind(root, stateDir)
      if (left.temporaries || left.journal || left.logged) report.insideCommit += 1
      if (left.temporaries) report.withTemporaries += 1
      if (left.journal) report.withJournal += 1
      const backend = nodeBackend(root, { stateDir })
      await backend.stat(ROOT)
      await backend.close()
      const match = inspect(root, report)
      if (match.single < Math.max(single, acknowledged.single))
        report.lost.push(`single ${acknowledged.single}: ${match.single}`)
      if (match.set < Math.max(set, acknowledged.set)) report.lost.push(`set ${acknowledged.set}: ${match.set}`)
      if (report.torn.length > 0) break
      single = match.single
      set = match.set
    }
    return report
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function makeFirstGeneration(root: string): void {
  const paths = [SINGLE, ...SET_FILES, 'tree-0/below/file']
  writeFiles(root, Object.fromEntries(paths.map((path) => [path, contentOf(path, 0)])))
  writeFiles(root, { 'moved-0': contentOf('moved', 0) })
  symlinkSync('tree-0/below', join(root, 'link'))
}

/** Starts the victim, kills it at a random moment, and returns the last generations that it acknowledged. */
async function killOne(script: string, args: string[]): Promise<{ single: number; set: number }> {
  const child = fork(script, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  let output = ''
  const firstOutput = new Promise<void>((done) => {
    child.stdout?.on('data', (data) => {
      output += data
      done()
    })
  })
  const closed = once(child, 'close')
  await Promise.race([firstOutput, closed])
  await sleep(Math.random() * 40)
  child.kill('SIGKILL')
  await closed
  if (output === '') throw new Error('The victim ended before it committed anything')
  const last = (label: string) => Number([...output.matchAll(new RegExp(`^${label} (\\d+)\\n`, 'gm'))].at(-1)?.[1] ?? 0)
  return { single: last('single'), set: last('set') }
}

/** Checks with node:fs that every file is complete, the set is of one generation, and there are no other files. */
function inspect(root: string, report: KillReport): { single: number; set: number } {
  const tree = treeOf(root)
  const at = `kill ${report.kills}`
  report.strays.push(...straysIn(root).map((path) => `${at}: ${path}`))
  const expectWhole = (path: string, name: string): number => {
    const text = tree.get(path)?.slice('file '.length) ?? ''
    const generation = generationOf(text)
    const whole = !Number.isNaN(generation) && text === Buffer.from(contentOf(name, generation)).toString('latin1')
    if (!whole) report.torn.push(`${at}: ${path} is torn: ${text.slice(0, 80)}`)
    return generation
  }
  const single = expectWhole(SINGLE, SINGLE)
  const [set = Number.NaN, ...others] = SET_FILES.map((path) => expectWhole(path, path))
  if (others.some((other) => other !== set)) report.torn.push(`${at}: the set has generations ${[set, ...others]}`)
  const tree1 = `tree-${set}/below/file`
  if (expectWhole(`moved-${set}`, 'moved') !== 0) report.torn.push(`${at}: the moved file changed`)
  if (expectWhole(tree1, tree1) !== set) report.torn.push(`${at}: the tree is of another generation`)
  if (tree.get('link') !== `link tree-${set}/below`) report.torn.push(`${at}: the link is of another generation`)
  const names = [
    SINGLE,
    ...SET_FILES,
    `moved-${set}`,
    `tree-${set}`,
    `tree-${set}/below`,
    tree1,
    'link',
    'sub',
    'sub/deep',
  ]
  const extra = [...tree.keys()].filter((path) => !names.includes(path) && !path.includes('.wardspace-'))
  if (extra.length > 0) report.torn.push(`${at}: left over: ${extra}`)

  return { single, set }
}
