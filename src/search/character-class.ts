import { type CodePoints, negate, subtract, toCodePoints } from './code-points.ts'
import { DIGIT, LINE_BREAK, readEscape, WORD } from './escapes.ts'
import { foldCase } from './fold.ts'
import { ONE_LINE, type ParserState, readCodePoint, refusePattern } from './parser-state.ts'

const POSIX = /\[:(\^?)([a-z]+):\]/y

const POSIX_CLASSES: Readonly<Record<string, CodePoints>> = {
  __proto__: null as never,
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0x00, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0x00, 0x1f, 0x7f, 0x7f],
  digit: DIGIT,
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: WORD,
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
}

/** Reads the class `[…]` at the current position. The set never contains a line break. */
export function readClass(state: ParserState): CodePoints {
  const { pattern, index: start } = state
  state.index += 1
  const negated = pattern[state.index] === '^'
  if (negated) state.index += 1
  const pairs: number[] = []
  // Not folded below: sets with a name already contain both cases.
  const setPairs: number[] = []
  for (let isFirst = true; ; isFirst = false) {
    const char = pattern[state.index]
    if (char === undefined) {
      refusePattern('a class is never closed', start, 'Escape it as \\[ to match the character.')
    }
    if (char === ']' && !isFirst) break
    const itemStart = state.index
    const low = readItem(state)
    if (typeof low !== 'number') {
      for (const bound of low) setPairs.push(bound)
      continue
    }
    pairs.push(low, startsRange(state) ? readRangeEnd(state, low, itemStart) : low)
  }
  state.index += 1
  const characters = toCodePoints(pairs)
  const members = toCodePoints([...(state.ignoreCase ? foldCase(characters) : characters), ...setPairs])
  const set = subtract(negated ? negate(members) : members, LINE_BREAK)
  if (set.length === 0 && members.length > 0 && !negated) {
    refusePattern('the pattern contains a line break', start, ONE_LINE)
  }
  return set
}

/** Whether a hyphen follows that is not the last character of the class. */
function startsRange({ pattern, index }: ParserState): boolean {
  return pattern[index] === '-' && pattern[index + 1] !== ']' && index + 1 < pattern.length
}

function readRangeEnd(state: ParserState, low: number, itemStart: number): number {
  state.index += 1
  const high = readItem(state)
  if (typeof high !== 'number') refusePattern('a range ends in a class', itemStart, 'Escape the hyphen as \\-.')
  if (high < low) refusePattern('a range is out of order', itemStart)
  return high
}

function readItem(state: ParserState): number | CodePoints {
  const { pattern, index } = state
  if (pattern[index] === '\\') {
    if (pattern[index + 1] !== 'b') return readEscape(state)
    state.index += 2
    return 0x08
  }
  POSIX.lastIndex = index
  const match = POSIX.exec(pattern)
  const members = match === null ? undefined : POSIX_CLASSES[match[2] as string]
  if (members === undefined) return readCodePoint(state)
  state.index = POSIX.lastIndex
  const set = match?.[1] === '^' ? negate(members) : members
  return state.ignoreCase ? foldCase(set) : set
}
