import type { Region } from './line-diff.ts'
import type { PatchedText } from './patched-text.ts'
import { SURE_EDITS } from './sequence-diff.ts'

/**
 * Returns the changes of hunks, with offsets in bytes, if a comparison of the two versions certainly finds the same. Between changes
 * both versions have the same lines. If no line of one side of the changes is in the other version, these lines are the longest
 * sequence that the versions share. If no change of the other side has a line next to it, the sequence is at one place only,
 * so the shortest script is the only one, and no change slides.
 */
export function patchedRegions(
  text: PatchedText,
  before: Uint8Array,
  after: Uint8Array,
): readonly Region[] | undefined {
  const changes = text.changes()
  const regions = changes.map(({ region }) => region)
  const last = regions.at(-1)
  // Added characters that are not ASCII have other offsets if the file had none.
  if (last === undefined || before.length - last.oldTo !== after.length - last.newTo) return undefined
  const touches = regions.some(({ oldLine, oldLines }, i) => regions[i + 1]?.oldLine === oldLine + oldLines)
  const removed = changes.map(({ removed }) => removed)
  const added = changes.map(({ added }) => added)
  const isSure =
    !touches && (isOnlyScript(text, regions, added, removed) || isOnlyScript(text, regions, removed, added))
  return isSure ? regions : undefined
}

type Runs = readonly (readonly string[])[]

/** Whether no line of `fresh` is elsewhere, and no run of `other` has a line next to it. */
function isOnlyScript({ lines }: PatchedText, regions: readonly Region[], fresh: Runs, other: Runs): boolean {
  const absent = new Set(fresh.flat())
  // Most lines have another length, so they need no string.
  const lengths = new Set(Array.from(absent, ({ length }) => length))
  let edits = 0
  let line = 0
  for (const [i, run] of other.entries()) {
    const { oldLine, oldLines } = regions[i] as Region
    const near = [oldLine - 1, oldLine + oldLines].map((at) => (at >= 0 && at < lines.count ? lines.at(at) : undefined))
    edits += run.length
    if (edits > SURE_EDITS || run.some((changed) => absent.has(changed) || near.includes(changed))) return false
    if (hasLine(line, oldLine)) return false
    line = oldLine + oldLines
  }
  return !hasLine(line, lines.count)

  function hasLine(from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      if (lengths.has(lines.start(at + 1) - lines.start(at)) && absent.has(lines.at(at))) return true
    }
    return false
  }
}
