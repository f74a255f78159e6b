import { readClass } from './character-class.ts'
import { type CodePoints, negate } from './code-points.ts'
import { LINE_BREAK, readEscape } from './escapes.ts'
import {
  createParserState,
  isSurrogate,
  ONE_LINE,
  type ParserState,
  readCodePoint,
  readMatch,
  refusePattern,
} from './parser-state.ts'

/** The syntax tree of a regular expression, over code points. Groups appear only as the shape of the tree. */
export type Node =
  | { readonly type: 'empty' }
  /** One character; with `ignoreCase`, in any case. */
  | { readonly type: 'char'; readonly codePoint: number; readonly ignoreCase: boolean }
  /** One character of a set, which already contains the other cases. */
  | { readonly type: 'set'; readonly set: CodePoints }
  | { readonly type: 'concat'; readonly parts: readonly Node[] }
  | { readonly type: 'alternate'; readonly options: readonly Node[] }
  | { readonly type: 'repeat'; readonly node: Node; readonly min: number; readonly max: number; readonly lazy: boolean }
  | { readonly type: 'assert'; readonly kind: AssertKind }

/** A condition of a pattern on the text around it, such as the start of a line. */
export type AssertKind = 'lineStart' | 'lineEnd' | 'word' | 'notWord'

/**
 * Parses the syntax that JavaScript (with the `u` flag), RE2 and Rust's regex have in common: literals, escapes, classes
 * (`\d \w \s \p{…}`, POSIX names), `.`, `^ $ \b \B`, groups, alternation, greedy and lazy quantifiers, `(?i)` and
 * `(?i:…)`. `\w`, `\d` and `\b` are ASCII, `\s` is Unicode white space, `.` is any character of the line. `}`, `]` and a
 * `{` that does not start a quantifier match themselves.
 *
 * @throws ToolError `INVALID_PATTERN` with the `position` (in UTF-16 units, from 1) for any other syntax. For
 * back-references, look-around, atomic and possessive forms, and for patterns that would match a line break, a hint
 * says what is not supported.
 */
export function parseRegex(pattern: string, ignoreCase: boolean): Node {
  const state = createParserState(pattern, ignoreCase)
  const node = parseAlternatives(state)
  if (state.index < pattern.length) refusePattern('unmatched ")"', state.index, escapeHint(')'))
  return node
}

/**
 * The tree that matches exactly a text.
 *
 * @throws ToolError `INVALID_PATTERN` for a line break or a lone surrogate.
 */
export function literalNode(text: string, ignoreCase: boolean): Node {
  const lineBreak = text.indexOf('\n')
  if (lineBreak !== -1) refusePattern('the query contains a line break', lineBreak, ONE_LINE)
  const parts = Array.from(text, (char): Node => {
    const codePoint = char.codePointAt(0) as number
    if (isSurrogate(codePoint)) refusePattern('the query contains a lone surrogate', text.indexOf(char))
    return { type: 'char', codePoint, ignoreCase }
  })
  return { type: 'concat', parts }
}

/** The largest count of a quantifier. */
const MAX_COUNT = 10_000
/** The greatest depth of nested groups. */
const MAX_DEPTH = 200

const NO_LOOKAROUND =
  'Look-ahead and look-behind are not supported (search takes linear time): match the surrounding text too.'
const NO_BACKREFERENCE = 'Back-references are not supported (search takes linear time): write out the alternatives.'
const NO_ATOMIC = 'Atomic groups and possessive quantifiers are not supported or needed: search never backtracks.'

const COUNTS = /\{(\d{1,9})(,(\d{0,9}))?\}/y
/** Accepts flags that change nothing: `m` (^ and $ match at every line anyway), `s` (a line has no break), `u`. */
const FLAGS = /\?([imsu]*)(?:-([ims]+))?([:)])/y
const NAME = /\?P?<[\p{ID_Start}_$][\p{ID_Continue}$]*>/uy
const ANY = negate(LINE_BREAK)

function escapeHint(char: string): string {
  return `Escape it as \\${char} to match the character.`
}

function parseAlternatives(state: ParserState): Node {
  const options = [parseSequence(state)]
  while (state.pattern[state.index] === '|') {
    state.index += 1
    options.push(parseSequence(state))
  }
  return options.length === 1 ? (options[0] as Node) : { type: 'alternate', options }
}

function parseSequence(state: ParserState): Node {
  const { pattern } = state
  const parts: Node[] = []
  while (state.index < pattern.length && pattern[state.index] !== '|' && pattern[state.index] !== ')') {
    const start = state.index
    const atom = parseAtom(state)
    if (atom !== undefined) parts.push(parseQuantifier(state, atom, start))
  }
  if (parts.length === 0) return { type: 'empty' }
  return parts.length === 1 ? (parts[0] as Node) : { type: 'concat', parts }
}

/** Returns `undefined` for flags, which match nothing and cannot be repeated. */
function parseAtom(state: ParserState): Node | undefined {
  const { index, ignoreCase } = state
  const char = state.pattern[index] as string
  switch (char) {
    case '(':
      return parseGroup(state)
    case '[':
      return { type: 'set', set: readClass(state) }
    case '.':
      state.index += 1
      return { type: 'set', set: ANY }
    case '^':
      state.index += 1
      return { type: 'assert', kind: 'lineStart' }
    case '$':
      state.index += 1
      return { type: 'assert', kind: 'lineEnd' }
    case '\\':
      return parseEscape(state)
    case '*':
    case '+':
    case '?':
      return refusePattern(`"${char}" has nothing to repeat`, index, escapeHint(char))
    case '{':
      if (peekCounts(state) !== undefined) refusePattern('"{" has nothing to repeat', index, escapeHint('{'))
      break
    case '\n':
      refusePattern('the pattern contains a line break', index, ONE_LINE)
  }
  return { type: 'char', codePoint: readCodePoint(state), ignoreCase }
}

function parseQuantifier(state: ParserState, node: Node, start: number): Node {
  const { pattern } = state
  const counts = readCounts(state)
  if (counts === undefined) return node
  if (node.type === 'assert') refusePattern('a quantifier repeats an assertion', start)
  const lazy = pattern[state.index] === '?'
  if (lazy) state.index += 1
  else if (pattern[state.index] === '+') refusePattern('a possessive quantifier', state.index, NO_ATOMIC)
  const next = pattern[state.index]
  if (next === '*' || next === '+' || next === '?' || peekCounts(state) !== undefined) {
    refusePattern('a quantifier repeats a quantifier', state.index, 'Put the repeated part in a group: (?:…).')
  }
  return { type: 'repeat', node, min: counts.min, max: counts.max, lazy }
}

interface Counts {
  readonly min: number
  readonly max: number
}

/** Reads the quantifier at the current position, without the sign that makes it lazy. */
function readCounts(state: ParserState): Counts | undefined {
  const { index } = state
  const counts = SIGNS[state.pattern.charAt(index)]
  if (counts !== undefined) {
    state.index += 1
    return counts
  }
  const braces = peekCounts(state)
  if (braces === undefined) return undefined
  const { min, max } = braces
  if (min > max) refusePattern('quantifier counts are out of order', index)
  const largest = max === Number.POSITIVE_INFINITY ? min : max
  if (largest > MAX_COUNT) refusePattern(`a quantifier count exceeds ${MAX_COUNT}`, index)
  state.index = braces.end
  return braces
}

const SIGNS: Readonly<Record<string, Counts>> = {
  __proto__: null as never,
  '*': { min: 0, max: Number.POSITIVE_INFINITY },
  '+': { min: 1, max: Number.POSITIVE_INFINITY },
  '?': { min: 0, max: 1 },
}

/** The `{n}`, `{n,}` or `{n,m}` at the current position, and where it ends. Does not move. */
function peekCounts({ pattern, index }: ParserState): (Counts & { readonly end: number }) | undefined {
  COUNTS.lastIndex = index
  const match = COUNTS.exec(pattern)
  if (match === null) return undefined
  const min = Number(match[1])
  const max = match[2] === undefined ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3])
  return { min, max, end: COUNTS.lastIndex }
}

/** Returns `undefined` for flags without a body. */
function parseGroup(state: ParserState): Node | undefined {
  const { index: start, ignoreCase: outerIgnoreCase, pattern } = state
  state.index += 1
  if (pattern[state.index] === '?' && readGroupHead(state, start) === 'flags') return undefined
  state.depth += 1
  if (state.depth > MAX_DEPTH) refusePattern(`groups nest deeper than ${MAX_DEPTH}`, start)
  const node = parseAlternatives(state)
  state.depth -= 1
  if (pattern[state.index] !== ')') refusePattern('a group is never closed', start, escapeHint('('))
  state.index += 1
  state.ignoreCase = outerIgnoreCase
  // Wraps an assertion, so that a quantifier after the group is not taken for one of the assertion.
  return node.type === 'assert' ? { type: 'concat', parts: [node] } : node
}

/** Reads what follows `(?`. Flags without a body, as `(?i)`, apply to the rest of the enclosing group. */
function readGroupHead(state: ParserState, start: number): 'group' | 'flags' {
  FLAGS.lastIndex = state.index
  const flags = FLAGS.exec(state.pattern)
  if (flags === null || flags[0] === '?)') {
    if (readMatch(state, NAME) === undefined) refuseGroup(state, start)
    return 'group'
  }
  state.index = FLAGS.lastIndex
  if (flags[1]?.includes('i')) state.ignoreCase = true
  if (flags[2]?.includes('i')) state.ignoreCase = false
  return flags[3] === ')' ? 'flags' : 'group'
}

function refuseGroup({ pattern, index }: ParserState, start: number): never {
  const form = pattern.slice(index, index + 3)
  if (/^\?(?:[=!]|<[=!])/.test(form)) refusePattern('look-around', start, NO_LOOKAROUND)
  if (form.startsWith('?>')) refusePattern('an atomic group', start, NO_ATOMIC)
  if (form === '?P=') refusePattern('a back-reference', start, NO_BACKREFERENCE)
  return refusePattern('an unknown kind of group', start, 'Supported are (…), (?:…), (?<name>…), (?i) and (?i:…).')
}

function parseEscape(state: ParserState): Node {
  const { index: start, ignoreCase } = state
  const char = state.pattern[start + 1]
  if (char === 'b' || char === 'B') {
    state.index += 2
    return { type: 'assert', kind: char === 'b' ? 'word' : 'notWord' }
  }
  if (char === 'k' || (char !== undefined && char >= '1' && char <= '9')) {
    refusePattern('a back-reference', start, NO_BACKREFERENCE)
  }
  if (char === 'A' || char === 'z' || char === 'Z' || char === 'G') {
    refusePattern(`\\${char}`, start, 'Use ^ for the start of a line and $ for its end.')
  }
  const value = readEscape(state)
  if (typeof value !== 'number') return { type: 'set', set: value }
  if (value === 0x0a) refusePattern('the pattern contains a line break', start, ONE_LINE)
  return { type: 'char', codePoint: value, ignoreCase }
}
