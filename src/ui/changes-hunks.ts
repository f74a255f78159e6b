import { sha256Async } from '../files/hash/sha256.ts'
import { diffLines } from '../patch/line-diff.ts'
import { createPacer } from '../util/pacer.ts'
import { yieldToEventLoop } from '../util/timers.ts'

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
  const lines: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1 || text.length
    lines.push(text.slice(at, end))
    at = end
  }
  return lines
}

/** Characters of two texts from which the steps of their comparison are tasks of their own. */
const LONG = 200_000

/**
 * Returns the changes from one text to another, in order. Between two of them is at least one line of both texts. Lets the page
 * go on while there are many.
 */
export async function hunksOf(
  before: string,
  after: string,
  oldText = linesOf(before),
  newText = linesOf(after),
): Promise<readonly ChangeHunk[]> {
  const pause = createPacer()
  const yieldIfLong = before.length + after.length < LONG ? () => {} : yieldToEventLoop
  const seen = new Map<string, number>()
  // The comparison takes most of the time, and cannot be paused.
  await yieldIfLong()
  const regions = diffLines(before, after)
  await yieldIfLong()
  const hunks: ChangeHunk[] = []
  for (const region of regions) {
    await pause()
    // A side without lines is numbered by the line before.
    const oldStart = region.oldLines === 0 ? region.oldStart : region.oldStart - 1
    const newStart = region.newLines === 0 ? region.newStart : region.newStart - 1
    const oldLines = oldText.slice(oldStart, oldStart + region.oldLines)
    const newLines = newText.slice(newStart, newStart + region.newLines)
    const content = await contentId(oldLines, newLines)
    const count = seen.get(content) ?? 0
    seen.set(content, count + 1)
    hunks.push({ id: count === 0 ? content : `${content} ${count}`, oldStart, newStart, oldLines, newLines })
  }
  return hunks
}

async function contentId(oldLines: readonly string[], newLines: readonly string[]): Promise<string> {
  return (await sha256Async(new TextEncoder().encode(JSON.stringify([oldLines, newLines])))).slice(0, 16)
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
