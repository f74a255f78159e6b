import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'

/** The files of one set. */
export const FILES = ['a.txt', 'b.txt', 'large.bin']

/** The content of a file in a generation. The large one has several parts. */
function contentOf(path: string, generation: number): Uint8Array {
  const bytes = new Uint8Array(path === 'large.bin' ? 600_000 : 100)
  bytes.fill(generation % 251)
  new DataView(bytes.buffer).setUint32(0, generation)
  return bytes
}

/** Commits a generation of all files as one set. */
export async function commitGeneration({ commit }: Pick<Backend, 'commit'>, generation: number): Promise<void> {
  const changes = FILES.map((path) => ({
    path: path as Path,
    expect: 'any' as const,
    to: { type: 'file' as const, bytes: contentOf(path, generation) },
  }))
  await commit(changes, { durability: 'durable' })
}

/** Returns the generation that all files have. Throws if one of them has another, or another content. */
export async function wholeGeneration({ read }: Pick<Backend, 'read'>): Promise<number> {
  const contents = await Promise.all(FILES.map(async (path) => (await read(path as Path)).bytes))
  const [generation = 0] = contents.map(({ buffer, byteOffset }) => new DataView(buffer, byteOffset).getUint32(0))
  for (const [index, path] of FILES.entries()) {
    const expected = contentOf(path, generation)
    const content = contents[index]
    if (content?.length !== expected.length || !content.every((byte, at) => byte === expected[at])) {
      throw new Error(`${path} is not that of generation ${generation}`)
    }
  }
  return generation
}
