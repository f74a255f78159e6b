import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { publishedModules } from '../test/published.ts'
import { type EntrySize, kb, sizeBlock, sizeTable, staleSizes } from './size-table.ts'

const top = join(import.meta.dirname, '..')

/** Maximum sizes in KB of 1,000 bytes, after gzip: own code, and own code with its dependencies. */
type Budget = Readonly<Record<string, { readonly own: number; readonly whole?: number }>>

interface Size extends EntrySize {
  /** KB of each dependency, minified. */
  readonly packages: Readonly<Record<string, number>>
}

/**
 * `npm run size`: the size of each entry of the package in a browser, minified and compressed with gzip. The root entry contains
 * all file tools and the memory backend. Every other entry is what it adds to the root. Fails if an
 * entry exceeds its budget or has none, and if the table in `docs/benchmarks.md` is stale; `--write` updates the table.
 */
const budget: Budget = JSON.parse(readFileSync(join(import.meta.dirname, 'size-budget.json'), 'utf8'))
const PAGE = join(top, 'docs/benchmarks.md')
/** The chunks that the build makes of packages. */
const PACKAGES = /^dist\/chunks\/(modelcontextprotocol|preact|unbash|zod)\d*\.js$/
/** The interpreters that a shell loads when a command needs them. */
const INTERPRETERS = 'dist/shells/bash/packages/'
const ofRoot = new Set(Object.keys((await bundle('./dist/index.js', new Set(), false)).metafile.inputs))

const sizes = new Map<string, Size>()
for (const [name, file] of publishedModules(top)) sizes.set(name, await sizeOf(name, `./${file}`))
print(sizes)
const faults = overBudget(sizes)
const page = readFileSync(PAGE, 'utf8')
if (process.argv.includes('--write')) writeFileSync(PAGE, sizeBlock.replace(page, sizeTable(sizes)))
else faults.push(...staleSizes(sizeBlock.read(page), sizes).map((fault) => `docs/benchmarks.md: ${fault}`))
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)

function print(measured: ReadonlyMap<string, Size>): void {
  const line = (name: string, columns: readonly string[], note = '') =>
    console.log(`${name.padEnd(34)}${columns.map((text, i) => text.padStart(i === 0 ? 7 : 8)).join('')}  ${note}`)
  line('KB, gzip', ['own', 'budget', 'whole', 'budget'])
  for (const [name, { own, whole, packages }] of measured) {
    const limit = budget[name]
    const large = Object.entries(packages).filter(([, size]) => size >= 5)
    line(
      name,
      [own, limit?.own, whole, whole === undefined ? undefined : limit?.whole].map(kb),
      large.map(([dependency, size]) => `${dependency} ${kb(size)}`).join(', '),
    )
  }
  console.log('\nAfter the budgets: the larger dependencies, in KB minified. The interpreters of bash() are left out.')
}

function overBudget(measured: ReadonlyMap<string, Size>): string[] {
  const exceeded: string[] = []
  for (const [name, { own, whole }] of measured) {
    const limit = budget[name]
    if (limit === undefined) exceeded.push(`${name} has no budget`)
    else {
      if (own > limit.own) exceeded.push(`${name}: own code of ${kb(own)} KB, more than ${limit.own}`)
      if (whole !== undefined && whole > (limit.whole ?? 0))
        exceeded.push(`${name}: with dependencies ${kb(whole)} KB, more than ${limit.whole ?? 0}`)
    }
  }
  for (const name of Object.keys(budget))
    if (!measured.has(name)) exceeded.push(`${name} has a budget, but is not an entry`)
  return exceeded
}

async function sizeOf(name: string, file: string): Promise<Size> {
  const external = name === '.' ? new Set<string>() : ofRoot
  const own = gzipped(await bundle(file, external, true))
  const inBrowser = await bundle(file, external, false).catch(() => undefined)
  if (inBrowser === undefined) return { own, whole: undefined, packages: {} }
  return { own, whole: gzipped(inBrowser), packages: packagesOf(inBrowser.metafile) }
}

type Bundle = { readonly outputFiles: readonly { readonly contents: Uint8Array }[]; readonly metafile: Metafile }

/** Rejects if the file cannot be bundled for a browser, for example because it needs Node. */
async function bundle(entry: string, external: ReadonlySet<string>, ownOnly: boolean): Promise<Bundle> {
  const alreadyCounted: Plugin = {
    name: 'already-counted',
    setup(to) {
      to.onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
        if (kind === 'entry-point') return null
        const file = relative(top, join(resolveDir, path))
        const isOfOthers = (ownOnly && PACKAGES.test(file)) || file.startsWith(INTERPRETERS)
        return isOfOthers || external.has(file) ? { path: `./${file}`, external: true } : null
      })
    },
  }
  return build({
    absWorkingDir: top,
    entryPoints: [entry],
    outdir: 'never-written',
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    logLevel: 'silent',
    external: [ownOnly ? 'node:*' : 'zod'],
    ...(ownOnly && { packages: 'external' as const }),
    plugins: [alreadyCounted],
  })
}

function gzipped({ outputFiles }: Bundle): number {
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0) / 1000
}

function packagesOf({ outputs }: Metafile): Record<string, number> {
  const sizes: Record<string, number> = {}
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? PACKAGES.exec(path)?.[1]
      if (name !== undefined && bytesInOutput > 0) sizes[name] = (sizes[name] ?? 0) + bytesInOutput / 1000
    }
  }
  return sizes
}
