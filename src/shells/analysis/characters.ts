import type { ReasonCode, TextRange } from './verdict.ts'

/** Maximum length of a line, in UTF-16 units. */
const MAX_LINE = 65_536

/** Maximum number of expansions and here-documents, checked before parsing. */
const MAX_EXPANSIONS = 512

interface Fault {
  readonly code: ReasonCode
  readonly message: string
  readonly at: TextRange
}

/** Checks a line by its characters alone, in linear time. Returns the first problem. */
export function characterFault(line: string): Fault | undefined {
  if (line.length > MAX_LINE) {
    return { code: 'LINE_TOO_LONG', message: `The line is longer than ${MAX_LINE} characters`, at: [0, line.length] }
  }
  if (line.trim() === '') return { code: 'EMPTY_LINE', message: 'The line is empty', at: [0, line.length] }
  const odd = ODD.exec(line)
  if (odd !== null) {
    const point = Number(odd[0].codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')
    return {
      code: 'ODD_CHARACTER',
      message: `The line contains U+${point}, which is invisible or looks like another character`,
      at: [odd.index, odd.index + odd[0].length],
    }
  }
  let openings = 0
  for (const match of line.matchAll(/[$<>](?=[({[])|`|\(\(|<<(?=[^<])/g)) {
    openings += 1
    if (openings > MAX_EXPANSIONS) {
      return {
        code: 'TOO_COMPLEX',
        message: `The line has more than ${MAX_EXPANSIONS} expansions and here-documents`,
        at: [match.index, line.length],
      }
    }
  }
  return undefined
}

/**
 * Control characters except tab and newline, format characters, unpaired surrogates, private code points, all spaces
 * except U+0020, and characters without a visible form.
 */
const ODD =
  /(?![\t\n ])(?:[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\u2065\u2800\ufff0-\ufff8]|(?!\ufe0f)\p{Default_Ignorable_Code_Point})/u

/**
 * Returns the position of a line continuation inside a word or an operator, which parsers read differently. A
 * continuation with a blank before or after it is allowed.
 */
export function splitTokenAt(text: string): number | undefined {
  for (let at = text.indexOf('\\\n'); at !== -1; at = text.indexOf('\\\n', at + 2)) {
    let start = at
    while (text[start - 1] === '\\') start -= 1
    // With an even number of backslashes, the newline is not escaped.
    if ((at - start) % 2 === 1) continue
    const before = text[at - 1]
    const after = text[at + 2]
    if (before !== undefined && after !== undefined && !/[ \t\n]/.test(before) && !/[ \t\n]/.test(after)) return at
    // Two continuations in a row.
    if (after === '\\' && text[at + 3] === '\n') return at
  }
  return undefined
}
