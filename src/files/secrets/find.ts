import {
  awsSecretKey,
  discordToken,
  jsonWebToken,
  type PrecededFormat,
  placeholderPasswords,
  precededFormats,
  prefixedFormats,
  SHORTEST_TOKEN,
  schemesWithPassword,
} from './formats.ts'

export interface Secret {
  readonly kind: string
  readonly start: number
  readonly end: number
}

/**
 * Every secret of a well-known format in a text, in order and without overlaps. Linear, whatever the text: only ASCII is
 * looked at, and no pattern is tried where it could read the same characters many times over.
 */
export function findSecrets(text: string): readonly Secret[] {
  const found: Secret[] = []
  findTokens(text, found)
  if (text.includes('://')) findUrlPasswords(text, found)
  if (text.includes('PRIVATE KEY')) findPrivateKeys(text, found)
  return found.length < 2 ? found : withoutOverlaps(found)
}

/** Letters, digits and `_ - / +`: what tokens and Base64 are made of. Ordinary text seldom has long runs of them. */
export const IN_TOKEN = asciiSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-/+')
const SEPARATES = asciiSet('_-/+')

/** 1 for each of the characters; none beyond ASCII. */
export function asciiSet(chars: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const char of chars) set[char.charCodeAt(0)] = 1
  return set
}

/** Looks at each long run of token characters, and skips what holds none by looking at the end of the window first. */
function findTokens(text: string, found: Secret[]): void {
  let start = 0
  for (let last = SHORTEST_TOKEN - 1; last < text.length; last = start + SHORTEST_TOKEN - 1) {
    let at = last
    while (at >= start && isIn(IN_TOKEN, text.charCodeAt(at))) at -= 1
    if (at >= start) {
      start = at + 1
      continue
    }
    let end = last + 1
    while (isIn(IN_TOKEN, text.charCodeAt(end))) end += 1
    findInRun(text, start, end, found)
    start = end + 1
  }
}

/** None is beyond the end of a text, where the unit is NaN. */
function isIn(set: Uint8Array, unit: number): boolean {
  return unit < 128 && set[unit] === 1
}

/** The rows of the table, compiled, by a pair of ASCII characters: the first two of a token, or the two before it. */
interface Matcher {
  readonly kind: string
  readonly pattern: RegExp
  readonly keep: number
}

const byFirstPair = new Map<number, Matcher[]>()
const firstPairs = new Uint8Array(128 * 128)
for (const { kind, prefixes, body } of prefixedFormats) {
  for (const prefix of prefixes) {
    const pattern = new RegExp(prefix + body, 'y')
    add(byFirstPair, firstPairs, pairAt(prefix, 0), { kind, pattern, keep: 0 })
  }
}

const byPairBefore = new Map<number, Matcher[]>()
const pairsBefore = new Uint8Array(128 * 128)
for (const { kind, after, token, keep = 0 } of precededFormats satisfies readonly PrecededFormat[]) {
  for (const literal of after) {
    add(byPairBefore, pairsBefore, pairAt(literal, literal.length - 2), { kind, pattern: token, keep })
  }
}

function add(map: Map<number, Matcher[]>, set: Uint8Array, pair: number, matcher: Matcher): void {
  set[pair] = 1
  map.set(pair, [...(map.get(pair) ?? []), matcher])
}

/** -1 where one of the two is not ASCII, or not there. */
function pairAt(text: string, at: number): number {
  const first = text.charCodeAt(at)
  const second = text.charCodeAt(at + 1)
  return first < 128 && second < 128 ? first * 128 + second : -1
}

/**
 * Whether {@link findInRun} is worth its while for a run of token characters in bytes: a look at the two bytes at each
 * place where a token may start, and at what stands around the run.
 */
export function mayHoldToken(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[end] === DOT || end - start === AWS_SECRET_LENGTH) return true
  if (start >= 2 && pairsBefore[pairIn(bytes, start - 2)] === 1) return true
  if (firstPairs[pairIn(bytes, start)] === 1) return true
  const lastStart = end - SHORTEST_TOKEN
  for (let at = start; at < lastStart; at++) {
    if (SEPARATES[bytes[at] as number] === 1 && firstPairs[pairIn(bytes, at + 1)] === 1) return true
  }
  return false
}

/** As {@link pairAt}; what is not ASCII gives the place of two NULs, which no format has. */
function pairIn(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  const second = bytes[at + 1] as number
  return (first | second) < 128 ? first * 128 + second : 0
}

/** Notes the secrets that begin in a run of token characters, or are known by what stands around it. */
export function findInRun(text: string, start: number, end: number, found: Secret[]): void {
  const lastStart = end - SHORTEST_TOKEN
  for (let at = start; at <= lastStart; ) {
    const pair = pairAt(text, at)
    const matchers = firstPairs[pair] === 1 ? byFirstPair.get(pair) : undefined
    const after = matchers === undefined ? at : match(text, at, matchers, found)
    // What follows a token, or a letter that starts none, only starts one after a separator.
    at = after > at ? after : at + 1
    while (at <= lastStart && !isIn(SEPARATES, text.charCodeAt(at - 1))) at += 1
  }
  // Before what is known by its surroundings alone: of two findings of one place, the first gives the name.
  if (text.charCodeAt(end) === DOT) findDotted(text, start, end, found)
  const pair = pairAt(text, start - 2)
  const matchers = pairsBefore[pair] === 1 ? byPairBefore.get(pair) : undefined
  if (matchers !== undefined) match(text, start, matchers, found)
  if (end - start === AWS_SECRET_LENGTH) match(text, start, AWS_SECRET, found)
}

/** Notes the first matcher's token at a place and returns its end, or the place itself. */
function match(text: string, at: number, matchers: readonly Matcher[], found: Secret[]): number {
  for (const { kind, pattern, keep } of matchers) {
    pattern.lastIndex = at
    if (!pattern.test(text)) continue
    found.push({ kind, start: at + keep, end: pattern.lastIndex })
    return pattern.lastIndex
  }
  return at
}

const AWS_SECRET_LENGTH = 40
const AWS_SECRET: readonly Matcher[] = [{ kind: 'aws-secret-access-key', pattern: awsSecretKey, keep: 0 }]

const DOT = 0x2e

/** Tokens of several parts: the run is the first one, and what comes before its last `/` or `+` is not of it. */
function findDotted(text: string, start: number, end: number, found: Secret[]): void {
  let first = end
  while (first > start && text.charCodeAt(first - 1) !== SLASH && text.charCodeAt(first - 1) !== PLUS) first -= 1
  const header = headerIn(text, start, first, end)
  if (header !== -1) {
    jsonWebToken.lastIndex = header
    const token = jsonWebToken.exec(text)
    if (token !== null && isTokenHeader(token[1] as string)) {
      found.push({ kind: 'jwt', start: header, end: jsonWebToken.lastIndex })
    }
  }
  discordToken.lastIndex = first
  const token = end - first <= 28 ? discordToken.exec(text) : null
  if (token !== null && /^[0-9]{17,20}$/.test(decodeBase64(token[1] as string))) {
    found.push({ kind: 'discord-token', start: first, end: discordToken.lastIndex })
  }
}

/** Where `eyJ` first stands in `[from, end)` where a token may start. A search over the text would look far beyond the run. */
function headerIn(text: string, start: number, from: number, end: number): number {
  for (let at = from; at < end - 2; at++) {
    if (text.charCodeAt(at) !== LOWER_E || !text.startsWith('eyJ', at)) continue
    // Only the first place: a header within another would decode to nothing.
    if (at === start || isIn(SEPARATES, text.charCodeAt(at - 1))) return at
  }
  return -1
}

const LOWER_E = 0x65
const SLASH = 0x2f
const PLUS = 0x2b

function isTokenHeader(header: string): boolean {
  try {
    // `eyJ` decodes to `{"`: what begins so is an object, or no JSON.
    return 'alg' in (JSON.parse(decodeBase64(header)) as object)
  } catch {
    return false
  }
}

/** Base64 with the alphabet of URLs, as Latin-1; nothing where it is none. */
function decodeBase64(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}

/** The passwords in `scheme://user:password@host`. Neither part can hold a `/`, so that no text is read twice. */
export function findUrlPasswords(text: string, found: Secret[]): void {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    let schemeStart = at
    while (schemeStart > 0 && at - schemeStart < 16 && /[A-Za-z0-9+]/.test(text[schemeStart - 1] as string))
      schemeStart -= 1
    if (!schemesWithPassword.has(text.slice(schemeStart, at).toLowerCase())) continue
    USER_AND_PASSWORD.lastIndex = at + 3
    const parts = USER_AND_PASSWORD.exec(text)
    if (parts === null) continue
    const [, user = '', password = ''] = parts
    if (password === user || placeholderPasswords.has(password.toLowerCase())) continue
    const end = USER_AND_PASSWORD.lastIndex - 1
    found.push({ kind: 'url-password', start: end - password.length, end })
  }
}

/** Printable ASCII without what must be escaped in an address, or marks a variable: `$ { < * % (`. */
const USER_AND_PASSWORD =
  /([^\x00-\x20\x7f-\uffff/@:"'`<>{}$*\\[\]]{0,128}):((?:[^\x00-\x20\x7f-\uffff/@"'`<>{}$*%\\[\]()]|%[0-9A-Fa-f]{2}){3,256})@/y

/** PEM blocks of private keys. */
function findPrivateKeys(text: string, found: Secret[]): void {
  const begins = [...text.matchAll(/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)]
  const ends = text.matchAll(/-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)
  let end = ends.next()
  for (const [index, begin] of begins.entries()) {
    const bodyStart = begin.index + begin[0].length
    const limit = begins[index + 1]?.index ?? text.length
    while (end.done !== true && end.value.index < bodyStart) end = ends.next()
    const closing = end.done !== true && end.value.index < limit ? end.value : undefined
    const key = keyMaterial(text, bodyStart, closing?.index ?? limit, closing === undefined)
    if (key === undefined) continue
    markLines(text, begin.index, closing === undefined ? key : closing.index + closing[0].length, found)
  }
}

/**
 * The end of the last line of Base64 in a body, where there is enough of it for a key; a program that only mentions the
 * header has none. An `open` body, cut off before its last line, ends where something that is no key begins.
 */
function keyMaterial(text: string, start: number, end: number, open: boolean): number | undefined {
  let material = 0
  let other = 0
  let run = 0
  let last = start
  for (let at = start; at <= end; at++) {
    const unit = at < end ? text.charCodeAt(at) : 0
    if (isIn(IN_BASE64, unit)) {
      run += 1
      continue
    }
    if (run >= BASE64_LINE) {
      material += run
      last = at
    } else {
      other += run
      if (run > 0 && material > 0 && isNextLine(text, last, at - run, unit)) last = at
    }
    run = 0
    if (unit < 128) other += 1
    if (open && !isIn(IN_BODY, unit)) break
  }
  return material >= BASE64_LINE && material * 2 >= other ? last : undefined
}

/** Whether a short run, from `start` to a `following` unit, is alone on the line after the one that ended at `last`. */
function isNextLine(text: string, last: number, start: number, following: number): boolean {
  return start - last <= 4 && /^[\r\n\\]+$/.test(text.slice(last, start)) && isIn(ENDS_LINE, following)
}

const ENDS_LINE = asciiSet('\0\r\n\\"\'`')
const BASE64_LINE = 32
const IN_BASE64 = asciiSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=')
const IN_BODY = asciiSet(' \t\r\n\\:,-.')

/** A secret for each line of a block, its indentation left out. */
function markLines(text: string, start: number, end: number, found: Secret[]): void {
  for (const line of text.slice(start, end).matchAll(/[^\s][^\r\n]*/g)) {
    found.push({ kind: 'private-key', start: start + line.index, end: start + line.index + line[0].length })
  }
}

function withoutOverlaps(secrets: readonly Secret[]): Secret[] {
  const sorted = secrets.toSorted((one, other) => one.start - other.start || other.end - one.end)
  const kept: Secret[] = []
  for (const secret of sorted) {
    const before = kept.at(-1)
    if (before === undefined || secret.start >= before.end) kept.push(secret)
    else if (secret.end > before.end) kept[kept.length - 1] = { ...before, end: secret.end }
  }
  return kept
}
