import { internLines } from './intern-lines.ts'
import { markChanges } from './sequence-diff.ts'

/** A run of lines that one text replaces by a run of another, by line numbers from 0. */
export interface Edit {
  readonly oldLine: number
  readonly oldLines: number
  readonly newLine: number
  readonly newLines: number
}

/** The lines of a text, and which of them are not in the other text. */
interface Side {
  readonly ids: readonly number[]
  readonly changed: Uint8Array
}

/** The number of times that a line may occur before git doubts that its matches mean anything. */
const MAX_FREQUENT = 1024
/** How many lines git looks at on both sides of such a line. */
const WINDOW = 100
/** Git drops such a line if fewer than one in four of the lines around it are like it. */
const RUN_SHARE = 4

/**
 * Returns the edits that make one text of the other, in order: the ones that `git diff` finds without its indent heuristic,
 * and that `git merge-file` merges. Where several shortest scripts exist, the choice is git's, so that a merge has its
 * conflicts at the same lines. Over 256 edits in a part without a match the choice is our own.
 */
export function editScript(oldText: string, newText: string): readonly Edit[] {
  if (oldText === newText) return []
  const lines = internLines(oldText, oldText.length, newText, newText.length, 0)
  const old = { ids: lines.old.ids, changed: new Uint8Array(lines.old.ids.length) }
  const fresh = { ids: lines.new.ids, changed: new Uint8Array(lines.new.ids.length) }
  markEdits(old, fresh, lines.symbols)
  compact(old, fresh)
  compact(fresh, old)
  return collect(old.changed, fresh.changed)
}

function markEdits(old: Side, fresh: Side, symbols: number): void {
  const shorter = Math.min(old.ids.length, fresh.ids.length)
  let start = 0
  while (start < shorter && old.ids[start] === fresh.ids[start]) start += 1
  let end = 0
  while (end < shorter - start && old.ids.at(-1 - end) === fresh.ids.at(-1 - end)) end += 1
  const oldKept = keptLines(old, countsOf(fresh.ids, symbols), start, old.ids.length - end)
  const newKept = keptLines(fresh, countsOf(old.ids, symbols), start, fresh.ids.length - end)
  const oldMarks = new Uint8Array(oldKept.length)
  const newMarks = new Uint8Array(newKept.length)
  markChanges(idsAt(old.ids, oldKept), idsAt(fresh.ids, newKept), symbols, oldMarks, newMarks)
  for (const [i, line] of oldKept.entries()) old.changed[line] = oldMarks[i] as number
  for (const [i, line] of newKept.entries()) fresh.changed[line] = newMarks[i] as number
}

function countsOf(ids: readonly number[], symbols: number): Int32Array {
  const counts = new Int32Array(symbols)
  for (const id of ids) counts[id] = (counts[id] as number) + 1
  return counts
}

function idsAt(ids: readonly number[], lines: readonly number[]): Int32Array {
  return Int32Array.from(lines, (line) => ids[line] as number)
}

/**
 * Returns the lines between `start` and `end` that are compared, and marks the others as changed: lines that the other text
 * does not have, and frequent lines in the middle of such lines.
 */
function keptLines({ ids, changed }: Side, otherCounts: Int32Array, start: number, end: number): number[] {
  const frequent = Math.min(roughRoot(ids.length), MAX_FREQUENT)
  const kinds = Uint8Array.from(ids, (id) => {
    const count = otherCounts[id] as number
    return count === 0 ? ABSENT : count >= frequent ? FREQUENT : SHARED
  })
  const kept: number[] = []
  for (let line = start; line < end; line++) {
    const kind = kinds[line]
    if (kind === SHARED || (kind === FREQUENT && !isAmongAbsent(kinds, line, start, end))) kept.push(line)
    else changed[line] = 1
  }
  return kept
}

const ABSENT = 0
const SHARED = 1
const FREQUENT = 2

function isAmongAbsent(kinds: Uint8Array, line: number, start: number, end: number): boolean {
  const before = countAround(kinds, line, -1, Math.max(start, line - WINDOW))
  if (before.absent === 0) return false
  const after = countAround(kinds, line, 1, Math.min(end - 1, line + WINDOW))
  if (after.absent === 0) return false
  const frequent = before.frequent + after.frequent
  return frequent * RUN_SHARE < frequent + before.absent + after.absent
}

/** Counts the absent and the frequent lines next to a line, itself included, up to a shared one. */
function countAround(kinds: Uint8Array, line: number, step: 1 | -1, last: number) {
  let absent = 0
  let frequent = 1
  for (let i = line + step; step * (last - i) >= 0 && kinds[i] !== SHARED; i += step) {
    if (kinds[i] === ABSENT) absent += 1
    else frequent += 1
  }
  return { absent, frequent }
}

/** Returns a power of two near the square root. */
function roughRoot(count: number): number {
  let root = 1
  for (let rest = count; rest > 0; rest >>= 2) root <<= 1
  return root
}

/**
 * Moves each run of changed lines of one side where the same result allows it: onto the last run of the other side that it
 * can reach, else down as far as possible. Runs that meet become one.
 */
function compact(side: Side, other: Side): void {
  const run = new Run(side)
  const beside = new Run(other)
  for (;;) {
    if (run.end > run.start) settle(run, beside)
    if (!run.next()) return
    beside.next()
  }
}

function settle(run: Run, beside: Run): void {
  let size: number
  let highest: number
  let aligned: boolean
  do {
    size = run.end - run.start
    while (run.slideUp()) beside.previous()
    highest = run.end
    aligned = beside.end > beside.start
    while (run.slideDown()) {
      beside.next()
      if (beside.end > beside.start) aligned = true
    }
  } while (size !== run.end - run.start)
  if (run.end === highest || !aligned) return
  while (beside.end === beside.start) {
    run.slideUp()
    beside.previous()
  }
}

/** A run of changed lines of a side, which may be empty: between two unchanged lines is always one. */
class Run {
  start = 0
  end = 0
  readonly #ids: readonly number[]
  readonly #changed: Uint8Array

  constructor({ ids, changed }: Side) {
    this.#ids = ids
    this.#changed = changed
    this.#extendDown()
  }

  /** Moves to the run after the next unchanged line. Returns false at the end of the text. */
  next(): boolean {
    if (this.end === this.#ids.length) return false
    this.start = this.end + 1
    this.end = this.start
    this.#extendDown()
    return true
  }

  previous(): void {
    this.end = this.start - 1
    this.start = this.end
    this.#extendUp()
  }

  /** Moves the run up by a line, if the result is the same text, and joins it with the run that it reaches. */
  slideUp(): boolean {
    if (this.start === 0 || this.#ids[this.start - 1] !== this.#ids[this.end - 1]) return false
    this.start -= 1
    this.end -= 1
    this.#changed[this.start] = 1
    this.#changed[this.end] = 0
    this.#extendUp()
    return true
  }

  slideDown(): boolean {
    if (this.end === this.#ids.length || this.#ids[this.start] !== this.#ids[this.end]) return false
    this.#changed[this.start] = 0
    this.#changed[this.end] = 1
    this.start += 1
    this.end += 1
    this.#extendDown()
    return true
  }

  #extendUp(): void {
    while (this.#changed[this.start - 1] === 1) this.start -= 1
  }

  #extendDown(): void {
    while (this.#changed[this.end] === 1) this.end += 1
  }
}

function collect(oldChanged: Uint8Array, newChanged: Uint8Array): Edit[] {
  const edits: Edit[] = []
  let oldLine = 0
  let newLine = 0
  while (oldLine < oldChanged.length || newLine < newChanged.length) {
    let oldLines = 0
    let newLines = 0
    while (oldChanged[oldLine + oldLines] === 1) oldLines += 1
    while (newChanged[newLine + newLines] === 1) newLines += 1
    if (oldLines > 0 || newLines > 0) edits.push({ oldLine, oldLines, newLine, newLines })
    oldLine += oldLines + 1
    newLine += newLines + 1
  }
  return edits
}
