import type { Path } from '../paths/logical-path.ts'

/** A version that a run was shown: the whole file, or lines of it. */
export interface ShownVersion {
  readonly path: Path
  readonly sha256: string
  readonly lines: 'all' | ShownRange
}

/** Lines, from 1, both ends included. A line over the limit of a reading is shown in parts. */
export interface ShownRange {
  readonly start: number
  readonly end: number
  readonly total: number
  /** The column at which the first line begins, if not at 1. */
  readonly startColumn?: number
  /** The column at which the last line was cut. */
  readonly nextColumn?: number
}

/** Lines of one version of a file, from 1, both ends included, as they were shown: with line numbers or without. */
export interface ShownLines {
  readonly path: Path
  readonly sha256: string
  readonly startLine: number
  readonly endLine: number
  readonly lineNumbers: boolean
  /** Of what is not the text of the file: `media`, its bytes; `cells`, those of a notebook. */
  readonly form?: 'media' | 'cells'
}

/**
 * The versions and lines that one run was shown. A version belongs to its path: the same bytes at another path do not
 * count.
 */
export interface ReadHistory {
  /** Records a version, or some of its lines. */
  noteVersion(version: ShownVersion): void
  /** Whether all of that version was shown, at once or in ranges. */
  hasReadWhole(path: Path, sha256: string): boolean
  /**
   * Returns the first lines of that version that were not shown, if others were. `end` is missing if the number of lines is
   * not known.
   */
  firstUnread(path: Path, sha256: string): { readonly start: number; readonly end?: number } | undefined
  /** The version of a path that was recorded last. */
  latestVersion(path: Path): string | undefined
  /** Records that a call showed these lines. */
  noteLines(lines: ShownLines, callId: string): void
  /**
   * Returns the id of the call that showed all of these lines of this version. `undefined` if no call did, and if the run
   * was shown another version of the file or changed the file since.
   */
  findCall(lines: ShownLines): string | undefined
  /** Removes the recorded lines of a file that the run has changed. Its versions stay. */
  forgetLines(path: Path): void
}

/** Versions of one path to remember: the latest. */
const MAX_VERSIONS = 64

/** Maximum number of files whose lines are remembered, and of readings of each. The oldest are dropped. */
const MAX_FILES = 1000
const MAX_READINGS = 64

/** Lines of a version: sorted, disjoint, from 1, both ends included. `all` once every line is there. */
type LineRanges = 'all' | readonly (readonly [start: number, end: number])[]

interface Reading {
  readonly lines: ShownLines
  readonly callId: string
}

/** Creates the empty history of a new run. */
export function createReadHistory(): ReadHistory {
  const versions = new Map<Path, Map<string, LineRanges>>()
  const readings = new Map<Path, { readonly sha256: string; readonly entries: Reading[] }>()
  /** Of each file, the line that was shown up to a column. */
  const cutLines = new Map<Path, CutLine>()
  const rangesOf = (path: Path, sha256: string) => versions.get(path)?.get(sha256)
  return {
    noteVersion({ path, sha256, lines }) {
      const before = rangesOf(path, sha256) ?? []
      const whole = lines === 'all' ? 'all' : wholeLines(cutLines, path, sha256, lines)
      if (whole !== 'all' && whole.start > whole.end && whole.total > 0) return
      const ranges =
        before === 'all' || whole === 'all' ? 'all' : withRange(before, whole.start, whole.end, whole.total)
      let ofPath = versions.get(path)
      if (ofPath === undefined) {
        ofPath = new Map()
        versions.set(path, ofPath)
      }
      // A version that is recorded again becomes the latest.
      ofPath.delete(sha256)
      ofPath.set(sha256, ranges)
      if (ofPath.size > MAX_VERSIONS) deleteOldest(ofPath)
    },
    hasReadWhole: (path, sha256) => rangesOf(path, sha256) === 'all',
    firstUnread(path, sha256) {
      const ranges = rangesOf(path, sha256)
      if (ranges === undefined || ranges === 'all') return undefined
      const [first, second] = ranges
      if (first === undefined) return undefined
      if (first[0] > 1) return { start: 1, end: first[0] - 1 }
      return second === undefined ? { start: first[1] + 1 } : { start: first[1] + 1, end: second[0] - 1 }
    },
    latestVersion: (path) => [...(versions.get(path)?.keys() ?? [])].at(-1),
    noteLines(lines, callId) {
      const previous = readings.get(lines.path)
      const isSame = previous?.sha256 === lines.sha256
      readings.delete(lines.path)
      if (isSame) {
        previous.entries.push({ lines, callId })
        if (previous.entries.length > MAX_READINGS) previous.entries.shift()
      }
      readings.set(lines.path, isSame ? previous : { sha256: lines.sha256, entries: [{ lines, callId }] })
      if (readings.size > MAX_FILES) deleteOldest(readings)
    },
    findCall({ path, sha256, startLine, endLine, lineNumbers, form }) {
      const latest = readings.get(path)
      if (latest?.sha256 !== sha256) return undefined
      return latest.entries.findLast(
        ({ lines }) =>
          lines.lineNumbers === lineNumbers &&
          lines.form === form &&
          lines.startLine <= startLine &&
          lines.endLine >= endLine,
      )?.callId
    },
    forgetLines: (path) => void readings.delete(path),
  }
}

interface CutLine {
  readonly sha256: string
  readonly line: number
  readonly column: number
}

/** Returns the lines that are shown whole, with the parts of them that were shown before, and remembers a cut line. */
function wholeLines(cutLines: Map<Path, CutLine>, path: Path, sha256: string, range: ShownRange): ShownRange {
  const { start, end, total, startColumn = 1, nextColumn } = range
  const cut = cutLines.get(path)
  const continues = startColumn === 1 || (cut?.sha256 === sha256 && cut.line === start && cut.column >= startColumn)
  if (nextColumn !== undefined && (start < end || continues)) {
    cutLines.delete(path)
    cutLines.set(path, { sha256, line: end, column: nextColumn })
    if (cutLines.size > MAX_FILES) deleteOldest(cutLines)
  }
  return { start: continues ? start : start + 1, end: nextColumn === undefined ? end : end - 1, total }
}

function deleteOldest<K, V>(map: Map<K, V>): void {
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}

/** Adds lines and joins ranges that touch. An empty range adds nothing; any look at a file without lines sees all of it. */
function withRange(
  before: readonly (readonly [number, number])[],
  first: number,
  last: number,
  total: number,
): LineRanges {
  let start = Math.max(1, first)
  let end = Math.min(total, last)
  const apart: (readonly [number, number])[] = []
  for (const range of start <= end ? before : []) {
    if (range[1] < start - 1 || range[0] > end + 1) {
      apart.push(range)
    } else {
      start = Math.min(start, range[0])
      end = Math.max(end, range[1])
    }
  }
  const ranges = start <= end ? [...apart, [start, end] as const].sort((a, b) => a[0] - b[0]) : before
  const [only] = ranges
  return total === 0 || (only !== undefined && only[0] <= 1 && only[1] >= total) ? 'all' : ranges
}
