import { indexOfByte, latin1 } from '../../util/native-bytes.ts'
import { runAtOnce } from '../../util/steps.ts'
import { asciiSet } from './ascii-set.ts'
import { findInRun, findUrlPasswords, IN_TOKEN, mayHoldToken } from './find.ts'
import { type Secret, SHORTEST_TOKEN } from './formats.ts'
import { findPasswords, MAY_HOLD_VALUE, PAIR_UNITS } from './passwords.ts'

/**
 * Whether bytes of UTF-8 contain a secret other than a private key. Such secrets never span lines, and only the name of a value may be on
 * another line, so checking one line gives the same answer as checking the whole text. Decodes text only near a possible secret.
 */
export function lineHasSecret(bytes: Uint8Array, start: number, end: number): boolean {
  let text: string | undefined
  const secrets: Secret[] = []
  let from = start
  for (let last = start + SHORTEST_TOKEN - 1; last < end; last = from + SHORTEST_TOKEN - 1) {
    let at = last
    while (at >= from && IN_TOKEN[bytes[at] as number] === 1) at -= 1
    if (at >= from) {
      from = at + 1
      continue
    }
    let stop = last + 1
    while (stop < end && IN_TOKEN[bytes[stop] as number] === 1) stop += 1
    if (mayHoldToken(bytes, from, stop)) {
      text ??= latin1(bytes, start, end)
      findInRun(text, from - start, stop - start, secrets)
      if (secrets.length > 0) return true
    }
    from = stop + 1
  }
  const words = end - start < SHORT_TEXT ? wordsIn(bytes, start, end) : NAME | VALUE | URL
  if (words === 0) return false
  text ??= latin1(bytes, start, end)
  if (words & URL && mayHoldUrlPassword(bytes, start, end)) runAtOnce(findUrlPasswords(text, secrets))
  if (words & NAME) runAtOnce(findPasswords(text, secrets))
  if (secrets.length > 0) return true
  const isPart = start > 0 || end < bytes.length
  return isPart && (words & VALUE) !== 0 && MAY_HOLD_VALUE.test(text) && hasValueOfName(bytes, start, end)
}

/** In bytes. A longer text is searched at once. */
const SHORT_TEXT = 1024

const NAME = 1
const VALUE = 2
const URL = 4
const WORD_STARTS = asciiSet('pPvV<@')
/** The first letters of the names of passwords, and of what {@link MAY_HOLD_VALUE} finds. */
const WORDS = new Map(
  Object.entries({ pas: NAME, pwd: NAME, val: VALUE, '<st': VALUE }).map(([word, bit]) => [
    wordAt(new TextEncoder().encode(word), 0),
    bit,
  ]),
)

/** Returns the bits of the words in a range without which it contains no password, or no value of a name. */
function wordsIn(bytes: Uint8Array, start: number, end: number): number {
  let words = 0
  for (let at = start; at < end; at++) {
    if (WORD_STARTS[bytes[at] as number] === 1) words |= bytes[at] === AT ? URL : (WORDS.get(wordAt(bytes, at)) ?? 0)
  }
  return words
}

/** Returns three letters as a number, in lower case. */
function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number) | 0x202020
}

/** The longest UTF-8 of {@link PAIR_UNITS}. */
const PAIR_BYTES = 3 * PAIR_UNITS

/** Whether a range has the value of a field next to one with the name of a password, which may be outside of the range. */
function hasValueOfName(bytes: Uint8Array, start: number, end: number): boolean {
  const from = Math.max(0, start - PAIR_BYTES)
  const secrets: Secret[] = []
  runAtOnce(findPasswords(latin1(bytes, from, Math.min(bytes.length, end + PAIR_BYTES)), secrets))
  return secrets.some((secret) => from + secret.start < end && from + secret.end > start)
}

/** Whether bytes may contain a PEM block of a private key, which spans several lines. */
export function mayHoldPrivateKey(bytes: Uint8Array): boolean {
  // V is rare, and searching for one byte is the fastest search.
  for (let at = indexOfByte(bytes, V); at !== -1; at = indexOfByte(bytes, V, at + 1)) {
    if (bytes[at - 3] === P && bytes[at + 5] === K && latin1(bytes, at - 3, at + 8) === 'PRIVATE KEY') return true
  }
  return false
}

const P = 0x50
const V = 0x56
const K = 0x4b
const AT = 0x40
const SLASH = 0x2f
const COLON = 0x3a

/** Whether `://` precedes some `@`, with only characters between them that a name or a password can contain. */
export function mayHoldUrlPassword(bytes: Uint8Array, start: number, end: number): boolean {
  let last = start - 1
  for (let at = nextAt(bytes, start, end); at !== -1; at = nextAt(bytes, at + 1, end)) {
    let from = at - 1
    while (from > last && IN_ADDRESS[bytes[from] as number] === 1) from -= 1
    if (from >= start + 2 && bytes[from] === SLASH && bytes[from - 1] === SLASH && bytes[from - 2] === COLON)
      return true
    last = at
  }
  return false
}

/** Returns the next `@` in a range, or -1. Near the start, a loop is faster than a call into the platform. */
function nextAt(bytes: Uint8Array, from: number, end: number): number {
  const near = Math.min(end, from + 64)
  for (let at = from; at < near; at++) if (bytes[at] === AT) return at
  if (near === end) return -1
  const at = indexOfByte(bytes, AT, near)
  return at < end ? at : -1
}

/** Printable ASCII except `/` and `@`. */
const IN_ADDRESS = asciiSet(
  Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i))
    .join('')
    .replace(/[/@]/g, ''),
)
