import { ToolError } from '../errors.ts'
import { parseClass } from './wildcard.ts'

const MAX_ALTERNATIVES = 1000
const MAX_CHARACTERS = 65_536
const MAX_DEPTH = 32

/**
 * The alternatives of a glob with braces: `{a,b}`, nested ones, `{1..10}`, `{01..10..3}`, `{a..e}`. Braces that hold
 * neither a comma nor a range, or never close, are plain characters; so are those in a bracket expression, and those
 * with a `\`, which they keep. In the results every brace and comma that is left is plain.
 *
 * @param shown the glob for messages
 * @throws ToolError `INVALID_PATTERN` over 1,000 alternatives, 65,536 characters in all, or 32 braces in each other
 */
export function expandBraces(pattern: string, shown: string): readonly string[] {
  if (!/[{},]/.test(pattern)) return [pattern]
  const refuse = (why: string): never => {
    throw new ToolError('INVALID_PATTERN', `Cannot use ${shown}: its braces ${why}`, {
      hint: 'Use fewer alternatives, or * in their place.',
    })
  }
  const root = parse(pattern)
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

/** An open brace on the way: what was read of it, as alternatives if it turns out to close. */
interface Frame {
  readonly options: Sequence[]
  current: Sequence
  text: string
}

/** `undefined` where braces are nested too deep. */
function parse(pattern: string): Sequence | undefined {
  const closes = closingBraces(pattern)
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

/** Where each brace that closes does so. */
function closingBraces(pattern: string): ReadonlyMap<number, number> {
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
  return closes
}

/** Behind the bracket expression that opens here, or behind the `[` where none does. */
function bracketEnd(pattern: string, start: number): number {
  const slash = pattern.indexOf('/', start)
  const end = slash === -1 ? pattern.length : slash
  if (pattern.lastIndexOf(']', end) <= start) return start + 1
  return parseClass(pattern, start, end)?.end ?? start + 1
}

function rangeOf(body: string): string[] | undefined {
  const found = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(body)
  if (found === null) return undefined
  const [, from = '', to = ''] = found
  const isNumeric = /\d/.test(from)
  if (isNumeric !== /\d/.test(to)) return undefined
  const start = isNumeric ? Number(from) : from.charCodeAt(0)
  const end = isNumeric ? Number(to) : to.charCodeAt(0)
  const step = Math.max(1, Math.abs(Number(found[3] ?? 1)))
  const count = Math.floor(Math.abs(end - start) / step) + 1
  // More than can be used: a list that is over the limit is enough to be refused.
  const kept = Math.min(count, MAX_ALTERNATIVES + 1)
  const width = [from, to].some((text) => /^-?0\d/.test(text)) ? Math.max(from.length, to.length) : 0
  return Array.from({ length: kept }, (_, i) => {
    const value = start + (end < start ? -i : i) * step
    if (!isNumeric) return String.fromCharCode(value)
    const digits = String(Math.abs(value))
    return value < 0 ? `-${digits.padStart(width - 1, '0')}` : digits.padStart(width, '0')
  })
}

/** How many alternatives there are and how many characters they hold in all, before any is made. */
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
