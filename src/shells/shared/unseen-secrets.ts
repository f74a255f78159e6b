import type { HiddenSecrets } from '../../files/secrets/hidden.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { type Path, ROOT } from '../../paths/logical-path.ts'
import type { Backend } from '../../storage/backend.ts'
import { visibleFiles } from '../../storage/walk.ts'

/** Bounds of the files that are searched for secrets. */
const MAX_FILES = 20_000
const MAX_BYTES = 64 * 1024 * 1024
const MAX_FILE_BYTES = 1024 * 1024

/**
 * Adds the secrets of all files that a command may read, except ignored ones. For programs that open files by themselves:
 * nothing tells which files they have read.
 */
export async function addReadableSecrets(
  hidden: HiddenSecrets,
  backend: Backend,
  visibility: Visibility,
): Promise<void> {
  const filters = { includeHidden: true, includeIgnored: false }
  const files = await visibleFiles(backend, ROOT, { filters, ...visibility, links: false })
  let bytes = 0
  const visit = (_: Path, content: Uint8Array): boolean => {
    hidden.add(content)
    bytes += content.length
    return bytes < MAX_BYTES
  }
  const paths = files.slice(0, MAX_FILES)
  if (backend.scan !== undefined) return backend.scan(paths, visit, MAX_FILE_BYTES)
  for (const path of paths) {
    const stat = await backend.stat(path)
    if (stat?.type !== 'file' || stat.size > MAX_FILE_BYTES) continue
    if (!visit(path, (await backend.read(path)).bytes)) return
  }
}
