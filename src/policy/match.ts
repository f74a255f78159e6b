import { compileGlobs, composePath, GLOB_CHARACTERS, withBelow } from '../paths/glob.ts'
import { nearestName } from '../util/nearest-name.ts'
import { checkGlob } from './path-patterns.ts'
import { maskWhere, type Permission, permissionBit, permissionGroups, permissions } from './permissions.ts'

/** Maximum length of a pattern in UTF-16 units. */
const MAX_TEXT_PATTERN = 4096

/** A set of paths given by globs. */
export interface PathSet {
  matches(path: string): boolean
  /** False only if nothing below the directory can match. */
  mayMatchBelow(directory: string): boolean
  /** True only if everything below the directory matches. */
  coversBelow(directory: string): boolean
}

/**
 * Compiles path globs to one matcher. An alternative that ends in a name without `*` and `?` also covers everything below it, so
 * that denying `{secrets,keys}` denies more than the directory entries. Patterns and paths are compared in their composed Unicode form, because
 * editors and file systems write the same name in different forms.
 *
 * @param field name of the list, for errors
 * @throws TypeError for an invalid pattern
 */
export function compilePaths(patterns: readonly string[], field: string): PathSet {
  for (const [index, pattern] of patterns.entries()) checkGlob(pattern, `${field}[${index}]`)
  const all = patterns.map(composePath).flatMap(withBelow)
  const globs = compileGlobs(all, { composed: true })
  const covers = all.map(coverage).filter((cover) => cover !== undefined)
  const mayMatch = prefilter(all)
  const everything = covers.some((cover) => cover.kind === 'all')
  const below = covers.filter((cover) => cover.kind === 'below').map((cover) => cover.name)
  const anywhere = covers.filter((cover) => cover.kind === 'anywhere').map((cover) => `/${cover.name}/`)
  const matches = (path: string) => mayMatch(path) && globs.matches(path)
  const coversBelow = (directory: string) =>
    below.some((name) => directory === name || directory.startsWith(`${name}/`)) ||
    (anywhere.length > 0 && anywhere.some((name) => `/${directory}/`.includes(name)))
  return {
    matches: (path) => everything || matches(composePath(path)),
    mayMatchBelow: (directory) => everything || globs.mayMatchBelow(composePath(directory)),
    coversBelow: (directory) => everything || coversBelow(composePath(directory)),
  }
}

/**
 * Returns a cheap test without false negatives: whether a path contains the longest literal text of a pattern. Most rules
 * match few files, but a walk tests all.
 */
function prefilter(patterns: readonly string[]): (path: string) => boolean {
  const tests: { readonly text: string; readonly atEnd: boolean }[] = []
  for (const pattern of patterns) {
    if (/[[\]{}()\\]/.test(pattern)) return () => true
    const names = pattern.split('/').filter((name) => name !== '.')
    const texts = names.flatMap((name) => name.split(/[*?]/))
    const last = texts.at(-1) ?? ''
    const longest = texts.reduce((longer, text) => (text.length > longer.length ? text : longer), '')
    tests.push(last === '' ? { text: longest, atEnd: false } : { text: last, atEnd: true })
  }
  return (path) => {
    for (const { text, atEnd } of tests) if (atEnd ? path.endsWith(text) : path.includes(text)) return true
    return false
  }
}

/** Returns the trees that a pattern certainly covers: everything, a directory, or every directory of a name. */
function coverage(pattern: string): { kind: 'all' | 'below' | 'anywhere'; name: string } | undefined {
  if (pattern === '**') return { kind: 'all', name: '' }
  if (!pattern.endsWith('/**') && !pattern.endsWith('/')) return undefined
  const name = pattern.slice(0, pattern.lastIndexOf('/'))
  if (!GLOB_CHARACTERS.test(name)) return { kind: 'below', name }
  if (!name.startsWith('**/')) return name === '**' ? { kind: 'all', name: '' } : undefined
  const suffix = name.slice('**/'.length)
  return GLOB_CHARACTERS.test(suffix) ? undefined : { kind: 'anywhere', name: suffix }
}

/**
 * Returns a test of complete texts against patterns. `*` matches any characters, `/` included, and `\` escapes the next
 * character. Linear in the text for every pattern.
 *
 * @throws TypeError for a pattern over 4,096 characters
 */
export function compileTexts(patterns: readonly string[], field: string): (text: string) => boolean {
  const exact = new Set<string>()
  const tests: ((text: string) => boolean)[] = []
  for (const [index, pattern] of patterns.entries()) {
    if (pattern.length > MAX_TEXT_PATTERN) {
      throw new TypeError(`Policy field "${field}[${index}]" is longer than ${MAX_TEXT_PATTERN} characters`)
    }
    const pieces = split(pattern)
    if (pieces.length === 1) exact.add(pieces[0] as string)
    else tests.push(piecesTest(pieces))
  }
  return (text) => exact.has(text) || tests.some((test) => test(text))
}

/** Returns the literal texts between the stars. */
function split(pattern: string): string[] {
  const pieces: string[] = []
  let piece = ''
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i)
    if (char === '*') {
      pieces.push(piece)
      piece = ''
    } else if (char === '\\' && i + 1 < pattern.length) {
      i += 1
      piece += pattern.charAt(i)
    } else {
      piece += char
    }
  }
  return [...pieces, piece]
}

/** Needs no backtracking: the first position of each piece leaves the most room for the following ones. */
function piecesTest(pieces: readonly string[]): (text: string) => boolean {
  const first = pieces[0] as string
  const last = pieces[pieces.length - 1] as string
  const finders = pieces.slice(1, -1).map((piece) => ({ find: finder(piece), length: piece.length }))
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let from = first.length
    for (const { find, length } of finders) {
      const at = find(text, from)
      if (at === -1) return false
      from = at + length
      if (from > end) return false
    }
    return true
  }
}

/** Finds a piece in linear time. `indexOf` may take text × piece steps, so long pieces use Knuth–Morris–Pratt. */
function finder(piece: string): (text: string, from: number) => number {
  if (piece.length <= 16) return (text, from) => text.indexOf(piece, from)
  const borders = new Int32Array(piece.length)
  for (let i = 1, k = 0; i < piece.length; i++) {
    while (k > 0 && piece.charCodeAt(i) !== piece.charCodeAt(k)) k = borders[k - 1] as number
    if (piece.charCodeAt(i) === piece.charCodeAt(k)) k += 1
    borders[i] = k
  }
  return (text, from) => {
    for (let i = from, k = 0; i < text.length; i++) {
      while (k > 0 && text.charCodeAt(i) !== piece.charCodeAt(k)) k = borders[k - 1] as number
      if (text.charCodeAt(i) === piece.charCodeAt(k)) k += 1
      if (k === piece.length) return i - k + 1
    }
    return -1
  }
}

/**
 * Returns the permissions that match patterns, as one bit each in the order of `permissions`. `*` is one part between
 * colons; at the end it covers all following parts. A pattern may be one of `permissionGroups`.
 *
 * @throws TypeError for a pattern that matches no permission
 */
export function permissionMask(patterns: readonly string[], field: string): number {
  let mask = 0
  for (const [index, pattern] of patterns.entries()) {
    const bits = groupMask(pattern) ?? maskWhere((permission) => namesPermission(pattern, permission))
    if (bits === 0) {
      const isPrefix =
        namesPermission(`${pattern}:*`, `${pattern}:x`) && maskWhere((p) => p.startsWith(`${pattern}:`)) !== 0
      const names = [...permissions, ...Object.keys(permissionGroups)]
      const help = isPrefix ? `; did you mean "${pattern}:*"?` : permissionHelp(pattern, names)
      throw new TypeError(`Policy field "${field}[${index}]" names no permission: ${JSON.stringify(pattern)}${help}`)
    }
    mask |= bits
  }
  return mask
}

function groupMask(name: string): number | undefined {
  if (!Object.hasOwn(permissionGroups, name)) return undefined
  const group: readonly Permission[] = permissionGroups[name as keyof typeof permissionGroups]
  const mask = group.reduce((sum, permission) => sum | permissionBit(permission), 0)
  return name === 'file:view' ? mask | permissionBit('file:copy', true) : mask
}

/** Words of other systems for permissions. */
const otherPermissions: Readonly<Record<string, string>> = {
  ...{ read: 'file:view', view: 'file:view', write: 'file:change', edit: 'file:change', change: 'file:change' },
  ...{
    create: 'file:write:create',
    modify: 'file:change',
    delete: 'file:delete',
    remove: 'file:delete',
    ls: 'file:list',
  },
  ...{ execute: 'command:*', exec: 'command:*', shell: 'command:*', bash: 'command:*', run: 'command:*', all: '*' },
}

/** Lists the permissions, and names the one that is meant or the nearest one, patterns such as `file:write:*` included. */
function permissionHelp(pattern: string, names: readonly string[]): string {
  const word = pattern.toLowerCase()
  const nearest = Object.hasOwn(otherPermissions, word)
    ? otherPermissions[word]
    : nearestName(pattern, [...names, 'file:write:*', 'file:*', 'command:*', 'memory:*'])
  return `; the permissions are ${names.join(', ')}${nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`}`
}

function namesPermission(pattern: string, permission: string): boolean {
  const expected = pattern.split(':')
  const parts = permission.split(':')
  const isPrefix = expected.at(-1) === '*'
  if (isPrefix ? parts.length < expected.length : parts.length !== expected.length) return false
  return expected.every((part, index) => part === '*' || part === parts[index])
}

/** Input fields of the workspace's tools that contain a path. Their value is normalized before it is compared. */
export const pathFields: ReadonlySet<string> = new Set(['path', 'to', 'from', 'cwd', 'paths'])

/** Input fields of dialects' tools that contain a path. An own tool may have a field of such a name for another text. */
export const dialectPathFields: ReadonlySet<string> = new Set([
  ...['file_path', 'dir_path', 'old_path', 'new_path', 'source', 'destination', 'workdir'],
])
