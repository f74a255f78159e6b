import { requireText } from '../util/check-options.ts'
import { commonPrefix, commonUnits, internLines, sameUnits } from './intern-lines.ts'
import { markChanges } from './sequence-diff.ts'

/**
 * One change without context, numbered as in a unified diff header: from 1. If a side has no lines, its start is the number
 * of the line before.
 */
export interface LineHunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
}

/**
 * Returns the changes between two texts by line, in order. A line includes its `\n` and `\r`, so a last line without `\n`
 * differs from the same line with it. Near-linear for any texts; a single change costs at most a comparison of the two texts.
 *
 * @example
 * diffLines('a\nb\n', 'a\nc\nb\n') // [{ oldStart: 1, oldLines: 0, newStart: 2, newLines: 1 }]
 */
export function diffLines(oldText: string, newText: string): readonly LineHunk[] {
  requireText('diffLines()', 'oldText', oldText)
  requireText('diffLines()', 'newText', newText)
  return changedRegions(oldText, newText).map((region) => ({
    oldStart: region.oldLines === 0 ? region.oldLine : region.oldLine + 1,
    oldLines: region.oldLines,
    newStart: region.newLines === 0 ? region.newLine : region.newLine + 1,
    newLines: region.newLines,
  }))
}

/** A change, by line numbers from 0 and by offsets in the two texts. */
export interface Region {
  oldLine: number
  oldLines: number
  newLine: number
  newLines: number
  oldFrom: number
  oldTo: number
  newFrom: number
  newTo: number
}

/** A version of a file that hunks have made of another one. */
export interface PatchedFile {
  readonly before: Uint8Array
  readonly after: Uint8Array
  /** Returns the changes that a comparison finds, with offsets in bytes, if they are certainly those of the hunks. */
  regions(): readonly Region[] | undefined
}

/** Returns the changes in order. Between two of them is at least one line that both texts share. */
export function changedRegions(oldText: string, newText: string): Region[] {
  if (oldText === newText) return []
  const { from, oldTo, newTo } = trimEnds(oldText, newText)
  const line = countLines(oldText, 0, from)
  if (from === oldTo || from === newTo || (isLine(oldText, from, oldTo) && isLine(newText, from, newTo))) {
    const oldLines = countLines(oldText, from, oldTo)
    const newLines = countLines(newText, from, newTo)
    return [{ oldLine: line, oldLines, newLine: line, newLines, oldFrom: from, oldTo, newFrom: from, newTo }]
  }
  const lines = internLines(oldText, oldTo, newText, newTo, from)
  const oldChanged = new Uint8Array(lines.old.ids.length)
  const newChanged = new Uint8Array(lines.new.ids.length)
  compareShared(lines.old.ids, lines.new.ids, lines.symbols, oldChanged, newChanged)
  return slide(oldText, newText, collect(lines.old.starts, lines.new.starts, oldChanged, newChanged, line))
}

interface Ends {
  /** Start of the first line that differs, in both texts. */
  readonly from: number
  /** Start of the equal lines at the end. */
  readonly oldTo: number
  readonly newTo: number
}

/** Returns the range between the lines that both texts start and end with. Creates no strings for lines. */
function trimEnds(oldText: string, newText: string): Ends {
  const shorter = Math.min(oldText.length, newText.length)
  const from = lineStartAt(oldText, commonPrefix(oldText, 0, newText, 0, shorter))
  const [oldEnd, newEnd] = [oldText.length, newText.length]
  let equal = commonUnits(
    shorter - from,
    (from, to) => oldText.slice(oldEnd - to, oldEnd - from) === newText.slice(newEnd - to, newEnd - from),
  )
  if (!startsLine(oldText, oldText.length - equal, from) || !startsLine(newText, newText.length - equal, from)) {
    const newline = oldText.indexOf('\n', oldText.length - equal)
    equal = newline === -1 ? 0 : oldText.length - newline - 1
  }
  return { from, oldTo: oldText.length - equal, newTo: newText.length - equal }
}

/** Returns the start of the line that contains `offset`. */
function lineStartAt(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
}

const NEWLINE = 10

function startsLine(text: string, offset: number, from: number): boolean {
  return offset === from || text.charCodeAt(offset - 1) === NEWLINE
}

function countLines(text: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; count++) {
    const newline = text.indexOf('\n', at)
    at = newline === -1 ? to : newline + 1
  }
  return count
}

function isLine(text: string, from: number, to: number): boolean {
  return lineEndAfter(text, from) >= to
}

/** Marks lines that only one side has, and compares the others. */
function compareShared(
  oldIds: readonly number[],
  newIds: readonly number[],
  symbols: number,
  oldChanged: Uint8Array,
  newChanged: Uint8Array,
): void {
  const sides = new Uint8Array(symbols)
  for (const id of oldIds) sides[id] = 1
  for (const id of newIds) sides[id] = (sides[id] as number) | 2
  const old = sharedOf(oldIds, sides, oldChanged)
  const fresh = sharedOf(newIds, sides, newChanged)
  const oldMarks = new Uint8Array(old.ids.length)
  const newMarks = new Uint8Array(fresh.ids.length)
  markChanges(old.ids, fresh.ids, symbols, oldMarks, newMarks)
  for (let i = 0; i < oldMarks.length; i++) oldChanged[old.positions[i] as number] = oldMarks[i] as number
  for (let i = 0; i < newMarks.length; i++) newChanged[fresh.positions[i] as number] = newMarks[i] as number
}

function sharedOf(ids: readonly number[], sides: Uint8Array, changed: Uint8Array) {
  const shared = new Int32Array(ids.length)
  const positions = new Int32Array(ids.length)
  let count = 0
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as number
    if (sides[id] === 3) {
      shared[count] = id
      positions[count] = i
      count += 1
    } else {
      changed[i] = 1
    }
  }
  return { ids: shared.subarray(0, count), positions }
}

function collect(
  oldStarts: readonly number[],
  newStarts: readonly number[],
  oldChanged: Uint8Array,
  newChanged: Uint8Array,
  line: number,
): Region[] {
  const regions: Region[] = []
  let i = 0
  let j = 0
  while (i < oldChanged.length || j < newChanged.length) {
    if (oldChanged[i] !== 1 && newChanged[j] !== 1) {
      i += 1
      j += 1
      continue
    }
    const oldAt = i
    const newAt = j
    while (oldChanged[i] === 1) i += 1
    while (newChanged[j] === 1) j += 1
    regions.push({
      oldLine: line + oldAt,
      oldLines: i - oldAt,
      newLine: line + newAt,
      newLines: j - newAt,
      oldFrom: oldStarts[oldAt] as number,
      oldTo: oldStarts[i] as number,
      newFrom: newStarts[newAt] as number,
      newTo: newStarts[j] as number,
    })
  }
  return regions
}

/**
 * Moves changes that only add or only remove lines: the same result often holds a few lines further up or down. Such a
 * change is joined with its neighbour if it can reach it. Otherwise it moves down as far as possible.
 */
function slide(oldText: string, newText: string, regions: readonly Region[]): Region[] {
  const settled: Region[] = []
  for (let i = 0; i < regions.length; i++) {
    let region = regions[i] as Region
    for (;;) {
      const previous = settled[settled.length - 1]
      slideUp(oldText, newText, region, previous)
      // Between two changes both texts have the same lines, so changes touch in both texts or in neither.
      if (previous === undefined || previous.oldTo < region.oldFrom) break
      region = joined(previous, region)
      settled.pop()
    }
    slideDown(oldText, newText, region, regions[i + 1])
    settled.push(region)
  }
  return settled
}

function joined(first: Region, second: Region): Region {
  return {
    ...first,
    oldLines: second.oldLine + second.oldLines - first.oldLine,
    newLines: second.newLine + second.newLines - first.newLine,
    oldTo: second.oldTo,
    newTo: second.newTo,
  }
}

function slideUp(oldText: string, newText: string, region: Region, previous: Region | undefined): void {
  if (previous === undefined || (region.oldLines > 0 && region.newLines > 0)) return
  const removed = region.newLines === 0
  const text = removed ? oldText : newText
  const limit = removed ? previous.oldTo : previous.newTo
  for (;;) {
    const from = removed ? region.oldFrom : region.newFrom
    const to = removed ? region.oldTo : region.newTo
    if (from <= limit) return
    const length = from - lineStartBefore(text, from)
    if (sameUnits(text, from - length, text, to - length, length) < length || lineStartBefore(text, to) !== to - length)
      return
    move(region, -length, -1)
  }
}

function slideDown(oldText: string, newText: string, region: Region, next: Region | undefined): void {
  if (region.oldLines > 0 && region.newLines > 0) return
  const removed = region.newLines === 0
  const text = removed ? oldText : newText
  const limit = next === undefined ? text.length : removed ? next.oldFrom : next.newFrom
  for (;;) {
    const from = removed ? region.oldFrom : region.newFrom
    const to = removed ? region.oldTo : region.newTo
    if (to >= limit) return
    const length = lineEndAfter(text, from) - from
    if (sameUnits(text, from, text, to, length) < length) return
    move(region, length, 1)
  }
}

function move(region: Region, units: number, lines: number): void {
  region.oldLine += lines
  region.newLine += lines
  region.oldFrom += units
  region.oldTo += units
  region.newFrom += units
  region.newTo += units
}

/** Returns the start of the line that ends at `end`. */
export function lineStartBefore(text: string, end: number): number {
  return end < 2 ? 0 : text.lastIndexOf('\n', end - 2) + 1
}

/** Returns the end of the line that starts at `start`, including its `\n`. */
export function lineEndAfter(text: string, start: number): number {
  const newline = text.indexOf('\n', start)
  return newline === -1 ? text.length : newline + 1
}
