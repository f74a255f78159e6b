import { byteText, fromByteText } from '../util/native-bytes.ts'
import { compileName, parseClass, type Token } from './wildcard.ts'

/** The compiled rules of one ignore file. */
export interface IgnoreRules {
  readonly isEmpty: boolean
  /** Returns the lookup for the entries of a directory, given relative to that of the file (`''`). */
  within(directory: string): Lookup
}

/** Looks up an entry of one directory. The last matching rule decides, or `undefined` when none matches. */
type Lookup = (name: string, isDirectory: boolean) => 'ignored' | 'included' | undefined

/** The ignore files that apply in a directory: its own and those above. */
export interface IgnoreScope {
  readonly parent: IgnoreScope | undefined
  /** The directory of the file; `''` is the root. */
  readonly directory: string
  readonly rules: IgnoreRules
}

export interface IgnoreOptions {
  /** As `core.ignoreCase` of git: ASCII letters match in either case. */
  readonly caseInsensitive?: boolean
}

const MAX_PATTERN_LENGTH = 4096
const MAX_WILDCARD_RULES = 1000

/**
 * Parses the text of a `.gitignore` with the semantics of git, including bytewise `?` and brackets. Never throws: as in git,
 * an invalid rule matches nothing. Unlike in git, the cost is bounded: rules longer than 4,096 characters, and wildcard rules
 * after the first 1,000 (not counting `*.ext`), are ignored.
 */
export function parseIgnore(text: string, options: IgnoreOptions = {}): IgnoreRules {
  const fold = options.caseInsensitive === true ? foldAscii : undefined
  const rules: Rule[] = []
  let wildcards = 0
  for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
    const rule = parseRule(line, rules.length, fold)
    if (rule === undefined) continue
    const hasWildcard = rule.match.type === 'pattern' || rule.match.type === 'path'
    if (hasWildcard) wildcards += 1
    if (!hasWildcard || wildcards <= MAX_WILDCARD_RULES) rules.push(rule)
  }
  return { isEmpty: rules.length === 0, within: lookups(rules, fold) }
}

/** Returns the scope inside a directory with an ignore file. For a file without rules, that is the outer scope. */
export function ignoreScope(
  parent: IgnoreScope | undefined,
  directory: string,
  rules: IgnoreRules,
): IgnoreScope | undefined {
  return rules.isEmpty ? parent : { parent, directory, rules }
}

/** Longer ignore files are cut: what follows has no effect. */
export const MAX_IGNORE_FILE_BYTES = 512 * 1024

/** Returns the scope inside a directory whose ignore file has these bytes. */
export function scopeWith(
  parent: IgnoreScope | undefined,
  directory: string,
  bytes: Uint8Array,
  caseInsensitive: boolean,
): IgnoreScope | undefined {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, MAX_IGNORE_FILE_BYTES))
  return ignoreScope(parent, directory, parseIgnore(text, { caseInsensitive }))
}

/**
 * Returns a test for the entries of one directory: created once per directory, cheap for each name. It assumes that the
 * directory itself is not ignored, because a walk would not have entered it.
 */
export function ignoredIn(
  scope: IgnoreScope | undefined,
  directory: string,
): (name: string, isDirectory: boolean) => boolean {
  if (scope === undefined) return () => false
  const lookups: Lookup[] = []
  for (let at: IgnoreScope | undefined = scope; at !== undefined; at = at.parent) {
    lookups.push(at.rules.within(at.directory === '' ? directory : directory.slice(at.directory.length + 1)))
  }
  const [only] = lookups
  if (lookups.length === 1 && only !== undefined) return (name, isDirectory) => only(name, isDirectory) === 'ignored'
  return (name, isDirectory) => {
    for (const lookup of lookups) {
      const result = lookup(name, isDirectory)
      if (result !== undefined) return result === 'ignored'
    }
    return false
  }
}

/** Returns whether the scope of its directory ignores a path. Assumes that the directory itself is not ignored. */
export function isIgnored(scope: IgnoreScope | undefined, path: string, isDirectory: boolean): boolean {
  const slash = path.lastIndexOf('/')
  return ignoredIn(scope, slash === -1 ? '' : path.slice(0, slash))(path.slice(slash + 1), isDirectory)
}

interface Rule {
  /** Position in the file: the last matching rule decides. */
  readonly index: number
  readonly negated: boolean
  readonly directoriesOnly: boolean
  readonly match: Match
}

type Match =
  /** A name, in any directory. */
  | { readonly type: 'name'; readonly name: string }
  /** `*.ext`, in any directory. */
  | { readonly type: 'extension'; readonly extension: string }
  | { readonly type: 'pattern'; readonly matches: (name: string) => boolean }
  /** A path relative to the directory of the file. */
  | { readonly type: 'exact'; readonly directory: string; readonly name: string }
  | { readonly type: 'path'; readonly head: string; readonly matches: (path: string) => boolean }

type Fold = ((text: string) => string) | undefined

function parseRule(line: string, index: number, fold: Fold): Rule | undefined {
  let pattern = line.endsWith('\r') ? line.slice(0, -1) : line
  if (pattern.startsWith('#')) return undefined
  const nul = pattern.indexOf('\0')
  if (nul !== -1) pattern = pattern.slice(0, nul)
  pattern = withoutTrailingSpaces(pattern)
  const negated = pattern.startsWith('!')
  if (negated) pattern = pattern.slice(1)
  const directoriesOnly = pattern.endsWith('/')
  if (directoriesOnly) pattern = pattern.slice(0, -1)
  if (pattern === '' || pattern.length > MAX_PATTERN_LENGTH) return undefined
  const match = pattern.includes('/') ? pathMatch(pattern, fold) : nameMatch(pattern, fold)
  return match === undefined ? undefined : { index, negated, directoriesOnly, match }
}

/** Removes trailing spaces, except an escaped one and everything before it. */
function withoutTrailingSpaces(text: string): string {
  let end = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === ' ') continue
    end = at + 1
  }
  return text.slice(0, end)
}

function nameMatch(pattern: string, fold: Fold): Match | undefined {
  const tokens = parseTokens(pattern, 0, fold)
  if (tokens === undefined) return undefined
  const inName = tokens.map((token) => (token.type === 'globstar' || token.type === 'names' ? STAR : token))
  // Only `?` and brackets distinguish bytes from characters. Most patterns have neither.
  const isBytewise = inName.some((token) => token.type === 'any' || token.type === 'class')
  const compiled = compileName(isBytewise ? inName : inName.map(inCharacters))
  if (compiled.literal !== undefined) return { type: 'name', name: compiled.literal }
  if (compiled.isTail && compiled.tail.lastIndexOf('.') === 0) return { type: 'extension', extension: compiled.tail }
  return { type: 'pattern', matches: isBytewise ? (name) => compiled.matches(toBytes(name)) : compiled.matches }
}

function inCharacters(token: Token): Token {
  return token.type === 'text' ? { type: 'text', text: fromBytes(token.text) } : token
}

function pathMatch(patternText: string, fold: Fold): Match | undefined {
  const pattern = patternText.startsWith('/') ? patternText.slice(1) : patternText
  // Git compares the text before the first special character literally, and matches only the rest as a pattern.
  const special = pattern.search(/[*?[\\]/)
  if (special === -1) return exactMatch(fold === undefined ? pattern : fold(pattern))
  const anywhere = /^\*\*+\/([^/]+)$/.exec(pattern)
  if (anywhere?.[1] !== undefined && !/^\*\*+$/.test(anywhere[1])) return nameMatch(anywhere[1], fold)
  const tokens = parseTokens(pattern, special, fold)
  if (tokens === undefined) return undefined
  if (tokens.every((token) => token.type === 'text'))
    return exactMatch(fromBytes(tokens.map((token) => token.text).join('')))
  const [first] = tokens
  const last = tokens.at(-1)
  const start = first?.type === 'text' ? fromBytes(first.text) : ''
  const tail = last?.type === 'text' ? last.text : ''
  return {
    type: 'path',
    head: start.slice(0, start.lastIndexOf('/') + 1),
    matches: (path) => {
      const bytes = toBytes(path)
      return bytes.endsWith(tail) && matchPath(tokens, bytes)
    },
  }
}

function exactMatch(path: string): Match | undefined {
  const slash = path.lastIndexOf('/')
  // No name before the slash: no path matches.
  if (slash === 0) return undefined
  return { type: 'exact', directory: slash === -1 ? '' : path.slice(0, slash), name: path.slice(slash + 1) }
}

/** In addition to the tokens of a name: any characters including slashes, and any number of complete names with their slashes. */
type PathToken = Token | { readonly type: 'globstar' } | { readonly type: 'names' }

const STAR = { type: 'star' } as const

/**
 * Parses a pattern to tokens over bytes. Returns `undefined` for a pattern that is malformed for git. The literal beginning
 * ends at `special`: stars there count as the start of a name, even after text.
 */
function parseTokens(patternText: string, special: number, fold: Fold): PathToken[] | undefined {
  const start = toBytes(patternText.slice(0, special)).length
  const pattern = toBytes(patternText)
  const plain = fold === undefined ? pattern : fold(pattern)
  const tokens: PathToken[] = []
  const addText = (text: string) => {
    const last = tokens.at(-1)
    if (last?.type === 'text') tokens[tokens.length - 1] = { type: 'text', text: last.text + text }
    else tokens.push({ type: 'text', text })
  }
  if (start > 0) addText(plain.slice(0, start))
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at] as string
    if (char === '*') {
      let end = at + 1
      while (pattern[end] === '*') end += 1
      const isWhole = at === start || pattern[at - 1] === '/'
      if (end - at === 1 || !isWhole) tokens.push(STAR)
      else if (pattern[end] === '/') {
        tokens.push({ type: 'names' })
        end += 1
      } else if (end === pattern.length || pattern.startsWith('\\/', end)) tokens.push({ type: 'globstar' })
      else tokens.push(STAR)
      at = end - 1
    } else if (char === '?') tokens.push({ type: 'any' })
    else if (char === '[') {
      const bracket = parseClass(pattern, at, pattern.length, fold !== undefined)
      if (bracket === undefined) return undefined
      tokens.push({ type: 'class', has: bracket.has })
      at = bracket.end - 1
    } else if (char === '\\') {
      at += 1
      if (at === pattern.length) return undefined
      // Not folded even if letter case is ignored: git folds the names only, so an escaped capital never matches.
      addText(pattern[at] as string)
    } else addText(plain[at] as string)
  }
  return tokens
}

const SLASH = 0x2f

/** Matches by the set of offsets where the tokens so far can end: at most (path × pattern) steps. */
function matchPath(tokens: readonly PathToken[], path: string): boolean {
  let ends = new Uint8Array(path.length + 1)
  let low = 0
  ends[0] = 1
  for (const token of tokens) {
    const next = new Uint8Array(path.length + 1)
    let nextLow = -1
    // Offsets are reached in ascending order, so the first one is the lowest.
    const reach = (at: number) => {
      if (nextLow === -1) nextLow = at
      next[at] = 1
    }
    let open = false
    for (let at = low; at <= path.length; at++) {
      const isEnd = ends[at] === 1
      const unit = at < path.length ? path.charCodeAt(at) : -1
      if (token.type === 'text') {
        if (isEnd && path.startsWith(token.text, at)) reach(at + token.text.length)
      } else if (token.type === 'any') {
        if (isEnd && unit !== -1 && unit !== SLASH) reach(at + 1)
      } else if (token.type === 'class') {
        if (isEnd && unit !== -1 && unit !== SLASH && token.has(unit)) reach(at + 1)
      } else if (token.type === 'names') {
        if (isEnd) reach(at)
        open ||= isEnd
        if (open && unit === SLASH) reach(at + 1)
      } else {
        open ||= isEnd
        if (open) reach(at)
        if (token.type === 'star' && unit === SLASH) open = false
      }
    }
    if (nextLow === -1) return false
    ends = next
    low = nextLow
  }
  return ends[path.length] === 1
}

/** A rule with a pattern for the name, or for the path relative to the ignore file. */
interface WildRule extends Rule {
  readonly head: string
  readonly matches: (text: string) => boolean
}

/**
 * Groups the rules by kind, so that names and extensions take one lookup for any number of rules, and rules for other
 * directories take none. The matching rule with the highest index decides.
 */
function lookups(rules: readonly Rule[], fold: Fold): (directory: string) => Lookup {
  const names = new Map<string, Rule[]>()
  const extensions = new Map<string, Rule[]>()
  const exactPaths = new Map<string, Map<string, Rule[]>>()
  const patterns: WildRule[] = []
  const paths: WildRule[] = []
  for (const rule of rules.toReversed()) {
    const { match } = rule
    if (match.type === 'name') add(names, match.name, rule)
    else if (match.type === 'extension') add(extensions, match.extension, rule)
    else if (match.type === 'pattern') patterns.push({ ...rule, head: '', matches: match.matches })
    else if (match.type === 'path') paths.push({ ...rule, head: match.head, matches: match.matches })
    else {
      const inDirectory = exactPaths.get(match.directory) ?? new Map<string, Rule[]>()
      exactPaths.set(match.directory, inDirectory)
      add(inDirectory, match.name, rule)
    }
  }
  return (requestedDirectory) => {
    const directory = fold === undefined ? requestedDirectory : fold(requestedDirectory)
    const prefix = directory === '' ? '' : `${directory}/`
    const exactRules = exactPaths.get(directory)
    const pathRules = paths.length === 0 ? paths : paths.filter(({ head }) => prefix.startsWith(head))
    return (entryName, isDirectory) => {
      const name = fold === undefined ? entryName : fold(entryName)
      let best = pick(names.get(name), isDirectory, undefined)
      if (extensions.size > 0) {
        const dot = name.lastIndexOf('.')
        if (dot !== -1) best = pick(extensions.get(name.slice(dot)), isDirectory, best)
      }
      if (exactRules !== undefined) best = pick(exactRules.get(name), isDirectory, best)
      if (patterns.length > 0) best = tryLast(patterns, name, isDirectory, best)
      if (pathRules.length > 0) best = tryLast(pathRules, prefix + name, isDirectory, best)
      if (best === undefined) return undefined
      return best.negated ? 'included' : 'ignored'
    }
  }
}

/** Returns the last matching one of these rules, or `best` if that has a higher index. */
function tryLast(
  rules: readonly WildRule[],
  text: string,
  isDirectory: boolean,
  best: Rule | undefined,
): Rule | undefined {
  for (const rule of rules) {
    if (best !== undefined && rule.index < best.index) return best
    if ((isDirectory || !rule.directoriesOnly) && rule.matches(text)) return rule
  }
  return best
}

function add(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [rule])
  else list.push(rule)
}

/** Returns the last of these rules that applies to the entry, or `best` if that has a higher index. */
function pick(rules: readonly Rule[] | undefined, isDirectory: boolean, best: Rule | undefined): Rule | undefined {
  if (rules === undefined) return best
  for (const rule of rules) {
    if (rule.directoriesOnly && !isDirectory) continue
    return best === undefined || rule.index > best.index ? rule : best
  }
  return best
}

const foldAscii = (text: string): string => text.replace(/[A-Z]/g, (char) => char.toLowerCase())

const NOT_ASCII = /[^\x00-\x7f]/

/** One character per byte of the UTF-8, since git matches bytes. */
function toBytes(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  return byteText(new TextEncoder().encode(text))
}

function fromBytes(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(fromByteText(bytes))
}
