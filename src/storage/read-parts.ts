import { createSha256 } from '../files/hash/sha256.ts'
import type { Path } from '../paths/logical-path.ts'
import { createPacer } from '../util/pacer.ts'
import type { Backend, Stat } from './backend.ts'
import { largeBounds } from './large-bounds.ts'

/** Yields the content of one version of a file part by part. @throws ToolError `WRITE_CONFLICT` if the file changes */
export async function* readParts(
  reads: Pick<Backend, 'read'>,
  path: Path,
  { size, tag }: Pick<Stat, 'size' | 'tag'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pause = createPacer()
  for (let start = 0; start < size; start += largeBounds.partBytes) {
    const { bytes } = await reads.read(path, { start, end: Math.min(size, start + largeBounds.partBytes), tag })
    yield bytes
    await pause()
  }
}

/** Returns the sha256 of one version of a file, which is read part by part. */
export async function hashParts(
  reads: Pick<Backend, 'read'>,
  path: Path,
  stat: Pick<Stat, 'size' | 'tag'>,
): Promise<string> {
  const hash = createSha256()
  for await (const bytes of readParts(reads, path, stat)) hash.update(bytes)
  return hash.digest()
}
