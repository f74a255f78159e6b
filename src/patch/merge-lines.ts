import { checkArgument, isText, refuseSurplus, requireText, shape } from '../util/check-options.ts'
import { type Edit, editScript } from './edit-script.ts'
import { createTextLines, type TextLines } from './text-lines.ts'

/** A place where both sides changed the same lines in different ways. */
export interface LineConflict {
  /** The lines of the base that the conflict began with, before equal lines at its ends were taken out. */
  readonly base: string
  readonly ours: string
  readonly theirs: string
  /** Line of the marker `<<<<<<<` in the merged text, from 1. */
  readonly line: number
}

/** The result of {@link mergeLines}. */
export interface LineMerge {
  /** The merged text, with git's conflict markers around the conflicts. */
  readonly text: string
  readonly conflicts: readonly LineConflict[]
}

/** What the conflict markers name. */
export interface MergeNames {
  readonly ours: string
  readonly theirs: string
}

/**
 * Merges the changes that two texts make to their common base, by line: the result of `git merge-file`, byte by byte.
 * Changes that touch each other or the same lines are a conflict, unless they are equal. Lines that both sides of a
 * conflict share are taken out of it, and conflicts with at most three lines between them, or with lines that hold no letter
 * or digit, are one.
 *
 * @example
 * mergeLines('a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n', { ours: 'ours', theirs: 'theirs' }).text // 'A\nb\nc\nD\n'
 */
export function mergeLines(base: string, ours: string, theirs: string, names: MergeNames): LineMerge {
  refuseSurplus('mergeLines()', 4, arguments)
  requireText('mergeLines()', 'base', base)
  requireText('mergeLines()', 'ours', ours)
  requireText('mergeLines()', 'theirs', theirs)
  checkArgument('mergeLines()', 'names', names, isMergeNames)
  const oursEdits = editScript(base, ours)
  const theirsEdits = editScript(base, theirs)
  if (oursEdits.length === 0) return { text: theirs, conflicts: [] }
  if (theirsEdits.length === 0) return { text: ours, conflicts: [] }
  const sides = { base: createTextLines(base), ours: createTextLines(ours), theirs: createTextLines(theirs) }
  const parts = joinClose(refine(pair(oursEdits, theirsEdits, sides), sides), sides.ours)
  return print(parts, sides, names)
}

const isMergeNames = shape<MergeNames>({ ours: isText, theirs: isText }, 'ours', 'theirs')

interface Sides {
  readonly base: TextLines
  readonly ours: TextLines
  readonly theirs: TextLines
}

interface Range {
  readonly at: number
  readonly lines: number
}

/** A changed part: who changed it, and its lines in the three texts. `equal` parts have the same lines on both sides. */
interface Part {
  readonly by: 'ours' | 'theirs' | 'both' | 'equal'
  readonly base: Range
  readonly ours: Range
  readonly theirs: Range
}

/** Pairs the edits of both sides: edits that touch are one part, by both sides if they differ. */
function pair(oursEdits: readonly Edit[], theirsEdits: readonly Edit[], sides: Sides): Part[] {
  const parts: Part[] = []
  let i = 0
  let j = 0
  // How far a line of a side lies behind the same line of the base, between edits.
  let oursShift = 0
  let theirsShift = 0
  const passOurs = (edit: Edit) => {
    i += 1
    oursShift = edit.newLine + edit.newLines - edit.oldLine - edit.oldLines
  }
  const passTheirs = (edit: Edit) => {
    j += 1
    theirsShift = edit.newLine + edit.newLines - edit.oldLine - edit.oldLines
  }
  for (;;) {
    const mine = oursEdits[i]
    const other = theirsEdits[j]
    if (mine !== undefined && (other === undefined || endOf(mine) < other.oldLine)) {
      const shifted = { at: mine.oldLine + theirsShift, lines: mine.oldLines }
      append(parts, { by: 'ours', base: oldRange(mine), ours: newRange(mine), theirs: shifted })
      passOurs(mine)
    } else if (other !== undefined && (mine === undefined || endOf(other) < mine.oldLine)) {
      const shifted = { at: other.oldLine + oursShift, lines: other.oldLines }
      append(parts, { by: 'theirs', base: oldRange(other), ours: shifted, theirs: newRange(other) })
      passTheirs(other)
    } else if (mine === undefined || other === undefined) {
      return parts
    } else {
      if (!isSameEdit(mine, other, sides)) append(parts, conflictOf(mine, other))
      if (endOf(mine) >= endOf(other)) passTheirs(other)
      if (endOf(other) >= endOf(mine)) passOurs(mine)
    }
  }
}

const endOf = ({ oldLine, oldLines }: Edit): number => oldLine + oldLines
const oldRange = ({ oldLine, oldLines }: Edit): Range => ({ at: oldLine, lines: oldLines })
const newRange = ({ newLine, newLines }: Edit): Range => ({ at: newLine, lines: newLines })

function isSameEdit(mine: Edit, other: Edit, { ours, theirs }: Sides): boolean {
  if (mine.oldLine !== other.oldLine || mine.oldLines !== other.oldLines || mine.newLines !== other.newLines)
    return false
  return textOf(ours, newRange(mine)) === textOf(theirs, newRange(other))
}

/** The lines from the first to the last that one of two edits changes. */
function conflictOf(mine: Edit, other: Edit): Part {
  const before = mine.oldLine - other.oldLine
  const after = endOf(mine) - endOf(other)
  const at = mine.oldLine - Math.max(before, 0)
  const oursAt = mine.newLine - Math.max(before, 0)
  const theirsAt = other.newLine + Math.min(before, 0)
  return {
    by: 'both',
    base: { at, lines: endOf(mine) - at - Math.min(after, 0) },
    ours: { at: oursAt, lines: mine.newLine + mine.newLines - oursAt - Math.min(after, 0) },
    theirs: { at: theirsAt, lines: other.newLine + other.newLines - theirsAt + Math.max(after, 0) },
  }
}

/** Adds a part. It joins the one before if they touch on one of the sides; parts of both sides become a conflict. */
function append(parts: Part[], part: Part): void {
  const last = parts.at(-1)
  if (last === undefined || !(part.ours.at <= rangeEnd(last.ours) || part.theirs.at <= rangeEnd(last.theirs))) {
    parts.push(part)
    return
  }
  parts[parts.length - 1] = {
    by: last.by === part.by ? last.by : 'both',
    base: span(last.base, part.base),
    ours: span(last.ours, part.ours),
    theirs: span(last.theirs, part.theirs),
  }
}

const rangeEnd = ({ at, lines }: Range): number => at + lines
const span = (first: Range, last: Range): Range => ({ at: first.at, lines: rangeEnd(last) - first.at })

/** Splits conflicts at the lines that both sides share. */
function refine(parts: readonly Part[], { ours, theirs }: Sides): Part[] {
  return parts.flatMap((part) => {
    if (part.by !== 'both' || part.ours.lines === 0 || part.theirs.lines === 0) return [part]
    const edits = editScript(textOf(ours, part.ours), textOf(theirs, part.theirs))
    if (edits.length === 0) return [{ ...part, by: 'equal' as const }]
    return edits.map((edit) => ({
      ...part,
      ours: { at: part.ours.at + edit.oldLine, lines: edit.oldLines },
      theirs: { at: part.theirs.at + edit.newLine, lines: edit.newLines },
    }))
  })
}

/** The number of lines between two conflicts up to which one conflict is shorter than two. */
const CLOSE = 3

function joinClose(parts: readonly Part[], ours: TextLines): Part[] {
  const joined: Part[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (last === undefined || last.by !== 'both' || part.by !== 'both' || !isClose(last, part, ours)) {
      joined.push(part)
      continue
    }
    joined[joined.length - 1] = {
      by: 'both',
      base: last.base === part.base ? last.base : span(last.base, part.base),
      ours: span(last.ours, part.ours),
      theirs: span(last.theirs, part.theirs),
    }
  }
  return joined
}

function isClose(first: Part, second: Part, ours: TextLines): boolean {
  const at = rangeEnd(first.ours)
  const lines = second.ours.at - at
  return lines <= CLOSE || !/[0-9A-Za-z]/.test(textOf(ours, { at, lines }))
}

function print(parts: readonly Part[], sides: Sides, names: MergeNames): LineMerge {
  const { base, ours, theirs } = sides
  const conflicts: LineConflict[] = []
  let text = ''
  let line = 1
  let at = 0
  const add = (piece: string) => {
    text += piece
    for (let i = piece.indexOf('\n'); i !== -1; i = piece.indexOf('\n', i + 1)) line += 1
  }
  for (const part of parts) {
    if (part.by === 'equal') continue
    add(textOf(ours, { at, lines: part.ours.at - at }))
    at = rangeEnd(part.ours)
    if (part.by === 'ours') add(textOf(ours, part.ours))
    if (part.by === 'theirs') add(textOf(theirs, part.theirs))
    if (part.by !== 'both') continue
    const end = hasCarriageReturn(part, sides) ? '\r\n' : '\n'
    const [mine, other] = [textOf(ours, part.ours), textOf(theirs, part.theirs)]
    conflicts.push({ base: textOf(base, part.base), ours: mine, theirs: other, line })
    add(`<<<<<<< ${names.ours}${end}${ended(mine, end)}=======${end}${ended(other, end)}>>>>>>> ${names.theirs}${end}`)
  }
  add(textOf(ours, { at, lines: ours.count - at }))
  return { text, conflicts }
}

function textOf(text: TextLines, { at, lines }: Range): string {
  return text.slice(at, at + lines)
}

function ended(text: string, end: string): string {
  return text === '' || text.endsWith('\n') ? text : text + end
}

/** Whether the markers of a conflict end like the lines before it, or else like the first line of the base: with `\r\n`. */
function hasCarriageReturn(part: Part, { base, ours, theirs }: Sides): boolean {
  let found = endsWithReturn(ours, Math.max(part.ours.at - 1, 0))
  if (found !== false) found = endsWithReturn(theirs, Math.max(part.theirs.at - 1, 0))
  if (found !== false) found = endsWithReturn(base, 0)
  return found === true
}

/**
 * Returns whether a line ends with `\r\n`. For a last line without an end, the line before counts. Returns undefined when no
 * line with an end exists.
 */
function endsWithReturn(text: TextLines, line: number): boolean | undefined {
  if (text.count === 0) return undefined
  const content = text.at(line)
  if (content.endsWith('\n')) return content.endsWith('\r\n')
  return line === 0 ? undefined : text.at(line - 1).endsWith('\r\n')
}
