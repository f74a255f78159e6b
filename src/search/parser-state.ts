import { ToolError } from '../errors.ts'
import type { CodePoints } from './code-points.ts'

/** State of the parser of one regular expression. Functions that read something move `index` behind it. */
export interface ParserState {
  readonly pattern: string
  /** Of the next character to read, in UTF-16 units. */
  index: number
  /** Number of open groups. */
  depth: number
  ignoreCase: boolean
  /** The sets of the Unicode properties read so far, by name and flags. */
  readonly properties: Map<string, CodePoints>
}

export function createParserState(pattern: string, ignoreCase: boolean): ParserState {
  return { pattern, index: 0, depth: 0, ignoreCase, properties: new Map() }
}

export const ONE_LINE =
  'A match never spans lines: search for one of the lines, and use contextLines to see the lines around it.'

/** @throws ToolError `INVALID_PATTERN` with the position, which is `index` counted from 1. */
export function refusePattern(reason: string, index: number, hint?: string): never {
  throw new ToolError('INVALID_PATTERN', `Cannot search: ${reason} at position ${index + 1}`, {
    position: index + 1,
    ...(hint === undefined ? {} : { hint }),
  })
}

export function readCodePoint(state: ParserState): number {
  const codePoint = state.pattern.codePointAt(state.index) as number
  if (isSurrogate(codePoint)) refusePattern('the pattern contains a lone surrogate', state.index)
  state.index += codePoint > 0xffff ? 2 : 1
  return codePoint
}

/** Matches a sticky expression at the current position and moves behind the match. */
export function readMatch(state: ParserState, sticky: RegExp): RegExpExecArray | undefined {
  sticky.lastIndex = state.index
  const match = sticky.exec(state.pattern)
  if (match === null) return undefined
  state.index = sticky.lastIndex
  return match
}

export function isSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdfff
}
