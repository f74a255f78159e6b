import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright'
import { chromiumArgs, chromiumPath } from '../test/runtimes/chromium.ts'
import { median as medianOf } from './measure.ts'

/**
 * OPFS in Chromium with 2,000 files of 4 KiB in one worker: both layouts against one synchronous handle per file. Uses a
 * profile on disk, since a private window sends every call of a handle to another process. Medians of three runs.
 */

const RUNS = 3

interface Figures {
  readonly bare: { readonly write: number; readonly read: number }
  readonly packed: {
    readonly write: number
    readonly single: number
    readonly read: number
    readonly search: { readonly cold: number; readonly warm: number }
    readonly open: number
    readonly huge: number
    readonly longestCommit: number
  }
  readonly files: {
    readonly write: number
    readonly read: number
    readonly search: { readonly cold: number; readonly warm: number }
  }
  readonly memory: { readonly search: { readonly cold: number; readonly warm: number } }
}

const directory = mkdtempSync(join(tmpdir(), 'bench-browser-'))
await build({
  entryPoints: ['bench/browser/worker.ts'],
  outdir: directory,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'error',
})
const server = createServer(({ url }, response) => {
  const isScript = url === '/worker.js'
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
  response.end(isScript ? readFileSync(join(directory, 'worker.js')) : '<!doctype html>')
}).listen(0)
const context = await chromium.launchPersistentContext(join(directory, 'profile'), {
  executablePath: await chromiumPath(),
  args: chromiumArgs,
  headless: true,
})

const runs: Figures[] = []
try {
  const page = await context.newPage()
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}`)
  const figures = await page.evaluate(
    (runs) =>
      new Promise<unknown>((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' })
        worker.onmessage = ({ data }) =>
          data.error === undefined ? resolve(data.figures) : reject(new Error(data.error))
        worker.onerror = ({ message }) => reject(new Error(message))
        worker.postMessage(runs)
      }),
    RUNS,
  )
  runs.push(...(figures as Figures[]))
} finally {
  await context.close()
  server.close()
  rmSync(directory, { recursive: true, force: true })
}

/** Returns the median over the runs. Ratios are computed within each run. */
function median(figure: (run: Figures) => number): number {
  return medianOf(runs.map(figure))
}

const rows: readonly (readonly [string, number, string])[] = [
  [
    'packed, all in one durable commit: times faster than a handle a file',
    median((r) => r.bare.write / r.packed.write),
    '>= 50',
  ],
  ['packed, 2,000 commits, one after the other: times faster', median((r) => r.bare.write / r.packed.single), ''],
  ['packed, reads: times faster', median((r) => r.bare.read / r.packed.read), '>= 50'],
  ['files, one durable commit: of a handle a file', median((r) => r.files.write / r.bare.write), '<= 1.5'],
  ['files, reads: of a handle a file', median((r) => r.files.read / r.bare.read), '<= 1.5'],
  ['packed, search_text cold, ms', median((r) => r.packed.search.cold), ''],
  ['packed, search_text warm, of memory', median((r) => r.packed.search.warm / r.memory.search.warm), '<= 1.5'],
  ['files, search_text cold, ms', median((r) => r.files.search.cold), ''],
  ['files, search_text warm, ms', median((r) => r.files.search.warm), ''],
  ['packed, opening 10,000 files, ms', median((r) => r.packed.open), '< 1000'],
  ['packed, opening 100,000 files of 300 bytes, ms', median((r) => r.packed.huge), '<= 1500'],
  ['packed, the longest of 150 commits of 1 MB that compact them, ms', median((r) => r.packed.longestCommit), '<= 50'],
  ['a handle a file, writes, ms', median((r) => r.bare.write), ''],
  ['a handle a file, reads, ms', median((r) => r.bare.read), ''],
]
for (const [name, figure, bound] of rows) console.log(`${name.padEnd(72)} ${figure.toFixed(2).padStart(10)}  ${bound}`)
