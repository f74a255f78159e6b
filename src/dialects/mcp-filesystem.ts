import * as z from 'zod'
import {
  type Answer,
  call,
  createPlace,
  type Dialect,
  defineDialectTool,
  type Place,
  type Refusal,
  readLines,
  readWhole,
  type Steps,
  type VirtualRoots,
} from '../dialect.ts'
import { ToolError } from '../errors.ts'

/**
 * The tools of the MCP reference filesystem server, with their names, schemas, annotations and results, over the guarded
 * tools. What that server does unsafely is done safely or refused: see docs/dialects.md.
 *
 * @param roots the directories that it allows. Default: the root of the workspace as `/workspace`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: mcpFilesystem() })
 * await workspace.call('write_file', { path: '/workspace/a.txt', content: 'Hello\n' })
 */
export function mcpFilesystem(roots: VirtualRoots = { '/workspace': '' }): Dialect {
  return {
    name: 'mcp-filesystem',
    description: 'The MCP reference filesystem server (@modelcontextprotocol/server-filesystem)',
    place: createPlace(roots),
    tools,
    hints: {
      WRITE_CONFLICT: 'Read the whole file with read_text_file, and repeat the change on what it shows.',
      FILE_TOO_LARGE: 'Read its first or its last lines with head or tail.',
      EDIT_NO_MATCH: 'Copy oldText exactly from the file, with its white space.',
      EDIT_AMBIGUOUS: 'Add surrounding lines to oldText until it occurs once.',
      IS_DIRECTORY: 'Name a file; use list_directory for a directory.',
      UNSUPPORTED_BINARY: 'The file is not text; get_file_info describes it.',
    },
    refusal,
  }
}

const content = z.object({ content: z.string() })
const looks = { readOnlyHint: true, openWorldHint: false }
const path = z.string()

function text(output: string): Answer {
  return { output, structured: { content: output } }
}

function refusal({ code, message, hint, failure }: Refusal): Answer {
  const near = failure.nearest === undefined ? '' : `\nNearest: ${JSON.stringify(failure.nearest)}`
  return { output: `${code}: ${message}\n${hint}${near}` }
}

const lineCount = z.number().optional()
const readInput = z.object({
  path,
  tail: lineCount.describe('If provided, returns only the last N lines of the file'),
  head: lineCount.describe('If provided, returns only the first N lines of the file'),
})

function* readText({ path, head = 0, tail = 0 }: z.output<typeof readInput>, place: Place): Steps<Answer> {
  for (const [field, count] of Object.entries({ head, tail })) {
    if (!Number.isSafeInteger(count) || count < 0) throw invalid(field, 'must be a whole number of lines')
  }
  if (head > 0 && tail > 0) throw invalid('head', 'cannot be given together with tail')
  const file = place.inward(path)
  if (head > 0) {
    const { content } = yield* readLines(file, { startLine: 1, maxLines: head })
    return text(content.split('\n').slice(0, head).join('\n'))
  }
  if (tail > 0) {
    const { totalLines } = yield* call('read_file', { path: file, maxLines: 1 })
    const startLine = Math.max(1, totalLines - tail + 1)
    const { content } = yield* readLines(file, { startLine, maxLines: tail })
    return text(content.replaceAll('\r\n', '\n').split('\n').slice(-tail).join('\n'))
  }
  return text((yield* readWhole(file)).content)
}

function invalid(field: string, why: string): ToolError {
  return new ToolError('INVALID_INPUT', `Invalid input: ${field} ${why}`, { field })
}

const tools = [
  defineDialectTool({
    name: 'read_file',
    title: 'Read File (Deprecated)',
    description: 'Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.',
    input: readInput,
    output: content,
    annotations: looks,
    uses: ['read_file'],
    steps: readText,
  }),
  defineDialectTool({
    name: 'read_text_file',
    title: 'Read Text File',
    description:
      'Read the whole text of a file, or with head or tail only its first or last lines. Secrets are shown as [REDACTED:…] marks.',
    input: readInput,
    output: content,
    annotations: looks,
    uses: ['read_file'],
    steps: readText,
  }),
  defineDialectTool({
    name: 'write_file',
    title: 'Write File',
    description: 'Create a file, or replace the whole content of one that was read before. Its directory must exist.',
    input: z.object({ path, content: z.string() }),
    output: content,
    annotations: { readOnlyHint: false, idempotentHint: true, destructiveHint: true, openWorldHint: false },
    uses: ['write_file'],
    *steps({ path, content }, place) {
      yield* call('write_file', { path: place.inward(path), content, createParents: false })
      return text(`Successfully wrote to ${path}`)
    },
  }),
  defineDialectTool({
    name: 'list_allowed_directories',
    title: 'List Allowed Directories',
    description: 'Return the directories in which all paths lie.',
    input: z.object({}),
    output: content,
    annotations: looks,
    uses: [],
    // biome-ignore lint/correctness/useYield: it needs no call
    *steps(_input, { roots }) {
      return text(`Allowed directories:\n${roots.join('\n')}`)
    },
  }),
]
