import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { newQuickJSAsyncWASMModule as newModule, newVariant, RELEASE_ASYNC } from 'quickjs-emscripten'

const engine = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten')).resolve(
  '@jitl/quickjs-wasmfile-release-asyncify/wasm',
)
let compiled: Promise<WebAssembly.Module> | undefined

/** Stands in for `src/shells/bash/packages/quickjs-emscripten.ts`: the package itself compiles the engine for each script. */
export function newQuickJSAsyncWASMModule(): ReturnType<typeof newModule> {
  compiled ??= WebAssembly.compile(readFileSync(engine))
  return newModule(newVariant(RELEASE_ASYNC, { wasmModule: compiled }))
}
