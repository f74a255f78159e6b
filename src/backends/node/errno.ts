import { ToolError } from '../../errors.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { MovedOutsideError } from './tree-access.ts'

/** Whether the path does not exist, or an ancestor is not a directory, such as a link. */
export function isMissing(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || error instanceof MovedOutsideError
}

/** Whether an entry of ours is gone, or is now behind a link or mount of another process. */
export function isNoLongerThere(error: unknown): boolean {
  return isMissing(error) || (error instanceof ToolError && error.code === 'PATH_REJECTED')
}
