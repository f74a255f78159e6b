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
  /** The line end of the file. A bare `\n` in oldText and newText means this line end. */
  readonly eol: LineEnd
  readonly marks: Redaction['marks']
}

/**
 * Replaces exact text: its only occurrence, or with `replaceAll` all occurrences from left to right. Never matches
 * fuzzily. Linear in the length of the text.
 *
 * @throws ToolError `EDIT_NO_MATCH` with the nearest passage, `EDIT_AMBIGUOUS` with the lines of the matches,
 *   `POLICY_DENIED_SECRET` if a match contains only a part of a mark, `LIMIT_EXCEEDED` if there are too many
 */
export function replaceExact(
  text: string,
  replacement: Replacement,
  location: { readonly path: Path; readonly edit?: number },
): { text: string; replacements: number } {
  const { path } = location
  const matches = findAll(text, replacement)
  if (matches.length > MAX_REPLACED) {
    throw new ToolError(
      'LIMIT_EXCEEDED',
      `Cannot edit ${quote(path)}: oldText occurs more than ${MAX_REPLACED} times${inEdit(location)}`,
      {
        ...location,
        limit: 'replacements of one edit',
        value: MAX_REPLACED,
        hint: 'Use a longer oldText that occurs less often, or write the file anew.',
      },
    )
  }
  if (matches.length === 0) {
    throw new ToolError('EDIT_NO_MATCH', `Cannot edit ${quote(path)}: oldText does not occur${inEdit(location)}`, {
      ...location,
      nearest: nearestPassage(text, replacement.oldText),
    })
  }
  if (!replacement.replaceAll && matches.length > 1) {
    const times = matches.length > MAX_COUNTED ? `more than ${MAX_COUNTED}` : String(matches.length)
    throw new ToolError(
      'EDIT_AMBIGUOUS',
      `Cannot edit ${quote(path)}: oldText occurs ${times} times${inEdit(location)}`,
      {
        ...location,
        occurrences: Math.min(matches.length, MAX_COUNTED),
        lines: linesOf(text, matches.slice(0, MAX_LISTED)),
      },
    )
  }
  refusePartsOfMarks(text, matches, replacement.marks, path)
  const newTextFor = newTexts(replacement)
  const parts: string[] = []
  let from = 0
  for (const { start, end } of matches) {
    parts.push(text.slice(from, start), newTextFor(text, start))
    from = end
  }
  parts.push(text.slice(from))
  return { text: parts.join(''), replacements: matches.length }
}

/** Replacing so many texts and comparing the result takes some 0.4 s. */
const MAX_REPLACED = 250_000

/** Limits of an ambiguous edit: matches counted, lines listed. */
const MAX_COUNTED = 1000
const MAX_LISTED = 100

interface Match {
  readonly start: number
  readonly end: number
}

function inEdit({ edit }: { readonly edit?: number }): string {
  return edit === undefined ? '' : ` (edits[${edit}])`
}

/** Finds overlapping occurrences for one replacement, and occurrences without overlap for `replaceAll`. */
function findAll(text: string, { oldText, eol, replaceAll }: Replacement): Match[] {
  if (eol === 'mixed' && oldText.includes('\n')) return findAcrossLineEnds(text, oldText, replaceAll)
  const needle = adaptLineEnds(oldText, eol)
  return starts(text, needle, replaceAll).map((start) => ({ start, end: start + needle.length }))
}

function starts(text: string, needle: string, replaceAll: boolean): number[] {
  return replaceAll
    ? occurrences(text, needle, { overlapping: false, limit: MAX_REPLACED + 1 })
    : occurrences(text, needle, { overlapping: true, limit: MAX_COUNTED + 1 })
}

/** In a file with mixed line ends, a bare `\n` in oldText matches `\r\n` and `\n`. Compares in normalised form. */
function findAcrossLineEnds(text: string, oldText: string, replaceAll: boolean): Match[] {
  const normal = text.replaceAll('\r\n', '\n')
  const needle = oldText.replaceAll('\r\n', '\n')
  const offsets = starts(normal, needle, replaceAll)
  const first = originalOffsets(text, offsets)
  const last = originalOffsets(
    text,
    offsets.map((start) => start + needle.length),
  )
  return offsets.map((_, index) => ({ start: first[index] as number, end: last[index] as number }))
}

/** Maps ascending offsets in the normalised form to offsets in the text. */
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

/** Returns a function that gives the new text the line ends of the replaced text, or else of the file. */
function newTexts({ newText, eol }: Replacement): (text: string, start: number) => string {
  if (eol !== 'mixed') {
    const adapted = adaptLineEnds(newText, eol)
    return () => adapted
  }
  if (!newText.includes('\n')) return () => newText
  const crlf = adaptLineEnds(newText, 'crlf')
  let next = -2
  return (text, start) => {
    // The first line end at or after the start of the match. Starts are ascending.
    if (next !== -1 && next < start) next = text.indexOf('\n', start)
    const at = next === -1 ? text.lastIndexOf('\n') : next
    return at > 0 && text.charCodeAt(at - 1) === 0x0d ? crlf : newText
  }
}

/** Returns the 1-based lines of ascending matches. */
function linesOf(text: string, matches: readonly Match[]): number[] {
  let line = 1
  let at = text.indexOf('\n')
  return matches.map(({ start }) => {
    for (; at !== -1 && at < start; at = text.indexOf('\n', at + 1)) line += 1
    return line
  })
}

/**
 * Refuses a match that contains only a part of a mark.
 *
 * @throws ToolError `POLICY_DENIED_SECRET`
 */
function refusePartsOfMarks(text: string, matches: readonly Match[], marks: Redaction['marks'], path: Path): void {
  if (marks.length === 0) return
  let index = 0
  const names = new Set(marks.map(({ mark }) => mark))
  for (const mark of markPositions(text, (name) => names.has(name) || undefined)) {
    while (index < matches.length && (matches[index] as Match).end <= mark.start) index += 1
    for (let i = index; i < matches.length && (matches[i] as Match).start < mark.end; i++) {
      const { start, end } = matches[i] as Match
      if (start <= mark.start && end >= mark.end) continue
      const name = text.slice(mark.start, mark.end)
      throw new ToolError('POLICY_DENIED_SECRET', `Cannot change a part of ${name} in ${quote(path)}`, { path })
    }
  }
}
