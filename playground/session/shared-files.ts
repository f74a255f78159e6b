import type { Failure, Path, Success } from 'wardspace'
import { MAX_SHARED_BYTES, type SharedFiles } from '../projects/share-link.ts'
import type { SessionProject } from './types.ts'

/** Files that are worth trying to share in a link. */
const MAX_FILES = 500

/** Makes a call for the display. */
type Look = (tool: string, input: unknown) => Promise<Success | Failure>

/**
 * Returns the files of a project that a link may contain: no secrets, nothing that git ignores and no git internals. Returns
 * undefined if they are too many or too large for any link.
 */
export async function sharedFiles(
  { backend }: Pick<SessionProject, 'backend'>,
  look: Look,
): Promise<{ readonly files: SharedFiles; readonly leftOut: readonly string[] } | undefined> {
  const found = await look('find_files', { pattern: '**/*', includeHidden: true, maxResults: MAX_FILES })
  if (!found.ok) throw new Error(found.message)
  if (found.truncated === true) return undefined
  const files: Record<string, Uint8Array> = {}
  const leftOut: string[] = []
  let size = 0
  for (const path of found.files as readonly string[]) {
    const info = await look('file_info', { path })
    if (!info.ok || info.redacted === true) {
      leftOut.push(`Left out: "${path}", which is protected`)
      continue
    }
    const stat = await backend.stat(path as Path)
    if (stat?.type !== 'file') continue
    size += stat.size
    if (size > MAX_SHARED_BYTES) return undefined
    files[path] = (await backend.read(path as Path)).bytes
  }
  return { files, leftOut }
}
