import { type ErrorCode, ToolError } from '../errors.ts'
import { display, type LogicalPath, quote } from '../paths/logical-path.ts'
import { requireText } from '../util/check-options.ts'

/**
 * Returns the ToolError for a failure of a storage: `Cannot read "a.ts": permission denied`. System errors are
 * distinguished by their `code`, such as `ENOSPC`. The original message is dropped, because it may contain physical paths. A
 * ToolError is returned unchanged.
 */
export function storageError(action: string, path: LogicalPath, error: unknown): ToolError {
  requireText('storageError()', 'action', action)
  requireText('storageError()', 'path', path)
  if (error instanceof ToolError) return error
  const errno = errnoOf(error)
  const [code, reason] = reasons[errno ?? ''] ?? unknownReason(errno)
  return new ToolError(code, `Cannot ${action} ${quote(display(path))}: ${reason}`, { path: display(path) })
}

/** Returns the code of a system error, such as `ENOENT`, or undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (error instanceof ToolError) return undefined
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

const reasons: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['NOT_FOUND', 'it does not exist'],
  ENOTDIR: ['NOT_A_DIRECTORY', 'a part of the path is not a directory'],
  EISDIR: ['IS_DIRECTORY', 'it is a directory'],
  ENOTEMPTY: ['DIRECTORY_NOT_EMPTY', 'it is not empty'],
  EEXIST: ['WRITE_CONFLICT', 'something else was put there in the meantime'],
  ELOOP: ['PATH_REJECTED', 'a link stands in its way'],
  ENAMETOOLONG: ['PATH_REJECTED', 'its name is too long for this storage'],
  EILSEQ: ['PATH_REJECTED', 'this storage does not take such a name'],
  EINVAL: ['PATH_REJECTED', 'this storage does not take such a name'],
  ENXIO: ['PATH_REJECTED', 'it is neither a file, a directory nor a link'],
  ENODEV: ['PATH_REJECTED', 'it is neither a file, a directory nor a link'],
  ENOSPC: ['NO_SPACE', 'no space is left on the storage'],
  EDQUOT: ['NO_SPACE', 'the quota of the storage is used up'],
  EFBIG: ['NO_SPACE', 'the file is larger than the storage allows'],
  EACCES: ['BACKEND_ERROR', 'permission denied'],
  EPERM: ['BACKEND_ERROR', 'permission denied'],
  EROFS: ['READ_ONLY', 'the storage is read-only'],
  EIO: ['BACKEND_ERROR', 'the storage reported an input/output error'],
  EXDEV: ['BACKEND_ERROR', 'it lies on another storage'],
  EMFILE: ['BACKEND_ERROR', 'too many files are open'],
  ENFILE: ['BACKEND_ERROR', 'too many files are open'],
  EBUSY: ['BACKEND_ERROR', 'it is in use'],
}

function unknownReason(errno: string | undefined): readonly [ErrorCode, string] {
  const isErrno = errno !== undefined && /^E[A-Z0-9]{2,15}$/.test(errno)
  return ['BACKEND_ERROR', isErrno ? `the storage reported ${errno}` : 'the storage failed in an unexpected way']
}
