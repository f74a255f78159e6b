import { ToolError } from '../../errors.ts'
import { errnoOf } from '../../storage/storage-error.ts'

/** Whether nothing is at the path, or something that is no directory stands above it. */
export function isMissing(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** Whether what was ours has gone since, or was put behind a link or a mount by someone else. */
export function isNoLongerThere(error: unknown): boolean {
  return isMissing(error) || (error instanceof ToolError && error.code === 'PATH_REJECTED')
}
