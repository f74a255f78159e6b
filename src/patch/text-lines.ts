/** A text as lines that hold their ends; the last one may have none. Only `\n` ends a line, as for git. */
export interface TextLines {
  readonly text: string
  readonly count: number
  /** Offset of a line; that of `count` is the length of the text. */
  start(line: number): number
  at(line: number): string
  /** Whether these lines stand one after the other from a line on. */
  match(run: readonly string[], line: number): boolean
}

/** Finds the lines of a text, in one pass. */
export function createTextLines(text: string): TextLines {
  const starts: number[] = [0]
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  if (starts[starts.length - 1] !== text.length) starts.push(text.length)
  const count = starts.length - 1
  return {
    text,
    count,
    start: (line) => starts[line] as number,
    at: (line) => text.slice(starts[line], starts[line + 1]),
    match(run, line) {
      if (line < 0 || line + run.length > count) return false
      for (let i = 0; i < run.length; i++) {
        const content = run[i] as string
        const start = starts[line + i] as number
        if ((starts[line + i + 1] as number) - start !== content.length || !text.startsWith(content, start))
          return false
      }
      return true
    },
  }
}
