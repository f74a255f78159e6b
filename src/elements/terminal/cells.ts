/** Characters that take no cell: they belong to the one before. */
const JOINED = /[\p{Mn}\p{Me}\p{Cf}]/u
/** Characters that take two cells in xterm: those of East Asian scripts. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3040-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

/** Number of cells of rows of a width that a text takes, without its colour codes. A wide character is not split over two rows. */
export function cellsOf(text: string, width: number): number {
  let cells = 0
  for (const character of text.replace(/\x1b\[[0-9;]*m/g, '')) {
    if (JOINED.test(character)) continue
    // 2, or 3 with the last cell of the row before.
    cells += WIDE.test(character) ? 2 + Number(cells % width === width - 1) : 1
  }
  return cells
}

/** The row and the column, from 0, that follow a text of several lines which begins at the edge of a screen. */
export function placeAfter(text: string, width: number): { readonly row: number; readonly column: number } {
  const lines = text.split('\n').map((line) => cellsOf(line, width))
  const last = lines.pop() ?? 0
  const rows = lines.reduce((sum, cells) => sum + Math.max(1, Math.ceil(cells / width)), 0)
  return { row: rows + Math.floor(last / width), column: last % width }
}

/** The characters of a text as a person sees them, with their marks. */
export function charactersOf(text: string): readonly string[] {
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
}
