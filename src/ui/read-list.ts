/** Reads a list as a person writes it. A comma within braces or after a backslash belongs to a pattern: `*.{js,ts}`. */
export function readList(text: string): readonly string[] {
  const values: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (text[at] === '\\') at = Math.min(at + 1, text.length - 1)
    else if (text[at] === '{') depth++
    else if (text[at] === '}') depth = Math.max(0, depth - 1)
    else if (at === text.length || (text[at] === ',' && depth === 0)) {
      const value = text.slice(start, at).trim()
      if (value !== '') values.push(value)
      start = at + 1
    }
  }
  return values
}
