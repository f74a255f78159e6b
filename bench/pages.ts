import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build } from 'esbuild'
import type { Workspace } from '../src/index.ts'
import { kb } from './size-table.ts'

const top = join(import.meta.dirname, '..')

/** KB of 1,000 bytes, after gzip. */
interface PageSize {
  /** What the imports of the page load. */
  readonly first: number
  /** With what `createWorkspace` loads. */
  readonly opened: number
  /** With what the first calls load that list, find, read and search. */
  readonly reading: number
}

const stages = ['first', 'opened', 'reading'] as const satisfies readonly (keyof PageSize)[]

const budget: Readonly<Record<string, PageSize>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'page-budget.json'), 'utf8'),
)

const root = `
  import { createWorkspace } from 'wardspace'
  import { memory } from 'wardspace/backends/memory'
  const tools = 'full'`
const core = `
  import { memory } from 'wardspace/backends/memory'
  import { createWorkspace } from 'wardspace/core'
  import { findFiles, listDirectory, readFile, searchText } from 'wardspace/tools'
  const tools = [findFiles, listDirectory, readFile, searchText]`

const options = {
  absWorkingDir: top,
  ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', platform: 'browser' },
  ...{ logLevel: 'error', legalComments: 'none' },
} as const satisfies BuildOptions

/** The smallest pages, as their authors write them. */
const pages: Readonly<Record<string, string>> = {
  wardspace: page(root, "'readOnly'"),
  'wardspace, policy object': page(root, "{ preset: 'readOnly', deniedPaths: ['private'] }"),
  'wardspace/core with four tools': page(core, "'readOnly'"),
  'wardspace/core, policy object': page(core, "{ preset: 'readOnly', deniedPaths: ['private'] }"),
}

/**
 * `npm run check:pages`: the sizes of the smallest pages, minified and compressed with gzip, zod included. Each page runs, and what it
 * loads with `import()` counts from the step that loads it. Fails if a page exceeds its budget.
 */
const faults: string[] = []
console.log(`${'KB, gzip'.padEnd(34)}${stages.map((stage) => `${stage.padStart(9)}  budget`).join('')}`)
for (const [name, code] of Object.entries(pages)) {
  const size = await sizeOf(code)
  const limit = budget[name]
  const figures = stages.map((stage) => `${kb(size[stage]).padStart(9)}${kb(limit?.[stage]).padStart(8)}`)
  console.log(`${name.padEnd(34)}${figures.join('')}`)
  for (const stage of stages) {
    if (limit === undefined || size[stage] > limit[stage])
      faults.push(`${name}: ${stage} ${kb(size[stage])} KB, more than ${kb(limit?.[stage])}`)
  }
}
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)

function page(imports: string, policy: string): string {
  const backend = `memory({ 'notes.md': '# Notes', 'src/app.ts': 'export const answer = 41' })`
  return `${imports}\nglobalThis.openPage = () => createWorkspace({ backend: ${backend}, policy: ${policy}, tools })`
}

async function sizeOf(code: string): Promise<PageSize> {
  const later = await loadedLater(code)
  return {
    first: await bundledSize(code, []),
    opened: await bundledSize(code, later.opened),
    reading: await bundledSize(code, later.reading),
  }
}

/** Runs a page, and returns the files that it has loaded with `import()` after each step. */
async function loadedLater(code: string): Promise<Record<'opened' | 'reading', readonly string[]>> {
  const outdir = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-page-')))
  const loaded: string[] = []
  const page = globalThis as { openPage?: () => Promise<Workspace>; loadedFile?: (url: string) => void }
  page.loadedFile = (url) => loaded.push(url)
  try {
    const { metafile } = await build({
      ...options,
      ...{ stdin: { contents: code, resolveDir: top }, outdir, splitting: true, metafile: true },
      banner: { js: 'globalThis.loadedFile(import.meta.url);' },
      // The pages run in Node here.
      external: ['node:*'],
    })
    const entries = new Map(
      Object.entries(metafile.outputs).map(([file, { entryPoint }]) => [
        pathToFileURL(join(top, file)).href,
        entryPoint,
      ]),
    )
    const entriesSoFar = () => loaded.map((url) => entries.get(url)).filter((entry) => entry !== undefined)
    await import(pathToFileURL(join(outdir, 'stdin.js')).href)
    const workspace = await page.openPage?.()
    const opened = entriesSoFar()
    for (const result of [
      await workspace?.call('list_directory', {}),
      await workspace?.call('find_files', { pattern: '**/*.ts' }),
      await workspace?.call('read_file', { path: 'notes.md' }),
      await workspace?.call('search_text', { query: 'answer' }),
    ]) {
      if (result?.ok !== true) throw new Error(`A call of the page failed: ${result?.message}`)
    }
    return { opened, reading: entriesSoFar() }
  } finally {
    rmSync(outdir, { recursive: true })
  }
}

/** Returns the size of a page in one file, with these files among those that `import()` names. */
async function bundledSize(code: string, included: readonly string[]): Promise<number> {
  const { outputFiles } = await build({
    ...options,
    ...{ stdin: { contents: code, resolveDir: top }, write: false },
    plugins: [
      {
        name: 'loaded-later',
        setup(to) {
          to.onResolve({ filter: /./ }, ({ path, kind, resolveDir }) =>
            kind === 'dynamic-import' && !included.includes(relative(top, join(resolveDir, path)))
              ? { path, external: true }
              : null,
          )
        },
      },
    ],
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length / 1000
}
