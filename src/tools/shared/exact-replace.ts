import { ToolError } from '../../errors.ts'
import { markPositions, type Redaction } from '../../files/secrets/index.ts'
import { adaptLineEnds, type LineEnd } from '../../files/text/encoding.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import { nearestPassage } from './nearest-passage.ts'
import { occurrences } from './occurrences.ts'

interface Replacement {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll: boolean
  /** The file's line end: a bare `\n` in oldText and newText stands for it. */
  readonly eol: LineEnd
  readonly marks: Redaction['marks']
}

/**
 * Replaces exact text: the one place where it occurs, or all with `replaceAll`, from left to right. Nothing is matched
 * fuzzily. Takes linear time in the text.
 *
 * @throws ToolError `EDIT_NO_MATCH` with the nearest passage, `EDIT_AMBIGUOUS` with the lines of the matches,
 *   `POLICY_DENIED_SECRET` where a match holds a part of a mark
 */
export function replaceExact(
  text: string,
  replacement: Replacement,
  where: { readonly path: Path; readonly edit?: number },
): { text: string; replacements: number } {
  const { path } = where
  const found = findAll(text, replacement)
  if (found.length === 0) {
    throw new ToolError('EDIT_NO_MATCH', `Cannot edit ${quote(path)}: oldText does not occur${inEdit(where)}`, {
      ...where,
      nearest: nearestPassage(text, replacement.oldText),
    })
  }
  if (!replacement.replaceAll && found.length > 1) {
    const times = found.length > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(found.length)
    throw new ToolError('EDIT_AMBIGUOUS', `Cannot edit ${quote(path)}: oldText occurs ${times} times${inEdit(where)}`, {
      ...where,
      occurrences: Math.min(found.length, MOST_COUNTED),
      lines: linesOf(text, found.slice(0, MOST_SHOWN)),
    })
  }
  refusePartsOfMarks(text, found, replacement.marks, path)
  const newTextFor = newTexts(replacement)
  const parts: string[] = []
  let from = 0
  for (const { start, end } of found) {
    parts.push(text.slice(from, start), newTextFor(text, start))
    from = end
  }
  parts.push(text.slice(from))
  return { text: parts.join(''), replacements: found.length }
}

/** Matches that an ambiguous edit counts, and lines that it names. */
const MOST_COUNTED = 1000
const MOST_SHOWN = 100

interface Match {
  readonly start: number
  readonly end: number
}

function inEdit({ edit }: { readonly edit?: number }): string {
  return edit === undefined ? '' : ` (edits[${edit}])`
}

/** Overlapping occurrences count as ambiguous; replacing all takes them from left to right, without overlap. */
function findAll(text: string, { oldText, eol, replaceAll }: Replacement): Match[] {
  if (eol === 'mixed' && oldText.includes('\n')) return findAcrossLineEnds(text, oldText, replaceAll)
  const wanted = adaptLineEnds(oldText, eol)
  return starts(text, wanted, replaceAll).map((start) => ({ start, end: start + wanted.length }))
}

function starts(text: string, wanted: string, replaceAll: boolean): number[] {
  return replaceAll
    ? occurrences(text, wanted, { overlapping: false })
    : occurrences(text, wanted, { overlapping: true, most: MOST_COUNTED + 1 })
}

/** In a file of mixed line ends, a bare `\n` in oldText stands for `\r\n` and for `\n`: compared in normalised form. */
function findAcrossLineEnds(text: string, oldText: string, replaceAll: boolean): Match[] {
  const normal = text.replaceAll('\r\n', '\n')
  const wanted = oldText.replaceAll('\r\n', '\n')
  const found = starts(normal, wanted, replaceAll)
  const first = originalOffsets(text, found)
  const last = originalOffsets(
    text,
    found.map((start) => start + wanted.length),
  )
  return found.map((_, index) => ({ start: first[index] as number, end: last[index] as number }))
}

/** Offsets in the text, for ascending ones in its normalised form. */
function originalOffsets(text: string, offsets: readonly number[]): number[] {
  let pairs = 0
  let next = text.indexOf('\r\n')
  return offsets.map((offset) => {
    while (next !== -1 && next - pairs < offset) {
      pairs += 1
      next = text.indexOf('\r\n', next + 2)
    }
    return offset + pairs
  })
}

/** The new text with the line ends of what it replaces, or else of the file. */
function newTexts({ newText, eol }: Replacement): (text: string, start: number) => string {
  if (eol !== 'mixed') {
    const adapted = adaptLineEnds(newText, eol)
    return () => adapted
  }
  if (!newText.includes('\n')) return () => newText
  const crlf = adaptLineEnds(newText, 'crlf')
  let next = -2
  return (text, start) => {
    // The first line end in the match, or else of the line that it stands in. Asked for ascending places.
    if (next !== -1 && next < start) next = text.indexOf('\n', start)
    const at = next === -1 ? text.lastIndexOf('\n') : next
    return at > 0 && text.charCodeAt(at - 1) === 0x0d ? crlf : newText
  }
}

/** The 1-based lines of ascending places. */
function linesOf(text: string, found: readonly Match[]): number[] {
  let line = 1
  let at = text.indexOf('\n')
  return found.map(({ start }) => {
    for (; at !== -1 && at < start; at = text.indexOf('\n', at + 1)) line += 1
    return line
  })
}

function refusePartsOfMarks(text: string, found: readonly Match[], marks: Redaction['marks'], path: Path): void {
  if (marks.length === 0) return
  let index = 0
  const names = new Set(marks.map(({ mark }) => mark))
  for (const mark of markPositions(text, (name) => names.has(name) || undefined)) {
    while (index < found.length && (found[index] as Match).end <= mark.start) index += 1
    for (let i = index; i < found.length && (found[i] as Match).start < mark.end; i++) {
      const { start, end } = found[i] as Match
      if (start <= mark.start && end >= mark.end) continue
      const name = text.slice(mark.start, mark.end)
      throw new ToolError('POLICY_DENIED_SECRET', `Cannot change a part of ${name} in ${quote(path)}`, { path })
    }
  }
}
