import type { Chunk, Hunk } from './file-change.ts'
import { createLineIndex, type LineIndex } from './line-index.ts'
import { createTextLines, type TextLines } from './text-lines.ts'

/** Why a part of a patch does not fit a text. */
export interface HunkMismatch {
  /** Which hunk or chunk of its section, from 1, */
  readonly hunk: number
  /** and where it begins in the patch. */
  readonly patchLine: number
  readonly why: string
  /** The lines that were expected. */
  readonly expected: readonly string[]
  /** The line of the text, from 0, where they were expected first. */
  readonly place: number
}

export type Applied = { readonly pieces: readonly Piece[] } | { readonly misfit: HunkMismatch }

/** A part of a changed text: from one offset of the old text to another, or new. */
export type Piece = string | readonly [from: number, to: number]

/** The changed text. */
export function joinPieces(pieces: readonly Piece[], old: string): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : old.slice(piece[0], piece[1]))).join('')
}

/**
 * Applies hunks to a text as `git apply` does: where each says, or else at the nearest place where all its old lines
 * stand, never over what another hunk has changed. A hunk that starts at line 1 must fit at the beginning, one that ends
 * without context at the end. Stricter than git in three points, where git would change a wrong place: a hunk of added
 * lines only must name the end of the text, a last line must agree on its newline, and no line is ever glued to the next.
 */
export function applyHunks(lines: TextLines, hunks: readonly Hunk[]): Applied {
  const image = createImage(lines)
  for (const [index, hunk] of hunks.entries()) {
    const why = place(image, hunk)
    if (why === undefined) continue
    const { oldStart, line: patchLine, oldLines: expected } = hunk
    return { misfit: { hunk: index + 1, patchLine, why, expected, place: Math.max(0, oldStart - 1) } }
  }
  return { pieces: image.pieces() }
}

/** Puts a hunk into the image, or tells why it does not fit. */
function place(image: Image, hunk: Hunk): string | undefined {
  const { oldLines, newLines } = hunk
  const mustBegin = hunk.oldStart <= 1
  const mustEnd = hunk.trailing === 0
  const count = image.count()
  const said = Math.max(0, hunk.newStart - 1)
  if (oldLines.length === 0) {
    if (mustBegin && count > 0) return 'it has no context, and must begin a file that is empty'
    if (!mustBegin && said !== count) return 'it has no context, and its place is not the end of the file'
    if (!image.closed()) return 'the last line of the file has no newline'
    image.put(image.lines.count, 0, hunk)
    return undefined
  }
  const expected = mustBegin ? 0 : mustEnd ? count - oldLines.length : Math.min(said, count)
  if (mustBegin && mustEnd && count !== oldLines.length) return 'it must fit the whole file, which has other lines'
  const start = image.fits(oldLines, expected) ?? (mustBegin || mustEnd ? undefined : image.nearest(oldLines, expected))
  if (start === undefined) {
    return mustBegin
      ? 'it must fit the beginning of the file'
      : mustEnd
        ? 'it must fit the end of the file'
        : 'its lines stand nowhere in the file'
  }
  const reachesEnd = start + oldLines.length === image.lines.count
  if (!reachesEnd && newLines.length > 0 && !endsLine(newLines)) return 'it takes away a newline before other lines'
  image.put(start, oldLines.length, hunk)
  return undefined
}

function endsLine(lines: readonly string[]): boolean {
  return lines[lines.length - 1]?.endsWith('\n') === true
}

/** A text that is being changed: what has been put in is never touched again. */
interface Image {
  readonly lines: TextLines
  /** Lines that it has now. */
  count(): number
  /** Whether its last line has a newline, or there is none. */
  closed(): boolean
  /** The line of the text that is at a line of the image, if the run stands there untouched. */
  fits(run: readonly string[], imageLine: number): number | undefined
  /** The line of the text nearest to a line of the image where the run stands untouched; of two as near, the later. */
  nearest(run: readonly string[], imageLine: number): number | undefined
  put(line: number, oldCount: number, hunk: Hunk): void
  pieces(): Piece[]
}

/** Lines of the text, and what stands for them in the image. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly newLines: readonly string[]
  /** Lines at the beginning and the end that are as they were. */
  readonly leading: number
  readonly trailing: number
  /** How many lines the image had more than the text before this. */
  shift: number
}

function createImage(lines: TextLines): Image {
  /** In the order of the text. */
  const edits: Edit[] = []
  let shift = 0
  let index: LineIndex | undefined

  /** How many edits begin before a line of the text, or end at it. */
  function editsBefore(line: number): number {
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

  function shiftAt(line: number): number {
    const before = editsBefore(line)
    return before === edits.length ? shift : (edits[before] as Edit).shift
  }

  function isUntouched(from: number, length: number): boolean {
    const next = edits[editsBefore(from)]
    return next === undefined || next.from >= from + length
  }

  /** The line of the text at a line of the image; `undefined` within what was put in. */
  function textLine(imageLine: number): number | undefined {
    const last = edits[edits.length - 1]
    if (last === undefined || imageLine >= last.from + last.shift + last.newLines.length) return imageLine - shift
    let low = 0
    let high = edits.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const { from, shift: before, newLines } = edits[middle] as Edit
      if (from + before + newLines.length <= imageLine) low = middle + 1
      else high = middle
    }
    const next = edits[low] as Edit
    return imageLine < next.from + next.shift ? imageLine - next.shift : undefined
  }

  return {
    lines,
    count: () => lines.count + shift,
    closed() {
      const last = edits[edits.length - 1]
      if (last !== undefined && last.to === lines.count && last.newLines.length > 0) return endsLine(last.newLines)
      return lines.text === '' || lines.text.endsWith('\n')
    },
    fits(run, imageLine) {
      const line = textLine(imageLine)
      return line !== undefined && lines.match(run, line) && isUntouched(line, run.length) ? line : undefined
    },
    nearest(run, imageLine) {
      index ??= createLineIndex(lines.count, lines.at)
      let best: number | undefined
      let least = Number.POSITIVE_INFINITY
      for (const line of index.occurrences(run)) {
        if (!isUntouched(line, run.length)) continue
        const distance = Math.abs(line + shiftAt(line) - imageLine)
        if (distance > least) break
        least = distance
        best = line
      }
      return best
    },
    put(from, oldCount, { newLines, leading, trailing }) {
      const at = editsBefore(from)
      const edit = { from, to: from + oldCount, newLines, leading, trailing, shift: shiftAt(from) }
      const more = newLines.length - oldCount
      if (at === edits.length) edits.push(edit)
      else {
        edits.splice(at, 0, edit)
        for (let i = at + 1; i < edits.length; i++) (edits[i] as Edit).shift += more
      }
      shift += more
    },
    pieces() {
      const parts: Piece[] = []
      let done = 0
      for (const { from, to, newLines, leading, trailing } of edits) {
        parts.push([done, lines.start(from + leading)])
        const changed = newLines.slice(leading, newLines.length - trailing)
        if (changed.length > 0) parts.push(changed.length === 1 ? (changed[0] as string) : changed.join(''))
        done = lines.start(to - trailing)
      }
      parts.push([done, lines.text.length])
      return parts
    },
  }
}

/**
 * Applies the chunks of a V4A patch in their order. A chunk is found by its lines alone, exactly: behind its anchors the
 * first place counts, without an anchor it must be the only one. Line ends are those of the file, and its last newline
 * stays as it was.
 */
export function applyChunks(text: string, chunks: readonly Chunk[]): Applied {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = createTextLines(text)
  const bare = (line: number) => withoutEnd(lines.at(line))
  const index = createLineIndex(lines.count, bare)
  let trimmed: LineIndex | undefined
  const parts: string[] = []
  let done = 0
  let from = 0
  for (const [number, chunk] of chunks.entries()) {
    const misfit = (why: string, at: number, expected = chunk.oldLines): Applied => ({
      misfit: { hunk: number + 1, patchLine: chunk.line, why, expected, place: at },
    })
    for (const anchor of chunk.anchors) {
      trimmed ??= createLineIndex(lines.count, (line) => bare(line).trim())
      const found = trimmed.occurrences([anchor]).find((line) => line >= from)
      if (found === undefined) return misfit(`no line "${anchor.slice(0, 200)}" follows`, from, [anchor])
      from = found + 1
    }
    const { oldLines, newLines } = chunk
    let start: number
    if (oldLines.length === 0) start = chunk.anchors.length > 0 && !chunk.atEnd ? from : lines.count
    else {
      const places = index.occurrences(oldLines).filter((line) => line >= from)
      const fitting = chunk.atEnd ? places.filter((line) => line + oldLines.length === lines.count) : places
      if (fitting.length === 0)
        return misfit(chunk.atEnd ? 'it must fit the end of the file' : 'its lines stand nowhere in the file', from)
      if (fitting.length > 1 && chunk.anchors.length === 0) {
        const shown = fitting.slice(0, 10).map((line) => line + 1)
        return misfit(
          `its lines stand in ${fitting.length} places (lines ${shown.join(', ')}): add lines, or an @@ line`,
          from,
        )
      }
      start = fitting[0] as number
    }
    const end = start + oldLines.length
    const before = text.slice(done, lines.start(start))
    parts.push(before)
    // New lines behind a last line without a newline: it gets one, and the new last line none.
    if (before !== '' && !before.endsWith('\n')) parts.push(eol)
    const near = start < lines.count ? lines.at(start) : start > 0 ? lines.at(start - 1) : ''
    const ending = near.endsWith('\r\n') ? '\r\n' : near.endsWith('\n') ? '\n' : eol
    for (const [i, line] of newLines.entries()) {
      const kept = chunk.kept[i] as number
      const own = kept === -1 ? '' : lines.at(start + kept)
      // A line that stays keeps its own end, in a file of mixed ones too.
      parts.push(own.endsWith('\n') ? own : line + ending)
    }
    done = lines.start(end)
    from = end
  }
  parts.push(text.slice(done))
  let result = parts.join('')
  if (text !== '' && !text.endsWith('\n')) result = withoutEnd(result)
  return { pieces: [result] }
}

function withoutEnd(line: string): string {
  if (line.endsWith('\r\n')) return line.slice(0, -2)
  return line.endsWith('\n') ? line.slice(0, -1) : line
}
