/**
 * Returns the index of the first line that only marks omitted text (`// ... rest of code unchanged`), or -1. Models write such
 * a line for text that they do not repeat; written to a file, it replaces that text. Code such as `...rest,` and a lone `...`
 * do not count. Linear.
 */
export function placeholderAt(lines: readonly string[]): number {
  return lines.findIndex(isPlaceholder)
}

/** A longer line is prose or code. */
const MAX_UNITS = 160

function isPlaceholder(line: string): boolean {
  if (line.length > MAX_UNITS || !HINT_OF_OMISSION.test(line)) return false
  const whole = line.trim()
  const inner = commentText(whole)
  const text = (inner ?? whole).replace(/^[[(<\s]+/, '').replace(/(?<![\])>\s])[\])>\s]+$/, '')
  const hasEllipsis = /^(\.{3}|…)|(\.{3}|…)$/.test(text)
  const words = text.match(/[\p{L}\p{N}_$'’-]+/gu) ?? []
  if (!/^[\p{L}\p{N}_$'’\s.…,:;()-]*$/u.test(text)) return false
  // A comment may also be an ellipsis alone. Without a comment, that is code or the end of a YAML document.
  if (words.length === 0) return inner !== undefined && hasEllipsis
  // A spread, as in `...rest,`.
  if (inner === undefined && (!/\s/.test(text) || /[()]/.test(text))) return false
  const lower = words.map((word) => word.toLowerCase())
  const unknown = lower.filter((word) => !KEYWORDS.has(word) && !FILLERS.has(word)).length
  if (hasEllipsis) return unknown <= 1 && lower.some((word) => KEYWORDS.has(word))
  // Without an ellipsis, only a comment that says twice that the text stays.
  return (
    inner !== undefined &&
    unknown === 0 &&
    lower.some((word) => PARTS.has(word)) &&
    /\b(unchanged|same|unmodified|here)\b|\bas (before|is)\b/i.test(text)
  )
}

/** Nearly every line fails this test, which comes first. */
const HINT_OF_OMISSION = /\.{3}|…|\b(?:rest|remaining|remainder|existing)\b/i

/** Returns the text of a line that is a comment in a common language, or `undefined`. */
function commentText(line: string): string | undefined {
  for (const [start, end] of COMMENTS) {
    if (line.length < start.length + end.length || !line.startsWith(start) || !line.endsWith(end)) continue
    return line
      .slice(start.length, line.length - end.length)
      .replace(/^[/*#;!-]+|(?<![*-])[*-]+$/g, '')
      .trim()
  }
  return undefined
}

const COMMENTS: readonly (readonly [start: string, end: string])[] = [
  ['{/*', '*/}'],
  ['/*', '*/'],
  ['<!--', '-->'],
  ['{{!--', '--}}'],
  ['{#', '#}'],
  ['<%#', '%>'],
  ['(*', '*)'],
  ['//', ''],
  ['#', ''],
  ['--', ''],
  [';', ''],
  ['%', ''],
]

/** What is left out. */
const PARTS: ReadonlySet<string> = new Set(['rest', 'remaining', 'remainder', 'existing'])

/** Words of which a placeholder has at least one. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...PARTS,
  ...'unchanged same unmodified omitted elided truncated previous other others original'.split(' '),
])

/** Other words that a placeholder is made of. */
const FILLERS: ReadonlySet<string> = new Set(
  `the a an of in this that your all and to with for from as is are was were be been it its here there goes go stays stay
  remains remain keep kept left before above below after not no changes change changed shown code codes file files class
  classes function functions method methods component components implementation implementations content contents import
  imports props fields lines line body logic definition definitions test tests section sections text part parts data items
  entries options config configuration routes handlers styles rules variables constants types helpers exports module
  document page script setup`.split(/\s+/),
)

/** What to do instead of writing a placeholder. */
export const PLACEHOLDER_HINT =
  'Write the omitted text out in full, or change only the lines that differ: text that is not named stays as it is.'
