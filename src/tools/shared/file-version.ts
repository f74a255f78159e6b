import { createSha256, sha256 } from '../../files/hash/sha256.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import { lostContentOf } from '../../storage/lost-content.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { createPacer } from '../../util/pacer.ts'
import type { BuiltinContext } from '../builtin-tool.ts'

/** Bytes of a large file that are in memory at once. */
export const PART_BYTES = 1024 * 1024

/**
 * Returns the sha256 of a file of any size, also of one whose content is lost. Reads a large file in parts of one version.
 *
 * @throws ToolError `WRITE_CONFLICT` if the file changes during the read, `ABORTED`
 */
export async function hashFile(
  context: Pick<BuiltinContext, 'files' | 'limits' | 'signal'>,
  path: Path,
  stat: Stat,
): Promise<string> {
  try {
    if (stat.size <= context.limits.textFileBytes) {
      return sha256((await context.files.read(path, context.limits.textFileBytes)).bytes)
    }
    const hash = createSha256()
    for await (const bytes of partsOf(context, path, stat)) hash.update(bytes)
    return hash.digest()
  } catch (error) {
    const lost = lostContentOf(error)
    if (lost === undefined) throw error
    return lost.sha256
  }
}

/** Yields the bytes of one version of a file in parts. */
export async function* partsOf(
  { files, signal }: Pick<BuiltinContext, 'files' | 'signal'>,
  path: Path,
  stat: Stat,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pause = createPacer()
  for (let start = 0; start < stat.size; start += PART_BYTES) {
    throwIfAborted(signal, `Reading ${quote(path)} was cancelled`, { path })
    const end = Math.min(start + PART_BYTES, stat.size)
    yield (await files.readRange(path, { start, end, tag: stat.tag })).bytes
    await pause()
  }
}
