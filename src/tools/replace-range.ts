import * as z from 'zod'
import { ToolError } from '../errors.ts'
import { adaptLineEnds, detectLineEnd, type LineEnd } from '../files/text/encoding.ts'
import { type LineSlice, sliceLines } from '../files/text/lines.ts'
import { display, type Path, quote } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { checkExpected } from './shared/expected-version.ts'
import { filePath, reason, sha256Field } from './shared/fields.ts'
import { targetOf } from './shared/target.ts'
import { changeText, newSha256, noChangeError, refuseMarks } from './shared/text-change.ts'

const input = z.strictObject({
  path: filePath,
  startLine: z.int().min(1).describe('First line to replace, from 1'),
  endLine: z.int().min(0).describe('Last line to replace; startLine - 1 inserts before startLine'),
  newText: z.string().describe('New lines; empty deletes the range'),
  expectedSha256: sha256Field,
  reason,
})

const output = z.object({
  path: z.string(),
  startLine: z.number(),
  endLine: z.number().describe('Last line of the new text; startLine - 1 where it is empty'),
  totalLines: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  oldSha256: z.string(),
  newSha256: z.string(),
  diff: z.string(),
})

/** Whole lines, replaced by others: lines never merge, and the file's last newline stays as it was. */
export const replaceRange = defineTool({
  name: 'replace_range',
  title: 'Replace lines',
  description:
    'Replace lines startLine to endLine (as read_file numbers them) with newText. Line ends and encoding are kept and lines never merge.',
  input,
  output,
  permission: 'file:write:replace',
  mutates: true,
  idempotent: false,
  plan: ({ path }) => [{ permission: 'file:write:replace', path }],
  async draft(asked, context) {
    const { path, asked: named } = targetOf(context)
    const document = await context.files.document(path, context.limits.textFileBytes)
    checkExpected(context, path, asked.expectedSha256, document.sha256, { mustKnow: false })
    refuseMarks(document, asked.newText, path)
    const { startLine, endLine } = asked
    const range = sliceLines(document.text, startLine, Math.max(0, endLine - startLine + 1))
    checkRange(path, startLine, endLine, document.totalLines)
    const { text, inserted } = replaceLines(document.text, range, asked.newText, document.eol)
    if (text === document.text) throw noChangeError(path)
    const made = changeText(context, path, document, text)
    return {
      summary: `Replaced lines ${startLine}-${endLine} of ${display(named)} (+${made.insertions} -${made.deletions})`,
      changes: [made.change],
      diff: made.diff,
      shown: made.shown,
      result: (receipt) => ({
        path: display(named),
        startLine,
        endLine: startLine + inserted - 1,
        totalLines: sliceLines(text, 1, 0).totalLines,
        insertions: made.insertions,
        deletions: made.deletions,
        oldSha256: document.sha256,
        newSha256: newSha256(receipt, path),
        diff: made.diff,
      }),
    }
  },
})

function checkRange(path: Path, startLine: number, endLine: number, totalLines: number): void {
  const wrong =
    startLine > totalLines + 1
      ? (['startLine', `startLine ${startLine} is after the last line ${totalLines}`] as const)
      : endLine > totalLines
        ? (['endLine', `endLine ${endLine} is after the last line ${totalLines}`] as const)
        : endLine < startLine - 1
          ? (['endLine', `endLine ${endLine} is before startLine ${startLine}`] as const)
          : undefined
  if (wrong === undefined) return
  const [field, why] = wrong
  throw new ToolError('INVALID_INPUT', `Cannot replace lines of ${quote(path)}: ${why}`, { path, field, totalLines })
}

/**
 * Puts new lines in place of a range of whole lines. New lines get the line end of what they replace, or else of the
 * file. A missing end is added where a line follows. At the end of the file, the last newline stays as it was: there, or
 * not there. Empty text deletes the range.
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
  if (after !== '') return { text: before + closed(lines, end) + after, inserted }
  if (text === '') return { text: lines, inserted }
  // The range reaches the end of the file, or is the empty one behind its last line.
  const front = lines === '' ? before : closed(before, end)
  const joined = front + lines
  if (joined === '') return { text: '', inserted }
  return { text: finalEnd(text) === '' ? withoutEnd(joined) : closed(joined, end), inserted }
}

const lineEnds = { lf: '\n', crlf: '\r\n', cr: '\r', none: '\n' } as const

function endFor(eol: LineEnd, replaced: string, before: string): string {
  if (eol !== 'mixed') return lineEnds[eol]
  for (const near of [replaced, before.slice(before.lastIndexOf('\n', before.length - 2) + 1)]) {
    const own = detectLineEnd(near)
    if (own !== 'none' && own !== 'mixed') return lineEnds[own]
  }
  return '\n'
}

function finalEnd(text: string): string {
  return /(?:\r\n|\n|\r)$/.exec(text.slice(-2))?.[0] ?? ''
}

function closed(text: string, end: string): string {
  return text === '' || finalEnd(text) !== '' ? text : text + end
}

function withoutEnd(text: string): string {
  return text.slice(0, text.length - finalEnd(text).length)
}
