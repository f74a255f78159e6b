import { type ErrorCode, ToolError } from '../../errors.ts'
import { systemCodes } from '../../util/system-codes.ts'
import type { CommandFiles } from '../types.ts'

const codes: Partial<Record<ErrorCode, string>> = {
  ...systemCodes,
  LIMIT_EXCEEDED: 'EFBIG',
  INVALID_INPUT: 'EINVAL',
  POLICY_DENIED: 'EACCES',
  POLICY_DENIED_SECRET: 'EACCES',
  UNSUPPORTED_ENCODING: 'EACCES',
  ABORTED: 'EINTR',
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EEXIST: 'File exists',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  ENOSPC: 'No space left on device',
  EFBIG: 'File too large',
  EROFS: 'Read-only file system',
  EINVAL: 'Invalid argument',
  EACCES: 'Permission denied',
  EINTR: 'Interrupted',
}

/** An error with a system's code and message, such as `ENOENT`. */
export interface SystemError extends Error {
  readonly code: string
  /** The refusal of the files that a program gets as this error. */
  readonly refusal?: ToolError
}

export function systemError(code: string, operation: string, path: string, refusal?: ToolError): SystemError {
  const text = (reasons[code] ?? 'i/o error').toLowerCase()
  return Object.assign(new Error(`${code}: ${text}, ${operation} '${path}'`), { code, ...(refusal && { refusal }) })
}

/** Converts a refusal of the files to the error that a system would give; other errors stay. */
export function asSystemError(error: unknown, operation: string, path: string): unknown {
  return error instanceof ToolError ? systemError(codes[error.code] ?? 'EIO', operation, path, error) : error
}

/** The reason that bash prints for an error code. */
export function reasonOf(code: string): string {
  return reasons[code] ?? 'Input/output error'
}

/** Converts errors that a backend should not throw, because programs print them: their texts may be about the disk. */
export function withToolErrors(files: CommandFiles): CommandFiles {
  const converting = Object.entries(files).map(([name, method]: [string, unknown]) => [
    name,
    (...args: unknown[]) => {
      const result: unknown = (method as (...args: unknown[]) => unknown)(...args)
      if (!(result instanceof Promise)) return result
      return result.catch((error: unknown) => {
        throw error instanceof ToolError ? error : new ToolError('BACKEND_ERROR', `Cannot ${name}: the storage failed`)
      })
    },
  ])
  return Object.fromEntries(converting)
}
