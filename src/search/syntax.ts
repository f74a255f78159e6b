import { ToolError } from '../errors.ts'
import { type CodePoints, MAX_CODE_POINT, negate, propertySet, subtract, toCodePoints } from './code-points.ts'
import { foldCase } from './fold.ts'

/** What a regular expression means, over code points. Groups leave no trace but the tree itself. */
export type Node =
  | { readonly type: 'empty' }
  /** One character; with `ignoreCase`, in any case. */
  | { readonly type: 'char'; readonly codePoint: number; readonly ignoreCase: boolean }
  /** One character out of a set, case already folded into it. */
  | { readonly type: 'set'; readonly set: CodePoints }
  | { readonly type: 'concat'; readonly parts: readonly Node[] }
  | { readonly type: 'alternate'; readonly options: readonly Node[] }
  | { readonly type: 'repeat'; readonly node: Node; readonly min: number; readonly max: number; readonly lazy: boolean }
  | { readonly type: 'assert'; readonly kind: AssertKind }

export type AssertKind = 'lineStart' | 'lineEnd' | 'word' | 'notWord'

/**
 * Parses what JavaScript (with the `u` flag), RE2 and Rust's regex have in common: literals, escapes, classes (`\d \w \s
 * \p{…}`, POSIX names), `.`, `^ $ \b \B`, groups, alternation, greedy and lazy quantifiers, `(?i)` and `(?i:…)`.
 * `\w`, `\d` and `\b` are ASCII, `\s` is Unicode white space, `.` is any character of the line. A brace that begins no
 * quantifier, `}` and `]` stand for themselves.
 *
 * Throws `INVALID_PATTERN` with the `position` (in UTF-16 units, from 1) for anything else, and with a hint that names
 * what is missing for back-references, look-around, atomic and possessive forms, and for anything that would have to
 * match a line break.
 */
export function parseRegex(pattern: string, ignoreCase: boolean): Node {
  const parser = createParser(pattern, ignoreCase)
  return parser.parse()
}

/** The tree for a text that stands for itself. Throws `INVALID_PATTERN` where it holds a line break. */
export function literalNode(text: string, ignoreCase: boolean): Node {
  const lineBreak = text.indexOf('\n')
  if (lineBreak !== -1) refuse('the query holds a line break', lineBreak, ONE_LINE)
  const parts = Array.from(text, (char): Node => {
    const codePoint = char.codePointAt(0) as number
    if (isSurrogate(codePoint)) refuse('the query holds half a surrogate pair', text.indexOf(char))
    return { type: 'char', codePoint, ignoreCase }
  })
  return { type: 'concat', parts }
}

/** A quantifier counts to this at most. */
const MAX_COUNT = 10_000
/** Groups nest to this depth at most. */
const MAX_DEPTH = 200
/** A pattern has this many different Unicode properties at most: each takes the engine some milliseconds. */
const MAX_PROPERTIES = 16

const ONE_LINE = 'A match never spans lines: search for one of the lines, and use contextLines to see its neighbours.'
const NO_LOOKAROUND =
  'Look-ahead and look-behind are not supported (search takes linear time): match the surroundings too.'
const NO_BACKREFERENCE = 'Back-references are not supported (search takes linear time): write the alternatives out.'
const NO_ATOMIC = 'Atomic groups and possessive quantifiers are not supported, nor needed: search never backtracks.'

function refuse(why: string, index: number, hint?: string): never {
  throw new ToolError('INVALID_PATTERN', `Cannot search: ${why} at position ${index + 1}`, {
    position: index + 1,
    ...(hint === undefined ? {} : { hint }),
  })
}

function createParser(pattern: string, initialIgnoreCase: boolean): { parse(): Node } {
  let at = 0
  let depth = 0
  let ignoreCase = initialIgnoreCase
  const properties = new Map<string, CodePoints>()
  return { parse }

  function parse(): Node {
    const node = parseAlternatives()
    if (at < pattern.length) refuse('")" closes no group', at, 'Escape it as \\) to match the character.')
    return node
  }

  function parseAlternatives(): Node {
    const options = [parseSequence()]
    while (pattern[at] === '|') {
      at += 1
      options.push(parseSequence())
    }
    return options.length === 1 ? (options[0] as Node) : { type: 'alternate', options }
  }

  function parseSequence(): Node {
    const parts: Node[] = []
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      const start = at
      const atom = parseAtom()
      if (atom !== undefined) parts.push(parseQuantifier(atom, start))
    }
    if (parts.length === 0) return { type: 'empty' }
    return parts.length === 1 ? (parts[0] as Node) : { type: 'concat', parts }
  }

  /** `undefined` for flags, which match nothing and cannot be repeated. */
  function parseAtom(): Node | undefined {
    const char = pattern[at] as string
    switch (char) {
      case '(':
        return parseGroup()
      case '[':
        return parseClass()
      case '.':
        at += 1
        return { type: 'set', set: ANY }
      case '^':
        at += 1
        return { type: 'assert', kind: 'lineStart' }
      case '$':
        at += 1
        return { type: 'assert', kind: 'lineEnd' }
      case '\\':
        return parseEscape()
      case '*':
      case '+':
      case '?':
        return refuse(`"${char}" repeats nothing`, at, `Escape it as \\${char} to match the character.`)
      case '{':
        if (readCounts() !== undefined) refuse('"{" repeats nothing', at, 'Escape it as \\{ to match the character.')
        break
      case '\n':
        refuse('the pattern holds a line break', at, ONE_LINE)
    }
    return literal(readCodePoint())
  }

  function literal(codePoint: number): Node {
    return { type: 'char', codePoint, ignoreCase }
  }

  function readCodePoint(): number {
    const codePoint = pattern.codePointAt(at) as number
    if (isSurrogate(codePoint)) refuse('the pattern holds half a surrogate pair', at)
    at += codePoint > 0xffff ? 2 : 1
    return codePoint
  }

  function parseQuantifier(node: Node, start: number): Node {
    let min = 0
    let max = Number.POSITIVE_INFINITY
    switch (pattern[at]) {
      case '*':
        at += 1
        break
      case '+':
        at += 1
        min = 1
        break
      case '?':
        at += 1
        max = 1
        break
      case '{': {
        const counts = readCounts()
        if (counts === undefined) return node
        min = counts.min
        max = counts.max
        if (min > max) refuse('the counts of a quantifier are out of order', at)
        const largest = max === Number.POSITIVE_INFINITY ? min : max
        if (largest > MAX_COUNT) refuse(`a quantifier counts further than ${MAX_COUNT}`, at)
        at = counts.end
        break
      }
      default:
        return node
    }
    if (node.type === 'assert') refuse('a quantifier repeats an assertion', start)
    const lazy = pattern[at] === '?'
    if (lazy) at += 1
    else if (pattern[at] === '+') refuse('a possessive quantifier', at, NO_ATOMIC)
    const next = pattern[at]
    if (next === '*' || next === '+' || next === '?' || readCounts() !== undefined) {
      refuse('a quantifier repeats a quantifier', at, 'Put the repeated part in a group: (?:…).')
    }
    return { type: 'repeat', node, min, max, lazy }
  }

  /** The `{n}`, `{n,}` or `{n,m}` at the present position, if it is one. */
  function readCounts(): { min: number; max: number; end: number } | undefined {
    COUNTS.lastIndex = at
    const match = COUNTS.exec(pattern)
    if (match === null) return undefined
    const min = Number(match[1])
    const max = match[2] === undefined ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3])
    return { min, max, end: COUNTS.lastIndex }
  }

  function parseGroup(): Node | undefined {
    const start = at
    const outerIgnoreCase = ignoreCase
    at += 1
    if (pattern[at] === '?') {
      FLAGS.lastIndex = at
      const flags = FLAGS.exec(pattern)
      if (flags !== null && flags[0] !== '?)') {
        at = FLAGS.lastIndex
        if (flags[1]?.includes('i')) ignoreCase = true
        if (flags[2]?.includes('i')) ignoreCase = false
        // Flags without a body hold for the rest of the group around them.
        if (flags[3] === ')') return undefined
      } else {
        NAME.lastIndex = at
        if (NAME.test(pattern)) at = NAME.lastIndex
        else refuseGroup(start)
      }
    }
    depth += 1
    if (depth > MAX_DEPTH) refuse(`groups nest deeper than ${MAX_DEPTH}`, start)
    const node = parseAlternatives()
    depth -= 1
    if (pattern[at] !== ')') refuse('a group is never closed', start, 'Escape it as \\( to match the character.')
    at += 1
    ignoreCase = outerIgnoreCase
    // A group of its own, so that a quantifier after it never takes an assertion in it for its own.
    return node.type === 'assert' ? { type: 'concat', parts: [node] } : node
  }

  function refuseGroup(start: number): never {
    const form = pattern.slice(at, at + 3)
    if (/^\?(?:[=!]|<[=!])/.test(form)) refuse('look-around', start, NO_LOOKAROUND)
    if (form.startsWith('?>')) refuse('an atomic group', start, NO_ATOMIC)
    if (form === '?P=') refuse('a back-reference', start, NO_BACKREFERENCE)
    return refuse('an unknown kind of group', start, 'Supported are (…), (?:…), (?<name>…), (?i) and (?i:…).')
  }

  function parseEscape(): Node {
    const start = at
    const char = pattern[at + 1]
    if (char === 'b' || char === 'B') {
      at += 2
      return { type: 'assert', kind: char === 'b' ? 'word' : 'notWord' }
    }
    if (char === 'k' || (char !== undefined && char >= '1' && char <= '9')) {
      refuse('a back-reference', start, NO_BACKREFERENCE)
    }
    if (char === 'A' || char === 'z' || char === 'Z' || char === 'G') {
      refuse(`\\${char}`, start, 'Use ^ for the start of a line and $ for its end.')
    }
    const value = readEscape()
    if (typeof value !== 'number') return { type: 'set', set: value }
    if (value === 0x0a) refuse('the pattern holds a line break', start, ONE_LINE)
    return literal(value)
  }

  /** The code point or set of the escape at the present position, in a class or outside. */
  function readEscape(): number | CodePoints {
    const start = at
    const char = pattern[at + 1]
    if (char === undefined) refuse('the pattern ends in a backslash', at, 'Escape it as \\\\ to match the character.')
    at += 2
    const named = CLASSES[char]
    if (named !== undefined) return named
    const control = CONTROLS[char]
    if (control !== undefined) return control
    switch (char) {
      case '0':
        if (/\d/.test(pattern.charAt(at))) refuse('an octal escape', start, 'Write the character as \\x{…}.')
        return 0
      case 'c': {
        const letter = pattern.charAt(at)
        if (!/[A-Za-z]/.test(letter)) refuse('\\c without a letter', start)
        at += 1
        return letter.charCodeAt(0) & 31
      }
      case 'x':
      case 'u':
      case 'U':
        return readHex(char, start)
      case 'p':
      case 'P':
        return readProperty(char === 'P', start)
    }
    if (/[!-/:-@[-`{-~]/.test(char)) return char.charCodeAt(0)
    if (char === ' ') return 0x20
    return refuse(`the unknown escape \\${char}`, start, 'A letter is escaped only where the escape has a meaning.')
  }

  function readHex(kind: 'x' | 'u' | 'U', start: number): number {
    const digits = kind === 'x' ? 2 : kind === 'u' ? 4 : 8
    const form = new RegExp(`\\{([0-9A-Fa-f]{1,8})\\}|([0-9A-Fa-f]{${digits}})`, 'y')
    form.lastIndex = at
    const match = form.exec(pattern)
    if (match === null)
      refuse(
        `an incomplete \\${kind} escape`,
        start,
        `Write \\${kind} with ${digits} hexadecimal digits, or \\${kind}{…}.`,
      )
    at = form.lastIndex
    let codePoint = Number.parseInt((match[1] ?? match[2]) as string, 16)
    if (codePoint >= 0xd800 && codePoint < 0xdc00) {
      const low = /\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})/y
      low.lastIndex = at
      const second = low.exec(pattern)
      if (second !== null) {
        at = low.lastIndex
        codePoint = 0x10000 + ((codePoint & 0x3ff) << 10) + (Number.parseInt(second[1] as string, 16) & 0x3ff)
      }
    }
    if (codePoint > MAX_CODE_POINT || isSurrogate(codePoint)) refuse('an escape for no character', start)
    return codePoint
  }

  function readProperty(negated: boolean, start: number): CodePoints {
    PROPERTY.lastIndex = at
    const match = PROPERTY.exec(pattern)
    if (match === null) refuse('an incomplete Unicode property', start, 'Write it as \\p{L} or \\p{Script=Greek}.')
    at = PROPERTY.lastIndex
    const name = (match[1] ?? match[2]) as string
    const key = `${negated} ${ignoreCase} ${name}`
    const known = properties.get(key)
    if (known !== undefined) return known
    if (properties.size === MAX_PROPERTIES) {
      refuse(`more than ${MAX_PROPERTIES} different Unicode properties`, start, 'Name a wider one, such as \\p{L}.')
    }
    const set = propertySet(name)
    if (set === undefined) refuse('an unknown Unicode property', start, 'Write it as \\p{L} or \\p{Script=Greek}.')
    const chosen = negated ? negate(set) : set
    const read = ignoreCase ? foldCase(chosen) : chosen
    properties.set(key, read)
    return read
  }

  function parseClass(): Node {
    const start = at
    at += 1
    const negated = pattern[at] === '^'
    if (negated) at += 1
    const pairs: number[] = []
    // Case is folded for characters and ranges only; the classes with a name hold both cases already.
    const named: number[] = []
    for (let first = true; ; first = false) {
      const char = pattern[at]
      if (char === undefined) refuse('a class is never closed', start, 'Escape it as \\[ to match the character.')
      if (char === ']' && !first) break
      const itemStart = at
      const low = readClassItem()
      if (typeof low !== 'number') {
        for (const end of low) named.push(end)
        continue
      }
      if (pattern[at] !== '-' || pattern[at + 1] === ']' || at + 1 >= pattern.length) {
        pairs.push(low, low)
        continue
      }
      at += 1
      const high = readClassItem()
      if (typeof high !== 'number') refuse('a range ends in a class', itemStart, 'Escape the hyphen as \\-.')
      if (high < low) refuse('a range is out of order', itemStart)
      pairs.push(low, high)
    }
    at += 1
    const characters = toCodePoints(pairs)
    const all = toCodePoints([...(ignoreCase ? foldCase(characters) : characters), ...named])
    const set = subtract(negated ? negate(all) : all, LINE_BREAK)
    if (set.length === 0 && all.length > 0 && !negated) {
      refuse('the pattern holds a line break', start, ONE_LINE)
    }
    return { type: 'set', set }
  }

  function readClassItem(): number | CodePoints {
    if (pattern[at] === '\\') {
      if (pattern[at + 1] === 'b') {
        at += 2
        return 0x08
      }
      return readEscape()
    }
    POSIX.lastIndex = at
    const match = POSIX.exec(pattern)
    if (match !== null) {
      const set = POSIX_CLASSES[match[2] as string]
      if (set !== undefined) {
        at = POSIX.lastIndex
        const chosen = match[1] === '^' ? negate(set) : set
        return ignoreCase ? foldCase(chosen) : chosen
      }
    }
    return readCodePoint()
  }
}

const COUNTS = /\{(\d{1,9})(,(\d{0,9}))?\}/y
/** Flags that change nothing here are taken: `m` (^ and $ hold per line anyway), `s` (a line has no break), `u`. */
const FLAGS = /\?([imsu]*)(?:-([ims]+))?([:)])/y
const NAME = /\?P?<[\p{ID_Start}_$][\p{ID_Continue}$]*>/uy
const PROPERTY = /\{([^{}]{1,100})\}|([A-Z])/y
const POSIX = /\[:(\^?)([a-z]+):\]/y

const LINE_BREAK: CodePoints = [0x0a, 0x0a]
const ANY = negate(LINE_BREAK)
const DIGIT: CodePoints = [0x30, 0x39]
const WORD = toCodePoints([0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a])
const SPACE = toCodePoints([
  0x09, 0x09, 0x0b, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f,
  0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
])

const CLASSES: Readonly<Record<string, CodePoints>> = {
  __proto__: null as never,
  d: DIGIT,
  D: subtract(negate(DIGIT), LINE_BREAK),
  w: WORD,
  W: subtract(negate(WORD), LINE_BREAK),
  s: SPACE,
  S: subtract(negate(SPACE), LINE_BREAK),
}

const CONTROLS: Readonly<Record<string, number>> = {
  __proto__: null as never,
  t: 0x09,
  n: 0x0a,
  v: 0x0b,
  f: 0x0c,
  r: 0x0d,
}

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

function isSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdfff
}
