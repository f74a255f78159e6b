import * as z from 'zod'
import { classifyContent } from '../files/classify/index.ts'
import { sha256Text } from '../files/hash/sha256.ts'
import { detectLineEnd } from '../files/text/encoding.ts'
import { countLines, numberLines, sliceLines } from '../files/text/lines.ts'
import { requireFile } from '../guard/guarded-files.ts'
import { clamp } from '../limits.ts'
import { display } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import { type Draft, defineTool, type ToolContext } from './define-tool.ts'
import { boundContent } from './shared/bound-content.ts'
import { pathField } from './shared/fields.ts'
import { afterTheEnd, readLargeFile } from './shared/large-file.ts'

const input = z.strictObject({
  path: pathField.describe('File to read, or artifact://RUN/NAME of a stored result'),
  startLine: z.int().min(1).default(1).describe('First line, from 1'),
  maxLines: z.int().min(1).optional().describe('Lines at most'),
  lineNumbers: z.boolean().default(false).describe('Put "%6d | " before each line'),
  ifChanged: z.boolean().default(false).describe('No content if you were shown these lines of this version'),
})

const output = z.object({
  path: z.string(),
  content: z.string(),
  startLine: z.number(),
  endLine: z.number(),
  totalLines: z.number(),
  sha256: z.string(),
  truncated: z.boolean(),
  kind: z.string(),
  encoding: z.string(),
  eol: z.string(),
  bom: z.boolean(),
  unchangedSince: z
    .string()
    .optional()
    .describe('With ifChanged: the call of this run that showed these lines; content is empty then'),
})

type Output = z.output<typeof output>

/** Text of a file, a range of lines at a time, with the version that later changes must expect. */
export const readFile = defineTool({
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
  async draft(asked, context) {
    const maxLines = clamp(
      'maxLines',
      asked.maxLines ?? context.limits.readLines,
      context.limits.readLinesHard,
      context.warnings,
    )
    const [target] = context.accesses
    if (target === undefined) return artifact(asked, maxLines, context)
    const { limits, files } = context
    const stat = await files.stat(target.path)
    requireFile(target.path, stat)
    if (stat.size > limits.textFileBytes) {
      const { head, ...large } = await readLargeFile(context, target.path, stat, {
        startLine: asked.startLine,
        maxLines,
        maxBytes: limits.readBytes,
      })
      return shown(asked, target, context, { ...large, kind: kindOf(target, head) })
    }
    const document = await files.document(target.path, limits.textFileBytes)
    const slice = cut(document.text, asked.startLine, maxLines, limits.readBytes, target.asked)
    return shown(asked, target, context, {
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

function shown(
  asked: z.output<typeof input>,
  target: GuardedAccess,
  { previousReads }: Pick<ToolContext, 'previousReads'>,
  slice: Slice,
): Draft<Output> {
  const { startLine, endLine, totalLines, sha256, content } = slice
  const all = startLine === 1 && endLine === totalLines && !slice.truncated
  // A line that was cut was not shown.
  const isCut = slice.truncated && content !== '' && !content.endsWith('\n')
  const end = isCut ? endLine - 1 : endLine
  const { lineNumbers } = asked
  const lines = { path: target.path, sha256, startLine, endLine, lineNumbers }
  const before = asked.ifChanged && !isCut ? previousReads.findCall(lines) : undefined
  const path = display(target.asked)
  if (before !== undefined) {
    return {
      summary: `Unchanged since call ${numberOf(before)}: ${describeLines(slice)} of ${path}`,
      // Nothing is shown, so nothing more counts as seen.
      result: () => ({ path, ...slice, content: '', unchangedSince: before }),
    }
  }
  const told = lineNumbers ? numberLines(content, startLine) : content
  return {
    summary: `Read ${describeLines(slice)} of ${path}`,
    shown: () =>
      end < startLine && !all
        ? []
        : [{ path: target.path, sha256, lines: all ? 'all' : { start: startLine, end, total: totalLines } }],
    // What a hook withheld or a bound cut was not shown.
    onResult: ({ callId, content: answer }) => {
      if (answer === told && !isCut) previousReads.noteLines(lines, callId)
    },
    result: () => ({ path, ...slice, content: told }),
  }
}

/** The number of a call in its run: its id ends with it. */
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

/** The asked lines, cut at a line, or within the first line at a code point, when they exceed the byte limit. */
function cut(text: string, startLine: number, maxLines: number, maxBytes: number, path: string) {
  const slice = sliceLines(text, startLine, maxLines)
  if (startLine > Math.max(1, slice.totalLines)) throw afterTheEnd(path, startLine, slice.totalLines)
  const bounded = boundContent(slice.content, maxBytes)
  const endLine = bounded.length === slice.content.length ? slice.endLine : startLine + countLines(bounded) - 1
  return {
    content: bounded,
    startLine,
    endLine,
    truncated: bounded.length < slice.content.length || slice.endLine < slice.totalLines,
  }
}

async function artifact(asked: z.output<typeof input>, maxLines: number, context: ToolContext): Promise<Draft<Output>> {
  const text = await context.readArtifact(asked.path)
  const slice = cut(text, asked.startLine, maxLines, context.limits.readBytes, asked.path)
  const { totalLines } = sliceLines(text, 1, 1)
  return {
    summary: `Read ${describeLines({ ...slice, totalLines })} of ${asked.path}`,
    result: () => ({
      path: asked.path,
      content: asked.lineNumbers ? numberLines(slice.content, slice.startLine) : slice.content,
      startLine: slice.startLine,
      endLine: slice.endLine,
      totalLines,
      sha256: sha256Text(text),
      truncated: slice.truncated,
      kind: 'TEXT_DOC',
      encoding: 'utf-8',
      eol: detectLineEnd(text),
      bom: false,
    }),
  }
}
