import { ToolError } from '../errors.ts'
import { classifyContent } from '../files/classify/index.ts'
import { sha256Text } from '../files/hash/sha256.ts'
import type { TextDocument } from '../files/text/document.ts'
import { detectLineEnd } from '../files/text/encoding.ts'
import { numberLines } from '../files/text/lines.ts'
import { requireFile } from '../guard/guarded-files.ts'
import { clamp } from '../limits.ts'
import { display } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { Stat } from '../storage/backend.ts'
import { memoizeAsync } from '../util/memoize-async.ts'
import { type BuiltinContext, type BuiltinDraft, defineBuiltinTool } from './builtin-tool.ts'
import { type LineWindow, type WindowRequest, windowOf } from './shared/line-window.ts'
import { type ReadInput, type ReadOutput, readInput, readOutput } from './shared/read-contract.ts'

const loadMedia = memoizeAsync(() => import('./shared/read-media.ts'))

/** Reads a range of lines of a text file, with the version that later changes must expect. */
export const readFile = defineBuiltinTool({
  name: 'read_file',
  title: 'Read file',
  description: 'Read lines of a text file. Secrets show as [REDACTED:…] marks.',
  input: readInput,
  output: readOutput,
  permission: 'file:read',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => (path.startsWith('artifact://') ? [] : [{ permission: 'file:read', path }]),
  async draft(input, context) {
    const maxLines = clamp(
      'maxLines',
      input.maxLines ?? context.limits.readLines,
      context.limits.readLinesHard,
      context.warnings,
    )
    const [target] = context.accesses
    const { limits, files } = context
    const { startLine, startColumn } = input
    const request = { startLine, startColumn, maxLines, maxBytes: limits.readBytes }
    if (target === undefined) return readArtifact(input, request, context)
    const stat = await files.stat(target.path)
    requireFile(target.path, stat)
    if (input.cells) return readNotebook(input, target, request, context)
    if (context.media === undefined || context.media === false || stat.size === 0)
      return readText(input, target, stat, request, context)
    const { readMedia } = await loadMedia()
    const found = await readMedia(input, target, stat, context)
    if (found !== undefined && !(found instanceof ToolError)) return found
    try {
      return await readText(input, target, stat, request, context)
    } catch (error) {
      // The refusal of an image says more than that it is not text.
      throw error instanceof ToolError && error.code.startsWith('UNSUPPORTED_') ? (found ?? error) : error
    }
  },
})

/** Reads lines of the cells of a notebook. */
async function readNotebook(
  input: ReadInput,
  target: GuardedAccess,
  request: WindowRequest,
  context: BuiltinContext,
): Promise<BuiltinDraft<ReadOutput>> {
  const { readCells } = await import('./shared/read-cells.ts')
  const { document, ...lines } = await readCells(context, target, request)
  context.warnings.push(CELL_LINES)
  return draftOf(input, target, context, sliceOf(lines, target, document), 'cells')
}

const CELL_LINES = 'Line numbers are those of the cells; a change needs the text of the file: read it without cells'

/** Returns lines with what the document says about the file. */
function sliceOf(lines: LineWindow, target: GuardedAccess, document: TextDocument): ReadOutput {
  const { sha256, encoding, eol, bom } = document
  const { content, startLine, endLine, totalLines, truncated, nextColumn } = lines
  return {
    path: display(target.asked),
    content,
    startLine,
    endLine,
    totalLines,
    truncated,
    sha256,
    kind: kindOfDocument(target, document),
    encoding,
    eol,
    bom,
    ...(nextColumn === undefined ? {} : { nextColumn }),
  }
}

/** Reads lines of a text file. */
async function readText(
  input: ReadInput,
  target: GuardedAccess,
  stat: Stat,
  request: WindowRequest,
  context: BuiltinContext,
): Promise<BuiltinDraft<ReadOutput>> {
  const { limits, files } = context
  if (stat.size > limits.textFileBytes) {
    const { readLargeFile } = await import('./shared/large-file.ts')
    const { head, ...large } = await readLargeFile(context, target.path, stat, request)
    return draftOf(input, target, context, { path: display(target.asked), ...large, kind: kindOf(target, head) })
  }
  const document = await files.document(target.path, limits.textFileBytes)
  const { text, totalLines, redaction } = document
  const lines = windowOf(text, request, target.asked, redaction.marks, totalLines)
  return draftOf(input, target, context, sliceOf(lines, target, document))
}

/** Returns the draft for some lines of a file. With `ifChanged`, leaves out content that the run has seen. */
function draftOf(
  { lineNumbers, ifChanged, startColumn }: ReadInput,
  target: GuardedAccess,
  { previousReads, warnings }: Pick<BuiltinContext, 'previousReads' | 'warnings'>,
  slice: ReadOutput,
  form?: 'cells',
): BuiltinDraft<ReadOutput> {
  const { path, startLine, endLine, totalLines, sha256, content, nextColumn } = slice
  const isPart = nextColumn !== undefined || startColumn > 1
  const all = startLine === 1 && endLine === totalLines && !slice.truncated && !isPart
  const lines = { path: target.path, sha256, startLine, endLine, lineNumbers, ...(form && { form }) }
  const earlierCall = ifChanged && !isPart ? previousReads.findCall(lines) : undefined
  const described = `${describeLines(slice)} of ${form === undefined ? '' : 'the cells of '}${path}`
  if (earlierCall !== undefined) {
    return {
      summary: `Unchanged since call ${numberOf(earlierCall)}: ${described}`,
      // Shows nothing, so the read history stays the same.
      result: () => ({ ...slice, content: '', unchangedSince: earlierCall }),
    }
  }
  const text = lineNumbers ? numberLines(content, startLine) : content
  if (nextColumn !== undefined) warnings.push(cutLineWarning(endLine, nextColumn))
  return {
    summary: `Read ${described}`,
    shown: () => {
      // The version is recorded. Cells are not the text that a change would replace, so nothing counts as shown.
      if (form !== undefined) return [{ path: target.path, sha256, lines: { start: 1, end: 0, total: 1 } }]
      const columns = { startColumn, ...(nextColumn === undefined ? {} : { nextColumn }) }
      const range = { start: startLine, end: endLine, total: totalLines, ...(isPart ? columns : {}) }
      return [{ path: target.path, sha256, lines: all ? 'all' : range }]
    },
    // Content that a hook changed or a limit cut does not count as shown.
    onResult: ({ callId, content: answer }) => {
      if (answer === text && !isPart) previousReads.noteLines(lines, callId)
    },
    result: () => ({ ...slice, content: text }),
  }
}

function cutLineWarning(line: number, nextColumn: number): string {
  return `Line ${line} is too long for one reading; continue with startLine ${line}, startColumn ${nextColumn}`
}

/** Returns the number of a call in its run, which is the end of its id. */
function numberOf(callId: string): string {
  return callId.slice(callId.lastIndexOf('-') + 1)
}

function describeLines(slice: { startLine: number; endLine: number; totalLines: number }): string {
  if (slice.endLine < slice.startLine) return `no lines (of ${slice.totalLines})`
  return `lines ${slice.startLine}-${slice.endLine} of ${slice.totalLines}`
}

/** {@link kindOf} of a document, which is the same for each reading of a version. */
function kindOfDocument(target: GuardedAccess, document: TextDocument): string {
  if (document.classified?.byName !== target.classification) {
    document.classified = { byName: target.classification, kind: kindOf(target, document.bytes) }
  }
  return document.classified.kind
}

function kindOf(target: GuardedAccess, bytes: Uint8Array): string {
  return classifyContent(target.classification, bytes).kind
}

/** Reads lines of an artifact. */
async function readArtifact(
  input: ReadInput,
  request: WindowRequest,
  context: BuiltinContext,
): Promise<BuiltinDraft<ReadOutput>> {
  if (input.cells) {
    const { notNotebook } = await import('./shared/read-cells.ts')
    throw notNotebook('An artifact has no cells', input.path)
  }
  const text = await context.readArtifact(input.path)
  const slice = windowOf(text, request, input.path)
  if (slice.nextColumn !== undefined) context.warnings.push(cutLineWarning(slice.endLine, slice.nextColumn))
  return {
    summary: `Read ${describeLines(slice)} of ${input.path}`,
    result: () => ({
      path: input.path,
      ...slice,
      content: input.lineNumbers ? numberLines(slice.content, slice.startLine) : slice.content,
      sha256: sha256Text(text),
      kind: 'TEXT_DOC',
      encoding: 'utf-8',
      eol: detectLineEnd(text),
      bom: false,
    }),
  }
}
