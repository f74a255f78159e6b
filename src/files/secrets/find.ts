import { runAtOnce, type Steps } from '../../util/steps.ts'
import { asciiSet, BASE64URL, isIn } from './ascii-set.ts'
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
} from './formats.ts'
import { findPasswords, isPassword } from './passwords.ts'
import { KeyScan, markLines } from './private-keys.ts'
import { SLICE, visitLiteral } from './slices.ts'
import { findWideTexts, offsetsIn } from './wide-text.ts'

/**
 * Finds every secret of a well-known format in a text, in order and without overlaps, also with NULs between its characters. Linear for every text: checks only
 * ASCII, and never tries a pattern where it could read the same characters repeatedly.
 */
export function findSecrets(text: string): readonly Secret[] {
  return runAtOnce(findSecretsInSteps(text))
}

/**
 * Finds the secrets in a text that are recognized by their own form. A password is recognized by the text around it, which
 * a part of a file or a name does not have.
 */
export function tokensIn(text: string): readonly Secret[] {
  return hasToken(text) ? findSecrets(text).filter(({ kind }) => kind !== 'password') : NO_SECRETS
}

const NO_SECRETS: readonly Secret[] = []

/** The short text in which no secret was found last. */
let lastWithout = ''

/** Records that {@link findSecrets} finds nothing in a text, so that a result that shows the text need not be searched again. */
export function noteWithoutSecrets(text: string): void {
  if (text.length < SLICE) lastWithout = text
}

/** Whether {@link tokensIn} may find a token. Without the search for passwords, which it leaves out. */
function hasToken(text: string): boolean {
  if (text.length < SHORTEST_TOKEN || text === lastWithout) return false
  if (text.length >= SLICE || text.includes('PRIVATE KEY') || text.includes('\0')) return true
  if (text.includes('@') && text.includes('://')) return true
  const secrets: Secret[] = []
  findShortTokens(text, secrets)
  return secrets.length > 0
}

/** {@link findSecrets} with pauses. */
export function* findSecretsInSteps(text: string): Steps<readonly Secret[]> {
  const secrets: Secret[] = []
  yield* findTokens(text, secrets)
  if (text.includes('@')) yield* findUrlPasswords(text, secrets)
  // A part of `PRIVATE KEY`: a text is searched for less than seven units several times as fast.
  if (text.includes('VATE K')) yield* findPrivateKeys(text, secrets)
  yield* findPasswords(text, secrets)
  if (text.includes('\0')) {
    for (const wide of yield* findWideTexts(text)) {
      const offsetOf = offsetsIn(text, wide)
      for (const { kind, start, end } of yield* findSecretsInSteps(wide.text)) {
        secrets.push({ kind, start: offsetOf(start), end: offsetOf(end - 1) + 1 })
      }
    }
  }
  return secrets.length < 2 ? secrets : withoutOverlaps(secrets)
}

/** Letters, digits and `_ - / +`, the characters of tokens and Base64. Ordinary text rarely has long runs of them. */
export const IN_TOKEN = asciiSet(`${BASE64URL}/+`)
const IN_BASE64URL = asciiSet(BASE64URL)
const SEPARATES = asciiSet('_-/+')

/** {@link findTokens} of a text that is shorter than a slice. */
function findShortTokens(text: string, secrets: Secret[]): void {
  const { length } = text
  for (let start = nextRun(text, 0, length); start < length; start = nextRun(text, start, length)) {
    const end = runEnd(text, start + SHORTEST_TOKEN, length)
    findInRun(text, start, end, secrets)
    start = end + 1
  }
}

/** Checks each long run of token characters. */
function* findTokens(text: string, secrets: Secret[]): Steps<void> {
  if (text.length < SLICE) return findShortTokens(text, secrets)
  let start = 0
  for (let stop = SLICE; start < text.length; stop = start + SLICE) {
    const limit = Math.min(stop, text.length)
    for (start = nextRun(text, start, limit); start < limit; start = nextRun(text, start, limit)) {
      let end = runEnd(text, start + SHORTEST_TOKEN, start + SLICE)
      if (end < start + SLICE) findInRun(text, start, end, secrets)
      else {
        for (let from = start; end === from + SLICE; ) {
          yield
          from = end
          end = runEnd(text, from, from + SLICE)
        }
        const last = end - SHORTEST_TOKEN
        for (let at = start; at <= last; yield)
          at = findPrefixed(text, start, at, Math.min(last + 1, at + SLICE), secrets)
        findByContext(text, start, end, secrets)
      }
      start = end + 1
    }
    if (start < text.length) yield
  }
}

/**
 * Returns the start of the next long run of token characters, if that is before `limit`, and otherwise the offset to
 * continue from. Skips text without such runs by checking the end of a window first.
 */
function nextRun(text: string, from: number, limit: number): number {
  let start = from
  while (start < limit) {
    let at = start + SHORTEST_TOKEN - 1
    if (at >= text.length) return text.length
    while (at >= start && isIn(IN_TOKEN, text.charCodeAt(at))) at -= 1
    if (at < start) return start
    start = at + 1
  }
  return start
}

/** Returns the end of a run of token characters, at most `limit`. */
function runEnd(text: string, from: number, limit: number): number {
  let end = from
  while (end < limit && isIn(IN_TOKEN, text.charCodeAt(end))) end += 1
  return end
}

/** A compiled row of the table. Matchers are indexed by two ASCII characters: the first two of a token, or the two before it. */
interface Matcher {
  readonly kind: string
  readonly pattern: RegExp
  /** What continues the token after a match. */
  readonly rest: Rest | undefined
  readonly keep: number
}

/**
 * The part of a token of unlimited length. Not matched by a regular expression: the engine's stack overflows for a token of
 * some megabytes.
 */
interface Rest {
  readonly characters: Uint8Array
  /** Characters that may follow, each with more of the others after it; at most eight. */
  readonly separators: Uint8Array
  /** Matches the end of the token. */
  readonly ending: RegExp
}

/** Splits a pattern at its `{n,}`: into a pattern of bounded length and the rest. */
function matcherOf(kind: string, pattern: RegExp, keep = 0, separators = ''): Matcher {
  const [, head, characters, least, ending = ''] = UNLIMITED.exec(pattern.source) ?? []
  if (head === undefined || characters === undefined) return { kind, pattern, rest: undefined, keep }
  const { flags } = pattern
  const isCharacter = new RegExp(characters, flags.replace('y', ''))
  const all = Array.from({ length: 128 }, (_, unit) => String.fromCharCode(unit))
  const rest = {
    characters: asciiSet(all.filter((char) => isCharacter.test(char)).join('')),
    separators: asciiSet(separators),
    ending: new RegExp(ending, 'y'),
  }
  return { kind, pattern: new RegExp(`${head}${characters}{${least}}`, flags), rest, keep }
}

const UNLIMITED = /^(.*)(\[[^\]]*\])\{([0-9]+),\}(.*)$/

/** Returns the end of a token whose bounded part ends at an offset. */
function restEnd(text: string, from: number, { characters, separators, ending }: Rest): number {
  let end = endOf(text, from, characters)
  for (let i = 0; i < 8 && isIn(separators, text.charCodeAt(end)); i++) end = endOf(text, end + 1, characters)
  ending.lastIndex = end
  return ending.test(text) ? ending.lastIndex : end
}

const byFirstPair = new Map<number, Matcher[]>()
const firstPairs = new Uint8Array(128 * 128)
for (const { kind, prefixes, body } of prefixedFormats) {
  for (const pair of new Set(prefixes.map((prefix) => pairAt(prefix, 0)))) {
    const alternatives = prefixes.filter((prefix) => pairAt(prefix, 0) === pair)
    const pattern = new RegExp(`(?:${alternatives.join('|')})${body}`, 'y')
    add(byFirstPair, firstPairs, pair, matcherOf(kind, pattern))
  }
}

const byPairBefore = new Map<number, Matcher[]>()
const pairsBefore = new Uint8Array(128 * 128)
for (const { kind, after, token, keep, separators } of precededFormats satisfies readonly PrecededFormat[]) {
  for (const literal of after) {
    add(byPairBefore, pairsBefore, pairAt(literal, literal.length - 2), matcherOf(kind, token, keep, separators))
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
  if (
    firstPairs[
      pairIn(
        bytes,
        escapeEnd((at) => bytes[at], start),
      )
    ] === 1
  )
    return true
  const lastStart = end - SHORTEST_TOKEN
  for (let at = start; at < lastStart; at++) {
    if (SEPARATES[bytes[at] as number] === 1 && firstPairs[pairIn(bytes, at + 1)] === 1) return true
  }
  return false
}

/**
 * Returns the end of an escape whose backslash or `%` stands before a run of token characters, such as `\n`, `\u000a`, `\x0a`
 * or `%0A`: the characters of a text that another format quotes. Returns the start of the run if no escape stands before it.
 *
 * @param unitAt returns the unit at an offset
 */
function escapeEnd(unitAt: (at: number) => number | undefined, start: number): number {
  const before = unitAt(start - 1)
  if (before === PERCENT) return start + 2
  if (before !== BACKSLASH) return start
  const letter = unitAt(start)
  return start + (letter === LOWER_U ? 5 : letter === LOWER_X ? 3 : 1)
}

const PERCENT = 0x25
const BACKSLASH = 0x5c
const LOWER_X = 0x78

/** {@link pairAt} for bytes. A pair that is not ASCII gives the index of two NULs, which no format contains. */
function pairIn(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  const second = bytes[at + 1] as number
  return (first | second) < 128 ? first * 128 + second : 0
}

/** Adds the secrets that begin in a run of token characters, or are recognized by the text around it. */
export function findInRun(text: string, start: number, end: number, secrets: Secret[]): void {
  findPrefixed(text, start, start, end - SHORTEST_TOKEN + 1, secrets)
  findByContext(text, start, end, secrets)
}

/** Adds the tokens with a prefix that begin in a part of a run. Returns the offset to continue from. */
function findPrefixed(text: string, runStart: number, from: number, stop: number, secrets: Secret[]): number {
  let at = from
  const afterEscape = escapeEnd((index) => text.charCodeAt(index), runStart)
  while (at < stop) {
    // A token can only start after a separator or an escape.
    if (at > runStart && at !== afterEscape && !isIn(SEPARATES, text.charCodeAt(at - 1))) {
      at += 1
      continue
    }
    const after = matchAdjacent(text, at, secrets)
    at = after > at ? after : at + 1
  }
  return at
}

/** The shortest part of a secret that must not be shown. */
const SHORTEST_PART = 12

/**
 * Adds the token with a prefix at an offset, and those that follow it without a separator. Longer text after the last one may
 * be most of a token whose prefix was taken for the end of the one before, so it belongs to the last one.
 */
function matchAdjacent(text: string, start: number, secrets: Secret[]): number {
  let end = matchPrefixed(text, start, secrets)
  if (end === start) return start
  for (let next = matchPrefixed(text, end, secrets); next > end; next = matchPrefixed(text, end, secrets)) end = next
  const last = endOf(text, end, IN_BASE64URL)
  if (last - end < SHORTEST_PART) return end
  const secret = secrets.pop() as Secret
  secrets.push({ ...secret, end: last })
  return last
}

/** Adds the token that begins at an offset with a known prefix. Returns the end of the token, or the same offset without one. */
function matchPrefixed(text: string, at: number, secrets: Secret[]): number {
  const pair = pairAt(text, at)
  const matchers = firstPairs[pair] === 1 ? byFirstPair.get(pair) : undefined
  return matchers === undefined ? at : match(text, at, matchers, secrets)
}

/** Adds the secrets that are recognized by the text around a run. */
function findByContext(text: string, start: number, end: number, secrets: Secret[]): void {
  // Before the other formats, because the first match gives the name.
  if (text.charCodeAt(end) === DOT) findDotted(text, start, end, secrets)
  const pair = pairAt(text, start - 2)
  const matchers = pairsBefore[pair] === 1 ? byPairBefore.get(pair) : undefined
  if (matchers !== undefined) match(text, start, matchers, secrets)
  if (end - start === AWS_SECRET_LENGTH) match(text, start, AWS_SECRET, secrets)
  if (text.charCodeAt(start + 32) === DASH && end - start < 38) match(text, start, MAILCHIMP, secrets)
}

/** Adds the token of the first matcher that matches at an offset. Returns its end, or the offset without a match. */
function match(text: string, at: number, matchers: readonly Matcher[], secrets: Secret[]): number {
  for (const { kind, pattern, rest, keep } of matchers) {
    pattern.lastIndex = at
    if (!pattern.test(text)) continue
    const end = rest === undefined ? pattern.lastIndex : restEnd(text, pattern.lastIndex, rest)
    secrets.push({ kind, start: at + keep, end })
    return end
  }
  return at
}

const AWS_SECRET_LENGTH = 40
const AWS_SECRET: readonly Matcher[] = [matcherOf('aws-secret-access-key', awsSecretKey)]

/** A key that ends in the name of its data centre. */
const MAILCHIMP: readonly Matcher[] = [matcherOf('mailchimp-key', mailchimpKey)]

const DOT = 0x2e
const DASH = 0x2d
const LOWER_U = 0x75

/** Adds tokens with several parts, whose first part is the run. Text before the last `/` or `+` does not belong to it. */
function findDotted(text: string, start: number, end: number, secrets: Secret[]): void {
  let first = end
  while (first > start && text.charCodeAt(first - 1) !== SLASH && text.charCodeAt(first - 1) !== PLUS) first -= 1
  if (first === start)
    first = Math.min(
      end,
      escapeEnd((at) => text.charCodeAt(at), start),
    )
  const header = headerIn(text, first, end)
  const tokenEnd = header === -1 ? -1 : jsonWebTokenEnd(text, header, end)
  if (tokenEnd !== -1 && isTokenHeader(text, header, end)) secrets.push({ kind: 'jwt', start: header, end: tokenEnd })
  discordToken.lastIndex = first
  const token = end - first <= 28 ? discordToken.exec(text) : null
  if (token !== null && /^[0-9]{17,20}$/.test(decodeBase64(token[1] as string))) {
    secrets.push({ kind: 'discord-token', start: first, end: endOf(text, discordToken.lastIndex, IN_BASE64URL) })
  }
}

/** Returns the first `eyJ` in `[from, end)` at which a token may start. A search over the text would go beyond the run. */
function headerIn(text: string, from: number, end: number): number {
  for (let at = from; at < end - 2; at++) {
    if (text.charCodeAt(at) !== LOWER_E || !text.startsWith('eyJ', at)) continue
    // Only the first: a header inside another one does not decode.
    if (at === from || isIn(SEPARATES, text.charCodeAt(at - 1))) return at
  }
  return -1
}

const LOWER_E = 0x65
const SLASH = 0x2f
const PLUS = 0x2b

/**
 * Returns the end of the JSON Web Token with a header, or -1. Not a regular expression: the engine's stack overflows where it
 * goes back over a part of some megabytes.
 */
function jsonWebTokenEnd(text: string, header: number, headerEnd: number): number {
  if (headerEnd - header < SHORTEST_TOKEN) return -1
  const payloadEnd = endOf(text, headerEnd + 1, IN_BASE64URL)
  if (text.charCodeAt(payloadEnd) !== DOT || payloadEnd - headerEnd <= 8) return -1
  const signatureEnd = endOf(text, payloadEnd + 1, IN_BASE64URL)
  return signatureEnd - payloadEnd > SHORTEST_TOKEN ? signatureEnd : -1
}

/** Returns the end of the characters of a set that start at an offset. */
function endOf(text: string, start: number, set: Uint8Array): number {
  let end = start
  while (isIn(set, text.charCodeAt(end))) end += 1
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
export function findUrlPasswords(text: string, secrets: Secret[]): Steps<void> {
  return visitLiteral(text, '://', (at) => findUrlPassword(text, at, secrets))
}

function findUrlPassword(text: string, at: number, secrets: Secret[]): void {
  let schemeStart = at
  while (schemeStart > 0 && at - schemeStart < 32 && isIn(IN_SCHEME, text.charCodeAt(schemeStart - 1))) schemeStart -= 1
  schemeStart = Math.min(
    at,
    escapeEnd((index) => text.charCodeAt(index), schemeStart),
  )
  // `postgresql+psycopg2` is a driver of `postgresql`.
  const [scheme = ''] = text.slice(schemeStart, at).toLowerCase().split('+')
  if (scheme === '') return
  USER_AND_PASSWORD.lastIndex = at + 3
  const parts = USER_AND_PASSWORD.exec(text)
  if (parts === null) return
  const [, user = '', password = ''] = parts
  if (password === user || placeholderPasswords.has(password.toLowerCase())) return
  // Documentation has many other addresses with words in place of a password.
  if (!schemesWithPassword.has(scheme) && (password.length < 6 || !isPassword(password, 'part'))) return
  const end = USER_AND_PASSWORD.lastIndex - 1
  secrets.push({ kind: 'url-password', start: end - password.length, end })
}

const IN_SCHEME = asciiSet(`${BASE64URL}+`)

/** Printable ASCII without characters that must be escaped in a URL or that mark a variable: `$ { < * % (`. */
const USER_AND_PASSWORD =
  /([^\x00-\x20\x7f-\uffff/@:"'`<>{}$*\\[\]]{0,128}):((?:[^\x00-\x20\x7f-\uffff/@"'`<>{}$*%\\[\]()]|%[0-9A-Fa-f]{2}){3,256})@/y

/** Adds the PEM blocks of private keys. */
function* findPrivateKeys(text: string, secrets: Secret[]): Steps<void> {
  const keys = new KeyScan()
  yield* keys.add(text, (index) => index, true)
  for (const { start, end } of keys.found) yield* markLines(text, start, end, secrets)
}

/** Returns secrets in the order of the text, those that overlap as one. */
export function withoutOverlaps(secrets: readonly Secret[]): Secret[] {
  const sorted = secrets.toSorted((one, other) => one.start - other.start || other.end - one.end)
  const merged: Secret[] = []
  for (const secret of sorted) {
    const before = merged.at(-1)
    if (before === undefined || secret.start >= before.end) merged.push(secret)
    else if (secret.end > before.end) merged[merged.length - 1] = { ...before, end: secret.end }
  }
  return merged
}
