/** A part of a page that a command writes, between `<!-- NAME: written by COMMAND -->` and `<!-- /NAME -->`. */
export class GeneratedBlock {
  readonly #start: string
  readonly #end: string

  constructor(name: string, command: string) {
    this.#start = `<!-- ${name}: written by ${command} -->`
    this.#end = `<!-- /${name} -->`
  }

  /**
   * Returns the text between the marks, trimmed.
   *
   * @throws Error if the page does not have both marks
   */
  read(page: string): string {
    const [start, end] = this.#range(page)
    return page.slice(start, end).trim()
  }

  /**
   * Returns the page with another text between the marks.
   *
   * @throws Error if the page does not have both marks
   */
  replace(page: string, text: string): string {
    const [start, end] = this.#range(page)
    return `${page.slice(0, start)}\n\n${text}\n\n${page.slice(end)}`
  }

  #range(page: string): readonly [start: number, end: number] {
    const start = page.indexOf(this.#start)
    const end = page.indexOf(this.#end)
    if (start === -1 || end < start) throw new Error(`The page does not contain ${this.#start} … ${this.#end}`)
    return [start + this.#start.length, end]
  }
}

/** Returns a Markdown table with columns of equal width. The first row is the head; `alignRight` has one flag per column. */
export function markdownTable(rows: readonly (readonly string[])[], alignRight: readonly boolean[] = []): string {
  const [head = [], ...body] = rows
  const widths = head.map((_, i) => Math.max(3, ...rows.map((row) => (row[i] ?? '').length)))
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, i) => (alignRight[i] ? (row[i] ?? '').padStart(width) : (row[i] ?? '').padEnd(width))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (alignRight[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`
  return [line(head), rule, ...body.map(line)].join('\n')
}
