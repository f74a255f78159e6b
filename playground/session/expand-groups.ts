import { ToolError } from 'wardspace'
import type { SearchQuery } from './search.ts'

/** Returns the text in the place of a match, given its text, its line and where it begins there. */
export type Expansion = (text: string, lineAround: () => { readonly line: string; readonly at: number }) => string

/** Groups in longer lines would take too long. */
const MAX_LINE = 20_000

/**
 * Returns how a replacement is written: literally for a literal search, with `$1`, `$&` and so on as JavaScript replaces them for a pattern.
 *
 * @throws ToolError `INVALID_PATTERN` for a replacement with groups of a pattern for which JavaScript may take forever
 */
export function createExpansion(query: SearchQuery, replacement: string): Expansion {
  if (!query.regex || !replacement.includes('$')) return () => replacement
  if (/\)[*+{]/.test(query.text)) {
    throw new ToolError('INVALID_PATTERN', 'Cannot use $ in the replacement: the pattern repeats a group')
  }
  const pattern = new RegExp(query.text, query.caseSensitive ? 'uy' : 'iuy')
  return (text, lineAround) => {
    const { line, at } = lineAround()
    pattern.lastIndex = at
    if (line.length > MAX_LINE || pattern.exec(line)?.[0] !== text) {
      throw new ToolError('INVALID_PATTERN', `Cannot use $ in the replacement: the groups of “${text}” are not known`)
    }
    pattern.lastIndex = at
    const expanded = line.replace(pattern, replacement)
    return expanded.slice(at, expanded.length - (line.length - at - text.length))
  }
}
