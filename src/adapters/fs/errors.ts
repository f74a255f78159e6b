import { type ErrorCode, ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import { TOO_MANY_LINKS } from '../../storage/canonical-path.ts'
import { systemCodes } from '../../util/system-codes.ts'

/** An error as `node:fs` throws it. A refusal of the workspace is its `cause`. */
export interface FsError extends Error {
  /** Such as `ENOENT`. */
  readonly code: string
  /** The negative number of the code on Linux. */
  readonly errno?: number
  /** The operation that failed. */
  readonly syscall?: string
  /** The path, as the program wrote it. */
  readonly path?: string
  /** The second path of an operation. */
  readonly dest?: string
}

const codes: Partial<Record<ErrorCode, string>> = {
  ...systemCodes,
  INVALID_INPUT: 'EINVAL',
  POLICY_DENIED: 'EACCES',
  POLICY_DENIED_SECRET: 'EACCES',
  UNSUPPORTED_ENCODING: 'EACCES',
  PLAN_MODE: 'EPERM',
  TAINT_DENIED: 'EPERM',
  APPROVAL_REQUIRED: 'EPERM',
  APPROVAL_DENIED: 'EPERM',
  HOOK_FAILED: 'EPERM',
  AUDIT_FAILED: 'EPERM',
  FILE_TOO_LARGE: 'EFBIG',
  LIMIT_EXCEEDED: 'EFBIG',
  RATE_LIMITED: 'EAGAIN',
  WRITE_CONFLICT: 'EBUSY',
}

/** How messages about what only systems have a code for end: those of `storageError()`, and that of a circle of links. */
const reasons: readonly (readonly [code: string, reason: string])[] = [
  ['ELOOP', TOO_MANY_LINKS],
  ['ELOOP', 'a link stands in its way'],
  ['EACCES', 'permission denied'],
  ['EROFS', 'the storage is read-only'],
  ['EBUSY', 'it is in use'],
  ['EMFILE', 'too many files are open'],
  ['EXDEV', 'it lies on another storage'],
  ['ENAMETOOLONG', 'its name is too long for this storage'],
]

/** The number and the text of each code, as Node has them on Linux. */
const texts: Readonly<Record<string, readonly [errno: number, text: string]>> = {
  EPERM: [-1, 'operation not permitted'],
  ENOENT: [-2, 'no such file or directory'],
  EIO: [-5, 'i/o error'],
  EBADF: [-9, 'bad file descriptor'],
  EAGAIN: [-11, 'resource temporarily unavailable'],
  EACCES: [-13, 'permission denied'],
  EBUSY: [-16, 'resource busy or locked'],
  EEXIST: [-17, 'file already exists'],
  ENOTDIR: [-20, 'not a directory'],
  EISDIR: [-21, 'illegal operation on a directory'],
  EINVAL: [-22, 'invalid argument'],
  EFBIG: [-27, 'file too large'],
  ENOSPC: [-28, 'no space left on device'],
  EMFILE: [-24, 'too many open files'],
  EXDEV: [-18, 'cross-device link not permitted'],
  ENAMETOOLONG: [-36, 'name too long'],
  EROFS: [-30, 'read-only file system'],
  ENOSYS: [-38, 'function not implemented'],
  ENOTEMPTY: [-39, 'directory not empty'],
  ELOOP: [-40, 'too many symbolic links encountered'],
}

/** Creates an error with the code and the message of Node. */
export function fsError(code: string, syscall: string, path?: string, dest?: string, cause?: unknown): FsError {
  const [errno, text] = texts[code] ?? [-5, 'i/o error']
  const named = path === undefined ? '' : ` '${path}'${dest === undefined ? '' : ` -> '${dest}'`}`
  const error = new Error(`${code}: ${text}, ${syscall}${named}`, cause === undefined ? undefined : { cause })
  return Object.assign(error, {
    ...{ errno, code, syscall },
    ...(path === undefined ? {} : { path }),
    ...(dest === undefined ? {} : { dest }),
  })
}

/** Creates the error of a synchronous function that changes something. */
export function waits(syscall: string): FsError {
  const reason = 'A change waits for its record, and may wait for an approval: use the function that returns a promise'
  return fsError('ENOSYS', syscall, undefined, undefined, new Error(reason))
}

/** Runs an operation. Refusals of the workspace become the error that Node would throw. */
export async function asNode<T>(syscall: string, path: string, act: () => Promise<T>, dest?: string): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw toFsError(error, syscall, path, dest)
  }
}

/**
 * Runs a change as {@link asNode} does, and again if another call changed the same path meanwhile: a disk has one of the two first.
 * `act` looks at the present state each time.
 */
export function asNodeAnyway<T>(syscall: string, path: string, act: () => Promise<T>, dest?: string): Promise<T> {
  const attempt = async (count: number, isNew: boolean): Promise<T> => {
    try {
      return await act()
    } catch (error) {
      const code = error instanceof ToolError ? error.code : undefined
      // Without another call, what exists would exist again.
      const isRace = code === 'WRITE_CONFLICT' || (code === 'ALREADY_EXISTS' && isNew)
      if (!isRace || count === MOST_ATTEMPTS) throw error
      return attempt(count + 1, code !== 'ALREADY_EXISTS')
    }
  }
  return asNode(syscall, path, () => attempt(1, true), dest)
}

/** Attempts to change a file that others change at the same time. */
export const MOST_ATTEMPTS = 100

/** Returns the error that Node would throw for a refusal of the workspace, and any other error as it is. */
export function toFsError(error: unknown, syscall: string, path: string, dest?: string): unknown {
  if (!(error instanceof ToolError)) return error
  if (error.code === 'ABORTED') return abortError(error)
  const isOfStorage = error.code === 'BACKEND_ERROR' || error.code === 'PATH_REJECTED'
  if (readCalls.has(syscall) && isAboutGitData(error, path)) return fsError('ENOENT', syscall, path, dest, error)
  const [code] = (isOfStorage && reasons.find(([, reason]) => error.message.endsWith(reason))) || [codes[error.code]]
  return fsError(code ?? 'EIO', syscall, path, dest, error)
}

/** The operations to which what is not listed does not exist. Changes are refused instead. */
const readCalls: ReadonlySet<string> = new Set(['scandir', 'readlink', 'realpath', 'watch', 'read'])

/** Whether an error is about git's own data. Listings do not show it, so programs do not find it. */
export function isAboutGitData(error: unknown, path: string): boolean {
  if (!(error instanceof ToolError)) return false
  const named = typeof error.details.path === 'string' ? error.details.path : path.replace(/^\/+/, '')
  return classifyPath(named as LogicalPath).protection === 'git'
}

/** Whether links lead in a circle. */
export function isCircle(error: unknown): boolean {
  return error instanceof ToolError && error.code === 'PATH_REJECTED' && error.message.endsWith(TOO_MANY_LINKS)
}

/** Creates the error of Node for what a signal ended. */
export function abortError(cause: unknown): Error {
  const error = new Error('The operation was aborted', { cause })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}

/** Creates the error of Node for an argument that has the wrong type or value. */
export function argumentError(name: string, expected: string, value: unknown): TypeError {
  const what = name.includes('.') ? 'property' : 'argument'
  const error = new TypeError(`The "${name}" ${what} must be ${expected}. Received ${typeNameOf(value)}`)
  return Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' })
}

/** Names the type of a value as the errors of Node do. */
function typeNameOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (typeof value === 'function') return `function ${value.name}`
  if (typeof value === 'object') {
    const name: unknown = value.constructor?.name
    return name ? `an instance of ${String(name)}` : '[Object]'
  }
  const text = shown(value)
  return `type ${typeof value} (${text.length > 28 ? `${text.slice(0, 25)}...` : text})`
}

/** Shows a value that is no object as Node does. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll('\0', '\\x00')}'`
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

const LARGE = 2 ** 32

/** Shows a number with separators if it is large, as the errors of Node do. */
function shownNumber(value: unknown): string {
  const isLarge = (typeof value === 'number' || typeof value === 'bigint') && (value > LARGE || value < -LARGE)
  return isLarge ? shown(value).replace(/\B(?=(?:\d{3})+(?!\d))/g, '_') : shown(value)
}

/** Creates the error of Node for an argument whose value is none of those that there are. */
export function valueError(name: string, value: unknown, reason = 'is invalid'): TypeError {
  const what = name.includes('.') ? 'property' : 'argument'
  const error = new TypeError(`The ${what} '${name}' ${reason}. Received ${shown(value)}`)
  return Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' })
}

/** Creates the error of Node for a number outside its range. */
export function rangeError(name: string, range: string, value: unknown): RangeError {
  const error = new RangeError(
    `The value of "${name}" is out of range. It must be ${range}. Received ${shownNumber(value)}`,
  )
  return Object.assign(error, { code: 'ERR_OUT_OF_RANGE' })
}

/** Returns the error of an opening that creates no file: git's own data do not exist for it. */
export function asOpenError(error: unknown): unknown {
  const { cause, path } = error as FsError
  return isAboutGitData(cause, path ?? '') ? fsError('ENOENT', 'open', path, undefined, cause) : error
}

/** Returns the error of a reading for that of an opening: Node opens a directory, and cannot read it. */
export function asReadError(error: unknown): unknown {
  const { code, cause } = error as FsError
  return code === 'EISDIR' ? fsError('EISDIR', 'read', undefined, undefined, cause) : asOpenError(error)
}
