import type { Chunk, Hunk } from './file-change.ts'
import { createLineIndex, type LineIndex } from './line-index.ts'
import { PatchedText, type Piece } from './patched-text.ts'
import { createTextLines, type TextLines } from './text-lines.ts'

/** Why a part of a patch does not fit a text. */
export interface HunkMismatch {
  /** Number of the hunk or chunk in its section, from 1. */
  readonly hunk: number
  /** Its first line in the patch, from 1. */
  readonly patchLine: number
  readonly why: string
  /** The lines that were expected. */
  readonly expected: readonly string[]
  /** The line of the text where they were expected first, from 0. */
  readonly line: number
}

export type ApplyResult = { readonly pieces: readonly Piece[] } | { readonly mismatch: HunkMismatch }

/**
 * Applies hunks to a text as `git apply` does: each at its stated line, or else at the nearest position where all its old
 * lines match, never over the changes of another hunk. A hunk that starts at line 1 must match the beginning, one that ends
 * without context must match the end. Stricter than git in three points, where git would change the wrong lines: a hunk
 * that only adds lines must name the end of the text, a last line must agree on its newline, and two lines are never joined.
 */
export function applyHunks(
  lines: TextLines,
  hunks: readonly Hunk[],
): { readonly text: PatchedText } | { readonly mismatch: HunkMismatch } {
  const text = new PatchedText(lines)
  for (const [index, hunk] of hunks.entries()) {
    const reason = applyHunk(text, hunk)
    if (reason === undefined) continue
    const { oldStart, line: patchLine, oldLines: expected } = hunk
    return { mismatch: { hunk: index + 1, patchLine, why: reason, expected, line: Math.max(0, oldStart - 1) } }
  }
  return { text }
}

/** Applies one hunk, or returns why it does not fit. */
function applyHunk(text: PatchedText, hunk: Hunk): string | undefined {
  const { oldLines, newLines } = hunk
  const mustBegin = hunk.oldStart <= 1
  const mustEnd = hunk.trailing === 0
  const count = text.lineCount()
  const statedStart = Math.max(0, hunk.newStart - 1)
  if (oldLines.length === 0) {
    if (mustBegin && count > 0) return 'it has no context, so the file must be empty'
    if (!mustBegin && statedStart !== count) return 'it has no context, and it is not at the end of the file'
    if (!text.endsLine()) return 'the last line of the file has no newline'
    text.replace(text.lines.count, 0, hunk)
    return undefined
  }
  const expected = mustBegin ? 0 : mustEnd ? count - oldLines.length : Math.min(statedStart, count)
  if (mustBegin && mustEnd && count !== oldLines.length) {
    return 'without lines around its change, it must match the whole file, which has more or fewer lines'
  }
  const start =
    text.matchAt(oldLines, expected) ?? (mustBegin || mustEnd ? undefined : text.nearest(oldLines, expected))
  if (start === undefined) {
    return mustBegin
      ? 'it must match the beginning of the file'
      : mustEnd
        ? 'it must match the end of the file'
        : 'its lines are not in the file'
  }
  const reachesEnd = start + oldLines.length === text.lines.count
  if (!reachesEnd && newLines.length > 0 && newLines[newLines.length - 1]?.endsWith('\n') !== true) {
    return 'it removes a newline before other lines'
  }
  text.replace(start, oldLines.length, hunk)
  return undefined
}

/**
 * Applies the chunks of a V4A patch in order. A chunk is located by an exact match of its lines: after its anchors, the
 * first match counts; without an anchor, it must be the only one. Line ends are those of the file. The end of its last
 * line stays unchanged, unless `endsLine` demands one.
 */
export function applyChunks(text: string, chunks: readonly Chunk[], endsLine: boolean): ApplyResult {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = createTextLines(text)
  const bare = (line: number) => withoutEnd(lines.at(line))
  const index = createLineIndex(lines.count, bare)
  let trimmed: LineIndex | undefined
  const parts: string[] = []
  let doneLines = 0
  let from = 0
  for (const [number, chunk] of chunks.entries()) {
    const mismatch = (why: string, expected = chunk.oldLines): ApplyResult => ({
      mismatch: { hunk: number + 1, patchLine: chunk.line, why, expected, line: from },
    })
    for (const anchor of chunk.anchors) {
      trimmed ??= createLineIndex(lines.count, (line) => bare(line).trim())
      const match = trimmed.occurrences([anchor]).find((line) => line >= from)
      if (match === undefined) return mismatch(`no line "${anchor.slice(0, 200)}" follows`, [anchor])
      from = match + 1
    }
    const start = locateChunk(chunk, index, lines.count, from)
    if (typeof start === 'string') return mismatch(start)
    const end = start + chunk.oldLines.length
    const before = text.slice(doneLines, lines.start(start))
    parts.push(before)
    // New lines after a last line without a newline: that line gets one, and the new last line none.
    if (before !== '' && !before.endsWith('\n')) parts.push(eol)
    const neighbour = start < lines.count ? lines.at(start) : start > 0 ? lines.at(start - 1) : ''
    const ending = neighbour.endsWith('\r\n') ? '\r\n' : neighbour.endsWith('\n') ? '\n' : eol
    for (const [i, line] of chunk.newLines.entries()) {
      const oldIndex = chunk.kept[i] as number
      const oldLine = oldIndex === -1 ? '' : lines.at(start + oldIndex)
      // An unchanged line keeps its end, also in a file with mixed line ends.
      parts.push(oldLine.endsWith('\n') ? oldLine : line + ending)
    }
    doneLines = lines.start(end)
    from = end
  }
  parts.push(text.slice(doneLines))
  let result = parts.join('')
  if (!endsLine && text !== '' && !text.endsWith('\n')) result = withoutEnd(result)
  if (endsLine && result !== '' && !result.endsWith('\n')) result += eol
  return { pieces: [result] }
}

/** Returns the line where a chunk starts, from `from` on, or the reason why it matches no line. */
function locateChunk(chunk: Chunk, index: LineIndex, lineCount: number, from: number): number | string {
  const { oldLines, anchors, atEnd } = chunk
  if (oldLines.length === 0) return anchors.length > 0 && !atEnd ? from : lineCount
  const matches = index.occurrences(oldLines).filter((line) => line >= from)
  const candidates = atEnd ? matches.filter((line) => line + oldLines.length === lineCount) : matches
  if (candidates.length > 1 && anchors.length === 0) {
    const lines = candidates.slice(0, 10).map((line) => line + 1)
    return `its lines occur in ${candidates.length} places (lines ${lines.join(', ')}): add lines, or an @@ line`
  }
  return candidates[0] ?? (atEnd ? 'it must match the end of the file' : 'its lines are not in the file')
}

function withoutEnd(line: string): string {
  if (line.endsWith('\r\n')) return line.slice(0, -2)
  return line.endsWith('\n') ? line.slice(0, -1) : line
}
