import * as z from 'zod'
import { classifyContent } from '../files/classify/index.ts'
import { sha256Text } from '../files/hash/sha256.ts'
import { detectLineEnd } from '../files/text/encoding.ts'
import { countLines, numberLines, sliceLines } from '../files/text/lines.ts'
import { requireFile } from '../guard/guarded-files.ts'
import { clamp } from '../limits.ts'
import { display } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import { type BuiltinContext, type BuiltinDraft, defineBuiltinTool } from './builtin-tool.ts'
import { boundContent } from './shared/bound-content.ts'
import { pathField } from './shared/fields.ts'
import { fromColumn, lineOutOfRange, readLargeFile } from './shared/large-file.ts'

const input = z.strictObject({
  path: pathField.describe('File to read, or artifact://RUN/NAME of a stored result'),
  startLine: z.int().min(1).default(1).describe('First line, from 1'),
  startColumn: z.int().min(1).default(1).describe('Where to continue a cut line: its nextColumn'),
  maxLines: z.int().min(1).optional().describe('Maximum lines'),
  lineNumbers: z.boolean().default(false).describe('Put "%6d | " before each line'),
  ifChanged: z.boolean().default(false).describe('No content if you have already seen these lines of this version'),
})

const output = z.object({
  path: z.string(),
  content: z.string(),
  startLine: z.number(),
  endLine: z.number(),
  totalLines: z.number(),
  sha256: z.string(),
  truncated: z.boolean(),
  nextColumn: z.number().optional().describe('If endLine is cut: the startColumn that continues it'),
  kind: z.string(),
  encoding: z.string(),
  eol: z.string(),
  bom: z.boolean(),
  unchangedSince: z
    .string()
    .optional()
    .describe('With ifChanged: the earlier call that showed these lines; content is then empty'),
})

type Input = z.output<typeof input>
type Output = z.output<typeof output>

/** Reads a range of lines of a text file, with the version that later changes must expect. */
export const readFile = defineBuiltinTool({
  name: 'read_file',
  title: 'Read file',
  description:
    'Read lines of a text file. The sha256 is the version to pass as expectedSha256 when changing it. Secrets are shown as [REDACTED:…] marks.',
  input,
  output,
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
    if (target === undefined) return readArtifact(input, maxLines, context)
    const { limits, files } = context
    const stat = await files.stat(target.path)
    requireFile(target.path, stat)
    if (stat.size > limits.textFileBytes) {
      const { head, ...large } = await readLargeFile(context, target.path, stat, {
        startLine: input.startLine,
        startColumn: input.startColumn,
        maxLines,
        maxBytes: limits.readBytes,
      })
      return draftOf(input, target, context, { ...large, kind: kindOf(target, head) })
    }
    const document = await files.document(target.path, limits.textFileBytes)
    const slice = cut(document.text, input, maxLines, limits.readBytes)
    return draftOf(input, target, context, {
      ...slice,
      totalLines: document.totalLines,
      sha256: document.sha256,
      kind: kindOf(target, document.bytes),
      encoding: document.encoding,
      eol: document.eol,
      bom: document.bom,
    })
  },
})

type Slice = Omit<Output, 'path'>

/** Returns the draft for some lines of a file. With `ifChanged`, leaves out content that the run has seen. */
function draftOf(
  { lineNumbers, ifChanged, startColumn }: Input,
  target: GuardedAccess,
  { previousReads, warnings }: Pick<BuiltinContext, 'previousReads' | 'warnings'>,
  slice: Slice,
): BuiltinDraft<Output> {
  const { startLine, endLine, totalLines, sha256, content, nextColumn } = slice
  // A line of which only a part is in the answer does not count as shown.
  const start = startColumn > 1 ? startLine + 1 : startLine
  const end = nextColumn === undefined ? endLine : endLine - 1
  const isCut = startColumn > 1 || nextColumn !== undefined
  const all = startLine === 1 && endLine === totalLines && !slice.truncated && !isCut
  const lines = { path: target.path, sha256, startLine, endLine, lineNumbers }
  const earlierCall = ifChanged && !isCut ? previousReads.findCall(lines) : undefined
  const path = display(target.asked)
  if (earlierCall !== undefined) {
    return {
      summary: `Unchanged since call ${numberOf(earlierCall)}: ${describeLines(slice)} of ${path}`,
      // Shows nothing, so the read history stays the same.
      result: () => ({ path, ...slice, content: '', unchangedSince: earlierCall }),
    }
  }
  const text = lineNumbers ? numberLines(content, startLine) : content
  if (nextColumn !== undefined) {
    warnings.push(
      `Line ${endLine} is too long for one reading; continue with startLine ${endLine}, startColumn ${nextColumn}`,
    )
  }
  return {
    summary: `Read ${describeLines(slice)} of ${path}`,
    shown: () =>
      end < start && !all
        ? []
        : [{ path: target.path, sha256, lines: all ? 'all' : { start, end, total: totalLines } }],
    // Content that a hook changed or a limit cut does not count as shown.
    onResult: ({ callId, content: answer }) => {
      if (answer === text && !isCut) previousReads.noteLines(lines, callId)
    },
    result: () => ({ path, ...slice, content: text }),
  }
}

/** Returns the number of a call in its run, which is the end of its id. */
function numberOf(callId: string): string {
  return callId.slice(callId.lastIndexOf('-') + 1)
}

function describeLines(slice: { startLine: number; endLine: number; totalLines: number }): string {
  if (slice.endLine < slice.startLine) return `no lines (of ${slice.totalLines})`
  return `lines ${slice.startLine}-${slice.endLine} of ${slice.totalLines}`
}

function kindOf(target: GuardedAccess, bytes: Uint8Array): string {
  return classifyContent(target.classification, bytes).kind
}

/** Returns the requested lines. Lines over the byte limit are cut; a first line over the limit is cut at a code point. */
function cut(text: string, { path, startLine, startColumn }: Input, maxLines: number, maxBytes: number) {
  const slice = sliceLines(text, startLine, maxLines)
  if (startLine > Math.max(1, slice.totalLines)) throw lineOutOfRange(path, startLine, slice.totalLines)
  const requested = fromColumn(slice.content, startLine, startColumn, path)
  const bounded = boundContent(requested, maxBytes)
  const isWhole = bounded.length === requested.length
  return {
    content: bounded,
    startLine,
    endLine: isWhole ? slice.endLine : startLine + countLines(bounded) - 1,
    truncated: !isWhole || slice.endLine < slice.totalLines,
    ...(isWhole || bounded.endsWith('\n') ? {} : { nextColumn: startColumn + bounded.length }),
  }
}

/** Reads lines of an artifact. */
async function readArtifact(input: Input, maxLines: number, context: BuiltinContext): Promise<BuiltinDraft<Output>> {
  const text = await context.readArtifact(input.path)
  const slice = cut(text, input, maxLines, context.limits.readBytes)
  const { totalLines } = sliceLines(text, 1, 1)
  return {
    summary: `Read ${describeLines({ ...slice, totalLines })} of ${input.path}`,
    result: () => ({
      path: input.path,
      content: input.lineNumbers ? numberLines(slice.content, slice.startLine) : slice.content,
      startLine: slice.startLine,
      endLine: slice.endLine,
      totalLines,
      sha256: sha256Text(text),
      truncated: slice.truncated,
      ...(slice.nextColumn === undefined ? {} : { nextColumn: slice.nextColumn }),
      kind: 'TEXT_DOC',
      encoding: 'utf-8',
      eol: detectLineEnd(text),
      bom: false,
    }),
  }
}
