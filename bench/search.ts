import { spawnSync } from 'node:child_process'
import { rgPath } from '@vscode/ripgrep'
import { memory } from '../dist/backends/memory/index.js'
import { nodeBackend } from '../dist/backends/node/index.js'
import { createWorkspace } from '../dist/index.js'
import { type Corpus, makeCorpus } from './corpus.ts'
import { heading, medians, must, report } from './measure.ts'

const patterns = [
  { name: 'literal, rare', query: 'useCapture', mode: 'literal', budget: 0.6, onDisk: 1.8, goal: 0.15 },
  { name: 'literal, frequent', query: 'return', mode: 'literal', budget: 1.9, onDisk: 2.7, goal: 0.2 },
  { name: 'literal, absent', query: 'zqxjkvbpywm', mode: 'literal', budget: 0.6, onDisk: 1.8, goal: 0.15 },
  { name: 'literal in a pattern', query: 'function\\s+\\w+\\(', mode: 'regex', budget: 1.4, onDisk: 2.6, goal: 0.2 },
  { name: 'literal at the end', query: '\\w+Error\\b', mode: 'regex', budget: 1.1, onDisk: 3.2, goal: 0.2 },
  { name: 'no literal: numbers', query: '\\b\\d{3}-\\d{4}\\b', mode: 'regex', budget: 0.5, onDisk: 1.2, goal: 0.35 },
  { name: 'no literal: capitals', query: '[A-Z]{12,}', mode: 'regex', budget: 0.5, onDisk: 1.2, goal: 0.35 },
  { name: 'arrow at line end', query: '\\w+\\s*=>\\s*\\{$', mode: 'regex', budget: 1.1, onDisk: 2, goal: 0.35 },
] as const

/** High enough that neither side ends early. */
const ALL = 1_000_000

/** `search_text` and `find_files` through the whole pipeline, against native `rg` processes on the same tree. */
export async function benchSearch(): Promise<void> {
  const growth = new Map<string, number[]>()
  for (const count of [2500, 25_000]) {
    const corpus = makeCorpus(count)
    try {
      heading(`Search in ${corpus.count} files, ${(corpus.bytes / 2 ** 20).toFixed(0)} MiB`)
      for (const [name, time] of await searches(corpus)) growth.set(name, [...(growth.get(name) ?? []), time])
      await finds(corpus)
    } finally {
      corpus.remove()
    }
  }
  console.log('\nGrowth from 2,500 to 25,000 files (10 is linear)')
  for (const [name, [small = Number.NaN, large = Number.NaN]] of growth)
    console.log(`     ${name.padEnd(58)} ${(large / small).toFixed(1)}`)
}

async function searches(corpus: Corpus): Promise<Map<string, number>> {
  const files = corpus.files()
  const limits = {
    ...{ searchMatches: ALL, searchMatchesHard: ALL, projectionBytes: 2 ** 30 },
    ...{ searchTimeoutMs: 60_000, callsPerMinute: Number.MAX_SAFE_INTEGER },
  }
  const times = new Map<string, number>()
  const disk = await createWorkspace({ backend: nodeBackend(corpus.root), policy: 'autonomous', limits })
  for (const { name, query, mode, budget, onDisk, goal } of patterns) {
    const input = { query, mode, caseSensitive: true, filesOnly: true, maxMatches: ALL, includeHidden: false }
    const rgArgs = ['-j1', '-n', '--no-messages', '-c', ...(mode === 'literal' ? ['-F'] : []), query, '.']
    let warm = await createWorkspace({ backend: memory(files), policy: 'autonomous', limits })
    let round = 0
    const measured = await medians(5, {
      rg: () =>
        spawnSync(rgPath, rgArgs, { cwd: corpus.root, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 28 }),
      load: async () => {
        warm = await createWorkspace({ backend: memory(files), policy: 'autonomous', limits })
      },
      first: () => must(warm.call('search_text', input)),
      again: () => must(warm.call('search_text', input)),
      edit: () => {
        round += 1
        return warm.call('write_file', { path: 'edited.ts', content: `round ${round}\n`, ...(round === 1 ? {} : {}) })
      },
      afterEdit: () => must(warm.call('search_text', input)),
      disk: () => must(disk.call('search_text', input)),
    })
    report(`memory, first after loading: ${name}`, measured.first, measured.rg, budget, { goal })
    report(`memory, after an edit: ${name}`, measured.afterEdit, measured.rg, budget, { goal })
    report(`memory, again: ${name}`, measured.again, measured.rg, budget, { goal })
    report(`disk: ${name}`, measured.disk, measured.rg, onDisk, { goal: 1.2 })
    times.set(`memory, first: ${name}`, measured.first)
    times.set(`disk: ${name}`, measured.disk)
  }
  await disk.close()
  return times
}

async function finds(corpus: Corpus): Promise<void> {
  const limits = { findResults: 100_000, callsPerMinute: Number.MAX_SAFE_INTEGER }
  const disk = await createWorkspace({ backend: nodeBackend(corpus.root), policy: 'autonomous', limits })
  const measured = await medians(7, {
    rg: () => spawnSync(rgPath, ['--files', '-j1', '.'], { cwd: corpus.root, maxBuffer: 2 ** 28 }),
    rgParallel: () => spawnSync(rgPath, ['--files', '.'], { cwd: corpus.root, maxBuffer: 2 ** 28 }),
    disk: () => must(disk.call('find_files', { pattern: '**/*.md' })),
  })
  await disk.close()
  report('disk: find_files over the whole tree, against rg --files', measured.disk, measured.rgParallel, 1.2)
  report('disk: the same against rg --files -j1', measured.disk, measured.rg, 1.2)

  const { Volume } = await import('memfs')
  const files = corpus.files()
  const volume = Volume.fromJSON(Object.fromEntries(Object.keys(files).map((path) => [`/${path}`, ''])))
  let own = await createWorkspace({ backend: memory(files), policy: 'autonomous', limits })
  const inMemory = await medians(7, {
    memfs: () => volume.readdirSync('/', { recursive: true }),
    load: async () => {
      own = await createWorkspace({ backend: memory(files), policy: 'autonomous', limits })
    },
    first: () => must(own.call('find_files', { pattern: '**/*.md' })),
    again: () => must(own.call('find_files', { pattern: '**/*.md' })),
    edit: () => own.call('append_file', { path: 'edited.ts', content: 'x\n' }),
    afterEdit: () => must(own.call('find_files', { pattern: '**/*.md' })),
  })
  report('memory: find_files, first', inMemory.first, inMemory.memfs, 0.5, { goal: 0.1 })
  report('memory: find_files, again', inMemory.again, inMemory.memfs, 0.1)
  report('memory: find_files, after an edit', inMemory.afterEdit, inMemory.memfs, 0.1)
}
