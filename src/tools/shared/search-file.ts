import { mayHoldSecret, redact, type SecretMark } from '../../files/secrets/index.ts'
import { lineHasSecret, mayHoldPrivateKey } from '../../files/secrets/prefilter.ts'
import { decodeText, looksBinary } from '../../files/text/encoding.ts'
import type { Path } from '../../paths/logical-path.ts'
import { type FileMatch, findMatches } from '../../search/matches.ts'
import { compileQuery, type Hit, type Query } from '../../search/query.ts'
import { indexOfByte } from '../../util/native-bytes.ts'

export interface FileSearchOptions {
  readonly input: { readonly query: string; readonly mode: 'literal' | 'regex'; readonly caseSensitive: boolean }
  readonly contextLines: number
  readonly snippetUnits: number
  readonly isLate: () => boolean
  /** Whether the bytes of a file never change after a read, so that facts about them can be cached. */
  readonly immutableBytes: boolean
}

/** Searches files as a model may see them: in a file with secrets, it searches the redacted text. */
export interface FileSearch {
  /** Whether the stored bytes, or the marks that stand for their secrets, may contain a match. Cheap. */
  mayMatch(bytes: Uint8Array): boolean
  find(path: Path, bytes: Uint8Array, maxMatches: number): { matches: FileMatch[]; truncated: boolean }
  /** Returns the number of matching lines. */
  count(path: Path, bytes: Uint8Array): number
}

/**
 * Creates the search for one query. Binary files have no match; a match entirely inside a mark does not count.
 *
 * @throws ToolError `INVALID_PATTERN`
 */
export function createFileSearch(options: FileSearchOptions): FileSearch {
  const { input, contextLines, snippetUnits, isLate } = options
  const query = compileQuery({ query: input.query, mode: input.mode, caseSensitive: input.caseSensitive })
  const mayHold = options.immutableBytes ? mayHoldSecretCached : mayHoldSecret
  // The stored bytes contain no marks, so a query that may match a mark has to look at every file with secrets.
  const mayMeanMarks =
    input.mode === 'regex' ? /REDACTED|\\[[\]]|\[[[\]^]/.test(input.query) : /[[\]]/.test(input.query)

  const mayMeetMarks = mayMeanMarks || mayReachIntoMark(query)

  /**
   * Whether lines can be searched as stored. A line without a secret is the same in the redacted text. In a line with a
   * secret, a match of the redacted text also matches as stored, unless it reaches into the mark.
   */
  const canSearchStored = (stored: Uint8Array): boolean =>
    !mayMeetMarks && !isUtf16(stored) && indexOfByte(stored, 0) === -1 && !mayHoldPrivateKey(stored)

  /** Returns whether a line may be shown as stored. Of bytes that never change, it is known once for all of their lines. */
  const lineTestOf = (stored: Uint8Array): ((start: number, end: number) => boolean) =>
    options.immutableBytes && stored.length <= MAX_WHOLE && !mayHold(stored)
      ? () => true
      : (start, end) => !lineHasSecret(stored, start, end)

  /** Returns the text to search as UTF-8, and the query for it. */
  function prepare(path: Path, stored: Uint8Array): { bytes: Uint8Array; query: Query } | undefined {
    if (looksBinary(stored)) return undefined
    if (!isUtf16(stored) && !mayHold(stored)) return { bytes: stored, query }
    const text = textOf(path, stored)
    if (text === undefined) return undefined
    const redaction = redact(text)
    const bytes = encoder.encode(redaction.text)
    return { bytes, query: redaction.marks.length === 0 ? query : outsideMarks(query, redaction.text, redaction.marks) }
  }

  return {
    mayMatch: (stored) => isUtf16(stored) || query.mayMatch(stored, isLate) || (mayMeanMarks && mayHold(stored)),
    find(path, stored, maxMatches) {
      if (canSearchStored(stored)) {
        const mayShow = lineTestOf(stored)
        const result = findMatches(query, stored, { contextLines, maxMatches, snippetUnits, deadline: isLate, mayShow })
        if (!result.stopped) return result
      }
      const text = prepare(path, stored)
      if (text === undefined) return { matches: [], truncated: false }
      return findMatches(text.query, text.bytes, { contextLines, maxMatches, snippetUnits, deadline: isLate })
    },
    count(path, stored) {
      let lines = 0
      const counted = () => {
        lines += 1
        return true
      }
      if (canSearchStored(stored)) {
        let stopped = false
        const mayShow = lineTestOf(stored)
        const countedAsStored = (hit: Hit) => {
          stopped = !mayShow(hit.lineStart, hit.lineEnd)
          lines += 1
          return !stopped
        }
        query.eachLine(stored, countedAsStored, isLate)
        if (!stopped) return lines
        lines = 0
      }
      const text = prepare(path, stored)
      text?.query.eachLine(text.bytes, counted, isLate)
      return lines
    },
  }
}

/**
 * Whether a match in a redacted text can begin or end inside a mark, or exist only because of one. Marks are in brackets,
 * and a secret may follow a separator such as `_`, where its mark creates a word boundary.
 */
function mayReachIntoMark({ alphabet: { anywhere, edges } }: Query): boolean {
  if (anywhere[0x5b] === 1 || anywhere[0x5d] === 1) return true
  return edges.some(
    ({ characters, asserts }) => asserts.has('notWord') || (asserts.has('word') && characters[0x5f] === 1),
  )
}

/** Larger files are checked line by line: few of their lines may match. */
const MAX_WHOLE = 1024 * 1024

const secretCache = new WeakMap<Uint8Array, boolean>()

/** {@link mayHoldSecret}, cached for the lifetime of the bytes. */
function mayHoldSecretCached(bytes: Uint8Array): boolean {
  let answer = secretCache.get(bytes)
  if (answer === undefined) {
    answer = mayHoldSecret(bytes)
    secretCache.set(bytes, answer)
  }
  return answer
}

/** Whether the bytes start with a byte order mark of UTF-16. */
function isUtf16(bytes: Uint8Array): boolean {
  const first = bytes[0]
  return (first === 0xff && bytes[1] === 0xfe) || (first === 0xfe && bytes[1] === 0xff)
}

const encoder = new TextEncoder()
const lossy = new TextDecoder('utf-8')

/** Returns the text in which to find secrets. Bytes that are not UTF-8 become U+FFFD, as in snippets. */
function textOf(path: Path, stored: Uint8Array): string | undefined {
  try {
    return decodeText(stored, path).text
  } catch {
    const isUtf16 = (stored[0] as number) >= 0xfe
    return isUtf16 ? undefined : lossy.decode(stored)
  }
}

/** Returns the query with matches entirely inside a mark replaced by the next match in the line. */
function outsideMarks(query: Query, text: string, marks: readonly SecretMark[]): Query {
  const spans = byteSpans(text, marks)
  return {
    ...query,
    eachLine(bytes, visit, deadline) {
      let index = 0
      query.eachLine(
        bytes,
        (hit) => {
          while (index < spans.length && (spans[index] as Span).end <= hit.lineStart) index += 1
          const outside = firstOutside(query, bytes, hit, spans, index)
          return outside === undefined || visit(outside)
        },
        deadline,
      )
    },
  }
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Returns the byte ranges of the marks in the UTF-8 of a text. */
function byteSpans(text: string, marks: readonly SecretMark[]): Span[] {
  let units = 0
  let bytes = 0
  return marks.map(({ start, end }) => {
    bytes += encoder.encode(text.slice(units, start)).length
    units = end
    const from = bytes
    // A mark is ASCII.
    bytes += end - start
    return { start: from, end: bytes }
  })
}

function firstOutside(
  query: Query,
  bytes: Uint8Array,
  hit: Hit,
  spans: readonly Span[],
  from: number,
): Hit | undefined {
  let match: Hit | undefined = hit
  for (let i = from; i < spans.length && match !== undefined; i++) {
    const span = spans[i] as Span
    if (span.start >= hit.lineEnd || match.matchStart < span.start) break
    if (match.matchEnd <= span.end && match.matchStart < span.end) match = nextAfter(query, bytes, hit, span.end)
  }
  return match
}

/** Returns the first match after a mark. The search starts at the last byte of the mark, so `^` does not match there. */
function nextAfter(query: Query, bytes: Uint8Array, { lineStart, lineEnd }: Hit, markEnd: number): Hit | undefined {
  const from = markEnd - 1
  let next: Hit | undefined
  query.eachLine(bytes.subarray(from, lineEnd), ({ matchStart, matchEnd }) => {
    if (matchEnd > 1) next = { lineStart, lineEnd, matchStart: from + matchStart, matchEnd: from + matchEnd }
    return false
  })
  return next
}
