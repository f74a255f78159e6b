import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { LibraryRow } from './library-rows.ts'

/** What libraries that were written for Node need in a page, with the packages that stand for the modules of Node. */
export const pagePackages: Readonly<Record<string, string>> = {
  assert: '2.1.0',
  'browserify-zlib': '0.2.0',
  buffer: '6.0.3',
  'constants-browserify': '1.0.0',
  events: '3.3.0',
  'os-browserify': '0.3.0',
  path: '0.12.7',
  process: '0.11.10',
  'readable-stream': '4.8.0',
  util: '0.12.5',
}

const standIns: Readonly<Record<string, string>> = {
  constants: 'constants-browserify',
  os: 'os-browserify/browser.js',
  path: 'path/path.js',
  stream: 'readable-stream',
  zlib: 'browserify-zlib',
}

/** Resolves modules of Node to the packages that stand for them. There is no `fs`: the libraries get ours. */
const inPage = (home: string): Plugin => ({
  name: 'modules of Node in a page',
  setup(to) {
    to.onResolve({ filter: /^(?:constants|os|path|stream|zlib)$/ }, ({ path, kind }) =>
      to.resolve(standIns[path] ?? '', { resolveDir: home, kind }),
    )
    to.onResolve({ filter: /^fs$/ }, () => ({ path: 'fs', namespace: 'absent' }))
    to.onLoad({ filter: /./, namespace: 'absent' }, () => ({ contents: '' }))
  },
})

/** Bundles the page of `library-page.ts` with the libraries that are installed in a directory. Returns its files by path. */
export async function bundleLibraries(
  rows: readonly LibraryRow[],
  home: string,
): Promise<ReadonlyMap<string, readonly [type: string, body: Uint8Array]>> {
  const here = (name: string) => JSON.stringify(join(import.meta.dirname, name))
  const names = rows.flatMap((row) => row.imports ?? Object.keys(row.packages))
  const globals = `import { Buffer } from 'buffer'
    import process from 'process/browser.js'
    process.versions.node = '20.19.0'
    Object.assign(globalThis, { Buffer, process, global: globalThis, setImmediate: (run, ...args) => setTimeout(run, 0, ...args) })`
  const page = `import 'globals'
    import http from 'isomorphic-git/http/web'
    import * as stream from 'readable-stream'
    import { startPage } from ${here('library-page.ts')}
    const imports = {${names.map((name) => `${JSON.stringify(name)}: () => import(${JSON.stringify(name)})`)}}
    const prepared = {}
    const prepare = { 'esbuild-wasm': ({ default: esbuild }) => esbuild.initialize({ wasmURL: '/esbuild.wasm' }) }
    async function load(name) {
      const loaded = await imports[name]()
      await (prepared[name] ??= prepare[name]?.(loaded))
      return loaded
    }
    startPage({ load, stream }, http)`
  const virtual: Plugin = {
    name: 'page',
    setup(to) {
      to.onResolve({ filter: /^(?:page|globals)$/ }, ({ path }) => ({ path, namespace: 'page' }))
      to.onLoad({ filter: /./, namespace: 'page' }, ({ path }) => ({
        contents: path === 'page' ? page : globals,
        resolveDir: home,
      }))
    },
  }
  const { outputFiles } = await build({
    entryPoints: { page: 'page', worker: 'src/backends/opfs/worker.ts' },
    outdir: '/',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
    mainFields: ['browser', 'module', 'main'],
    alias: { vitest: join(import.meta.dirname, '../runtimes/vitest-shim.ts') },
    plugins: [virtual, inPage(home)],
  })
  const files = new Map<string, readonly [type: string, body: Uint8Array]>()
  for (const { path, contents } of outputFiles) files.set(path, ['text/javascript', contents])
  const script = '<!doctype html><script type="module" src="/page.js"></script>'
  files.set('/', ['text/html', new TextEncoder().encode(script)])
  files.set('/esbuild.wasm', ['application/wasm', readFileSync(join(home, 'node_modules/esbuild-wasm/esbuild.wasm'))])
  return files
}
