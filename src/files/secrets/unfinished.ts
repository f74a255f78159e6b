/**
 * Returns the offset from which a text that grows may still become part of a secret, or its length. Text before the offset
 * has the same secrets as in the finished text. Holds back the last word, the line of a name or header that makes later
 * words secret, and a private key until its end.
 */
export function unfinishedStart(text: string): number {
  const lineStart = startOfLine(text, text.length)
  const line = text.slice(lineStart)
  const start = BEFORE_SECRET.test(line) ? lineStart : lineStart + startOfWord(line)
  const key = openKey(text.slice(0, start))
  return key === undefined ? start : startOfLine(text, key)
}

/** Every format with white space between its words begins with one of these. No other secret contains white space. */
const BEFORE_SECRET = /passw|authorization|secret|-----/i

const KEY_EDGE = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g

/** No private key is longer, so text that only mentions a header appears after this many units. */
const LONGEST_KEY = 65_536

/** Returns the offset of the first header of a private key after the last end. */
function openKey(text: string): number | undefined {
  let begin: number | undefined
  for (const match of text.matchAll(KEY_EDGE)) {
    if (match[1] === 'END') begin = undefined
    else if (text.length - match.index <= LONGEST_KEY) begin ??= match.index
  }
  return begin
}

function startOfLine(text: string, end: number): number {
  let start = end
  while (start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\r') start -= 1
  return start
}

function startOfWord(line: string): number {
  return Math.max(line.lastIndexOf(' '), line.lastIndexOf('\t')) + 1
}
