import { compileQuery, type QueryInput } from '../../src/search/query.ts'

export interface FoundLine {
  readonly line: number
  readonly column: number
  readonly text: string
  readonly match: string
}

/** A naive search: splits lines by hand and runs RegExp on each. */
export function naiveSearch(text: string, pattern: RegExp): FoundLine[] {
  const lines = text.split('\n')
  if (lines[lines.length - 1] === '') lines.pop()
  const ended = text.endsWith('\n') ? lines.length : lines.length - 1
  return lines.flatMap((raw, i) => {
    const line = i < ended && raw.endsWith('\r') ? raw.slice(0, -1) : raw
    const match = firstMatch(line, pattern)
    return match === null ? [] : [{ line: i + 1, column: match.index + 1, text: line, match: match[0] }]
  })
}

/** Tries each character start. V8 would also try between the halves of a surrogate pair, where `\\B` matches. */
function firstMatch(line: string, pattern: RegExp): RegExpExecArray | null {
  const sticky = new RegExp(pattern, `${pattern.flags}y`)
  for (let at = 0; at <= line.length; at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) {
    sticky.lastIndex = at
    const match = sticky.exec(line)
    if (match !== null) return match
  }
  return null
}

/** Our search, with the result in the same form. */
export function ourSearch(text: string, input: QueryInput): FoundLine[] {
  const bytes = new TextEncoder().encode(text)
  const query = compileQuery(input)
  const lines: FoundLine[] = []
  let line = 1
  let counted = 0
  query.eachLine(bytes, (hit) => {
    for (; counted < hit.lineStart; counted++) if (bytes[counted] === 0x0a) line += 1
    lines.push({
      line,
      column: slice(bytes, hit.lineStart, hit.matchStart).length + 1,
      text: slice(bytes, hit.lineStart, hit.lineEnd),
      match: slice(bytes, hit.matchStart, hit.matchEnd),
    })
    return true
  })
  if (query.mayMatch(bytes) !== lines.length > 0) throw new Error('mayMatch and eachLine disagree')
  return lines
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

function slice(bytes: Uint8Array, from: number, to: number): string {
  return decoder.decode(bytes.subarray(from, to))
}
