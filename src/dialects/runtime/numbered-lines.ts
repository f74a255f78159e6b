/** Lines with their numbers in front, as `cat -n` writes them; without the end of the last one. */
export function numbered(lines: readonly string[], startLine: number): string {
  return lines.map((line, index) => `${String(startLine + index).padStart(6)}\t${line}`).join('\n')
}

/** The lines of a text without their ends, in Unix's and in Windows' form. */
export function linesOf(content: string): string[] {
  const lines = content.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Lines of a file that a change left there, those around it too. */
export interface NewLines {
  readonly startLine: number
  readonly lines: readonly string[]
}

/** The new lines that a unified diff of one file shows, hunk by hunk. */
export function newLinesOf(diff: string): NewLines[] {
  const hunks: { startLine: number; lines: string[] }[] = []
  for (const line of diff.split('\n')) {
    const header = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (header !== null) hunks.push({ startLine: Number(header[1]), lines: [] })
    else if (line.startsWith(' ') || line.startsWith('+')) hunks.at(-1)?.lines.push(line.slice(1).replace(/\r$/, ''))
  }
  return hunks
}
