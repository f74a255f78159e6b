import type { ErrorCode } from '../errors.ts'

/** The system error codes that programs expect for our error codes. */
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
