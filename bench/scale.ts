import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { memory } from '../dist/backends/memory/index.js'
import { nodeBackend } from '../dist/backends/node/index.js'
import { objectStore } from '../dist/backends/object-store/index.js'
import { createWorkspace, type Workspace } from '../dist/index.js'
import type { Backend } from '../dist/storage/backend.js'
import { GeneratedBlock, markdownTable } from '../test/docs/generated-block.ts'
import { mapStore } from '../test/edge/map-store.ts'
import { fillStore, pathAt } from './large-tree.ts'
import { type Curve, drawCurves } from './scale-picture.ts'

const docs = join(import.meta.dirname, '../docs')
/** Rounds of one kind of call: as many as fit into the time, within these bounds. */
const ROUNDS = { fewest: 3, most: 31, ms: 10_000 }

type Act = (workspace: Workspace, round: number) => Promise<unknown>

/** One call of each kind. Its file or its matches stay the same while the number of files grows. */
const acts: Readonly<Record<string, Act>> = {
  'read a file': (workspace) => workspace.call('read_file', { path: pathAt(0) }),
  'list a directory': (workspace) => workspace.call('list_directory', { path: dirname(pathAt(0)) }),
  'edit a file': (workspace, round) =>
    workspace.call('edit_file', { path: pathAt(0), oldText: `= ${round}`, newText: `= ${round + 1}` }),
  'diff of one edit': (workspace) => workspace.call('diff_workspace', {}),
  'write, and undo it': async (workspace) => {
    const written = await workspace.call('write_file', { path: 'new.ts', content: 'new\n' })
    return written.ok ? workspace.undo(written.callId) : written
  },
  'fork, and close it': async (workspace, round) => (await workspace.fork({ id: `fork${round}` })).close(),
  'find by a glob': (workspace) => workspace.call('find_files', { pattern: '**/f1.ts', maxResults: 10 }),
  'search, no match': (workspace) => workspace.call('search_text', { query: 'nowhere', timeoutMs: 120_000 }),
}

/** Files of a storage: how they are made, how the storage opens them again, and how they are removed. */
interface Storage {
  readonly counts: readonly number[]
  fill(count: number): Promise<{ open(): Backend; remove?(): void }>
}

const storages: Readonly<Record<string, Storage>> = {
  memory: {
    counts: [1000, 10_000, 100_000, 1_000_000],
    async fill(count) {
      const files = project(count)
      return { open: () => memory(files) }
    },
  },
  disk: {
    counts: [1000, 10_000, 100_000, 300_000],
    async fill(count) {
      const root = mkdtempSync(join(tmpdir(), 'wardspace-scale-'))
      for (const [path, text] of Object.entries(project(count))) {
        if (path.endsWith('/f0.ts')) mkdirSync(join(root, dirname(path)), { recursive: true })
        writeFileSync(join(root, path), text)
      }
      return { open: () => nodeBackend(root), remove: () => rmSync(root, { recursive: true, force: true }) }
    },
  },
  'object-store': {
    counts: [1000, 10_000, 100_000, 1_000_000],
    async fill(count) {
      const { store } = mapStore()
      await fillStore(objectStore(store), project(count))
      return { open: () => objectStore(store) }
    },
  },
}

/**
 * `npm run bench -- scale [--on=STORAGE] [COUNT...]`: the time of one call, by the number of files in memory, on disk or in an
 * object store that answers at once. Prints a table; `--write` writes it into the documentation, and the picture of memory.
 */
export async function benchScale(): Promise<void> {
  const given = process.argv.slice(2).filter((word) => /^\d+$/.test(word))
  const name = process.argv.find((word) => word.startsWith('--on='))?.slice('--on='.length) ?? 'memory'
  const storage = storages[name]
  if (storage === undefined) throw new Error(`There is no storage "${name}", only: ${Object.keys(storages).join(', ')}`)
  const counts = given.length === 0 ? storage.counts : given.map(Number)
  const measured = await measureAll(storage, counts)
  const table = tableOf(measured, counts)
  console.log(`\nOne call by the number of files: ${name}\n${table}`)
  if (!process.argv.includes('--write')) return
  const page = join(docs, 'benchmarks.md')
  const suffix = name === 'memory' ? '' : ` --on=${name}`
  const id = name === 'memory' ? 'scale' : `scale-${name}`
  const block = new GeneratedBlock(id, `npm run bench -- scale${suffix} --write`)
  writeFileSync(page, block.replace(readFileSync(page, 'utf8'), table))
  if (name === 'memory') writeFileSync(join(docs, 'images/scale.svg'), drawCurves(measured))
}

async function measureAll(storage: Storage, counts: readonly number[]): Promise<Curve[]> {
  const curves = new Map<string, Curve['points'][number][]>()
  // The smallest workspace is measured twice, because the first one compiles the code.
  for (const [index, count] of [counts[0] ?? 1000, ...counts].entries()) {
    const add = (name: string, times: Times) => {
      if (index > 0) curves.set(name, [...(curves.get(name) ?? []), { files: count, ...times }])
    }
    const { open, remove } = await storage.fill(count)
    try {
      const create = () => createWorkspace({ backend: open(), policy: 'autonomous' })
      add('open', await measure(async () => (await create()).close()))
      const workspace = await create()
      for (const [name, act] of Object.entries(acts)) add(name, await measure((round) => act(workspace, round)))
      await workspace.close()
    } finally {
      remove?.()
    }
  }
  return [...curves].map(([name, points]) => ({ name, points }))
}

function project(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [pathAt(i), `export const value${i} = 0\n`]))
}

interface Times {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Milliseconds: the median of the rounds, and the ends of their middle half. The first round, before any cache, is not counted. */
async function measure(act: (round: number) => Promise<unknown>): Promise<Times> {
  const times: number[] = []
  const { fewest, most, ms } = ROUNDS
  const begun = performance.now()
  for (let round = 0; round <= fewest || (round <= most && performance.now() - begun < ms); round++) {
    const started = performance.now()
    const result = await act(round)
    if (round > 0) times.push(performance.now() - started)
    if ((result as { ok?: boolean } | undefined)?.ok === false) throw new Error(JSON.stringify(result))
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

function tableOf(curves: readonly Curve[], counts: readonly number[]): string {
  const date = new Date().toISOString().slice(0, 10)
  const head = [`${date}, ms`, ...counts.map((count) => count.toLocaleString('en')), 'growth']
  const cell = ({ median, low, high }: Curve['points'][number]) => `${short(median)} (${short(low)}–${short(high)})`
  const growth = ({ points }: Curve) => `× ${short((points.at(-1)?.median ?? 0) / (points[0]?.median ?? 0))}`
  const rows = curves.map((curve) => [curve.name, ...curve.points.map(cell), growth(curve)])
  return markdownTable([head, ...rows], [false, ...counts.map(() => true), true])
}

function short(ms: number): string {
  return String(Number(ms.toPrecision(2)))
}
