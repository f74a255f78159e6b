import { checkArgument, isListOf, isText, must, requireText } from '../../util/check-options.ts'

const isNumber = must('a line number', Number.isSafeInteger)

/** Formats lines with their numbers, as `cat -n` does; without a line break at the end. */
export function numberLines(lines: readonly string[], startLine: number): string {
  checkArgument('numberLines()', 'lines', lines, isListOf(isText))
  checkArgument('numberLines()', 'startLine', startLine, isNumber)
  return lines.map((line, index) => `${String(startLine + index).padStart(6)}\t${line}`).join('\n')
}

/** Splits a text at `\n` or `\r\n`. A line break at the end adds no empty line. */
export function splitLines(content: string): string[] {
  requireText('splitLines()', 'content', content)
  const lines = content.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Lines of a file after a change, with the unchanged lines around it. */
export interface NewLines {
  readonly startLine: number
  readonly lines: readonly string[]
}

/** Returns the lines after the change from a unified diff of one file, one item per hunk. */
export function newLinesOf(diff: string): NewLines[] {
  requireText('newLinesOf()', 'diff', diff)
  const hunks: { startLine: number; lines: string[] }[] = []
  for (const line of diff.split('\n')) {
    const header = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (header !== null) hunks.push({ startLine: Number(header[1]), lines: [] })
    else if (line.startsWith(' ') || line.startsWith('+')) hunks.at(-1)?.lines.push(line.slice(1).replace(/\r$/, ''))
  }
  return hunks
}
