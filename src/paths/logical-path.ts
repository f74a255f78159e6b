import { ToolError } from '../errors.ts'
import { requireText } from '../util/check-options.ts'

declare const guarded: unique symbol
declare const canonical: unique symbol

/** A path that passed the lexical guard: POSIX, relative to the workspace root, normalized. The root is `''`. */
export type LogicalPath = string & { readonly [guarded]: true }

/** A canonical logical path on a backend: without links to follow, in the spelling of the backend. */
export type Path = LogicalPath & { readonly [canonical]: true }

/** The path of the root directory: the empty string. */
export const ROOT = '' as Path

/** The directory of a repository in the root of a workspace. */
export const GIT_DIRECTORY = '.git' as Path

const MAX_COMPONENT_BYTES = 255
const MAX_PATH_BYTES = 4095

/**
 * Parses the path of a caller to a logical path. This is the lexical guard: pure and linear, it does not decode, expand, trim
 * or fold anything. `.` is the root.
 *
 * @throws ToolError `PATH_REJECTED` for an absolute or empty path, `..` above the root, control and bidirectional characters,
 * backslashes, colons, invalid Unicode, names over 255 bytes and paths over 4,095 bytes
 */
export function parsePath(input: string): LogicalPath {
  requireText('parsePath()', 'input', input)
  if (input.length > MAX_PATH_BYTES) reject(input, `is longer than ${MAX_PATH_BYTES} bytes`)
  if (input.trim() === '') reject(input, 'is empty; the root is "."')
  if (input.charCodeAt(0) === SLASH) reject(input, 'is absolute')
  const names: string[] = []
  let start = 0
  let nameBytes = 0
  let pathBytes = 0
  for (let i = 0; i <= input.length; i++) {
    const unit = i < input.length ? input.charCodeAt(i) : SLASH
    if (unit !== SLASH) {
      if (unit < 0x80) {
        if (unit < 0x20 || unit === 0x7f) reject(input, 'contains a control character')
        if (unit === BACKSLASH) reject(input, 'contains a backslash')
        if (unit === COLON) reject(input, 'contains a colon')
        nameBytes += 1
      } else if (unit < 0x800) {
        if (unit < 0xa0) reject(input, 'contains a control character')
        if (unit === 0x061c) reject(input, 'contains a bidirectional control character')
        nameBytes += 2
      } else if (unit >= 0xd800 && unit <= 0xdfff) {
        const low = input.charCodeAt(i + 1)
        if (unit > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) reject(input, 'is not well-formed Unicode')
        nameBytes += 4
        i += 1
      } else {
        if (isBidiControl(unit)) reject(input, 'contains a bidirectional control character')
        nameBytes += 3
      }
      continue
    }
    if (nameBytes > MAX_COMPONENT_BYTES) reject(input, `has a name longer than ${MAX_COMPONENT_BYTES} bytes`)
    pathBytes += nameBytes + 1
    const name = input.slice(start, i)
    if (name === '..') {
      if (names.pop() === undefined) reject(input, 'climbs above the workspace root')
    } else if (name !== '' && name !== '.') {
      names.push(name)
    }
    start = i + 1
    nameBytes = 0
  }
  if (pathBytes - 1 > MAX_PATH_BYTES) reject(input, `is longer than ${MAX_PATH_BYTES} bytes`)
  const path = names.join('/')
  // A path of a single blank name is refused in every spelling, such as `./ `.
  if (path !== '' && path.trim() === '') reject(input, 'is empty')
  return path as LogicalPath
}

const SLASH = 0x2f
const BACKSLASH = 0x5c
const COLON = 0x3a

function isBidiControl(unit: number): boolean {
  return unit === 0x200e || unit === 0x200f || (unit >= 0x202a && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069)
}

function reject(input: string, reason: string): never {
  throw new ToolError('PATH_REJECTED', `Path ${quote(input)} ${reason}`)
}

/** Quotes a path for a message: at most 200 characters, with quotes, backslashes and control or format characters escaped. */
export function quote(path: string): string {
  requireText('quote()', 'path', path)
  const shortened = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return `"${shortened.replace(/["\\\p{Cc}\p{Cf}\p{Cs}]/gu, (char) => `\\u{${Number(char.codePointAt(0)).toString(16)}}`)}"`
}

/** Returns the directory that contains a path; for the root, the root. */
export function parentOf<P extends LogicalPath>(path: P): P {
  requireText('parentOf()', 'path', path)
  const slash = path.lastIndexOf('/')
  return (slash === -1 ? '' : path.slice(0, slash)) as P
}

/** Returns the last name of a path; for the root, `''`. */
export function nameOf(path: LogicalPath): string {
  requireText('nameOf()', 'path', path)
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns the path of an entry of a directory. The name must be a single name that the guard accepts. */
export function childOf<P extends LogicalPath>(directory: P, name: string): P {
  requireText('childOf()', 'directory', directory)
  requireText('childOf()', 'name', name)
  return (directory === '' ? name : `${directory}/${name}`) as P
}

/** Returns whether `path` is `directory` or below it. */
export function isWithin(path: LogicalPath, directory: LogicalPath): boolean {
  requireText('isWithin()', 'path', path)
  requireText('isWithin()', 'directory', directory)
  return (
    directory === '' ||
    path === directory ||
    (path.startsWith(directory) && path.charCodeAt(directory.length) === SLASH)
  )
}

/** Returns the directories above a path, nearest first, without the root. */
export function ancestorsOf<P extends LogicalPath>(path: P): P[] {
  requireText('ancestorsOf()', 'path', path)
  const ancestors: P[] = []
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) ancestors.push(parent)
  return ancestors
}

/** Adds the directories above a path to a set that holds whole chains only. Paths that share directories add them once. */
export function addAncestors<P extends LogicalPath>(directories: Set<P>, path: P): void {
  for (let above = parentOf(path); above !== '' && !directories.has(above); above = parentOf(above)) {
    directories.add(above)
  }
}

/**
 * Returns a function that finds the nearest path that passes a test: the given one or a directory above it, but not the root.
 * Each path is tested once, so the cost for many paths is linear in their directories however deep they are.
 */
export function nearestFinder<P extends LogicalPath>(test: (path: P) => boolean): (path: P) => P | undefined {
  const nearest = new Map<P, P | undefined>()
  return (path) => {
    const visited: P[] = []
    let at = path
    while (at !== '' && !nearest.has(at)) {
      if (test(at)) nearest.set(at, at)
      else {
        visited.push(at)
        at = parentOf(at)
      }
    }
    const found = nearest.get(at)
    for (const below of visited) nearest.set(below, found)
    return found
  }
}

export function notFound(path: string): ToolError {
  return new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
}

/** Returns the path as a caller writes it: `.` for the root. */
export function display(path: LogicalPath): string {
  requireText('display()', 'path', path)
  return path === '' ? '.' : path
}
