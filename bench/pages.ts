import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { kb } from './size-table.ts'

const top = join(import.meta.dirname, '..')

/** Maximum sizes of the pages in KB of 1,000 bytes, after gzip. */
const budget: Readonly<Record<string, { readonly first: number; readonly reading: number }>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'page-budget.json'), 'utf8'),
)

/** The smallest pages, as their authors write them. */
const pages: Readonly<Record<string, string>> = {
  wardspace: `
    import { createWorkspace } from 'wardspace'
    import { memory } from 'wardspace/backends/memory'
    globalThis.open = () => createWorkspace({ backend: memory({}), policy: 'readOnly' })`,
  'wardspace/core with four tools': `
    import { memory } from 'wardspace/backends/memory'
    import { createWorkspace } from 'wardspace/core'
    import { findFiles, listDirectory, readFile, searchText } from 'wardspace/tools'
    const tools = [findFiles, listDirectory, readFile, searchText]
    globalThis.open = () => createWorkspace({ backend: memory({}), policy: 'readOnly', tools })`,
}

/**
 * `npm run check:pages`: the sizes of the smallest pages, minified and compressed with gzip, zod included. `first` is what a page loads
 * before its first call, `reading` adds what lists, reads and searches. Fails if a page exceeds its budget.
 */
const faults: string[] = []
console.log(`${'KB, gzip'.padEnd(34)}  first  budget  reading  budget`)
for (const [name, code] of Object.entries(pages)) {
  const first = await sizeOf(code, () => true)
  const reading = await sizeOf(code, (path) => !/search-file/.test(path))
  const limit = budget[name] ?? { first: 0, reading: 0 }
  const figures = [first, limit.first, reading, limit.reading]
  console.log(`${name.padEnd(34)}${figures.map((figure) => kb(figure).padStart(8)).join('')}`)
  if (first > limit.first) faults.push(`${name}: ${kb(first)} KB before the first call, more than ${limit.first}`)
  if (reading > limit.reading) faults.push(`${name}: ${kb(reading)} KB to read and search, more than ${limit.reading}`)
}
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)

/** @param isLater whether a module that `import()` names is left out */
async function sizeOf(contents: string, isLater: (path: string) => boolean): Promise<number> {
  const loadedLater: Plugin = {
    name: 'loaded-later',
    setup(to) {
      to.onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'dynamic-import' && isLater(path) ? { path, external: true } : null,
      )
    },
  }
  const { outputFiles } = await build({
    absWorkingDir: top,
    stdin: { contents, resolveDir: top },
    ...{ bundle: true, write: false, minify: true, format: 'esm', target: 'es2022', platform: 'browser' },
    ...{ logLevel: 'error', legalComments: 'none' },
    plugins: [loadedLater],
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length / 1000
}
