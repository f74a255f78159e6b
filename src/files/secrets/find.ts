import {
  awsSecretKey,
  discordToken,
  mailchimpKey,
  type PrecededFormat,
  placeholderPasswords,
  precededFormats,
  prefixedFormats,
  type Secret,
  SHORTEST_TOKEN,
  schemesWithPassword,
  webSchemes,
} from './formats.ts'
import { findPasswords, isPassword, MAY_HOLD_PASSWORD } from './passwords.ts'
import { wideTexts } from './wide-text.ts'

/**
 * Finds every secret of a well-known format in a text, in order and without overlaps, also with NULs between its characters. Linear for every text: checks only
 * ASCII, and never tries a pattern where it could read the same characters repeatedly.
 */
export function findSecrets(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  findTokens(text, secrets)
  if (text.includes('@') && text.includes('://')) findUrlPasswords(text, secrets)
  if (text.includes('PRIVATE KEY')) findPrivateKeys(text, secrets)
  if (MAY_HOLD_PASSWORD.test(text)) findPasswords(text, secrets)
  for (const { text: characters, offsetOf } of wideTexts(text)) {
    for (const { kind, start, end } of findSecrets(characters)) {
      secrets.push({ kind, start: offsetOf(start), end: offsetOf(end - 1) + 1 })
    }
  }
  return secrets.length < 2 ? secrets : withoutOverlaps(secrets)
}

/** Letters, digits and `_ - / +`, the characters of tokens and Base64. Ordinary text rarely has long runs of them. */
export const IN_TOKEN = asciiSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-/+')
const IN_BASE64URL = asciiSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')
const SEPARATES = asciiSet('_-/+')

/** Returns a table with 1 for each of the ASCII characters. */
export function asciiSet(chars: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const char of chars) set[char.charCodeAt(0)] = 1
  return set
}

/** Checks each long run of token characters. Skips text without such runs by checking the end of a window first. */
function findTokens(text: string, secrets: Secret[]): void {
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
    findInRun(text, start, end, secrets)
    start = end + 1
  }
}

/** Whether a set contains a unit. False after the end of a text, where the unit is NaN. */
function isIn(set: Uint8Array, unit: number): boolean {
  return unit < 128 && set[unit] === 1
}

/** A compiled row of the table. Matchers are indexed by two ASCII characters: the first two of a token, or the two before it. */
interface Matcher {
  readonly kind: string
  readonly pattern: RegExp
  readonly keep: number
}

const byFirstPair = new Map<number, Matcher[]>()
const firstPairs = new Uint8Array(128 * 128)
for (const { kind, prefixes, body } of prefixedFormats) {
  for (const pair of new Set(prefixes.map((prefix) => pairAt(prefix, 0)))) {
    const alternatives = prefixes.filter((prefix) => pairAt(prefix, 0) === pair)
    const pattern = new RegExp(`(?:${alternatives.join('|')})${body}`, 'y')
    add(byFirstPair, firstPairs, pair, { kind, pattern, keep: 0 })
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

/** Returns the index of the pair of characters at an offset, or -1 if one is not ASCII or missing. */
function pairAt(text: string, at: number): number {
  const first = text.charCodeAt(at)
  const second = text.charCodeAt(at + 1)
  return first < 128 && second < 128 ? first * 128 + second : -1
}

/**
 * Whether {@link findInRun} may find a token in a run of token characters in bytes. Checks the two bytes at each possible
 * start of a token, and the bytes around the run.
 */
export function mayHoldToken(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start
  if (bytes[end] === DOT || length === AWS_SECRET_LENGTH) return true
  if ((length === 36 || length === 37) && bytes[start + 32] === DASH && bytes[start + 33] === LOWER_U) return true
  if (start >= 2 && pairsBefore[pairIn(bytes, start - 2)] === 1) return true
  if (firstPairs[pairIn(bytes, start)] === 1) return true
  const lastStart = end - SHORTEST_TOKEN
  for (let at = start; at < lastStart; at++) {
    if (SEPARATES[bytes[at] as number] === 1 && firstPairs[pairIn(bytes, at + 1)] === 1) return true
  }
  return false
}

/** {@link pairAt} for bytes. A pair that is not ASCII gives the index of two NULs, which no format contains. */
function pairIn(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  const second = bytes[at + 1] as number
  return (first | second) < 128 ? first * 128 + second : 0
}

/** Adds the secrets that begin in a run of token characters, or are recognised by the text around it. */
export function findInRun(text: string, start: number, end: number, secrets: Secret[]): void {
  const lastStart = end - SHORTEST_TOKEN
  for (let at = start; at <= lastStart; ) {
    const pair = pairAt(text, at)
    const matchers = firstPairs[pair] === 1 ? byFirstPair.get(pair) : undefined
    const after = matchers === undefined ? at : match(text, at, matchers, secrets)
    // The next token can only start after a separator.
    at = after > at ? after : at + 1
    while (at <= lastStart && !isIn(SEPARATES, text.charCodeAt(at - 1))) at += 1
  }
  // Before the formats that are recognised by the text around them, because the first match gives the name.
  if (text.charCodeAt(end) === DOT) findDotted(text, start, end, secrets)
  const pair = pairAt(text, start - 2)
  const matchers = pairsBefore[pair] === 1 ? byPairBefore.get(pair) : undefined
  if (matchers !== undefined) match(text, start, matchers, secrets)
  if (end - start === AWS_SECRET_LENGTH) match(text, start, AWS_SECRET, secrets)
  if (text.charCodeAt(start + 32) === DASH && end - start < 38) match(text, start, MAILCHIMP, secrets)
}

/** Adds the token of the first matcher that matches at an offset. Returns its end, or the offset without a match. */
function match(text: string, at: number, matchers: readonly Matcher[], secrets: Secret[]): number {
  for (const { kind, pattern, keep } of matchers) {
    pattern.lastIndex = at
    if (!pattern.test(text)) continue
    secrets.push({ kind, start: at + keep, end: pattern.lastIndex })
    return pattern.lastIndex
  }
  return at
}

const AWS_SECRET_LENGTH = 40
const AWS_SECRET: readonly Matcher[] = [{ kind: 'aws-secret-access-key', pattern: awsSecretKey, keep: 0 }]

/** A key that ends in the name of its data centre. */
const MAILCHIMP: readonly Matcher[] = [{ kind: 'mailchimp-key', pattern: mailchimpKey, keep: 0 }]

const DOT = 0x2e
const DASH = 0x2d
const LOWER_U = 0x75

/** Adds tokens with several parts, whose first part is the run. Text before the last `/` or `+` does not belong to it. */
function findDotted(text: string, start: number, end: number, secrets: Secret[]): void {
  let first = end
  while (first > start && text.charCodeAt(first - 1) !== SLASH && text.charCodeAt(first - 1) !== PLUS) first -= 1
  const header = headerIn(text, start, first, end)
  const tokenEnd = header === -1 ? -1 : jsonWebTokenEnd(text, header, end)
  if (tokenEnd !== -1 && isTokenHeader(text, header, end)) secrets.push({ kind: 'jwt', start: header, end: tokenEnd })
  discordToken.lastIndex = first
  const token = end - first <= 28 ? discordToken.exec(text) : null
  if (token !== null && /^[0-9]{17,20}$/.test(decodeBase64(token[1] as string))) {
    secrets.push({ kind: 'discord-token', start: first, end: discordToken.lastIndex })
  }
}

/** Returns the first `eyJ` in `[from, end)` at which a token may start. A search over the text would go beyond the run. */
function headerIn(text: string, start: number, from: number, end: number): number {
  for (let at = from; at < end - 2; at++) {
    if (text.charCodeAt(at) !== LOWER_E || !text.startsWith('eyJ', at)) continue
    // Only the first: a header inside another one does not decode.
    if (at === start || isIn(SEPARATES, text.charCodeAt(at - 1))) return at
  }
  return -1
}

const LOWER_E = 0x65
const SLASH = 0x2f
const PLUS = 0x2b
const COLON = 0x3a
const QUOTE = 0x22

/**
 * Returns the end of the JSON Web Token with a header, or -1. Not a regular expression: the engine's stack overflows where it
 * goes back over a part of some megabytes.
 */
function jsonWebTokenEnd(text: string, header: number, headerEnd: number): number {
  if (headerEnd - header < SHORTEST_TOKEN) return -1
  const payloadEnd = partEnd(text, headerEnd + 1)
  if (text.charCodeAt(payloadEnd) !== DOT || payloadEnd - headerEnd <= 8) return -1
  const signatureEnd = partEnd(text, payloadEnd + 1)
  return signatureEnd - payloadEnd > SHORTEST_TOKEN ? signatureEnd : -1
}

/** Returns the end of the Base64url that starts at an offset. */
function partEnd(text: string, start: number): number {
  let end = start
  while (isIn(IN_BASE64URL, text.charCodeAt(end))) end += 1
  return end
}

/** Units of the longest header that is decoded. Any longer one counts as that of a token. */
const MAX_HEADER = 65_536

function isTokenHeader(text: string, start: number, end: number): boolean {
  return end - start > MAX_HEADER || ALGORITHM_KEY.test(decodeBase64(text.slice(start, end)))
}

/** The key `alg` in JSON. A parser would throw for most text, which takes a hundred times as long. */
const ALGORITHM_KEY = /"(?:a|\\u0061)(?:l|\\u006c)(?:g|\\u0067)"\s*:/i

/** Decodes Base64url to Latin-1. Returns `''` for a length that Base64 cannot have. */
function decodeBase64(text: string): string {
  return text.length % 4 === 1 ? '' : atob(text.replaceAll('-', '+').replaceAll('_', '/'))
}

/** Adds the passwords in `scheme://user:password@host`. Neither part may contain `/`, so no text is read twice. */
export function findUrlPasswords(text: string, secrets: Secret[]): void {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    let schemeStart = at
    while (schemeStart > 0 && at - schemeStart < 16 && /[A-Za-z0-9+]/.test(text[schemeStart - 1] as string))
      schemeStart -= 1
    const scheme = text.slice(schemeStart, at).toLowerCase()
    const isWeb = webSchemes.has(scheme) && mayHoldUser(text, at + 3)
    if (!isWeb && !schemesWithPassword.has(scheme)) continue
    USER_AND_PASSWORD.lastIndex = at + 3
    const parts = USER_AND_PASSWORD.exec(text)
    if (parts === null) continue
    const [, user = '', password = ''] = parts
    if (password === user || placeholderPasswords.has(password.toLowerCase())) continue
    // Documentation has many web addresses with words in place of a password.
    if (isWeb && (password.length < 6 || !isPassword(password, 'part'))) continue
    const end = USER_AND_PASSWORD.lastIndex - 1
    secrets.push({ kind: 'url-password', start: end - password.length, end })
  }
}

/** Whether a colon follows before the end of the host. */
function mayHoldUser(text: string, from: number): boolean {
  for (let at = from; at < from + 128; at++) {
    const unit = text.charCodeAt(at)
    if (unit === COLON) return true
    if (!(unit > 0x20) || unit === SLASH || unit === QUOTE) return false
  }
  return false
}

/** Printable ASCII without characters that must be escaped in a URL or that mark a variable: `$ { < * % (`. */
const USER_AND_PASSWORD =
  /([^\x00-\x20\x7f-\uffff/@:"'`<>{}$*\\[\]]{0,128}):((?:[^\x00-\x20\x7f-\uffff/@"'`<>{}$*%\\[\]()]|%[0-9A-Fa-f]{2}){3,256})@/y

/** Adds the PEM blocks of private keys. */
function findPrivateKeys(text: string, secrets: Secret[]): void {
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
    markLines(text, begin.index, closing === undefined ? key : closing.index + closing[0].length, secrets)
  }
}

/**
 * Returns the end of the last line of Base64 in a body, if there is enough of it for a key. Source code that only mentions
 * the header has none. An `open` body, which lacks its last line, ends at the first character that a key cannot contain.
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

/** Whether a short run from `start` to the `following` unit is alone on the line after the one that ended at `last`. */
function isNextLine(text: string, last: number, start: number, following: number): boolean {
  return start - last <= 4 && /^[\r\n\\]+$/.test(text.slice(last, start)) && isIn(ENDS_LINE, following)
}

const ENDS_LINE = asciiSet('\0\r\n\\"\'`')
const BASE64_LINE = 32
const IN_BASE64 = asciiSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=')
const IN_BODY = asciiSet(' \t\r\n\\:,-.')

/** Adds a secret for each line of a block, without its indentation. */
function markLines(text: string, start: number, end: number, secrets: Secret[]): void {
  for (const line of text.slice(start, end).matchAll(/[^\s][^\r\n]*/g)) {
    secrets.push({ kind: 'private-key', start: start + line.index, end: start + line.index + line[0].length })
  }
}

function withoutOverlaps(secrets: readonly Secret[]): Secret[] {
  const sorted = secrets.toSorted((one, other) => one.start - other.start || other.end - one.end)
  const merged: Secret[] = []
  for (const secret of sorted) {
    const before = merged.at(-1)
    if (before === undefined || secret.start >= before.end) merged.push(secret)
    else if (secret.end > before.end) merged[merged.length - 1] = { ...before, end: secret.end }
  }
  return merged
}
