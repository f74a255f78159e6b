import { type ErrorCode, ToolError } from '../../errors.ts'
import { display, type LogicalPath, quote } from '../../paths/logical-path.ts'

/**
 * The refusal for what the operating system said: `Cannot read "a.ts": permission denied`. Its own text, which holds
 * physical paths, is never shown. A ToolError is given back as it is.
 */
export function failure(verb: string, path: LogicalPath, error: unknown): ToolError {
  if (error instanceof ToolError) return error
  const [code, why] = reasons[errnoOf(error) ?? ''] ?? unknownReason(errnoOf(error))
  return new ToolError(code, `Cannot ${verb} ${quote(display(path))}: ${why}`, { path: display(path) })
}

/** The name of a system error, as `ENOENT`, or undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (error instanceof ToolError) return undefined
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

/** Whether nothing is at the path, or something that is no directory stands above it. */
export function isMissing(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** Whether what was ours has gone since, or was put behind a link or a mount by someone else. */
export function isNoLongerThere(error: unknown): boolean {
  return isMissing(error) || (error instanceof ToolError && error.code === 'PATH_REJECTED')
}

const reasons: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['NOT_FOUND', 'it does not exist'],
  ENOTDIR: ['NOT_A_DIRECTORY', 'a part of the path is no directory'],
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
  EROFS: ['BACKEND_ERROR', 'the storage is read-only'],
  EIO: ['BACKEND_ERROR', 'the storage reported an input/output error'],
  EXDEV: ['BACKEND_ERROR', 'it lies on another storage'],
  EMFILE: ['BACKEND_ERROR', 'too many files are open'],
  ENFILE: ['BACKEND_ERROR', 'too many files are open'],
  EBUSY: ['BACKEND_ERROR', 'it is in use'],
}

function unknownReason(errno: string | undefined): readonly [ErrorCode, string] {
  const known = errno !== undefined && /^E[A-Z0-9]{2,15}$/.test(errno)
  return ['BACKEND_ERROR', known ? `the storage reported ${errno}` : 'the storage failed in an unexpected way']
}
