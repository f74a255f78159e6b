import { compileQuery, type Query } from 'wardspace/tool'
import type { SearchQuery } from './search.ts'

/** A match in a text, as byte offsets. */
export interface LineMatch {
  readonly start: number
  readonly end: number
  readonly lineStart: number
  readonly lineEnd: number
}

/**
 * Returns a function that finds all matches in the bytes of a text, in linear time for every pattern, until `visit` returns
 * false. Empty matches are left out.
 *
 * @throws ToolError `INVALID_PATTERN`
 */
export function compileMatches({ text, regex, caseSensitive }: SearchQuery) {
  const query = compileQuery({ query: text, mode: regex ? 'regex' : 'literal', caseSensitive })
  const next = regex && /\\[bB]|\^/.test(text) ? nextWithContext : nextWithout
  return (bytes: Uint8Array, visit: (match: LineMatch) => boolean): void => {
    query.eachLine(bytes, ({ lineStart, lineEnd, matchStart, matchEnd }) => {
      const line = bytes.slice(lineStart, lineEnd)
      let match: Range | undefined = [matchStart - lineStart, matchEnd - lineStart]
      while (match !== undefined) {
        const [start, end]: Range = match
        const found = { start: lineStart + start, end: lineStart + end, lineStart, lineEnd }
        if (end > start && !visit(found)) return false
        match = next(query, line, end > start ? end : characterAfter(line, end))
      }
      return true
    })
  }
}

/** Byte offsets in a line. */
type Range = readonly [start: number, end: number]

/** Returns the first match in a line, which the engine reports alone. */
function firstMatch(query: Query, line: Uint8Array): Range | undefined {
  let found: Range | undefined
  query.eachLine(line, ({ matchStart, matchEnd }) => {
    found = [matchStart, matchEnd]
    return false
  })
  return found
}

/** Returns the next match of a pattern for which the text before does not count. */
function nextWithout(query: Query, line: Uint8Array, from: number): Range | undefined {
  const match = from < line.length ? firstMatch(query, line.subarray(from)) : undefined
  return match && [from + match[0], from + match[1]]
}

/** Bytes that stand for a character before: letters of words, and others. The pattern may match some of them itself. */
const wordBytes = [0x5f, 0x30, 0x51, 0x7a]
const otherBytes = [0x01, 0x20, 0x2d, 0x22]

/** Returns the next match of a pattern that asks for the start of a line or the border of a word. */
function nextWithContext(query: Query, line: Uint8Array, from: number): Range | undefined {
  for (let at = from; at < line.length; at = characterAfter(line, at)) {
    const isWord = /\w/.test(String.fromCharCode(line[at - 1] ?? 0))
    for (const before of isWord ? wordBytes : otherBytes) {
      const match = firstMatch(query, behind(before, line.subarray(at)))
      if (match === undefined) return undefined
      if (match[0] > 0) return [at + match[0] - 1, at + match[1] - 1]
    }
  }
  return undefined
}

function behind(byte: number, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(rest.length + 1)
  bytes[0] = byte
  bytes.set(rest, 1)
  return bytes
}

function characterAfter(line: Uint8Array, at: number): number {
  let next = at + 1
  while (next < line.length && ((line[next] as number) & 0xc0) === 0x80) next += 1
  return next
}
