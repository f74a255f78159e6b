import type { ErrorCode } from '../errors.ts'

/** What a system's file calls say for our codes, as programs expect it. */
export const systemCodes: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: 'ENOENT',
  ALREADY_EXISTS: 'EEXIST',
  IS_DIRECTORY: 'EISDIR',
  NOT_A_DIRECTORY: 'ENOTDIR',
  DIRECTORY_NOT_EMPTY: 'ENOTEMPTY',
  NO_SPACE: 'ENOSPC',
  READ_ONLY: 'EROFS',
  PATH_REJECTED: 'EACCES',
}
