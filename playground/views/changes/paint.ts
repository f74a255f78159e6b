import { LanguageSupport } from '@codemirror/language'
import { presentableDiff } from '@codemirror/merge'
import { highlightCode, tagHighlighter, tags } from '@lezer/highlight'
import { linesOf } from '../../session/changes-hunks.ts'
import { languageOf } from '../editor/codemirror.ts'

/** A part of a line with the class of its colour. */
export interface Segment {
  readonly text: string
  readonly kind: string
}

/** Longer texts have no colours. */
const MAX_COLOURED = 200_000
/** Longer changes do not show which words differ. */
const MAX_COMPARED = 20_000

const highlighter = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], class: 'code-keyword' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], class: 'code-string' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], class: 'code-number' },
  { tag: [tags.comment, tags.meta], class: 'code-comment' },
  { tag: [tags.function(tags.variableName), tags.propertyName, tags.heading], class: 'code-name' },
  { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace], class: 'code-type' },
])

/** Returns the coloured parts of each line of a text. */
export function paintLines(path: string, text: string): readonly (readonly Segment[])[] {
  const support = languageOf(path)
  if (!(support instanceof LanguageSupport) || text.length > MAX_COLOURED) {
    return linesOf(text).map((line) => [{ text: line.replace(/\r?\n$/, ''), kind: '' }])
  }
  const lines: Segment[][] = [[]]
  highlightCode(
    text,
    support.language.parser.parse(text),
    highlighter,
    (part, kind) => lines.at(-1)?.push({ text: part.replace(/\r$/, ''), kind }),
    () => lines.push([]),
  )
  return lines
}

/** A run of a line, and whether it differs from the other side. */
export interface Run {
  readonly isChanged: boolean
  readonly segments: readonly Segment[]
}

/** For each line of the two sides of a change, the offsets that differ. */
export function changedOffsets(
  oldLines: readonly string[],
  newLines: readonly string[],
): readonly [old: readonly Offsets[], current: readonly Offsets[]] {
  const [oldText, newText] = [oldLines.join(''), newLines.join('')]
  if (oldText === '' || newText === '' || oldText.length + newText.length > MAX_COMPARED) return [[], []]
  const changes = presentableDiff(oldText, newText, { scanLimit: 500, timeout: 50 })
  return [
    byLine(
      oldLines,
      changes.map(({ fromA, toA }) => [fromA, toA]),
    ),
    byLine(
      newLines,
      changes.map(({ fromB, toB }) => [fromB, toB]),
    ),
  ]
}

type Offsets = readonly (readonly [from: number, to: number])[]

function byLine(lines: readonly string[], ranges: Offsets): readonly Offsets[] {
  let start = 0
  return lines.map((line) => {
    const [from, to] = [start, start + line.length]
    start = to
    return ranges
      .filter(([a, b]) => a < to && b > from)
      .map(([a, b]) => [Math.max(0, a - from), Math.min(line.length, b - from)] as const)
  })
}

/** Cuts the parts of a line where it begins or ends to differ. */
export function runsOf(segments: readonly Segment[], offsets: Offsets = []): readonly Run[] {
  const runs: { isChanged: boolean; segments: Segment[] }[] = []
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
