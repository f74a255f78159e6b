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
  let starts = new Int32Array(Math.max(64, text.length >>> 4))
  let count = 0
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    at = end === -1 ? text.length : end + 1
    count += 1
    if (count === starts.length) {
      const longer = new Int32Array(starts.length * 2)
      longer.set(starts)
      starts = longer
    }
    starts[count] = at
  }
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
