/** The files of one set. */
export const FILES = ['a.txt', 'b.txt', 'large.bin']

/** The content of a file in a generation. The large one has several parts. */
export function contentOf(path: string, generation: number): Uint8Array {
  const bytes = new Uint8Array(path === 'large.bin' ? 600_000 : 100)
  bytes.fill(generation % 251)
  new DataView(bytes.buffer).setUint32(0, generation)
  return bytes
}
