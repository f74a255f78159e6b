import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace, type Workspace } from '../../src/index.ts'
import { straysIn } from '../backends/node/tree.ts'
import { writeFiles } from '../write-files.ts'
import { bundle } from './bundle.ts'
import { leftBehind } from './left-behind.ts'
import { type Counts, countsOf, MERGED_FILES, textOf, textsOf } from './merged-files.ts'
import { killOne, withVictims } from './victims.ts'

export interface MergeKillReport {
  kills: number
  /** Kills between the start of a merge and its acknowledgement. */
  insideMerge: number
  /** Kills during a commit to the files below or to those of the overlay, recognized by what they left. */
  insideCommit: number
  /** Kills after which the overlay still had changes. */
  pending: number
  /** Descriptions of the violations. */
  torn: string[]
  lost: string[]
  strays: string[]
}

/** The last numbers that the victims acknowledged. `merged` is that of the overlay below. */
interface Said extends Counts {
  readonly merged: number
}

/** Kills a process that merges repeatedly, reopens both layers after each kill, checks them, and merges what is left. */
export async function killMerges(kills: number): Promise<MergeKillReport> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'kill-merge-')))
  const places = ['root', 'upper', 'root-state', 'upper-state'].map((name) => join(base, name))
  const [root = '', upper = '', rootState = '', upperState = ''] = places
  const start: Counts = { below: 0, overlay: 0, fork: 0 }
  writeFiles(root, Object.fromEntries(MERGED_FILES.map((path) => [path, textOf(start)])))
  mkdirSync(upper)
  const script = await bundle('test/attack/merged.ts', base)
  const report: MergeKillReport = {
    kills: 0,
    insideMerge: 0,
    insideCommit: 0,
    pending: 0,
    torn: [],
    lost: [],
    strays: [],
  }
  let said: Said = { ...start, merged: 0 }
  try {
    await withVictims(script, places, async (victim) => {
      const { last, said: now } = await killOne(victim, 3, 30)
      if (last === 'merge') report.insideMerge += 1
      const left = [leftBehind(root, rootState), leftBehind(upper, upperState)]
      if (left.some(({ temporaries, journal, logged }) => temporaries || journal || logged)) report.insideCommit += 1
      const counts = Object.entries(now).map(([name, count]) => [name, Number(count)] as const)
      said = await inspect(places, { ...said, ...Object.fromEntries(counts) }, report)
      report.kills += 1
      return report.kills < kills && report.torn.length === 0
    })
    return report
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/** What an overlay notes of its bases, which may stay when nothing is pending. */
const isNote = /^\.wardspace-overlay(\/[0-9a-f]{64})?$/

/** Reopens both layers, checks what they show, and merges. Returns what is there then. */
async function inspect(places: readonly string[], said: Said, report: MergeKillReport): Promise<Said> {
  const [root = '', upper = '', rootState = '', upperState = ''] = places
  const at = `kill ${report.kills}`
  const policy = 'autonomous'
  const lower = nodeBackend(root, { stateDir: rootState })
  const draft = overlay(lower, nodeBackend(upper, { stateDir: upperState }), { closesLower: false })
  const below = await createWorkspace({ backend: lower, policy })
  const above = await createWorkspace({ backend: draft, policy })
  try {
    const found = await whole(below, `${at}, below`, report)
    const shown = await whole(above, `${at}, overlay`, report)
    for (const [name, number, least] of [
      ['below', found.below, said.below],
      ['fork', found.fork, said.fork],
      ['merged', found.overlay, said.merged],
      ['overlay', shown.overlay, said.overlay],
    ] as const) {
      if (number < least) report.lost.push(`${at}: ${name} is ${number} after ${least}`)
    }
    if ((await draft.pending()).length > 0) report.pending += 1
    const merged = await above.commit({ merge: true })
    if (!merged.ok) report.lost.push(`${at}: ${JSON.stringify(merged)}`)
    const end = await whole(below, `${at}, merged`, report)
    const expected = textOf({ ...found, overlay: shown.overlay })
    if (textOf(end) !== expected) report.lost.push(`${at}: the merge has ${textOf(end)} instead of ${expected}`)
    if ((await draft.pending()).length > 0) report.torn.push(`${at}: changes are left after the merge`)
    const strays = [root, upper].flatMap(straysIn).filter((path) => !isNote.test(path))
    report.strays.push(...strays.map((path) => `${at}: ${path}`))
    return { ...end, merged: end.overlay }
  } finally {
    await above.close()
    await below.close()
  }
}

/** Returns the counts that all files have. Reports files of different counts. */
async function whole(workspace: Workspace, at: string, report: MergeKillReport): Promise<Counts> {
  const texts = await textsOf(workspace)
  const [first = ''] = texts
  if (new Set(texts).size > 1 || countsOf(first) === undefined) {
    report.torn.push(`${at}: ${JSON.stringify(texts.map((text) => countsOf(text) ?? text))}`)
  }
  return countsOf(first) ?? { below: 0, overlay: 0, fork: 0 }
}
