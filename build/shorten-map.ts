const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A place of the output: its column, and the file, line and column of its source. */
type Segment = readonly [column: number, source: number, line: number, sourceColumn: number]

/**
 * Returns the mappings of a source map with one place for each line of the output, and one more wherever a line has code of another line
 * of the source. Code that is not minified needs no more, and the map of a package is a sixth as long.
 *
 * @param removed the columns at which each line of the output has lost a character
 * @param joined the lines that are written behind the line before: they have no place
 */
export function shortenMappings(
  mappings: string,
  removed: readonly (readonly number[])[],
  joined: ReadonlySet<number>,
): string {
  const shortened = selectMappings(
    mappings,
    (index, [, source, line], before) => !joined.has(index) && (before?.[1] !== source || before[2] !== line),
    (line, column) => column - (removed[line] ?? []).filter((lost) => lost < column).length,
  )
  return shortened
    .split(';')
    .filter((_, index) => !joined.has(index))
    .join(';')
}

/**
 * Returns the mappings of a declaration with the places of the names that it declares, to which editors go. The others are
 * two thirds. The mappings count four spaces for each tab of the declaration.
 */
export function shortenDeclarationMappings(mappings: string, declaration: string): string {
  const lines = declaration.split('\n').map((line) => ({ tabs: /^\t*/.exec(line)?.[0].length ?? 0, line }))
  const columnOf = (index: number, column: number) => Math.max(0, column - 3 * (lines[index]?.tabs ?? 0))
  return selectMappings(
    mappings,
    (index, [column]) => DECLARES.test((lines[index]?.line ?? '').slice(0, columnOf(index, column))),
    columnOf,
  )
}

/** What precedes a declared name in its line. */
const DECLARES =
  /^\s*((export|declare|default|const|let|function|class|interface|type|namespace|enum|readonly|static|abstract|async|get|set|private|protected|public)\s+)*$/

/**
 * Keeps the places that a function selects. It gets the line of the output, a place, and the place before it in that line.
 * `columnOf` returns the column of a place in what is written.
 */
function selectMappings(
  mappings: string,
  isNeeded: (line: number, segment: Segment, before: Segment | undefined) => boolean,
  columnOf: (line: number, column: number) => number = (_, column) => column,
): string {
  let previous: Segment = [0, 0, 0, 0]
  let written: Segment = previous
  const lines = mappings.split(';').map((line, index) => {
    let column = 0
    let before: Segment | undefined
    written = [0, written[1], written[2], written[3]]
    const places = line.split(',').flatMap((text) => {
      const [columns = 0, source, lines = 0, sourceColumns = 0] = text === '' ? [] : numbersOf(text)
      column += columns
      if (source === undefined) return []
      const segment: Segment = [column, previous[1] + source, previous[2] + lines, previous[3] + sourceColumns]
      previous = segment
      const last = before
      before = segment
      if (!isNeeded(index, segment, last)) return []
      const [, ...place] = segment
      const kept: Segment = [columnOf(index, column), ...place]
      const differences = kept.map((value, at) => value - (written[at] ?? 0))
      written = kept
      return [differences.map(textOf).join('')]
    })
    return places.join(',')
  })
  return lines.join(';')
}

function numbersOf(text: string): number[] {
  const numbers: number[] = []
  let value = 0
  let shift = 0
  for (const digit of text) {
    const bits = DIGITS.indexOf(digit)
    value += (bits & 31) << shift
    shift += 5
    if ((bits & 32) !== 0) continue
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1)
    value = 0
    shift = 0
  }
  return numbers
}

function textOf(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1
  let text = ''
  do {
    const bits = rest & 31
    rest >>>= 5
    text += DIGITS.charAt(rest > 0 ? bits | 32 : bits)
  } while (rest > 0)
  return text
}
