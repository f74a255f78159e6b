import type { ToolError } from '../errors.ts'
import { compileGlob, compileGlobs } from '../paths/glob.ts'
import { parsePath } from '../paths/logical-path.ts'
import { type Permission, permissions } from './permissions.ts'

/** A longer pattern is refused, in UTF-16 units. */
const MAX_TEXT_PATTERN = 4096

export interface PathSet {
  matches(path: string): boolean
  /** False only where nothing below the directory can match. */
  mayMatchBelow(directory: string): boolean
  /** True only where everything below the directory matches. */
  coversBelow(directory: string): boolean
}

/**
 * One matcher for several path globs. A pattern that ends in a plain name covers what lies below it, too: whoever
 * denies `secrets` does not mean the bare directory.
 *
 * @param field what the error calls the list
 * @throws TypeError for a pattern that is not valid
 */
export function compilePaths(patterns: readonly string[], field: string): PathSet {
  const all = patterns.flatMap((pattern) => (endsInPlainName(pattern) ? [pattern, `${pattern}/**`] : [pattern]))
  for (const [index, pattern] of patterns.entries()) checkGlob(pattern, `${field}[${index}]`)
  const globs = compileGlobs(all)
  const covers = all.map(coverage).filter((cover) => cover !== undefined)
  const mayMatch = prefilter(all)
  const everything = covers.some((cover) => cover.kind === 'all')
  const below = covers.filter((cover) => cover.kind === 'below').map((cover) => cover.name)
  const anywhere = covers.filter((cover) => cover.kind === 'anywhere').map((cover) => `/${cover.name}/`)
  return {
    matches: (path) => everything || (mayMatch(path) && globs.matches(path)),
    mayMatchBelow: (directory) => everything || globs.mayMatchBelow(directory),
    coversBelow: (directory) =>
      everything ||
      below.some((name) => directory === name || directory.startsWith(`${name}/`)) ||
      (anywhere.length > 0 && anywhere.some((name) => `/${directory}/`.includes(name))),
  }
}

function checkGlob(pattern: string, field: string): void {
  try {
    compileGlob(pattern)
  } catch (error) {
    throw new TypeError(`Policy field "${field}" is not a valid glob: ${(error as ToolError).message}`)
  }
}

/**
 * A cheap test without false negatives: whether a path holds the longest plain text of one of the patterns. Most rules
 * speak of few files, and a walk asks about all.
 */
function prefilter(patterns: readonly string[]): (path: string) => boolean {
  const tests: { readonly text: string; readonly atEnd: boolean }[] = []
  for (const pattern of patterns) {
    if (/[[\]{}()\\]/.test(pattern)) return () => true
    const names = pattern.split('/').filter((name) => name !== '.')
    const texts = names.flatMap((name) => name.split(/[*?]/))
    const last = texts.at(-1) ?? ''
    const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), '')
    tests.push(last === '' ? { text: longest, atEnd: false } : { text: last, atEnd: true })
  }
  return (path) => {
    for (const { text, atEnd } of tests) if (atEnd ? path.endsWith(text) : path.includes(text)) return true
    return false
  }
}

const GLOB_CHARACTERS = /[*?[\]{}()!+@|\\]/

function endsInPlainName(pattern: string): boolean {
  const last = pattern.slice(pattern.lastIndexOf('/') + 1)
  return last !== '' && !GLOB_CHARACTERS.test(last)
}

/** What a pattern certainly covers whole: everything, what is below a directory, or below every directory of a name. */
function coverage(pattern: string): { kind: 'all' | 'below' | 'anywhere'; name: string } | undefined {
  if (pattern === '**') return { kind: 'all', name: '' }
  if (!pattern.endsWith('/**') && !pattern.endsWith('/')) return undefined
  const name = pattern.slice(0, pattern.lastIndexOf('/'))
  if (!GLOB_CHARACTERS.test(name)) return { kind: 'below', name }
  if (!name.startsWith('**/')) return name === '**' ? { kind: 'all', name: '' } : undefined
  const rest = name.slice('**/'.length)
  return GLOB_CHARACTERS.test(rest) ? undefined : { kind: 'anywhere', name: rest }
}

/**
 * A test of whole texts against patterns in which `*` stands for any characters, `/` included, and `\` makes the next
 * character plain. Linear in the text whatever the pattern.
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

/** The plain texts between the stars. */
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

/** Stars need no backtracking: the first place where the next piece fits leaves the most room for the rest. */
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

/** indexOf may cost text times piece; over a short piece that is nothing, over a long one the table of borders helps. */
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
 * The permissions that patterns name, as one bit each in the order of `permissions`. `*` is one part between colons; at
 * the end it covers all that follows.
 *
 * @throws TypeError for a pattern that names none
 */
export function permissionMask(patterns: readonly string[], field: string): number {
  let mask = 0
  for (const [index, pattern] of patterns.entries()) {
    const bits = maskWhere((permission) => namesPermission(pattern, permission))
    if (bits === 0) {
      const more =
        namesPermission(`${pattern}:*`, `${pattern}:x`) && maskWhere((p) => p.startsWith(`${pattern}:`)) !== 0
      const help = more ? `; did you mean "${pattern}:*"?` : `; the permissions are ${permissions.join(', ')}`
      throw new TypeError(`Policy field "${field}[${index}]" names no permission: ${JSON.stringify(pattern)}${help}`)
    }
    mask |= bits
  }
  return mask
}

/** The bits of the permissions that pass a test. */
export function maskWhere(test: (permission: Permission) => boolean): number {
  return permissions.reduce((mask, permission, index) => (test(permission) ? mask | (1 << index) : mask), 0)
}

function namesPermission(pattern: string, permission: string): boolean {
  const wanted = pattern.split(':')
  const parts = permission.split(':')
  const open = wanted.at(-1) === '*'
  if (open ? parts.length < wanted.length : parts.length !== wanted.length) return false
  return wanted.every((part, index) => part === '*' || part === parts[index])
}

/** Input fields that hold a path: their value is brought to its normal form before it is compared. */
const pathFields = new Set(['path', 'to', 'from', 'cwd', 'paths'])

/** A test of one input field: `some` of its texts for a rule that restricts, `every` one for a rule that allows. */
export function compileArgument(
  name: string,
  patterns: readonly string[],
  field: string,
): (input: Readonly<Record<string, unknown>>, how: 'some' | 'every') => boolean {
  const isPath = pathFields.has(name)
  const test = isPath ? compilePaths(patterns, field).matches : compileTexts(patterns, field)
  return (input, how) => {
    if (!Object.hasOwn(input, name)) return false
    const texts: string[] = []
    collectTexts(input[name], texts)
    if (texts.length === 0) return false
    const fits = (text: string) => test(isPath ? normal(text) : text)
    return how === 'some' ? texts.some(fits) : texts.every(fits)
  }
}

function normal(path: string): string {
  try {
    return parsePath(path)
  } catch {
    return path
  }
}

/** Texts, numbers and booleans of a value, at any depth. */
function collectTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (typeof value === 'number' || typeof value === 'boolean') texts.push(String(value))
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collectTexts(item, texts)
}
