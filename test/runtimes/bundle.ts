import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { counted } from '../coverage/counted.ts'

const top = join(import.meta.dirname, '../..')

/** `node`: has Node's modules, like Deno and Bun. `web`: only has web APIs. */
export type Platform = 'node' | 'web'

/** Test files that only need vitest and web APIs, and the reason for each excluded file. */
export interface Selection {
  readonly files: readonly string[]
  readonly leftOut: Readonly<Record<string, string>>
}

/** Bundles the program of a runtime with its test files. */
export async function bundleProgram(program: string, files: readonly string[], platform: Platform): Promise<string> {
  const contents = [
    `import { subjects } from ${JSON.stringify(`./${program}`)}`,
    `import { runProgram } from './program.ts'`,
    'const files = {',
    ...files.map((file) => `  ${JSON.stringify(file)}: () => import(${JSON.stringify(join(top, file))}),`),
    '}',
    'export const run = (host) => runProgram({ subjects: subjects(host), files, ...globalThis.shares })',
  ].join('\n')
  const { outputFiles } = await build({
    ...options(platform),
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
  })
  return outputFiles[0]?.text ?? ''
}

/** Selects the test files that run without Node, by their direct and indirect imports. */
export async function selectPortable(files: readonly string[]): Promise<Selection> {
  const { metafile } = await build({
    ...options('web'),
    entryPoints: files.map((file) => join(top, file)),
    outdir: 'never-written',
    alias: {},
    packages: 'external',
    // Each module is written once, and not once per test file.
    splitting: true,
    metafile: true,
  })
  const outputs = metafile?.outputs ?? {}
  const chosen: string[] = []
  const leftOut: Record<string, string> = {}
  for (const [output, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === undefined || !entryPoint.endsWith('.test.ts')) continue
    const needed = packagesOf(output, outputs).filter((name) => !portable.includes(name))
    const reason = reasonAgainst(readFileSync(join(top, entryPoint), 'utf8'), needed)
    if (reason === undefined) chosen.push(entryPoint)
    else leftOut[entryPoint] = reason
  }
  return { files: chosen.sort(), leftOut }
}

/** The packages that a file of a bundle imports, also through other files of it. */
function packagesOf(output: string, outputs: Metafile['outputs']): string[] {
  const files = new Set([output])
  const packages = new Set<string>()
  for (const file of files) {
    for (const { path, external } of outputs[file]?.imports ?? []) (external ? packages : files).add(path)
  }
  return [...packages]
}

/** Packages that run anywhere. just-bash does except for its compression commands; quickjs-emscripten is not loaded. */
const portable = [
  'buffer',
  'fast-check',
  'just-bash',
  'picomatch',
  'quickjs-emscripten',
  'sha.js/sha256.js',
  'unbash',
  'vitest',
  'zod',
  'zod/mini',
]

function reasonAgainst(text: string, needed: readonly string[]): string | undefined {
  if (/import \{[^}]*\bvi\b[^}]*\} from 'vitest'/.test(text)) return 'replaces globals by vitest itself'
  if (needed.length > 0) return `needs ${[...new Set(needed)].sort().join(', ')}`
  return /\bprocess\.(?!env\b)/.test(text) ? 'needs a process' : undefined
}

function options(platform: Platform): BuildOptions & { write: false } {
  return {
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
    absWorkingDir: top,
    alias: { vitest: join(import.meta.dirname, 'vitest-shim.ts') },
    external: ['quickjs-emscripten'],
    plugins: [fewerRuns, withoutThreads, ...(platform === 'web' ? [withoutNode, ...counted] : [installed])],
    ...(platform === 'node'
      ? { platform: 'node', banner: { js: requireBanner } }
      : { platform: 'browser', define: { 'process.env': '{}' } }),
  }
}

/** Replaces fast-check in test files with a version that has fewer runs. */
const fewerRuns: Plugin = {
  name: 'fewer-runs',
  setup(to) {
    const shim = join(import.meta.dirname, 'fast-check-shim.ts')
    to.onResolve({ filter: /^fast-check$/ }, ({ importer }) => (importer === shim ? null : { path: shim }))
  },
}

/** A thread needs its own file, which a single-file bundle does not have, so commands run in the calling thread. */
const withoutThreads: Plugin = {
  name: 'without-threads',
  setup(to) {
    to.onLoad({ filter: /[/]shells[/]bash[/]start-thread\.ts$/ }, () => ({
      contents: 'export let threadKind = () => {}, hasThreadFile = () => false, threadFile, startNodeThread',
    }))
    // No test runs a script, and a bundle of one file would load the engine at its start.
    to.onLoad({ filter: /[/]packages[/]quickjs-emscripten\.ts$/ }, () => ({
      contents: 'export let newQuickJSAsyncWASMModule',
    }))
  },
}

/** Provides `require` for CommonJS packages that load Node's modules inside an ES module. */
export const requireBanner =
  "import { createRequire as wardspaceRequire } from 'node:module'; const require = wardspaceRequire(import.meta.url);"

const wantsHashOnly = (importer: string): boolean =>
  importer.startsWith(join(top, 'test/')) &&
  readFileSync(importer, 'utf8').includes("import { createHash } from 'node:crypto'")

/** Resolves packages that load on demand from their installed location. */
const installed: Plugin = {
  name: 'installed',
  setup(to) {
    const path = pathToFileURL(join(top, 'node_modules/just-bash/dist/bundle/index.js')).href
    to.onResolve({ filter: /^just-bash$/ }, () => ({ path, external: true }))
  },
}

const createHash = `
import Sha256 from 'sha.js/sha256.js'
export function createHash(algorithm) {
  if (algorithm !== 'sha256') throw new TypeError('Unsupported algorithm')
  return new Sha256()
}`

/**
 * Replaces the parts of Node that our tests use as a reference: `Buffer` by its package, visible to test files only, so that
 * no code under test can use it, and `createHash` by an independent package. node:zlib, which just-bash imports, is empty.
 * All other modules of Node stay unresolved.
 */
const withoutNode: Plugin = {
  name: 'without-node',
  setup(to) {
    const builtin = new Set(builtinModules)
    to.onResolve({ filter: /^[a-z_:/]+$/ }, ({ path, importer }) => {
      if (path === 'node:crypto' && wantsHashOnly(importer)) return { path, namespace: 'stand-in' }
      if (path === 'node:zlib' && importer.includes('/just-bash/')) return { path, namespace: 'empty' }
      return path.startsWith('node:') || (builtin.has(path) && path !== 'buffer') ? { path, external: true } : null
    })
    to.onResolve({ filter: /[/]backends\.ts$/ }, ({ path, importer }) =>
      relative(top, importer).startsWith('test/tools/') && path === './backends.ts'
        ? { path: join(import.meta.dirname, 'backends-anywhere.ts') }
        : null,
    )
    to.onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: 'module.exports = {}' }))
    to.onLoad({ filter: /./, namespace: 'stand-in' }, () => ({ contents: createHash, resolveDir: top }))
    to.onLoad({ filter: /[/]test[/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!/\bBuffer\b/.test(text)) return null
      return { contents: `import { Buffer } from 'buffer'\n${text}`, loader: 'ts' }
    })
  },
}
