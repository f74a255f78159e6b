import startEngine from '@jitl/quickjs-wasmfile-release-asyncify/emscripten-module'
import { QuickJSAsyncFFI } from '@jitl/quickjs-wasmfile-release-asyncify/ffi'
import type { QuickJSAsyncVariant } from 'quickjs-emscripten'
import { compileEngine } from './engine-wasm.ts'

let compiled: Promise<WebAssembly.Module> | undefined

/** The engine of scripts, from WebAssembly that is compiled once per thread. The package compiles it for each script. */
const variant: QuickJSAsyncVariant = {
  type: 'async',
  importFFI: async () => QuickJSAsyncFFI,
  importModuleLoader: async () => async (options) => {
    compiled ??= compileEngine()
    const module = await compiled
    const start: (options: object) => ReturnType<typeof startEngine> = startEngine
    return start({
      ...options,
      instantiateWasm: async (imports: WebAssembly.Imports, onSuccess: (instance: WebAssembly.Instance) => void) =>
        onSuccess(await WebAssembly.instantiate(module, imports)),
    })
  },
}

export default variant
