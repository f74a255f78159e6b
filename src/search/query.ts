import { ToolError } from '../errors.ts'
import { checkOptions, isBoolean, isOneOf, isText, type OptionTable, refuseSurplus } from '../util/check-options.ts'
import { type Alphabet, alphabetOf } from './alphabet.ts'
import { frequencyOf } from './byte-frequency.ts'
import { type ByteRun, costOfRun, createRunFinder, rarityOfRun, requiredRun } from './byte-runs.ts'
import { DEADLINE_INTERVAL, type Deadline, deadlineReached } from './deadline.ts'
import { createFinder, type Finder } from './find-bytes.ts'
import { firstLineStart, lineEndBefore, lineFeedAt, lineStartAt } from './line-bounds.ts'
import { LineMatcher } from './line-matcher.ts'
import { type Required, requiredTexts, wholeText } from './literals.ts'
import { literalNode, type Node, parseRegex } from './syntax.ts'

/** A search as a caller states it. */
export interface QueryInput {
  readonly query: string
  readonly mode: 'literal' | 'regex'
  readonly caseSensitive: boolean
}

/**
 * A line with a match, as byte offsets; the line excludes its line end. Offsets are computed when they are read, and the
 * object is reused for the next line: copy the values to keep.
 */
export interface Hit {
  readonly lineStart: number
  readonly lineEnd: number
  /**
   * Start of the leftmost match in the line. Among the matches that start there, it is the one that JavaScript prefers;
   * where a part that may be empty repeats, as in `(a?|b)*`, or memory does not suffice, it may end earlier or later.
   */
  readonly matchStart: number
  readonly matchEnd: number
}

/**
 * A compiled search over the bytes of UTF-8 texts, line by line. `\n` ends a line, a `\r` before it belongs to the line
 * end, a lone `\r` is a character. A byte order mark at the start is skipped. Bytes that are not UTF-8 match nothing.
 * Time is linear in the text for every pattern. Nothing about a text is cached.
 */
export interface Query {
  readonly alphabet: Alphabet
  /** Whether some line matches; true if the deadline passes first. */
  mayMatch(bytes: Uint8Array, deadline?: Deadline): boolean
  /**
   * Calls `visit` with each line that has a match, in order, until it returns false or the deadline passes, which is
   * checked about every 64 KB. The result does not show whether it passed: check the deadline afterwards.
   */
  eachLine(bytes: Uint8Array, visit: (hit: Hit) => boolean, deadline?: Deadline): void
}

/**
 * Compiles a query. For the syntax of regular expressions see `parseRegex`. Without `caseSensitive`, letters match by
 * Unicode simple case folding, ASCII letters only among themselves.
 *
 * @throws ToolError `INVALID_PATTERN` for a query that is empty, too long or contains a line break, and for a regular
 * expression that is invalid, too large, or would need backtracking.
 *
 * @example
 * const query = compileQuery({ query: 'let \\w+', mode: 'regex', caseSensitive: true })
 * query.eachLine(new TextEncoder().encode('a\nlet b\n'), (hit) => hit.matchStart === 2)
 */
export function compileQuery(input: QueryInput): Query {
  refuseSurplus('compileQuery()', 1, arguments)
  checkOptions('compileQuery()', input, queryTable, 'query', 'mode', 'caseSensitive')
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

const queryTable: OptionTable<QueryInput> = {
  query: isText,
  mode: isOneOf('literal', 'regex'),
  caseSensitive: isBoolean,
}

const MAX_LENGTH = 4096
const LF = 0x0a
const utf8 = new TextEncoder()

function literalQuery(needle: Uint8Array, ignoreCase: boolean): Omit<Query, 'alphabet'> {
  const { find } = createFinder(needle, ignoreCase)
  // A needle that ends in \r may match the start of a line end, which is not part of the line.
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
      const isUp = createDeadlineCheck(deadline)
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

/** Returns a check of the deadline for ascending offsets, which asks it once per interval. */
function createDeadlineCheck(deadline: Deadline | undefined): (at: number) => boolean {
  let lastCheck = 0
  return (at) => {
    if (at - lastCheck <= DEADLINE_INTERVAL) return false
    lastCheck = at
    return deadline?.() ?? false
  }
}

function regexQuery(root: Node): Omit<Query, 'alphabet'> {
  const matcher = new LineMatcher(root)
  const walk = createWalk(root, matcher)
  // The text in which `mayMatch` has just found a match. A hint: it only decides what is tried first.
  let likely: Uint8Array | undefined
  return {
    mayMatch(bytes, deadline) {
      let hasMatch = false
      const stopAtMatch = (): boolean => {
        hasMatch = true
        return false
      }
      const complete = untilDeadline(() => {
        if (walk === undefined) hasMatch = matcher.exists(bytes, firstLineStart(bytes), deadline)
        else walk(bytes, stopAtMatch, deadline)
      })
      likely = hasMatch ? bytes : undefined
      return hasMatch || !complete
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
      untilDeadline(() => {
        if (walk !== undefined) walk(bytes, visitLine, deadline)
        // Most texts have no match, and `exists` finds that faster than `scan`.
        else if (isLikely || matcher.exists(bytes, first, deadline)) scan(matcher, bytes, visitLine, deadline)
      })
    },
  }
}

/** Returns a walk that skips text which cannot match, or `undefined` when running over every byte is cheaper. */
function createWalk(root: Node, matcher: LineMatcher): Walk | undefined {
  const required = requiredTexts(root, costOf)
  const run = requiredRun(root, costOfLines)
  const cost = required === undefined ? Number.POSITIVE_INFINITY : costOf(required)
  const costByRun = run === undefined ? Number.POSITIVE_INFINITY : costOfLines(run)
  const walk = (finders: readonly Finder[], leading: boolean) =>
    leading ? createLeadingWalk(matcher, finders) : createCandidateWalk(matcher, finders)
  if (run !== undefined && costByRun < Math.min(cost, COST_OF_SCANNING))
    return walk([createRunFinder(run)], run.leading)
  if (required !== undefined && cost < COST_OF_SCANNING) return walk(findersOf(required), required.leading)
  return undefined
}

/** Returns false if the deadline ended the run. */
function untilDeadline(run: () => void): boolean {
  try {
    run()
    return true
  } catch (error) {
    if (error === deadlineReached) return false
    throw error
  }
}

/** Receives an offset in a line that matches, the end of the line, and the end of the match or -1 if still unknown. */
type Visit = (inLine: number, lineEnd: number, matchEnd: number) => boolean
type Walk = (bytes: Uint8Array, visit: Visit, deadline: Deadline | undefined) => void

/** Runs over every byte. */
function scan(matcher: LineMatcher, bytes: Uint8Array, visit: Visit, deadline: Deadline | undefined): void {
  const isUp = createDeadlineCheck(deadline)
  for (let from = firstLineStart(bytes); from < bytes.length; ) {
    const at = matcher.scan(bytes, from, deadline)
    if (at === -1) return
    if (isUp(at)) throw deadlineReached
    const lineFeed = lineFeedAt(bytes, at)
    if (!visit(at, lineEndBefore(bytes, from, lineFeed), -1)) return
    from = lineFeed + 1
  }
}

/** Starts at each byte sequence that can begin a match, and continues while a match is in progress. */
function createLeadingWalk(matcher: LineMatcher, finders: readonly Finder[]): Walk {
  const find = findAny(finders)
  return (bytes, visit, deadline) => {
    const next = find(bytes)
    const first = firstLineStart(bytes)
    const isUp = createDeadlineCheck(deadline)
    for (let from = first; from < bytes.length; ) {
      const start = next(from)
      if (start === -1) return
      if (isUp(start)) throw deadlineReached
      const atLineStart = start === first || bytes[start - 1] === LF
      const at = matcher.resume(bytes, start, atLineStart, deadline)
      if (at < 0) {
        // No match is in progress any more, so none begins before this offset.
        from = ~at
        continue
      }
      const lineFeed = lineFeedAt(bytes, at)
      if (!visit(start, lineEndBefore(bytes, start, lineFeed), -1)) return
      from = lineFeed + 1
    }
  }
}

/** Runs over the lines that contain a candidate, which every match contains. */
function createCandidateWalk(matcher: LineMatcher, finders: readonly Finder[]): Walk {
  const find = findAny(finders)
  return (bytes, visit, deadline) => {
    const next = find(bytes)
    const isUp = createDeadlineCheck(deadline)
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

/** Returns a search for the first place where any of several finders matches, for ascending offsets. */
function findAny(finders: readonly Finder[]): (bytes: Uint8Array) => (from: number) => number {
  const [only] = finders
  if (only !== undefined && finders.length === 1) return (bytes) => (from) => only.find(bytes, from)
  return (bytes) => {
    const offsets = finders.map(() => -2)
    return (from) => {
      let first = -1
      for (let i = 0; i < finders.length; i++) {
        let offset = offsets[i] as number
        if (offset !== -1 && offset < from) {
          offset = (finders[i] as Finder).find(bytes, from)
          offsets[i] = offset
        }
        if (offset !== -1 && (first === -1 || offset < first)) first = offset
      }
      return first
    }
  }
}

function findersOf({ texts, ignoreCase }: Required): Finder[] {
  return texts.map((text) => createFinder(utf8.encode(text), ignoreCase))
}

/** Estimated nanoseconds per byte to find required texts and run over the lines that contain them. */
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
/** Nanoseconds per byte. */
const COST_OF_SCANNING = 2
