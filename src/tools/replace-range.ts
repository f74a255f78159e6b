import * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import { adaptLineEnds, detectLineEnd, type LineEnd } from '../files/text/encoding.ts'
import { type LineSlice, sliceLines } from '../files/text/lines.ts'
import { display, type Path, quote } from '../paths/logical-path.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { checkExpected } from './shared/expected-version.ts'
import { filePath, reason, sha256Field } from './shared/fields.ts'
import { targetOf } from './shared/target.ts'
import { changeText, newSha256, noChangeError, refuseMarks, refusePlaceholder } from './shared/text-change.ts'

const input = z.strictObject({
  path: filePath,
  startLine: z.int().check(z.minimum(1)),
  endLine: z.int().check(z.minimum(0), z.describe('startLine - 1 inserts before startLine')),
  newText: z.string().check(z.describe('Empty deletes the range')),
  expectedSha256: sha256Field,
  reason,
})

const output = z.object({
  path: z.string(),
  startLine: z.number(),
  endLine: z.number().check(z.describe('Last line of the new text; startLine - 1 if it is empty')),
  totalLines: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  oldSha256: z.string(),
  newSha256: z.string(),
  diff: z.string(),
})

/** Replaces whole lines. Lines never merge, and the final newline of the file stays as it was. */
export const replaceRange = defineBuiltinTool({
  name: 'replace_range',
  title: 'Replace lines',
  description: 'Replace lines startLine to endLine, as read_file numbers them. Lines never merge.',
  input,
  output,
  permission: 'file:write:replace',
  mutates: true,
  idempotent: false,
  plan: ({ path }) => [{ permission: 'file:write:replace', path, reveals: true }],
  async draft(input, context) {
    const { path, asked: requestedPath } = targetOf(context)
    const document = await context.files.document(path, context.limits.textFileBytes)
    checkExpected(context, path, input.expectedSha256, document.sha256, { mustKnow: false })
    refuseMarks(document, input.newText, path)
    const { startLine, endLine } = input
    const range = sliceLines(document.text, startLine, Math.max(0, endLine - startLine + 1))
    checkRange(path, startLine, endLine, document.totalLines)
    refusePlaceholder(range.content, input.newText, path)
    const { text, inserted } = replaceLines(document.text, range, input.newText, document.eol)
    if (text === document.text) throw noChangeError(path)
    const change = await changeText(context, path, document, text)
    return {
      summary: `Replaced lines ${startLine}-${endLine} of ${display(requestedPath)} (+${change.insertions} -${change.deletions})`,
      changes: [change.change],
      diff: change.diff,
      lines: change.lines,
      shown: change.shown,
      result: (receipt) => ({
        path: display(requestedPath),
        startLine,
        endLine: startLine + inserted - 1,
        totalLines: sliceLines(text, 1, 0).totalLines,
        insertions: change.insertions,
        deletions: change.deletions,
        oldSha256: document.sha256,
        newSha256: newSha256(receipt, path),
        diff: change.diff,
      }),
    }
  },
})

function checkRange(path: Path, startLine: number, endLine: number, totalLines: number): void {
  const mistake =
    startLine > totalLines + 1
      ? (['startLine', `startLine ${startLine} is after the last line ${totalLines}`] as const)
      : endLine > totalLines
        ? (['endLine', `endLine ${endLine} is after the last line ${totalLines}`] as const)
        : endLine < startLine - 1
          ? (['endLine', `endLine ${endLine} is before startLine ${startLine}`] as const)
          : undefined
  if (mistake === undefined) return
  const [field, problem] = mistake
  throw new ToolError('INVALID_INPUT', `Cannot replace lines of ${quote(path)}: ${problem}`, {
    path,
    field,
    totalLines,
  })
}

/**
 * Replaces a range of whole lines. New lines get the line end of the lines they replace, or else of the file. If a line
 * follows, a missing line end is added. At the end of the file, a final newline stays present or absent. Empty text
 * deletes the range.
 */
export function replaceLines(
  text: string,
  range: Pick<LineSlice, 'content' | 'startOffset' | 'endOffset'>,
  newText: string,
  eol: LineEnd,
): { text: string; inserted: number } {
  const before = text.slice(0, range.startOffset)
  const after = text.slice(range.endOffset)
  const end = endFor(eol, range.content, before)
  const lines = adaptLineEnds(newText, end === '\r\n' ? 'crlf' : end === '\r' ? 'cr' : 'lf')
  const inserted = sliceLines(lines, 1, 0).totalLines
  if (after !== '') return { text: before + withEnd(lines, end) + after, inserted }
  if (text === '') return { text: lines, inserted }
  // The range reaches the end of the file, or is the empty range after its last line.
  const front = lines === '' ? before : withEnd(before, end)
  const joined = front + lines
  if (joined === '') return { text: '', inserted }
  return { text: finalEnd(text) === '' ? withoutEnd(joined) : withEnd(joined, end), inserted }
}

const lineEnds = { lf: '\n', crlf: '\r\n', cr: '\r', none: '\n' } as const

function endFor(eol: LineEnd, replaced: string, before: string): string {
  if (eol !== 'mixed') return lineEnds[eol]
  for (const neighbor of [replaced, before.slice(before.lastIndexOf('\n', before.length - 2) + 1)]) {
    const kind = detectLineEnd(neighbor)
    if (kind !== 'none' && kind !== 'mixed') return lineEnds[kind]
  }
  return '\n'
}

function finalEnd(text: string): string {
  return /(?:\r\n|\n|\r)$/.exec(text.slice(-2))?.[0] ?? ''
}

function withEnd(text: string, end: string): string {
  return text === '' || finalEnd(text) !== '' ? text : text + end
}

function withoutEnd(text: string): string {
  return text.slice(0, text.length - finalEnd(text).length)
}
