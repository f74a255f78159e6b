import { MAY_HOLD_VALUE } from './passwords.ts'

/**
 * Returns the offset from which a text that grows may still become part of a secret, or its length. Text before the offset
 * has the same secrets as in the finished text. Holds back the last word, the line of a name or header that makes later
 * words secret, the fields of a name and its value, and a private key until its end.
 */
export function unfinishedStart(text: string): number {
  const lineStart = startOfLine(text, text.length)
  const line = text.slice(lineStart)
  const isWhole = BEFORE_SECRET.test(line) || isBeforeName(line) || MAY_HOLD_VALUE.test(line)
  const start = startOfPair(text, lineStart) ?? (isWhole ? lineStart : lineStart + startOfWord(line))
  const key = openKey(text.slice(0, start))
  return key === undefined ? start : startOfLine(text, key)
}

/** Every format with white space between its words begins with one of these. No other secret contains white space. */
const BEFORE_SECRET = /pass|pwd|authorization|secret|-----/i

/** The key of a field. What it consists of is looked at without moving on, so that every key is found. */
const KEY = /(?:^[+>-]?\s*(?:- )?|[{,["'<]\s*)(?=(\w*(?:name|key|value)["']?\s*(?:(?:=>|[:=])\s*)?))/gi
/** What stands before an argument. */
const BEFORE_ARGUMENT = /[,({]$|^\s*(?:ENV|setx)$|%env$|(?<!\S)(?:-[\w-]+|[^\s=]*=\S*)$/i

/** Whether the last word of a line may be a name with a value: after the key of a field, an option, or what is before an argument. */
function isBeforeName(line: string): boolean {
  const last = line.search(/(?<!\S)\S*$/)
  const before = line.slice(0, last)
  if (before !== '' && BEFORE_ARGUMENT.test(before.trimEnd())) return true
  return [...line.matchAll(KEY)].some(({ index, 0: { length }, 1: key = '' }) => index + length + key.length >= last)
}

/** Lines by which the fields of a name and its value may be apart. */
const PAIR_LINES = 3

/** Whether a line has a key, and the word for a password behind it. */
function isKeyOfPassword(line: string): boolean {
  const key = line.search(/(?:name|key)\W/i)
  return key !== -1 && /pass|pwd/i.test(line.slice(key))
}

/** Returns the start of the fields of which the other one may follow after an offset, if there are any in the lines before. */
function startOfPair(text: string, lineStart: number): number | undefined {
  if (!MAY_HOLD_VALUE.test(text) && !/pass|pwd/i.test(text)) return undefined
  const lines = text.slice(0, lineStart).split(/(?<=\n|\r(?!\n))/)
  let first = lines.length
  for (let at = first - 1; at >= 0 && at >= first - PAIR_LINES; at--) {
    const next = lines.slice(at + 1, at + 1 + PAIR_LINES)
    const isOpen = next.length < PAIR_LINES || next.some(isKeyOfPassword)
    const line = lines[at] as string
    if (isKeyOfPassword(line) || (isOpen && MAY_HOLD_VALUE.test(line))) first = at
  }
  return first === lines.length ? undefined : lines.slice(0, first).join('').length
}

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
