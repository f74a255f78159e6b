/**
 * The bytes that a zlib stream holds. Exactly the stream must be given, nothing after it. Synchronous where the platform
 * hands out its zlib without an import (Node, Deno, Bun, workerd with Node compatibility), a promise elsewhere.
 */
export function inflate(bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  return native === undefined ? throughStream(bytes, new DecompressionStream('deflate')) : native.inflateSync(bytes)
}

/** The bytes as a zlib stream, as small as the platform makes it. */
export function deflate(bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  return native === undefined ? throughStream(bytes, new CompressionStream('deflate')) : native.deflateSync(bytes)
}

async function throughStream(
  bytes: Uint8Array,
  stream: { readonly readable: ReadableStream; readonly writable: WritableStream },
): Promise<Uint8Array> {
  const writer = stream.writable.getWriter()
  // Errors show on the readable side.
  writer.write(bytes).catch(() => undefined)
  writer.close().catch(() => undefined)
  return new Uint8Array(await new Response(stream.readable).arrayBuffer())
}

interface Zlib {
  inflateSync(bytes: Uint8Array): Uint8Array
  deflateSync(bytes: Uint8Array): Uint8Array
}

const native = findZlib()

function findZlib(): Zlib | undefined {
  try {
    const host = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process
    const zlib = host?.getBuiltinModule?.('node:zlib') as Zlib | undefined
    const sample = Uint8Array.of(1, 2, 3)
    return zlib?.inflateSync(zlib.deflateSync(sample))[2] === 3 ? zlib : undefined
  } catch {
    // A platform that only pretends to have the module.
    return undefined
  }
}
