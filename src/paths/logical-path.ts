import { ToolError } from '../errors.ts'

declare const guarded: unique symbol
declare const canonical: unique symbol

/** A path that passed the lexical guard: POSIX, relative to the workspace root, normalised; the root is `''`. */
export type LogicalPath = string & { readonly [guarded]: true }

/** A logical path in its one true form on a backend: no link in it is left to follow, spelled as the backend spells it. */
export type Path = LogicalPath & { readonly [canonical]: true }

/** The path of the root directory: the empty string. */
export const ROOT = '' as Path

/** The directory of a repository in the root of a workspace. */
export const GIT_DIRECTORY = '.git' as Path

const MAX_COMPONENT_BYTES = 255
const MAX_PATH_BYTES = 4095

/**
 * The lexical guard: turns what a caller wrote into a logical path, or refuses it. Pure, total and linear.
 * Nothing is decoded, expanded, trimmed or folded. `.` is the root.
 *
 * @throws ToolError `PATH_REJECTED`
 */
export function parsePath(input: string): LogicalPath {
  if (input.length > MAX_PATH_BYTES) reject(input, `is longer than ${MAX_PATH_BYTES} bytes`)
  if (input.trim() === '') reject(input, 'is empty')
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
  // A blank name that stands alone is refused in every spelling, not only where nothing is around it.
  if (path !== '' && path.trim() === '') reject(input, 'is empty')
  return path as LogicalPath
}

const SLASH = 0x2f
const BACKSLASH = 0x5c
const COLON = 0x3a

function isBidiControl(unit: number): boolean {
  return unit === 0x200e || unit === 0x200f || (unit >= 0x202a && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069)
}

function reject(input: string, why: string): never {
  throw new ToolError('PATH_REJECTED', `Path ${quote(input)} ${why}`)
}

/** A path for a message: bounded, with what a terminal or a model could misread escaped. */
export function quote(path: string): string {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return `"${shown.replace(/["\\\p{Cc}\p{Cf}\p{Cs}]/gu, (char) => `\\u{${Number(char.codePointAt(0)).toString(16)}}`)}"`
}

/** The directory that holds a path; the root's is the root. */
export function parentOf<P extends LogicalPath>(path: P): P {
  const slash = path.lastIndexOf('/')
  return (slash === -1 ? '' : path.slice(0, slash)) as P
}

/** The last name of a path; the root's is `''`. */
export function nameOf(path: LogicalPath): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The path of a name inside a directory. The name must be a single one that the guard accepts. */
export function childOf<P extends LogicalPath>(directory: P, name: string): P {
  return (directory === '' ? name : `${directory}/${name}`) as P
}

/** Whether `path` is `directory` or lies below it. */
export function isWithin(path: LogicalPath, directory: LogicalPath): boolean {
  return (
    directory === '' ||
    path === directory ||
    (path.startsWith(directory) && path.charCodeAt(directory.length) === SLASH)
  )
}

/** The directories above a path, nearest first, the root left out. */
export function ancestorsOf<P extends LogicalPath>(path: P): P[] {
  const above: P[] = []
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) above.push(parent)
  return above
}

/** The path as a caller may write it: the root is `.`. */
export function display(path: LogicalPath): string {
  return path === '' ? '.' : path
}
