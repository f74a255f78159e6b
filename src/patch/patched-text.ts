import type { Hunk } from './file-change.ts'
import { changedRegions, type Region } from './line-diff.ts'
import { createLineIndex, type LineIndex } from './line-index.ts'
import type { TextLines } from './text-lines.ts'

/** A part of a changed text: a range of offsets in the old text, or new text. */
export type Piece = string | readonly [from: number, to: number]

/** Returns the changed text. */
export function joinPieces(pieces: readonly Piece[], old: string): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : old.slice(piece[0], piece[1]))).join('')
}

/** Lines of the old text and their replacement. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly newLines: readonly string[]
  /** Number of unchanged lines at the start and at the end. */
  readonly leading: number
  readonly trailing: number
  /** How many lines the changed text had more than the old text before this edit. */
  shift: number
}

/** One change of a text, with the lines of both sides. */
interface Change {
  readonly region: Region
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** A text while hunks are applied to it. Replaced lines are never changed again. */
export class PatchedText {
  readonly lines: TextLines
  /** In the order of the text. */
  readonly #edits: Edit[] = []
  #shift = 0
  #index: LineIndex | undefined

  constructor(lines: TextLines) {
    this.lines = lines
  }

  /** The current number of lines. */
  lineCount(): number {
    return this.lines.count + this.#shift
  }

  /** Whether the text is empty or its last line ends in a newline. */
  endsLine(): boolean {
    const last = this.#edits[this.#edits.length - 1]
    if (last !== undefined && last.to === this.lines.count && last.newLines.length > 0) {
      return last.newLines[last.newLines.length - 1]?.endsWith('\n') === true
    }
    return this.lines.count === 0 || this.lines.at(this.lines.count - 1).endsWith('\n')
  }

  /** Returns the line of the old text at a line of the changed text, if the run matches there and is unchanged. */
  matchAt(run: readonly string[], changedLine: number): number | undefined {
    const line = this.#oldLine(changedLine)
    return line !== undefined && this.lines.match(run, line) && this.#isUnchanged(line, run.length) ? line : undefined
  }

  /** Returns the line of the old text where the run matches unchanged, nearest to a line of the changed text. If two are equally near, the later one. */
  nearest(run: readonly string[], changedLine: number): number | undefined {
    this.#index ??= createLineIndex(this.lines.count, this.lines.at)
    let best: number | undefined
    let bestDistance = Number.POSITIVE_INFINITY
    for (const line of this.#index.occurrences(run)) {
      if (!this.#isUnchanged(line, run.length)) continue
      const distance = Math.abs(line + this.#shiftAt(line) - changedLine)
      if (distance > bestDistance) break
      bestDistance = distance
      best = line
    }
    return best
  }

  /** Replaces lines of the old text. */
  replace(from: number, oldCount: number, { newLines, leading, trailing }: Hunk): void {
    const edits = this.#edits
    const at = this.#editsBefore(from)
    const edit = { from, to: from + oldCount, newLines, leading, trailing, shift: this.#shiftAt(from) }
    const growth = newLines.length - oldCount
    if (at === edits.length) edits.push(edit)
    else {
      edits.splice(at, 0, edit)
      for (let i = at + 1; i < edits.length; i++) (edits[i] as Edit).shift += growth
    }
    this.#shift += growth
  }

  /** Returns the changed lines. Offsets in the new text count units of the new lines. */
  changes(): Change[] {
    const changes: Change[] = []
    let growth = 0
    for (const { from, to, newLines, leading, trailing, shift } of this.#edits) {
      const first = from + leading
      const start = this.lines.start(first)
      const old = this.lines.slice(first, to - trailing)
      const fresh = newLines.slice(leading, newLines.length - trailing)
      const text = fresh.join('')
      for (const { oldLine, oldLines, newLine, newLines: count, ...offsets } of changedRegions(old, text)) {
        changes.push({
          region: {
            oldLine: first + oldLine,
            oldLines,
            newLine: first + shift + newLine,
            newLines: count,
            oldFrom: start + offsets.oldFrom,
            oldTo: start + offsets.oldTo,
            newFrom: start + growth + offsets.newFrom,
            newTo: start + growth + offsets.newTo,
          },
          removed: Array.from({ length: oldLines }, (_, i) => this.lines.at(first + oldLine + i)),
          added: fresh.slice(newLine, newLine + count),
        })
      }
      growth += text.length - old.length
    }
    return changes
  }

  pieces(): Piece[] {
    const pieces: Piece[] = []
    let offset = 0
    for (const { from, to, newLines, leading, trailing } of this.#edits) {
      pieces.push([offset, this.lines.start(from + leading)])
      const changed = newLines.slice(leading, newLines.length - trailing)
      if (changed.length > 0) pieces.push(changed.length === 1 ? (changed[0] as string) : changed.join(''))
      offset = this.lines.start(to - trailing)
    }
    pieces.push([offset, this.lines.start(this.lines.count)])
    return pieces
  }

  /** Counts the edits that end at or before a line of the old text. Hunks mostly come in order, so the end is tried first. */
  #editsBefore(line: number): number {
    const edits = this.#edits
    const last = edits[edits.length - 1]
    if (last === undefined || last.to <= line) return edits.length
    let low = 0
    let high = edits.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((edits[middle] as Edit).to <= line) low = middle + 1
      else high = middle
    }
    return low
  }

  #shiftAt(line: number): number {
    const before = this.#editsBefore(line)
    return before === this.#edits.length ? this.#shift : (this.#edits[before] as Edit).shift
  }

  #isUnchanged(from: number, length: number): boolean {
    const next = this.#edits[this.#editsBefore(from)]
    return next === undefined || next.from >= from + length
  }

  /** Returns the line of the old text at a line of the changed text; `undefined` within new lines. */
  #oldLine(changedLine: number): number | undefined {
    const edits = this.#edits
    const last = edits[edits.length - 1]
    if (last === undefined || changedLine >= last.from + last.shift + last.newLines.length) {
      return changedLine - this.#shift
    }
    let low = 0
    let high = edits.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const { from, shift, newLines } = edits[middle] as Edit
      if (from + shift + newLines.length <= changedLine) low = middle + 1
      else high = middle
    }
    const next = edits[low] as Edit
    return changedLine < next.from + next.shift ? changedLine - next.shift : undefined
  }
}
