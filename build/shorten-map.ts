const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A place of the output: its column, and the file, line and column of its source. */
type Segment = readonly [column: number, source: number, line: number, sourceColumn: number]

/**
 * Returns the mappings of a source map with one place for each line of the output, and one more wherever a line has code of another line
 * of the source. Code that is not minified needs no more, and the map of a package is a sixth as long.
 */
export function shortenMappings(mappings: string): string {
  return selectMappings(mappings, (_, [, source, line], before) => before?.[1] !== source || before[2] !== line)
}

/**
 * Returns the mappings of a declaration with the places of the names that it declares, to which editors go. The others are
 * two thirds.
 */
export function shortenDeclarationMappings(mappings: string, declaration: string): string {
  const lines = declaration.split('\n')
  return selectMappings(mappings, (line, [column]) => DECLARES.test((lines[line] ?? '').slice(0, column)))
}

/** What precedes a declared name in its line. */
const DECLARES =
  /^\s*((export|declare|default|const|let|function|class|interface|type|namespace|enum|readonly|static|abstract|async|get|set|private|protected|public)\s+)*$/

/** Keeps the places that a function selects. It gets the line of the output, a place, and the place before it in that line. */
function selectMappings(
  mappings: string,
  isNeeded: (line: number, segment: Segment, before: Segment | undefined) => boolean,
): string {
  let previous: Segment = [0, 0, 0, 0]
  let written: Segment = previous
  const lines = mappings.split(';').map((line, index) => {
    let column = 0
    let before: Segment | undefined
    written = [0, written[1], written[2], written[3]]
    const kept = line.split(',').flatMap((text) => {
      const [columns = 0, source, lines = 0, sourceColumns = 0] = text === '' ? [] : numbersOf(text)
      column += columns
      if (source === undefined) return []
      const segment: Segment = [column, previous[1] + source, previous[2] + lines, previous[3] + sourceColumns]
      previous = segment
      const last = before
      before = segment
      if (!isNeeded(index, segment, last)) return []
      const differences = segment.map((value, at) => value - (written[at] ?? 0))
      written = segment
      return [differences.map(textOf).join('')]
    })
    return kept.join(',')
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
