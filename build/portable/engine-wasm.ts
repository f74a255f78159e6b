/** The engine of scripts, compressed with gzip, in base64. The build fills it in. */
declare const ENGINE: string

/**
 * Compiles the engine of scripts. Its bytes are a part of the module, because each bundler has its own way to name a file of
 * WebAssembly, and some have none.
 */
export async function compileEngine(): Promise<WebAssembly.Module> {
  const compressed = Uint8Array.from(atob(ENGINE), (char) => char.charCodeAt(0))
  const bytes = new Blob([compressed]).stream().pipeThrough(new DecompressionStream('gzip'))
  return WebAssembly.compile(await new Response(bytes).arrayBuffer())
}
