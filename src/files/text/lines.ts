/**
 * Counts lines as git and grep do. Lines end with `\n`; a `\r` before it belongs to the end, a lone `\r` does not end a
 * line. A last line without an end counts; `''` has no lines.
 */
export function countLines(text: string): number {
  const ends = countEnds(text, text.length)
  return text === '' || text.charCodeAt(text.length - 1) === NEWLINE ? ends : ends + 1
}

/** A range of lines and its position in the text. */
export interface LineSlice {
  /** The lines with their ends. */
  readonly content: string
  readonly startLine: number
  /** The last line in `content`, or `startLine - 1` if it is empty. */
  readonly endLine: number
  readonly totalLines: number
  /** Offset in UTF-16 units. */
  readonly startOffset: number
  readonly endOffset: number
}

/**
 * Returns at most `maxLines` lines from `startLine` (1-based). After the end, `content` is `''`.
 *
 * @param counted the lines of the text, if they have been counted
 */
export function sliceLines(text: string, startLine: number, maxLines: number, counted?: number): LineSlice {
  if (counted !== undefined && startLine === 1 && counted <= maxLines) {
    return { content: text, startLine, endLine: counted, totalLines: counted, startOffset: 0, endOffset: text.length }
  }
  let line = 1
  let startOffset = 0
  while (line < startLine && startOffset < text.length) {
    startOffset = afterLine(text, startOffset)
    line += 1
  }
  let endOffset = startOffset
  let lines = 0
  while (lines < maxLines && endOffset < text.length) {
    endOffset = afterLine(text, endOffset)
    lines += 1
  }
  const totalLines = counted ?? line - 1 + lines + (endOffset < text.length ? countLines(text.slice(endOffset)) : 0)
  const content = startOffset === 0 && endOffset === text.length ? text : text.slice(startOffset, endOffset)
  return { content, startLine, endLine: startLine + lines - 1, totalLines, startOffset, endOffset }
}

/** Puts a number before each line, as `%6d | text`. */
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

/** Returns the 1-based line of an offset in UTF-16 units. An offset right after a line end is on the next line. */
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
