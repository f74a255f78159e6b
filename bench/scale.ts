import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { memory } from '../dist/backends/memory/index.js'
import { createWorkspace, type Workspace } from '../dist/index.js'
import { GeneratedBlock, markdownTable } from '../test/docs/generated-block.ts'
import { type Curve, drawCurves } from './scale-picture.ts'

const docs = join(import.meta.dirname, '../docs')
const ROUNDS = 31

type Act = (workspace: Workspace, round: number) => Promise<unknown>

/** One call of each kind. Its file or its matches stay the same while the number of files grows. */
const acts: Readonly<Record<string, Act>> = {
  'read a file': (workspace) => workspace.call('read_file', { path: 'd0/e0/f0.ts' }),
  'edit a file': (workspace, round) =>
    workspace.call('edit_file', { path: 'd0/e0/f0.ts', oldText: `= ${round}`, newText: `= ${round + 1}` }),
  'diff of one edit': (workspace) => workspace.call('diff_workspace', {}),
  'fork, and close it': async (workspace, round) => (await workspace.fork({ id: `fork${round}` })).close(),
  'find by a glob': (workspace) => workspace.call('find_files', { pattern: '**/f1.ts', maxResults: 10 }),
  'search, no match': (workspace) => workspace.call('search_text', { query: 'nowhere', timeoutMs: 120_000 }),
}

/**
 * `npm run bench -- scale [COUNT...]`: the time of one call in memory, by the number of files. Prints a table; `--write` writes it
 * and its picture into the documentation. Counts over 100,000 need minutes and gigabytes.
 */
export async function benchScale(): Promise<void> {
  const given = process.argv.slice(2).filter((word) => /^\d+$/.test(word))
  const counts = given.length === 0 ? [1000, 10_000, 100_000] : given.map(Number)
  const curves = new Map<string, Curve['points'][number][]>(Object.keys(acts).map((name) => [name, []]))
  // The smallest workspace is measured twice, because the first one compiles the code.
  for (const [index, count] of [counts[0] ?? 1000, ...counts].entries()) {
    const workspace = await createWorkspace({ backend: memory(project(count)), policy: 'autonomous' })
    for (const [name, act] of Object.entries(acts)) {
      const times = await measure(workspace, act)
      if (index > 0) curves.get(name)?.push({ files: count, ...times })
    }
    await workspace.close()
  }
  const measured = [...curves].map(([name, points]) => ({ name, points }))
  const table = tableOf(measured, counts)
  console.log(`\nOne call in memory, by the number of files\n${table}`)
  if (!process.argv.includes('--write')) return
  const page = join(docs, 'benchmarks.md')
  writeFileSync(page, block.replace(readFileSync(page, 'utf8'), table))
  writeFileSync(join(docs, 'images/scale.svg'), drawCurves(measured))
}

const block = new GeneratedBlock('scale', 'npm run bench -- scale --write')

/** Files in directories of up to 32 entries, three deep. */
function project(count: number): Record<string, string> {
  const paths = Array.from({ length: count }, (_, i) => {
    const directory = Math.floor(i / 32)
    return `d${Math.floor(directory / 32)}/e${directory % 32}/f${i % 32}.ts`
  })
  return Object.fromEntries(paths.map((path, i) => [path, `export const value${i} = 0\n`]))
}

/** Milliseconds: the median of the rounds, and the ends of their middle half. The first round, before any cache, is not counted. */
async function measure(workspace: Workspace, act: Act): Promise<{ median: number; low: number; high: number }> {
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const started = performance.now()
    const result = await act(workspace, round)
    if (round > 0) times.push(performance.now() - started)
    if ((result as { ok?: boolean } | undefined)?.ok === false) throw new Error(JSON.stringify(result))
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

function tableOf(curves: readonly Curve[], counts: readonly number[]): string {
  const date = new Date().toISOString().slice(0, 10)
  const head = [`${date}, ms`, ...counts.map((count) => count.toLocaleString('en'))]
  const cell = ({ median, low, high }: Curve['points'][number]) => `${short(median)} (${short(low)}–${short(high)})`
  const rows = curves.map(({ name, points }) => [name, ...points.map(cell)])
  return markdownTable([head, ...rows], [false, ...counts.map(() => true)])
}

function short(ms: number): string {
  return String(Number(ms.toPrecision(2)))
}
