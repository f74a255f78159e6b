import type { Offsets } from '../../ui/changed-words.ts'
import type { PaintedLine } from '../properties.ts'

/** A run of a line, and whether it differs from the other side. */
export interface Run {
  readonly isChanged: boolean
  readonly segments: PaintedLine
}

/** Cuts the parts of a line where it begins or ends to differ. */
export function runsOf(segments: PaintedLine, offsets: Offsets = []): readonly Run[] {
  const runs: { isChanged: boolean; segments: PaintedLine[number][] }[] = []
  let at = 0
  for (const { text, kind } of segments) {
    let rest = text
    while (rest !== '') {
      const inside = offsets.find(([from, to]) => from <= at && at < to)
      const next =
        inside?.[1] ?? Math.min(Number.POSITIVE_INFINITY, ...offsets.map(([from]) => from).filter((from) => from > at))
      const part = rest.slice(0, next - at)
      const last = runs.at(-1)
      const isChanged = inside !== undefined
      if (last?.isChanged === isChanged) last.segments.push({ text: part, kind })
      else runs.push({ isChanged, segments: [{ text: part, kind }] })
      rest = rest.slice(part.length)
      at += part.length
    }
  }
  return runs
}
