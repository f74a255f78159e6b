import { type CodePoints, MAX_CODE_POINT, negate, propertySet, subtract, toCodePoints } from './code-points.ts'
import { foldCase } from './fold.ts'
import { isSurrogate, type ParserState, readMatch, refusePattern } from './parser-state.ts'

/** A pattern has at most this many different Unicode properties: building the set of one takes milliseconds. */
const MAX_PROPERTIES = 16

export const LINE_BREAK: CodePoints = [0x0a, 0x0a]
export const DIGIT: CodePoints = [0x30, 0x39]
export const WORD = toCodePoints([0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a])
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

const PROPERTY = /\{([^{}]{1,100})\}|([A-Z])/y
const LOW_SURROGATE = /\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})/y

/** Reads the escape at the current position, inside or outside of a class: one code point or a set of them. */
export function readEscape(state: ParserState): number | CodePoints {
  const start = state.index
  const char = state.pattern[start + 1]
  if (char === undefined) {
    refusePattern('the pattern ends in a backslash', start, 'Escape it as \\\\ to match the character.')
  }
  state.index += 2
  const set = CLASSES[char]
  if (set !== undefined) return set
  const control = CONTROLS[char]
  if (control !== undefined) return control
  switch (char) {
    case '0':
      if (/\d/.test(state.pattern.charAt(state.index))) {
        refusePattern('an octal escape', start, 'Write the character as \\x{…}.')
      }
      return 0
    case 'c': {
      const letter = state.pattern.charAt(state.index)
      if (!/[A-Za-z]/.test(letter)) refusePattern('\\c without a letter', start)
      state.index += 1
      return letter.charCodeAt(0) & 31
    }
    case 'x':
    case 'u':
    case 'U':
      return readHex(state, char, start)
    case 'p':
    case 'P':
      return readProperty(state, char === 'P', start)
  }
  if (/[!-/:-@[-`{-~]/.test(char)) return char.charCodeAt(0)
  if (char === ' ') return 0x20
  return refusePattern(`the unknown escape \\${char}`, start, 'Only letters with a special meaning can be escaped.')
}

function readHex(state: ParserState, kind: 'x' | 'u' | 'U', start: number): number {
  const digits = kind === 'x' ? 2 : kind === 'u' ? 4 : 8
  const match = readMatch(state, new RegExp(`\\{([0-9A-Fa-f]{1,8})\\}|([0-9A-Fa-f]{${digits}})`, 'y'))
  if (match === undefined) {
    const hint = `Write \\${kind} with ${digits} hexadecimal digits, or \\${kind}{…}.`
    refusePattern(`an incomplete \\${kind} escape`, start, hint)
  }
  let codePoint = Number.parseInt((match[1] ?? match[2]) as string, 16)
  if (codePoint >= 0xd800 && codePoint < 0xdc00) {
    const low = readMatch(state, LOW_SURROGATE)
    if (low !== undefined) {
      codePoint = 0x10000 + ((codePoint & 0x3ff) << 10) + (Number.parseInt(low[1] as string, 16) & 0x3ff)
    }
  }
  if (codePoint > MAX_CODE_POINT || isSurrogate(codePoint)) {
    refusePattern('an escape for an invalid code point', start)
  }
  return codePoint
}

function readProperty(state: ParserState, negated: boolean, start: number): CodePoints {
  const { ignoreCase, properties } = state
  const match = readMatch(state, PROPERTY)
  if (match === undefined) {
    refusePattern('an incomplete Unicode property', start, 'Write it as \\p{L} or \\p{Script=Greek}.')
  }
  const name = (match[1] ?? match[2]) as string
  const key = `${negated} ${ignoreCase} ${name}`
  const cached = properties.get(key)
  if (cached !== undefined) return cached
  if (properties.size === MAX_PROPERTIES) {
    const hint = 'Use a broader one, such as \\p{L}.'
    refusePattern(`more than ${MAX_PROPERTIES} different Unicode properties`, start, hint)
  }
  const members = propertySet(name)
  if (members === undefined) {
    refusePattern('an unknown Unicode property', start, 'Write it as \\p{L} or \\p{Script=Greek}.')
  }
  const selected = negated ? negate(members) : members
  const set = ignoreCase ? foldCase(selected) : selected
  properties.set(key, set)
  return set
}
