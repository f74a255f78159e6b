import { decodeBase85 } from './base85.ts'

/** The engine of scripts, compressed with gzip, and its bytes. The build fills them in. */
declare const ENGINE: string
declare const ENGINE_BYTES: number

/**
 * Compiles the engine of scripts. Its bytes are a part of the module, because each bundler has its own way to name a file of
 * WebAssembly, and some have none.
 */
export async function compileEngine(): Promise<WebAssembly.Module> {
  const compressed = decodeBase85(ENGINE).subarray(0, ENGINE_BYTES)
  const bytes = new Blob([compressed]).stream().pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compile(await new Response(bytes).arrayBuffer())
}
