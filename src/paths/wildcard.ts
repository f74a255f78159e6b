/** A pattern for one name. Neither the pattern nor the names contain `/`. */
export interface NamePattern {
  /** The only matching name, if the pattern is literal. */
  readonly literal: string | undefined
  /** The literal end of every matching name, or `''`. */
  readonly tail: string
  /** Whether the pattern is `*` and its tail only. */
  readonly isTail: boolean
  /** Takes at most (length of name) × (length of pattern) steps. */
  matches(name: string): boolean
}

/** A token of a pattern: text, `?`, `*`, or a bracket expression. */
export type Token =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'any' }
  | { readonly type: 'star' }
  | { readonly type: 'class'; readonly has: (code: number) => boolean; readonly text?: string }

/**
 * Compiles the tokens of one name. `*` matches any characters and `?` one code point. A class with `text` also matches that
 * text literally.
 */
export function compileName(tokens: readonly Token[]): NamePattern {
  const merged = mergeTokens(tokens)
  const last = merged.at(-1)
  const tail = last?.type === 'text' ? last.text : ''
  if (merged.every((token) => token.type === 'text')) {
    return { literal: tail, tail, isTail: false, matches: (name) => name === tail }
  }
  const isTail = merged[0]?.type === 'star' && (merged.length === 1 || (merged.length === 2 && tail !== ''))
  if (isTail) return { literal: undefined, tail, isTail, matches: (name) => name.endsWith(tail) }
  const program = toProgram(merged)
  const shortest = program.codes.filter((code) => code !== STAR).length
  const retry = (name: string) => name.length >= shortest && name.endsWith(tail) && matchByRetry(program, name)
  const hasClassText = merged.some((token) => token.type === 'class' && token.text !== undefined)
  // Only a name with a bracket can contain the text of a bracket expression.
  const matches = hasClassText
    ? (name: string) => retry(name) || (name.includes('[') && matchBySets(merged, name))
    : retry
  return { literal: undefined, tail, isTail, matches }
}

/** Merges adjacent texts and adjacent stars. */
function mergeTokens(tokens: readonly Token[]): Token[] {
  const merged: Token[] = []
  for (const token of tokens) {
    const last = merged.at(-1)
    if (token.type === 'star' && last?.type === 'star') continue
    if (token.type === 'text' && last?.type === 'text')
      merged[merged.length - 1] = { type: 'text', text: last.text + token.text }
    else merged.push(token)
  }
  return merged
}

const ANY = -1
const STAR = -2
const FIRST_CLASS = -3

/** One code per UTF-16 unit of text, so that matching is one loop over numbers. Classes count down from -3. */
interface Program {
  readonly codes: readonly number[]
  readonly classes: readonly ((code: number) => boolean)[]
}

function toProgram(tokens: readonly Token[]): Program {
  const codes: number[] = []
  const classes: ((code: number) => boolean)[] = []
  for (const token of tokens) {
    if (token.type === 'text') for (let i = 0; i < token.text.length; i++) codes.push(token.text.charCodeAt(i))
    else if (token.type === 'class') codes.push(FIRST_CLASS + 1 - classes.push(token.has))
    else codes.push(token.type === 'any' ? ANY : STAR)
  }
  return { codes, classes }
}

/**
 * Matches with backtracking to the last star only: between two stars, the earliest position of a run of tokens leaves the
 * most room for the next star. The work is bounded by name × pattern.
 */
function matchByRetry({ codes, classes }: Program, name: string): boolean {
  let at = 0
  let step = 0
  let starStep = -1
  let starAt = 0
  while (at < name.length) {
    const code = codes[step]
    if (code === STAR) {
      step += 1
      if (step === codes.length) return true
      starStep = step
      starAt = at
      continue
    }
    const width = code === undefined ? 0 : consumed(code, classes, name, at)
    if (width > 0) {
      at += width
      step += 1
      continue
    }
    if (starStep === -1) return false
    step = starStep
    starAt += 1
    at = starAt
  }
  while (codes[step] === STAR) step += 1
  return step === codes.length
}

/** Returns the number of units that the code matches at this offset, or 0. */
function consumed(code: number, classes: Program['classes'], name: string, at: number): number {
  const unit = name.charCodeAt(at)
  if (code >= 0) return code === unit ? 1 : 0
  const point = unit >= 0xd800 && unit <= 0xdbff ? Number(name.codePointAt(at)) : unit
  if (code === ANY || classes[FIRST_CLASS - code]?.(point) === true) return point > 0xffff ? 2 : 1
  return 0
}

/** Matches by the set of offsets where the tokens so far can end. For tokens without a fixed width. */
function matchBySets(tokens: readonly Token[], name: string): boolean {
  let ends = new Uint8Array(name.length + 1)
  ends[0] = 1
  for (const token of tokens) {
    if (token.type === 'star') {
      ends.fill(1, ends.indexOf(1))
      continue
    }
    const next = new Uint8Array(name.length + 1)
    for (let at = ends.indexOf(1); at !== -1; at = ends.indexOf(1, at + 1)) {
      const text = token.type === 'any' ? undefined : token.text
      if (text !== undefined && name.startsWith(text, at)) next[at + text.length] = 1
      if (token.type === 'text') continue
      const point = name.codePointAt(at)
      if (point !== undefined && (token.type === 'any' || token.has(point))) next[at + (point > 0xffff ? 2 : 1)] = 1
    }
    if (next.indexOf(1) === -1) return false
    ends = next
  }
  return ends[name.length] === 1
}

/** A parsed bracket expression. */
export interface CharacterClass {
  /** Offset in the source after the `]`. */
  readonly end: number
  readonly negated: boolean
  readonly hasRange: boolean
  /** Whether a range runs from high to low and so matches nothing. */
  readonly hasEmptyRange: boolean
  has(code: number): boolean
}

/**
 * Parses the bracket expression at `start` as POSIX and git do: `!` or `^` negates, `]` in first position is a member, `\`
 * escapes the next character, and `[:alpha:]` and similar are sets. Returns `undefined` if it never closes or names an unknown
 * set.
 *
 * `isFolded` is for text whose ASCII letters are in lower case, as in git with `core.ignoreCase`: a capital letter matches as
 * part of a range or set, but not as a single member.
 */
export function parseClass(source: string, start: number, end: number, isFolded = false): CharacterClass | undefined {
  const ranges: [low: number, high: number][] = []
  const sets: ((code: number) => boolean)[] = []
  let hasRange = false
  let hasEmptyRange = false
  let at = start + 1
  const negated = source[at] === '!' || source[at] === '^'
  if (negated) at += 1
  const first = at
  let previous: number | undefined
  for (;;) {
    if (at >= end) return undefined
    let code = Number(source.codePointAt(at))
    if (code === CLOSE && at > first) break
    if (code === OPEN && source[at + 1] === ':') {
      const close = source.indexOf(']', at + 2)
      if (close === -1 || close >= end) return undefined
      if (close > at + 2 && source[close - 1] === ':') {
        const set = namedSets.get(source.slice(at + 2, close - 1))
        if (set === undefined) return undefined
        sets.push(isFolded ? (code) => set(code) || set(capitalOf(code)) : set)
        previous = undefined
        at = close + 1
        continue
      }
    }
    if (code === DASH && previous !== undefined && at + 1 < end && source.charCodeAt(at + 1) !== CLOSE) {
      at += 1
      if (source.charCodeAt(at) === ESCAPE) at += 1
      if (at >= end) return undefined
      code = Number(source.codePointAt(at))
      hasRange = true
      hasEmptyRange ||= previous > code
      ranges.push([previous, code])
      if (isFolded) ranges.push(lowerCaseRange(previous, code))
      previous = undefined
    } else {
      if (code === ESCAPE) {
        at += 1
        if (at >= end) return undefined
        code = Number(source.codePointAt(at))
      }
      ranges.push([code, code])
      previous = code
    }
    at += code > 0xffff ? 2 : 1
  }
  const table = asciiTable(ranges, sets, negated)
  const has = (code: number): boolean => {
    if (code < 128) return table[code] === 1
    return ranges.some(([low, high]) => code >= low && code <= high) !== negated
  }
  return { end: at + 1, negated, hasRange, hasEmptyRange, has }
}

/** Returns the lower-case letters for the capital letters in a range. */
function lowerCaseRange(low: number, high: number): [low: number, high: number] {
  return [Math.max(low, 0x41) + 0x20, Math.min(high, 0x5a) + 0x20]
}

function capitalOf(code: number): number {
  return code >= 0x61 && code <= 0x7a ? code - 0x20 : code
}

const OPEN = 0x5b
const CLOSE = 0x5d
const DASH = 0x2d
const ESCAPE = 0x5c

function asciiTable(ranges: [number, number][], sets: ((code: number) => boolean)[], negated: boolean): Uint8Array {
  const table = new Uint8Array(128).fill(negated ? 1 : 0)
  const member = negated ? 0 : 1
  for (const [low, high] of ranges) if (low < 128) table.fill(member, low, Math.min(high, 127) + 1)
  for (const set of sets) for (let code = 0; code < 128; code++) if (set(code)) table[code] = member
  return table
}

const matching = (expression: RegExp) => (code: number) => expression.test(String.fromCharCode(code))

/** ASCII only, as in git, where `space` has no vertical tab and no form feed. */
const namedSets: ReadonlyMap<string, (code: number) => boolean> = new Map([
  ['alnum', matching(/[A-Za-z0-9]/)],
  ['alpha', matching(/[A-Za-z]/)],
  ['blank', matching(/[ \t]/)],
  ['cntrl', matching(/[\x00-\x1f\x7f]/)],
  ['digit', matching(/[0-9]/)],
  ['graph', matching(/[!-~]/)],
  ['lower', matching(/[a-z]/)],
  ['print', matching(/[ -~]/)],
  ['punct', matching(/[!-/:-@[-`{-~]/)],
  ['space', matching(/[ \t\n\r]/)],
  ['upper', matching(/[A-Z]/)],
  ['xdigit', matching(/[0-9A-Fa-f]/)],
])
