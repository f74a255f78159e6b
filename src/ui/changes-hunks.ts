import { sha256 } from '../files/hash/sha256.ts'
import { diffLines } from '../patch/line-diff.ts'

/** One change of a text without its context. Lines include their ends, so that nothing is lost. */
export interface ChangeHunk {
  /** Stays the same while other changes of the file come and go. */
  readonly id: string
  /** Number of lines before the change in each text. */
  readonly oldStart: number
  readonly newStart: number
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
}

/** Splits a text into lines with their ends. */
export function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

/** Returns the changes from one text to another, in order. Between two of them is at least one line of both texts. */
export function hunksOf(before: string, after: string): readonly ChangeHunk[] {
  const oldText = linesOf(before)
  const newText = linesOf(after)
  const seen = new Map<string, number>()
  return diffLines(before, after).map((hunk) => {
    // A side without lines is numbered by the line before.
    const oldStart = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1
    const newStart = hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1
    const oldLines = oldText.slice(oldStart, oldStart + hunk.oldLines)
    const newLines = newText.slice(newStart, newStart + hunk.newLines)
    const content = contentId(oldLines, newLines)
    const count = seen.get(content) ?? 0
    seen.set(content, count + 1)
    return { id: count === 0 ? content : `${content} ${count}`, oldStart, newStart, oldLines, newLines }
  })
}

function contentId(oldLines: readonly string[], newLines: readonly string[]): string {
  return sha256(new TextEncoder().encode(JSON.stringify([oldLines, newLines]))).slice(0, 16)
}

/** Returns the text without one of its changes, as `git apply -R` of this change alone. */
export function withoutChange(after: string, { newStart, oldLines, newLines }: ChangeHunk): string {
  const lines = linesOf(after)
  return [...lines.slice(0, newStart), ...oldLines, ...lines.slice(newStart + newLines.length)].join('')
}

/** Returns the changes that remain without one of them. A new comparison could cut them in another way. */
export function otherHunks(hunks: readonly ChangeHunk[], removed: ChangeHunk): readonly ChangeHunk[] {
  const shift = removed.oldLines.length - removed.newLines.length
  return hunks
    .filter((hunk) => hunk !== removed)
    .map((hunk) => (hunk.newStart < removed.newStart ? hunk : { ...hunk, newStart: hunk.newStart + shift }))
}

/** Counts the lines of changes. */
export function countLines(hunks: readonly ChangeHunk[]): { readonly insertions: number; readonly deletions: number } {
  return {
    insertions: hunks.reduce((sum, { newLines }) => sum + newLines.length, 0),
    deletions: hunks.reduce((sum, { oldLines }) => sum + oldLines.length, 0),
  }
}
