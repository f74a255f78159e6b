import { byteText } from '../../util/native-bytes.ts'
import { runAtOnce, type Steps } from '../../util/steps.ts'
import { asciiSet, BASE64URL, isIn } from './ascii-set.ts'
import { findSecretsInSteps } from './find.ts'
import type { Secret } from './formats.ts'
import { lineHasSecret } from './prefilter.ts'
import { KeyScan, LONGEST_EDGE, markLines } from './private-keys.ts'

/** Units read around a text to recognize the secrets in it. Those without a limit of length are followed further. */
const CONTEXT = 64 * 1024

/** Characters of secrets without a limit of length, in wide encodings too. Any other one ends them. */
const IN_LONG = asciiSet(`${BASE64URL}/+.~=\0`)

const encoder = new TextEncoder()

/** Secrets that are kept apart. Of more, those that follow become one with all that is between them. */
const MAX_SECRETS = 100_000

/**
 * Finds where the secrets of a text are that comes part by part, of whatever length. A secret may begin far in front of a part, and be
 * recognized by what follows far behind it. Keeps a part and its context in memory. Takes more for secret only where a run of characters of
 * tokens is longer than a part.
 */
export class SecretScan {
  readonly #tokens: Secret[] = []
  readonly #keys = [new KeyScan(), new KeyScan(true)] as const
  #text = ''
  /** The offset of the kept text, and that before which its tokens are known. */
  #base = 0
  #cut = 0
  /** The kind of a token that goes on for as long as its run. */
  #running: string | undefined
  /** Whether the last part was searched for private keys in wide text. */
  #wide = false

  /** The offset before which all secrets are known. */
  get settled(): number {
    return Math.min(this.#cut, ...this.#keys.map(({ settled }) => settled))
  }

  /** Adds the next part of the text. */
  *add(part: string, isLast: boolean): Steps<void> {
    const start = this.#base + this.#text.length
    yield* this.#keys[0].add(part, (index) => start + index, isLast)
    yield* this.#findWideKeys(part, start, isLast)
    for (const { found } of this.#keys) {
      const last = found.at(-1)
      if (last === undefined || found.length <= MAX_SECRETS) continue
      const rest = found.splice(MAX_SECRETS - 1)
      found.push({ ...(rest[0] ?? last), end: last.end })
    }
    this.#text += part
    yield* this.#findTokens(isLast)
  }

  /** Returns the secrets of which a part is in a range, in order. Private keys are whole blocks. */
  between(start: number, end: number): readonly Secret[] {
    const blocks = this.#keys.flatMap(({ found }) => overlapping(found, start, end))
    const keys = blocks.map((block) => ({ kind: 'private-key', start: block.start, end: block.end }))
    return [...overlapping(this.#tokens, start, end), ...keys].sort((one, other) => one.start - other.start)
  }

  /**
   * Returns the secrets in a part of the text, as a search of the whole would: with offsets in the part, and one for each line of a key.
   *
   * @param offset that of the part
   */
  secretsIn(part: string, offset: number): readonly Secret[] {
    return clipped(this.between(offset, offset + part.length), part, offset)
  }

  /** Finds private keys in wide text. Nothing else of a text with NULs is known to be wide, so a block may end in two ways. */
  *#findWideKeys(part: string, start: number, isLast: boolean): Steps<void> {
    const keys = this.#keys[1]
    const near = this.#text.slice(-LONGEST_EDGE) + part
    if (!keys.isOpen && !WIDE_KEYS.some((key) => near.includes(key))) {
      keys.skip(start + part.length)
      this.#wide = false
      return
    }
    // The part before may hold the beginning of the header.
    const before = this.#wide ? '' : this.#text.slice(-4 * LONGEST_EDGE)
    const text = before + part
    const units = new Uint16Array(text.length)
    const offsets = new Uint32Array(text.length + 1)
    let count = 0
    for (let index = 0; index < text.length; index++) {
      units[count] = text.charCodeAt(index)
      offsets[count] = index
      if (units[count] !== 0) count += 1
    }
    offsets[count] = text.length
    yield
    const from = start - before.length
    const wide = byteText(Uint8Array.from(units.subarray(0, count), (unit) => Math.min(unit, 255)))
    yield* keys.add(wide, (index) => from + (offsets[index] as number), isLast)
    this.#wide = true
  }

  *#findTokens(isLast: boolean): Steps<void> {
    const text = this.#text
    const limit = isLast ? text.length : text.length - CONTEXT
    const from = this.#cut - this.#base
    if (limit <= from && !isLast) return
    if (this.#running !== undefined) {
      const end = endOfRun(text, from, limit)
      this.#push(this.#running, this.#cut, this.#base + end)
      if (end < limit) this.#running = undefined
    }
    // A search forward is several times as fast, and tells that there is only one run.
    let stop = isLast || ENDS_LONG.test(text.slice(Math.max(0, from - 3), limit)) ? limit : from
    while (!isLast && stop > from && isInLong(text, stop - 1)) stop -= 1
    const isInRun = !isLast && stop === from
    if (isInRun) stop = limit
    const header = isInRun ? openHeader(text, from) : undefined
    if (header !== undefined) {
      this.#push('jwt', this.#base + header, this.#base + stop)
      this.#running = 'jwt'
    }
    // Most parts have none, and bytes are searched several times as fast.
    const bytes = encoder.encode(text)
    const mayHold = text.includes('\0') || lineHasSecret(bytes, 0, bytes.length)
    for (const { kind, start, end } of mayHold ? yield* findSecretsInSteps(text) : []) {
      if (kind === 'private-key' || end <= from || start >= stop) continue
      this.#push(kind, this.#base + start, this.#base + end)
      // The last NULs of a wide character are not part of a secret.
      if (isInRun && end > text.length - 4) this.#running = kind
    }
    this.#cut = this.#base + stop
    const kept = isLast ? stop : Math.max(0, stop - CONTEXT)
    this.#text = text.slice(kept)
    this.#base += kept
  }

  #push(kind: string, start: number, end: number): void {
    const secret = { kind, start, end }
    for (let last = this.#tokens.at(-1); last !== undefined && secret.start < last.end; last = this.#tokens.at(-1)) {
      secret.start = Math.min(secret.start, last.start)
      secret.end = Math.max(secret.end, last.end)
      this.#tokens.pop()
    }
    if (this.#tokens.length < MAX_SECRETS) this.#tokens.push(secret)
    else this.#tokens.push({ ...(this.#tokens.pop() as Secret), end: secret.end })
  }
}

/** Whether a long secret may go on behind a character: no wide character has four NULs. */
function isInLong(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return isIn(IN_LONG, unit) && (unit !== 0 || !text.endsWith('\0\0\0\0', at + 1))
}

/** Finds a character behind which no long secret goes on, as `isInLong` tells. */
const ENDS_LONG = /[^\w\-/+.~=\0]|\0{4}/

/** Returns the end of a run of characters of long secrets, at most `limit`. */
function endOfRun(text: string, from: number, limit: number): number {
  let end = from
  while (end < limit && isInLong(text, end)) end += 1
  return end
}

/** Returns the offset of what may be the header of a JSON Web Token whose parts go on behind a text, if there is one. */
function openHeader(text: string, from: number): number | undefined {
  let start = text.length
  while (start > from && isIn(IN_WEB_TOKEN, text.charCodeAt(start - 1))) start -= 1
  return /e\0{0,3}y\0{0,3}J/.test(text.slice(start)) ? start : undefined
}

/** The word KEY in encodings of two to four bytes. */
const WIDE_KEYS = ['\0', '\0\0', '\0\0\0'].map((nuls) => [...'KEY'].join(nuls))

const IN_WEB_TOKEN = asciiSet(`${BASE64URL}.\0`)

/** Returns the parts of secrets that are in a part of a text. */
export function clipped(secrets: readonly Secret[], part: string, offset: number): readonly Secret[] {
  const parts: Secret[] = []
  for (const { kind, start, end } of secrets) {
    const [from, to] = [Math.max(0, start - offset), Math.min(part.length, end - offset)]
    if (kind === 'private-key') runAtOnce(markLines(part, from, to, parts))
    else parts.push({ kind, start: from, end: to })
  }
  return parts
}

/** Returns the ranges of an ordered list that reach into a range. */
function overlapping<T extends { readonly start: number; readonly end: number }>(
  ranges: readonly T[],
  start: number,
  end: number,
): readonly T[] {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ranges[middle] as T).end <= start) low = middle + 1
    else high = middle
  }
  let last = low
  while (last < ranges.length && (ranges[last] as T).start < end) last += 1
  return ranges.slice(low, last)
}
