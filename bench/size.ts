import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { publishedModules } from '../test/published.ts'

const top = join(import.meta.dirname, '..')

/** What must not be exceeded, in KB of 1,000 bytes after gzip: our own code, and all with its dependencies. */
type Budget = Readonly<Record<string, { readonly own: number; readonly whole?: number }>>

interface Size {
  readonly own: number
  readonly whole: number | undefined
  /** What each package takes, in KB, minified. */
  readonly packages: Readonly<Record<string, number>>
}

/**
 * `npm run size`: what each entry of the package weighs in a browser, minified and gzipped. The root is the core with all
 * tools of files, without the memory backend, which it uses and which stands apart; every other entry is what it adds. Fails where an entry is over its budget, or has none.
 */
const budget: Budget = JSON.parse(readFileSync(join(import.meta.dirname, 'size-budget.json'), 'utf8'))
/** Packages that a shell loads when a command needs them. */
const interpreters = ['just-bash', 'quickjs-emscripten', 'quickjs-emscripten-core', '@jitl/*']
const core = new Set(inputsOf((await bundle('./dist/index.js', new Set(), true)).metafile))
const ofMemory = new Set([...core].filter((path) => path.startsWith('dist/backends/memory')))
const faults: string[] = []
console.log(
  `${'KB, gzip'.padEnd(34)}${'own'.padStart(7)}${'budget'.padStart(8)}${'whole'.padStart(8)}${'budget'.padStart(8)}`,
)
const entries = publishedModules(top).map(([name, file]) => [name, `./${file}`] as const)
for (const [name, file] of entries) {
  const { own, whole, packages } = await sizeOf(name, file)
  const most = budget[name]
  if (most === undefined) faults.push(`${name} has no budget`)
  else {
    if (own > most.own) faults.push(`${name}: own code of ${kb(own)} KB, more than ${most.own}`)
    if (whole !== undefined && whole > (most.whole ?? 0))
      faults.push(`${name}: with dependencies ${kb(whole)} KB, more than ${most.whole ?? 0}`)
  }
  const columns = [own, most?.own, whole, whole === undefined ? undefined : most?.whole].map(kb)
  const large = Object.entries(packages).filter(([, size]) => size >= 5)
  const named = large.map(([one, size]) => `${one} ${kb(size)}`)
  console.log(
    `${name.padEnd(34)}${columns.map((text, i) => text.padStart(i === 0 ? 7 : 8)).join('')}  ${named.join(', ')}`,
  )
}
console.log(
  '\nAfter the budgets: the larger packages in it, in KB minified. zod stands with the root; the interpreters of bash() are left out.',
)
for (const name of Object.keys(budget)) {
  if (!entries.some(([entry]) => entry === name)) faults.push(`${name} has a budget, and is no entry`)
}
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)

async function sizeOf(name: string, file: string): Promise<Size> {
  const stem = file.slice('./'.length).replace(/^(dist\/\w+\/[^/]+)\/index\.js$/, '$1')
  const others = new Set([...core].filter((path) => !path.startsWith(stem)))
  const known = name === '.' ? ofMemory : others
  const own = gzipped(await bundle(file, known, true))
  const inBrowser = await bundle(file, known, false).catch(() => undefined)
  if (inBrowser === undefined) return { own, whole: undefined, packages: {} }
  return { own, whole: gzipped(inBrowser), packages: packagesOf(inBrowser.metafile) }
}

type Bundle = { readonly outputFiles: readonly { readonly contents: Uint8Array }[]; readonly metafile: Metafile }

/** Rejects where a bundle for a browser cannot be made, as of what needs Node. */
async function bundle(file: string, known: ReadonlySet<string>, ownOnly: boolean): Promise<Bundle> {
  const isKnown: Plugin = {
    name: 'known',
    setup(to) {
      to.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const found = relative(top, join(resolveDir, path))
        return known.has(found) ? { path: `./${found}`, external: true } : null
      })
    },
  }
  return build({
    absWorkingDir: top,
    entryPoints: [file],
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
    external: ownOnly ? ['node:*'] : known === ofMemory ? [] : [...interpreters, 'zod'],
    ...(ownOnly && { packages: 'external' as const }),
    plugins: [isKnown],
  })
}

function gzipped({ outputFiles }: Bundle): number {
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0) / 1000
}

function inputsOf({ inputs }: Metafile): string[] {
  return Object.keys(inputs)
}

function packagesOf({ outputs }: Metafile): Record<string, number> {
  const sizes: Record<string, number> = {}
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
      if (name !== undefined && bytesInOutput > 0) sizes[name] = (sizes[name] ?? 0) + bytesInOutput / 1000
    }
  }
  return sizes
}

function kb(size: number | undefined): string {
  return size === undefined ? '–' : size.toFixed(1)
}
