import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build, type Plugin } from 'esbuild'

/** What Next's edge runtime takes over from its host. */
const provided = {
  AbortController,
  ArrayBuffer,
  Blob,
  DataView,
  DOMException,
  Error,
  Event,
  EventTarget,
  ReadableStream,
  Response,
  TextDecoder,
  TextEncoder,
  TransformStream,
  URL,
  Uint8Array,
  WritableStream,
  atob,
  btoa,
  clearInterval,
  clearTimeout,
  console,
  crypto,
  performance,
  queueMicrotask,
  setInterval,
  setTimeout,
  structuredClone,
}

/** The constructors and functions that throw there, and that this package may look for. */
const UNSUPPORTED = [
  'BroadcastChannel',
  'CompressionStream',
  'DecompressionStream',
  'MessageChannel',
  'clearImmediate',
  'setImmediate',
]

/** Imports WebAssembly as a compiled module. */
const wasmModules: Plugin = {
  name: 'wasm-modules',
  setup(to) {
    to.onResolve({ filter: /[.]wasm[?]module$/ }, ({ path, importer }) => ({
      path: join(dirname(importer), path.replace(/[?]module$/, '')),
      namespace: 'wasm',
    }))
    to.onLoad({ filter: /./, namespace: 'wasm' }, ({ path }) => ({
      contents: `export default globalThis.wasm(${JSON.stringify(path)})`,
    }))
  },
}

/**
 * Bundles a module of a project as Next does for `runtime = 'edge'`, and evaluates it in a context like the one of `next start`:
 * without modules of Node, code from strings, WebAssembly from bytes, threads, and parts of the web platform. The long tests run Next
 * itself.
 *
 * @returns the exports of the module
 */
export async function runAtEdge(directory: string, entry: string): Promise<Record<string, unknown>> {
  const { outputFiles } = await build({
    absWorkingDir: directory,
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'exported',
    target: 'es2022',
    conditions: ['edge-light', 'worker', 'browser'],
    plugins: [wasmModules],
    logLevel: 'error',
  })
  const throwing = (name: string) =>
    function unsupported() {
      throw new Error(`A Node.js API is used (${name}) which is not supported in the Edge Runtime.`)
    }
  const process = { env: {}, getBuiltinModule: throwing('process.getBuiltinModule'), cwd: throwing('process.cwd') }
  const globals = {
    ...provided,
    ...Object.fromEntries(UNSUPPORTED.map((name) => [name, throwing(name)])),
    AbortSignal: new Proxy(AbortSignal, {
      get: (target, name) => (name === 'any' ? undefined : Reflect.get(target, name)),
    }),
    process,
    wasm: (path: string) => new WebAssembly.Module(readFileSync(path)),
  }
  const context = createContext(globals, { codeGeneration: { strings: false, wasm: false } })
  runInContext(outputFiles[0]?.text ?? '', context)
  return runInContext('exported', context) as Record<string, unknown>
}
