import { ToolError } from '../errors.ts'
import { parseClass } from './wildcard.ts'

const MAX_ALTERNATIVES = 1000
const MAX_CHARACTERS = 65_536
const MAX_DEPTH = 32

/**
 * Expands the braces of a glob: `{a,b}`, nested braces, `{1..10}`, `{01..10..3}`, `{a..e}`. Braces without a comma or range,
 * braces in bracket expressions and escaped braces are literal; escaped ones keep their `\`. In the results
 * all remaining braces and commas are literal.
 *
 * @param label the glob, for messages
 * @throws ToolError `INVALID_PATTERN` for a `{` that never closes, and over 1,000 alternatives, 65,536 characters in total, or 32 levels
 */
export function expandBraces(pattern: string, label: string): readonly string[] {
  if (!/[{},]/.test(pattern)) return [pattern]
  const refuse = (reason: string, hint = 'Use fewer alternatives, or * instead.'): never => {
    throw new ToolError('INVALID_PATTERN', `Cannot use ${label}: its braces ${reason}`, { hint })
  }
  const closes = closingBraces(pattern)
  if (closes === undefined) return refuse('do not close', 'Close each { with }, or write [{] for the character.')
  const root = parse(pattern, closes)
  if (root === undefined) return refuse(`are nested more than ${MAX_DEPTH} deep`)
  const size = sizeOf(root)
  if (size.count > MAX_ALTERNATIVES) refuse(`expand to more than ${MAX_ALTERNATIVES} alternatives`)
  if (size.characters > MAX_CHARACTERS) refuse(`expand to more than ${MAX_CHARACTERS} characters`)
  return [...new Set(expand(root))]
}

type Node = string | Choice
type Sequence = Node[]
interface Choice {
  readonly options: readonly Sequence[]
}

/** An open brace during parsing, with the alternatives so far. */
interface Frame {
  readonly options: Sequence[]
  current: Sequence
  text: string
}

/** Parses a pattern. Returns `undefined` if braces are nested too deep. */
function parse(pattern: string, closes: ReadonlyMap<number, number>): Sequence | undefined {
  const stack: Frame[] = [{ options: [], current: [], text: '' }]
  for (let at = 0; at < pattern.length; at++) {
    const frame = stack.at(-1) as Frame
    const char = pattern[at] as string
    const close = closes.get(at)
    if (char === '\\') {
      frame.text += pattern.slice(at, at + 2)
      at += 1
    } else if (char === '[') {
      const end = bracketEnd(pattern, at)
      frame.text += pattern.slice(at, end)
      at = end - 1
    } else if (close !== undefined) {
      const range = rangeOf(pattern.slice(at + 1, close))
      if (range === undefined) {
        if (stack.length > MAX_DEPTH) return undefined
        flush(frame)
        stack.push({ options: [], current: [], text: '' })
      } else {
        flush(frame)
        frame.current.push({ options: range.map((text) => [text]) })
        at = close
      }
    } else if (char === '}' && stack.length > 1) {
      flush(frame)
      stack.pop()
      const outer = stack.at(-1) as Frame
      if (frame.options.length === 0) {
        outer.current.push('{', ...frame.current, '}')
      } else {
        frame.options.push(frame.current)
        outer.current.push({ options: frame.options })
      }
    } else if (char === ',' && stack.length > 1) {
      flush(frame)
      frame.options.push(frame.current)
      frame.current = []
    } else {
      frame.text += char
    }
  }
  const root = stack[0] as Frame
  flush(root)
  return root.current
}

function flush(frame: Frame): void {
  frame.current.push(frame.text)
  frame.text = ''
}

/** Returns the offset of the closing brace for the offset of each opening brace. Returns `undefined` if one never closes. */
function closingBraces(pattern: string): ReadonlyMap<number, number> | undefined {
  const closes = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at += 1
    else if (char === '[') at = bracketEnd(pattern, at) - 1
    else if (char === '{') open.push(at)
    else if (char === '}') {
      const start = open.pop()
      if (start !== undefined) closes.set(start, at)
    }
  }
  return open.length > 0 ? undefined : closes
}

/** Returns the offset after the bracket expression at `start`, or after a `[` that starts none. */
function bracketEnd(pattern: string, start: number): number {
  const slash = pattern.indexOf('/', start)
  const end = slash === -1 ? pattern.length : slash
  if (pattern.lastIndexOf(']', end) <= start) return start + 1
  return parseClass(pattern, start, end)?.end ?? start + 1
}

/** Returns the values of a range such as `1..10`, or `undefined` for other text. */
function rangeOf(body: string): string[] | undefined {
  const match = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(body)
  if (match === null) return undefined
  const [, from = '', to = ''] = match
  const isNumeric = /\d/.test(from)
  if (isNumeric !== /\d/.test(to)) return undefined
  const start = isNumeric ? Number(from) : from.charCodeAt(0)
  const end = isNumeric ? Number(to) : to.charCodeAt(0)
  const step = Math.max(1, Math.abs(Number(match[3] ?? 1)))
  const count = Math.floor(Math.abs(end - start) / step) + 1
  // One more than the limit suffices for the refusal.
  const length = Math.min(count, MAX_ALTERNATIVES + 1)
  const width = [from, to].some((text) => /^-?0\d/.test(text)) ? Math.max(from.length, to.length) : 0
  return Array.from({ length }, (_, i) => {
    const value = start + (end < start ? -i : i) * step
    if (!isNumeric) return String.fromCharCode(value)
    const digits = String(Math.abs(value))
    return value < 0 ? `-${digits.padStart(width - 1, '0')}` : digits.padStart(width, '0')
  })
}

/** Returns the number of alternatives and their total length, without creating them. */
function sizeOf(sequence: Sequence): { count: number; characters: number } {
  let count = 1
  let characters = 0
  for (const node of sequence) {
    if (typeof node === 'string') {
      characters += count * node.length
      continue
    }
    const sizes = node.options.map(sizeOf)
    const options = sizes.reduce((sum, size) => sum + size.count, 0)
    const inner = sizes.reduce((sum, size) => sum + size.characters, 0)
    characters = characters * options + count * inner
    count *= options
  }
  return { count, characters }
}

function expand(sequence: Sequence): string[] {
  let results = ['']
  for (const node of sequence) {
    if (typeof node === 'string') results = results.map((text) => text + node)
    else {
      const options = node.options.flatMap(expand)
      results = results.flatMap((text) => options.map((option) => text + option))
    }
  }
  return results
}
