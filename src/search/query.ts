import { ToolError } from '../errors.ts'
import { type Alphabet, alphabetOf } from './alphabet.ts'
import { frequencyOf } from './byte-frequency.ts'
import { type ByteRun, costOfRun, createRunFinder, rarityOfRun, requiredRun } from './byte-runs.ts'
import { DEADLINE_INTERVAL, type Deadline, deadlineReached } from './deadline.ts'
import { createFinder, type Finder } from './find-bytes.ts'
import { firstLineStart, lineEndBefore, lineFeedAt, lineStartAt } from './line-bounds.ts'
import { LineMatcher } from './line-matcher.ts'
import { type Required, requiredTexts, wholeText } from './literals.ts'
import { literalNode, type Node, parseRegex } from './syntax.ts'

export interface QueryInput {
  readonly query: string
  readonly mode: 'literal' | 'regex'
  readonly caseSensitive: boolean
}

/**
 * A line with a match. All are byte offsets; the line comes without its line end. Offsets are worked out when they are
 * read, and the object is used again for the next line: copy what is to be kept.
 */
export interface Hit {
  readonly lineStart: number
  readonly lineEnd: number
  /**
   * Of the leftmost match in the line, and of those that start there the one that JavaScript prefers; where a part that may
   * be empty repeats, as in `(a?|b)*`, or memory does not suffice for that, it may be shorter or longer.
   */
  readonly matchStart: number
  readonly matchEnd: number
}

/**
 * A compiled search over the bytes of UTF-8 texts, line by line: `\n` ends a line, a `\r` before it belongs to the end, a
 * lone `\r` is a character. A byte order mark at the start is skipped. Bytes that are not UTF-8 match nothing. Searching
 * takes linear time in the text, whatever the pattern, and nothing about a text is kept.
 */
export interface Query {
  readonly alphabet: Alphabet
  /** Whether some line matches. Where the deadline passes first, it answers true. */
  mayMatch(bytes: Uint8Array, deadline?: Deadline): boolean
  /**
   * Hands out each line that has a match, in order, until `visit` returns false or the deadline, asked about every 64 KB,
   * says that time is up: then it stops without a word, so ask the deadline afterwards.
   */
  eachLine(bytes: Uint8Array, visit: (hit: Hit) => boolean, deadline?: Deadline): void
}

/**
 * Compiles a query. Literals match as they stand; for the syntax of regular expressions see `parseRegex`. Without
 * `caseSensitive`, letters match by Unicode simple case folding, ASCII letters among themselves only.
 *
 * Throws `INVALID_PATTERN`, with a hint, for an empty query, a line break in it, and a regular expression that is wrong,
 * too large, or would need backtracking.
 *
 * @example
 * const query = compileQuery({ query: 'let \\w+', mode: 'regex', caseSensitive: true })
 * query.eachLine(new TextEncoder().encode('a\nlet b\n'), (hit) => hit.matchStart === 2)
 */
export function compileQuery(input: QueryInput): Query {
  const { query, mode, caseSensitive } = input
  if (query === '') throw new ToolError('INVALID_PATTERN', 'Cannot search: the query is empty')
  if (query.length > MAX_LENGTH) {
    throw new ToolError('INVALID_PATTERN', `Cannot search: the query is longer than ${MAX_LENGTH} UTF-16 units`)
  }
  const root = mode === 'literal' ? literalNode(query, !caseSensitive) : parseRegex(query, !caseSensitive)
  const whole = wholeText(root)
  const search = whole === undefined ? regexQuery(root) : literalQuery(utf8.encode(whole.text), whole.ignoreCase)
  return { alphabet: alphabetOf(root), ...search }
}

const MAX_LENGTH = 4096
const LF = 0x0a
const utf8 = new TextEncoder()

function literalQuery(needle: Uint8Array, ignoreCase: boolean): Omit<Query, 'alphabet'> {
  const { find } = createFinder(needle, ignoreCase)
  // A needle that ends in \r may reach into a line end, where it does not count.
  const endsInReturn = needle[needle.length - 1] === 0x0d
  const findInLine = (bytes: Uint8Array, from: number): number => {
    let at = find(bytes, from)
    while (at !== -1 && endsInReturn && bytes[at + needle.length] === LF) at = find(bytes, at + 1)
    return at
  }
  return {
    mayMatch: (bytes) => findInLine(bytes, firstLineStart(bytes)) !== -1,
    eachLine(bytes, visit, deadline) {
      const first = firstLineStart(bytes)
      let at = -1
      let lineStart = -1
      let lineFeed = 0
      const hit: Hit = {
        get lineStart() {
          if (lineStart === -1) lineStart = lineStartAt(bytes, at, first)
          return lineStart
        },
        get lineEnd() {
          return lineEndBefore(bytes, at, lineFeed)
        },
        get matchStart() {
          return at
        },
        get matchEnd() {
          return at + needle.length
        },
      }
      const isUp = timeAt(deadline)
      for (let from = first; from < bytes.length; ) {
        at = findInLine(bytes, from)
        if (at === -1 || isUp(at)) return
        lineStart = -1
        lineFeed = lineFeedAt(bytes, at + needle.length)
        if (!visit(hit)) return
        from = lineFeed + 1
      }
    },
  }
}

/** Whether the time is up at an offset, each as far on as the one before or further: asked now and then only. */
function timeAt(deadline: Deadline | undefined): (at: number) => boolean {
  let asked = 0
  return (at) => {
    if (at - asked <= DEADLINE_INTERVAL) return false
    asked = at
    return deadline?.() ?? false
  }
}

function regexQuery(root: Node): Omit<Query, 'alphabet'> {
  const matcher = new LineMatcher(root)
  const walk = walkOf(root, matcher)
  // A text that is known to hold a match, or did when it was asked for: only what is tried first depends on it.
  let likely: Uint8Array | undefined
  return {
    mayMatch(bytes, deadline) {
      let found = false
      const complete = untilTimeIsUp(() => {
        if (walk === undefined) found = matcher.exists(bytes, firstLineStart(bytes), deadline)
        else
          walk(
            bytes,
            () => {
              found = true
              return false
            },
            deadline,
          )
      })
      likely = found ? bytes : undefined
      return found || !complete
    },
    eachLine(bytes, visit, deadline) {
      const isLikely = likely === bytes
      likely = undefined
      const first = firstLineStart(bytes)
      let inLine = 0
      let lineStart = -1
      let lineEnd = 0
      let matchStart = -1
      let matchEnd = -1
      const hit: Hit = {
        get lineStart() {
          if (lineStart === -1) lineStart = lineStartAt(bytes, inLine, first)
          return lineStart
        },
        get lineEnd() {
          return lineEnd
        },
        get matchStart() {
          if (matchStart === -1) matchStart = matcher.matchStart(bytes, hit.lineStart, lineEnd, hit.matchEnd, deadline)
          return matchStart
        },
        get matchEnd() {
          if (matchEnd === -1) matchEnd = matcher.matchEnd(bytes, hit.lineStart, lineEnd, deadline)
          return matchEnd
        },
      }
      const visitLine: Visit = (at, end, knownEnd) => {
        inLine = at
        lineStart = -1
        lineEnd = end
        matchStart = -1
        matchEnd = knownEnd
        return visit(hit)
      }
      untilTimeIsUp(() => {
        if (walk !== undefined) walk(bytes, visitLine, deadline)
        // Most texts hold no match, and that is found out faster than where one is.
        else if (isLikely || matcher.exists(bytes, first, deadline)) scan(matcher, bytes, visitLine, deadline)
      })
    },
  }
}

/** The way to skip what cannot match, if that is worth it. */
function walkOf(root: Node, matcher: LineMatcher): Walk | undefined {
  const required = requiredTexts(root, costOf)
  const run = requiredRun(root, costOfLines)
  const cost = required === undefined ? Number.POSITIVE_INFINITY : costOf(required)
  const costByRun = run === undefined ? Number.POSITIVE_INFINITY : costOfLines(run)
  const walk = (finders: readonly Finder[], leading: boolean) =>
    leading ? leadingWalk(matcher, finders) : candidateWalk(matcher, finders)
  if (run !== undefined && costByRun < Math.min(cost, COST_OF_SCANNING))
    return walk([createRunFinder(run)], run.leading)
  if (required !== undefined && cost < COST_OF_SCANNING) return walk(findersOf(required), required.leading)
  return undefined
}

function untilTimeIsUp(run: () => void): boolean {
  try {
    run()
    return true
  } catch (error) {
    if (error === deadlineReached) return false
    throw error
  }
}

/** Takes some offset in a line that matches, its end, and where the match ends, or -1 if that is not known yet. */
type Visit = (inLine: number, lineEnd: number, matchEnd: number) => boolean
type Walk = (bytes: Uint8Array, visit: Visit, deadline: Deadline | undefined) => void

/** Runs over every byte. */
function scan(matcher: LineMatcher, bytes: Uint8Array, visit: Visit, deadline: Deadline | undefined): void {
  const isUp = timeAt(deadline)
  for (let from = firstLineStart(bytes); from < bytes.length; ) {
    const at = matcher.scan(bytes, from, deadline)
    if (at === -1) return
    if (isUp(at)) throw deadlineReached
    const lineFeed = lineFeedAt(bytes, at)
    if (!visit(at, lineEndBefore(bytes, from, lineFeed), -1)) return
    from = lineFeed + 1
  }
}

/** Runs from each place that every match starts with, or after it, as far as a match is under way. */
function leadingWalk(matcher: LineMatcher, finders: readonly Finder[]): Walk {
  const find = anyOf(finders)
  return (bytes, visit, deadline) => {
    const next = find(bytes)
    const first = firstLineStart(bytes)
    const isUp = timeAt(deadline)
    for (let from = first; from < bytes.length; ) {
      const start = next(from)
      if (start === -1) return
      if (isUp(start)) throw deadlineReached
      const atLineStart = start === first || bytes[start - 1] === LF
      const at = matcher.resume(bytes, start, atLineStart, deadline)
      if (at < 0) {
        // No match is under way any more, so none begins before this.
        from = ~at
        continue
      }
      const lineFeed = lineFeedAt(bytes, at)
      if (!visit(start, lineEndBefore(bytes, start, lineFeed), -1)) return
      from = lineFeed + 1
    }
  }
}

/** Runs over the lines that hold what is required. */
function candidateWalk(matcher: LineMatcher, finders: readonly Finder[]): Walk {
  const find = anyOf(finders)
  return (bytes, visit, deadline) => {
    const next = find(bytes)
    const isUp = timeAt(deadline)
    for (let from = firstLineStart(bytes); from < bytes.length; ) {
      const at = next(from)
      if (at === -1) return
      if (isUp(at)) throw deadlineReached
      const lineStart = lineStartAt(bytes, at, from)
      const lineFeed = lineFeedAt(bytes, at)
      const lineEnd = lineEndBefore(bytes, lineStart, lineFeed)
      const matchEnd = matcher.matchEnd(bytes, lineStart, lineEnd, deadline)
      if (matchEnd !== -1 && !visit(lineStart, lineEnd, matchEnd)) return
      from = lineFeed + 1
    }
  }
}

/** The first place of any of several texts in some bytes, asked for from ascending offsets. */
function anyOf(finders: readonly Finder[]): (bytes: Uint8Array) => (from: number) => number {
  const [only] = finders
  if (only !== undefined && finders.length === 1) return (bytes) => (from) => only.find(bytes, from)
  return (bytes) => {
    const places = finders.map(() => -2)
    return (from) => {
      let first = -1
      for (let i = 0; i < finders.length; i++) {
        let place = places[i] as number
        if (place !== -1 && place < from) {
          place = (finders[i] as Finder).find(bytes, from)
          places[i] = place
        }
        if (place !== -1 && (first === -1 || place < first)) first = place
      }
      return first
    }
  }
}

function findersOf({ texts, ignoreCase }: Required): Finder[] {
  return texts.map((text) => createFinder(utf8.encode(text), ignoreCase))
}

/** About how many nanoseconds a byte it takes to find required texts and run over the lines that hold them. */
function costOf({ texts, ignoreCase }: Required): number {
  let cost = 0
  for (const text of texts) {
    const bytes = utf8.encode(text)
    let rarest = 1
    for (const byte of bytes) rarest = Math.min(rarest, frequencyOf(byte) / 1e6)
    const lines = rarest * 0.25 ** (bytes.length - 1)
    cost += createFinder(bytes, ignoreCase).cost + lines * COST_OF_LINE
  }
  return cost
}

function costOfLines(run: ByteRun): number {
  return costOfRun(run) + rarityOfRun(run) * (run.leading ? COST_OF_RESUMING : COST_OF_LINE)
}

/** Nanoseconds. */
const COST_OF_LINE = 250
const COST_OF_RESUMING = 100
/** Nanoseconds a byte. */
const COST_OF_SCANNING = 2
