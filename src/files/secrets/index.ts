import { factsOf } from '../../util/bytes.ts'
import { requireText } from '../../util/check-options.ts'
import { indexOfByte, latin1 } from '../../util/native-bytes.ts'
import { runAtOnce, type Steps } from '../../util/steps.ts'
import { findSecrets, findSecretsInSteps, withoutOverlaps } from './find.ts'
import type { Secret } from './formats.ts'
import { lineHasSecret, mayHoldPrivateKey } from './prefilter.ts'
import { visitMatches } from './slices.ts'

/** The start of every mark. */
export const MARK_START = '[REDACTED:'

/** Matches text in the form of a mark. Its group is the number. */
export const MARK_PATTERN = /\[REDACTED:[a-z-]{1,40}:([0-9]{1,15})\]/g

/** No mark is this long. */
const MARK_LIMIT = 200

/** One hidden secret, or one line of a key with several lines. */
export interface SecretMark {
  /** The kind of secret, as in the mark. */
  readonly kind: string
  /** `[REDACTED:KIND:NUMBER]`, as in the redacted text. Occurs there once, and never in the original. */
  readonly mark: string
  /** Offset in the redacted text, in UTF-16 units. */
  readonly start: number
  readonly end: number
  /** Offset in the original, in UTF-16 units. */
  readonly originalStart: number
  readonly originalEnd: number
}

/** A text with marks in place of its secrets. */
export interface Redaction {
  readonly text: string
  /** The marks in the order of the text. */
  readonly marks: readonly SecretMark[]
}

/**
 * Replaces every secret of a well-known format by a mark. Keeps line ends: a private key becomes one mark per line, so
 * that line numbers stay valid. Without a secret, `text` is the same string. Linear in the length of the text.
 *
 * @example
 * redact(`token = "${token}"`).text // token = "[REDACTED:github-token:1]"
 */
export function redact(text: string): Redaction {
  requireText('redact()', 'text', text)
  return runAtOnce(redactInSteps(text))
}

/**
 * {@link redact} with pauses.
 *
 * @param others secrets that the text alone does not show to be some
 */
export function* redactInSteps(text: string, others: readonly Secret[] = []): Steps<Redaction> {
  const found = yield* findSecretsInSteps(text)
  const secrets = others.length === 0 ? found : withoutOverlaps([...found, ...others])
  if (secrets.length === 0) return { text, marks: [] }
  const marks: SecretMark[] = []
  let redacted = ''
  let from = 0
  let number = yield* highestNumber(text)
  for (const { kind, start, end } of secrets) {
    number += 1
    const mark = `${MARK_START}${kind}:${number}]`
    redacted += text.slice(from, start)
    marks.push({
      kind,
      mark,
      start: redacted.length,
      end: redacted.length + mark.length,
      originalStart: start,
      originalEnd: end,
    })
    redacted += mark
    from = end
    if (marks.length % MARKS_PER_STEP === 0) yield
  }
  return { text: redacted + text.slice(from), marks }
}

/** Marks that one step creates. */
const MARKS_PER_STEP = 10_000

/** Returns the encoding of text in UTF-16, by its byte order mark. */
export function utf16EncodingOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

/**
 * Whether {@link redact} may find a secret in the text of these bytes. Never gives a false negative; gives a false positive
 * only for UTF-16, whose content is not checked.
 */
export function mayHoldSecret(bytes: Uint8Array): boolean {
  if (utf16EncodingOf(bytes) !== undefined) return true
  if (lineHasSecret(bytes, 0, bytes.length)) return true
  // Every format is ASCII, so the bytes can be searched as if they were text.
  return (mayHoldPrivateKey(bytes) || indexOfByte(bytes, 0) !== -1) && findSecrets(latin1(bytes)).length > 0
}

/** Records that no mark hides a part of bytes that never change. Not for UTF-16, where marks hide parts of the text. */
export function noteBytesWithoutSecrets(bytes: Uint8Array): void {
  factsOf(bytes).areWithoutSecrets = true
}

/** Whether {@link noteBytesWithoutSecrets} has recorded these bytes. */
export function areWithoutSecrets(bytes: Uint8Array): boolean {
  return factsOf(bytes).areWithoutSecrets
}

/**
 * Maps an offset in the redacted text to the original, in UTF-16 units. The start and end of a mark map to the start and
 * end of its secret. Returns `undefined` inside a mark and after the end of the text.
 */
export function toOriginalOffset(redaction: Redaction, offset: number): number | undefined {
  const { text, marks } = redaction
  if (!(offset >= 0 && offset <= text.length)) return undefined
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((marks[middle] as SecretMark).start <= offset) low = middle + 1
    else high = middle
  }
  const mark = marks[low - 1]
  if (mark === undefined) return offset
  if (offset === mark.start) return mark.originalStart
  return offset < mark.end ? undefined : offset - mark.end + mark.originalEnd
}

/**
 * Yields the positions of the marks in a text for which `lookup` returns a value, in order and with that value. A mark
 * ends at the first `]`. Linear in the length of the text.
 */
export function* markPositions<T>(
  text: string,
  lookup: (mark: string) => T | undefined,
): Generator<{ start: number; end: number; value: T }, void, undefined> {
  for (let start = text.indexOf(MARK_START); start !== -1; start = text.indexOf(MARK_START, start + 1)) {
    const close = text.slice(start, start + MARK_LIMIT).indexOf(']')
    if (close === -1) continue
    const end = start + close + 1
    const value = lookup(text.slice(start, end))
    if (value !== undefined) yield { start, end, value }
  }
}

/** Returns the highest number in text that looks like a mark. New marks continue after it, so that they are unique. */
function* highestNumber(text: string): Steps<number> {
  let highest = 0
  yield* visitMatches(text, MARK_PATTERN, (_, [, digits = '']) => {
    // Leaves room for the numbers that follow.
    if (digits.length <= 9) highest = Math.max(highest, Number(digits))
  })
  return highest
}
