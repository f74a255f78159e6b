import { mayHoldSecret, redact, type SecretMark } from '../../files/secrets/index.ts'
import { lineHasSecret, mayHoldPrivateKey } from '../../files/secrets/prefilter.ts'
import { decodeText, looksBinary } from '../../files/text/encoding.ts'
import type { Path } from '../../paths/logical-path.ts'
import { type FileMatch, findMatches } from '../../search/matches.ts'
import type { Hit, Query } from '../../search/query.ts'

export interface FileSearchOptions {
  readonly query: Query
  readonly asked: { readonly query: string; readonly mode: 'literal' | 'regex' }
  readonly contextLines: number
  readonly snippetUnits: number
  readonly isLate: () => boolean
  /** The bytes are never changed once they were handed out, so that what was found out about them stays true. */
  readonly areKept: boolean
}

/** Searches one file after the other, as a model may see them: in files with secrets, only the redacted text is searched. */
export interface FileSearch {
  /** Cheap: whether there may be a match in the file as stored, or in what its marks say. */
  mayMatch(bytes: Uint8Array): boolean
  find(path: Path, bytes: Uint8Array, maxMatches: number): { matches: FileMatch[]; truncated: boolean }
  /** Lines that match. */
  count(path: Path, bytes: Uint8Array): number
}

/** The search for one query. Binary files match nothing; a match that lies wholly in a mark is none. */
export function createFileSearch(options: FileSearchOptions): FileSearch {
  const { query, asked, contextLines, snippetUnits, isLate } = options
  const mayHold = options.areKept ? mayHoldSecretKept : mayHoldSecret
  // A mark is not in the stored bytes: what may match one must look at every file with secrets.
  const mayMeanMarks =
    asked.mode === 'regex' ? /REDACTED|\\[[\]]|\[[[\]^]/.test(asked.query) : /[[\]]/.test(asked.query)

  const mayMeetMarks = mayMeanMarks || mayReachIntoMark(query)

  /**
   * Whether lines can be searched as they are stored: a line without a secret is the same in the redacted text, and what
   * matches there in a line with a secret matches as stored, too, or would have to reach into its mark.
   */
  const byLine = (stored: Uint8Array): boolean =>
    !mayMeetMarks && !isUtf16(stored) && !looksBinary(stored) && !mayHoldPrivateKey(stored)

  /** The text to search as UTF-8. */
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
      if (byLine(stored)) {
        const mayShow = (start: number, end: number) => !lineHasSecret(stored, start, end)
        const found = findMatches(query, stored, { contextLines, maxMatches, snippetUnits, deadline: isLate, mayShow })
        if (!found.stopped) return found
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
      if (byLine(stored)) {
        let stopped = false
        const countedAsStored = (hit: Hit) => {
          stopped = lineHasSecret(stored, hit.lineStart, hit.lineEnd)
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
 * Whether a match in a redacted text can begin or end in a mark, or be there only because of one. Marks are in brackets,
 * and a secret may stand after a separator such as `_`, where its mark makes a word's boundary.
 */
function mayReachIntoMark({ alphabet: { anywhere, ends, asserts } }: Query): boolean {
  if (anywhere[0x5b] === 1 || anywhere[0x5d] === 1) return true
  return asserts.has('notWord') || (asserts.has('word') && ends[0x5f] === 1)
}

const keptAnswers = new WeakMap<Uint8Array, boolean>()

/** {@link mayHoldSecret}, remembered for as long as the bytes live. */
function mayHoldSecretKept(bytes: Uint8Array): boolean {
  let answer = keptAnswers.get(bytes)
  if (answer === undefined) {
    answer = mayHoldSecret(bytes)
    keptAnswers.set(bytes, answer)
  }
  return answer
}

/** By its byte order mark. */
function isUtf16(bytes: Uint8Array): boolean {
  const first = bytes[0]
  return (first === 0xff && bytes[1] === 0xfe) || (first === 0xfe && bytes[1] === 0xff)
}

const encoder = new TextEncoder()
const lossy = new TextDecoder('utf-8')

/** The text to look for secrets in; bytes that are not UTF-8 become U+FFFD, as in snippets. */
function textOf(path: Path, stored: Uint8Array): string | undefined {
  try {
    return decodeText(stored, path).text
  } catch {
    const isUtf16 = (stored[0] as number) >= 0xfe
    return isUtf16 ? undefined : lossy.decode(stored)
  }
}

/** The same query, but a match that lies wholly in a mark of the text is passed over for the next one in its line. */
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
          const found = firstOutside(query, bytes, hit, spans, index)
          return found === undefined || visit(found)
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

/** Where marks stand in the UTF-8 of a text. */
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
  let found: Hit | undefined = hit
  for (let i = from; i < spans.length && found !== undefined; i++) {
    const span = spans[i] as Span
    if (span.start >= hit.lineEnd || found.matchStart < span.start) break
    if (found.matchEnd <= span.end && found.matchStart < span.end) found = nextAfter(query, bytes, hit, span.end)
  }
  return found
}

/** The first match in the rest of a line, which begins with the last byte of a mark so that it is no line's start. */
function nextAfter(query: Query, bytes: Uint8Array, { lineStart, lineEnd }: Hit, markEnd: number): Hit | undefined {
  const from = markEnd - 1
  let next: Hit | undefined
  query.eachLine(bytes.subarray(from, lineEnd), ({ matchStart, matchEnd }) => {
    if (matchEnd > 1) next = { lineStart, lineEnd, matchStart: from + matchStart, matchEnd: from + matchEnd }
    return false
  })
  return next
}
