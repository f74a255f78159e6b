/**
 * Lines end with `\n` (a `\r` before it belongs to the end), as for git and grep, so that every tool counts alike. A lone
 * `\r` ends no line. A last line without an end counts; `''` has no line.
 */
export function countLines(text: string): number {
  const ends = countEnds(text, text.length)
  return text === '' || text.charCodeAt(text.length - 1) === NEWLINE ? ends : ends + 1
}

/** A range of lines, and where it lies in the text. */
export interface LineSlice {
  /** The lines with their ends. */
  readonly content: string
  readonly startLine: number
  /** The last line in `content`, `startLine - 1` where there is none. */
  readonly endLine: number
  readonly totalLines: number
  /** In UTF-16 units. */
  readonly startOffset: number
  readonly endOffset: number
}

/** At most `maxLines` lines from `startLine` (1-based) on. Past the end, `content` is `''`. */
export function sliceLines(text: string, startLine: number, maxLines: number): LineSlice {
  let line = 1
  let startOffset = 0
  while (line < startLine && startOffset < text.length) {
    startOffset = afterLine(text, startOffset)
    line += 1
  }
  let endOffset = startOffset
  let taken = 0
  while (taken < maxLines && endOffset < text.length) {
    endOffset = afterLine(text, endOffset)
    taken += 1
  }
  const totalLines = line - 1 + taken + (endOffset < text.length ? countLines(text.slice(endOffset)) : 0)
  const content = startOffset === 0 && endOffset === text.length ? text : text.slice(startOffset, endOffset)
  return { content, startLine, endLine: startLine + taken - 1, totalLines, startOffset, endOffset }
}

/** The lines with their numbers in front, as `%6d | text`. */
export function numberLines(content: string, startLine: number): string {
  let numbered = ''
  let line = startLine
  for (let at = 0; at < content.length; line++) {
    const next = afterLine(content, at)
    numbered += `${String(line).padStart(6)} | ${content.slice(at, next)}`
    at = next
  }
  return numbered
}

/** The 1-based line that holds the offset (in UTF-16 units); an offset right after a line end is on the next line. */
export function lineAt(text: string, offset: number): number {
  return countEnds(text, offset) + 1
}

const NEWLINE = 0x0a

function countEnds(text: string, before: number): number {
  let ends = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < before; at = text.indexOf('\n', at + 1)) ends += 1
  return ends
}

function afterLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end + 1
}
