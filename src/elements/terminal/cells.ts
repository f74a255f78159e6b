/** Characters that take no cell: they belong to the one before. */
const JOINED = /^[\p{Mn}\p{Me}\p{Cf}]$/u
/** Characters that take two cells in xterm: those of East Asian scripts. */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3040-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}]$/u

/** Number of cells of rows of a width that a text takes, without its colour codes. A wide character is not split over two rows. */
export function cellsOf(text: string, width: number): number {
  let cells = 0
  for (const character of text.replace(/\x1b\[[0-9;]*m/g, '')) {
    if (JOINED.test(character)) continue
    const isWide = WIDE.test(character)
    if (isWide && cells % width === width - 1) cells += 1
    cells += isWide ? 2 : 1
  }
  return cells
}

const segmenter = new Intl.Segmenter()

/** The start of the character before a position, as a person sees characters. */
export function characterBefore(text: string, position: number): number {
  return position - ([...segmenter.segment(text.slice(0, position))].at(-1)?.segment.length ?? 0)
}

/** The end of the character after a position. */
export function characterAfter(text: string, position: number): number {
  const [next] = segmenter.segment(text.slice(position))
  return position + (next?.segment.length ?? 0)
}
