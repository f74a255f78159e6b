import * as z from 'zod/mini'
import { ToolError } from '../../errors.ts'
import { compileGlobs } from '../../paths/glob.ts'
import { nameOf, type Path } from '../../paths/logical-path.ts'
import {
  call,
  callHidden,
  createPathMapping,
  defineDialectTool,
  findEntries,
  listAll,
  listTree,
  type PathMapping,
  readLines,
  readWhole,
  strictGlob,
  takingMedia,
  toDialectError,
  trySteps,
} from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { noteSpelling } from '../runtime/find-files.ts'
import { describeFile, directoryMarker, fencedDiff, formatSizes, mediaAnswer, mediaBlock } from '../runtime/mcp-text.ts'
import type { Answer, DialectError, Hints, Steps } from '../runtime/types.ts'

/**
 * The tools of the MCP reference filesystem server, with their names, schemas, annotations and results. Unsafe behaviour of
 * that server is made safe or refused; see docs/dialects.md.
 *
 * @param roots the directories that it allows. Default: the root of the workspace as `/workspace`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: mcpFilesystem() })
 * await workspace.call('write_file', { path: '/workspace/a.txt', content: 'Hello\n' })
 */
export const mcpFilesystem: DialectFactory = createDialectFactory('mcpFilesystem()', { '/workspace': '' }, (roots) => ({
  name: 'mcp-filesystem',
  description: 'The MCP reference filesystem server (@modelcontextprotocol/server-filesystem)',
  pathMapping: createPathMapping(roots),
  tools,
  hints,
  formatError,
}))

const hints: Hints = {
  WRITE_CONFLICT:
    'Read the whole file with read_text_file, and repeat the change on what it shows; change one that is too large for that with edit_file.',
  FILE_TOO_LARGE: 'Read its first or its last lines with head or tail.',
  EDIT_NO_MATCH: 'Copy oldText exactly from the file, with its white space.',
  EDIT_AMBIGUOUS: 'Add surrounding lines to oldText until it occurs once.',
  IS_DIRECTORY: 'Name a file; use list_directory for a directory.',
  UNSUPPORTED_BINARY: 'The file is not text; get_file_info describes it.',
}

const content = z.object({ content: z.string() })
const readHints = { readOnlyHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, openWorldHint: false }
const path = z.string()

function text(output: string): Answer {
  return { output, structured: { content: output } }
}

function formatError({ code, message, hint, failure }: DialectError): Answer {
  const nearest = failure.nearest === undefined ? '' : `\nNearest: ${JSON.stringify(failure.nearest)}`
  return { output: `${code}: ${message}\n${hint}${nearest}` }
}

const lineCount = z.optional(z.number())
const readInput = z.object({
  path,
  tail: lineCount.check(z.describe('If provided, returns only the last N lines of the file')),
  head: lineCount.check(z.describe('If provided, returns only the first N lines of the file')),
})

const mediaOutput = z.object({
  content: z.array(
    z.union([
      z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
      z.object({
        type: z.literal('resource'),
        resource: z.object({ uri: z.string(), mimeType: z.optional(z.string()), blob: z.string() }),
      }),
    ]),
  ),
})

/** Maximum length of a result of read_multiple_files, in UTF-16 units. */
const MAX_COMBINED_LENGTH = 128 * 1024

function* readText({ path, head = 0, tail = 0 }: z.output<typeof readInput>, pathMapping: PathMapping): Steps<Answer> {
  for (const [field, count] of Object.entries({ head, tail })) {
    if (!Number.isSafeInteger(count) || count < 0) throw invalid(field, 'must be a whole number of lines')
  }
  if (head > 0 && tail > 0) throw invalid('head', 'cannot be given together with tail')
  const file = pathMapping.inward(path)
  if (head > 0) {
    const { content } = yield* readLines(file, { startLine: 1, maxLines: head })
    return text(content.replace(/\n$/, ''))
  }
  if (tail > 0) {
    const { totalLines } = yield* callHidden('read_file', { path: file, maxLines: 1 })
    // The reference server counts the empty rest after the last line end as a line.
    const last = totalLines === 0 ? '' : (yield* callHidden('read_file', { path: file, startLine: totalLines })).content
    const maxLines = Math.min(totalLines, last.endsWith('\n') ? tail - 1 : tail)
    if (maxLines === 0) return text('')
    const { content } = yield* readLines(file, { startLine: totalLines - maxLines + 1, maxLines })
    return text(content.replaceAll('\r\n', '\n'))
  }
  return text((yield* readWhole(file)).content)
}

function invalid(field: string, reason: string): ToolError {
  return new ToolError('INVALID_INPUT', `Invalid input: ${field} ${reason}`, { field })
}

const tools = [
  defineDialectTool({
    name: 'read_file',
    title: 'Read File (Deprecated)',
    description: 'Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.',
    input: readInput,
    output: content,
    annotations: readHints,
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
    annotations: readHints,
    uses: ['read_file'],
    steps: readText,
  }),
  defineDialectTool({
    name: 'read_media_file',
    title: 'Read Media File',
    description: 'Read an image, a PDF document or a text file, such as SVG, as base64 with its MIME type.',
    input: z.object({ path }),
    output: mediaOutput,
    annotations: readHints,
    uses: ['read_file'],
    *steps({ path }, pathMapping) {
      const { content, media } = yield* takingMedia(readWhole(pathMapping.inward(path)))
      if (media === undefined) return mediaAnswer(path, content)
      const block = mediaBlock(path, media)
      return { output: `${path}: ${media.mimeType}`, content: [block], structured: { content: [block] } }
    },
  }),
  defineDialectTool({
    name: 'read_multiple_files',
    title: 'Read Multiple Files',
    description: 'Read several files as text, each after its path. Files that cannot be read do not stop the others.',
    input: z.object({
      paths: z
        .array(z.string())
        .check(
          z.minLength(1),
          z.describe(
            'Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories.',
          ),
        ),
    }),
    output: content,
    annotations: readHints,
    uses: ['read_file'],
    *steps({ paths }, pathMapping) {
      const parts: string[] = []
      let remaining = MAX_COMBINED_LENGTH
      for (const path of paths) {
        if (remaining <= 0) {
          parts.push(`${path}: Error - the answer is full; read it by itself`)
          continue
        }
        const read = yield* trySteps(readWhole(pathMapping.inward(path)))
        if (!read.ok) {
          const { code, message } = toDialectError({ pathMapping, hints }, 'read_multiple_files', read)
          parts.push(`${path}: Error - ${code}: ${message}`)
          continue
        }
        remaining -= read.value.content.length
        parts.push(`${path}:\n${read.value.content}\n`)
      }
      return text(parts.join('\n---\n'))
    },
  }),
  defineDialectTool({
    name: 'write_file',
    title: 'Write File',
    description: 'Create a file, or replace the whole content of one that was read before. Its directory must exist.',
    input: z.object({ path, content: z.string() }),
    output: content,
    annotations: { ...changes, idempotentHint: true, destructiveHint: true },
    uses: ['write_file'],
    *steps({ path, content }, pathMapping) {
      yield* call('write_file', { path: pathMapping.inward(path), content, createParents: false })
      return text(`Successfully wrote to ${path}`)
    },
  }),
  defineDialectTool({
    name: 'edit_file',
    title: 'Edit File',
    description:
      'Replace exact text in a file, all edits or none. Each oldText must occur exactly once and is never matched fuzzily; line ends are kept. Returns a git-style diff.',
    input: z.object({
      path,
      edits: z.array(
        z.object({
          oldText: z.string().check(z.describe('Text to search for - must match exactly')),
          newText: z.string().check(z.describe('Text to replace with')),
        }),
      ),
      dryRun: z._default(z.boolean().check(z.describe('Preview changes using git-style diff format')), false),
    }),
    output: content,
    annotations: { ...changes, idempotentHint: false, destructiveHint: true },
    uses: ['edit_file'],
    *steps({ path, edits, dryRun }, pathMapping) {
      const edited = yield* call('edit_file', { path: pathMapping.inward(path), edits, dryRun })
      return text(fencedDiff(edited.diff, pathMapping.outward(edited.path)))
    },
  }),
  defineDialectTool({
    name: 'create_directory',
    title: 'Create Directory',
    description: 'Create a directory with its missing parents; an existing one is fine.',
    input: z.object({ path }),
    output: content,
    annotations: { ...changes, idempotentHint: true, destructiveHint: false },
    uses: ['create_directory'],
    *steps({ path }, pathMapping) {
      yield* call('create_directory', { path: pathMapping.inward(path) })
      return text(`Successfully created directory ${path}`)
    },
  }),
  defineDialectTool({
    name: 'list_directory',
    title: 'List Directory',
    description: 'List what is directly in a directory, each name after [FILE] or [DIR].',
    input: z.object({ path }),
    output: content,
    annotations: readHints,
    uses: ['list_directory'],
    *steps({ path }, pathMapping) {
      const listing = yield* listAll(pathMapping.inward(path))
      const lines = listing.entries.map((entry) => `${directoryMarker(entry)} ${nameOf(entry.path as Path)}`)
      return text(lines.join('\n'))
    },
  }),
  defineDialectTool({
    name: 'list_directory_with_sizes',
    title: 'List Directory with Sizes',
    description: 'List what is directly in a directory with the sizes of its files, sorted by name or size.',
    input: z.object({
      path,
      sortBy: z._default(
        z.optional(z.enum(['name', 'size']).check(z.describe('Sort entries by name or size'))),
        'name',
      ),
    }),
    output: content,
    annotations: readHints,
    uses: ['list_directory'],
    *steps({ path, sortBy }, pathMapping) {
      const listing = yield* listAll(pathMapping.inward(path))
      return text(formatSizes(listing.entries, sortBy).join('\n'))
    },
  }),
  defineDialectTool({
    name: 'directory_tree',
    title: 'Directory Tree',
    description:
      'Show the tree below a directory as JSON: each entry has name and type, and a directory its children. excludePatterns are globs, or names at any depth.',
    input: z.object({ path, excludePatterns: z._default(z.optional(z.array(z.string())), []) }),
    output: content,
    annotations: readHints,
    uses: ['list_directory'],
    *steps({ path, excludePatterns }, pathMapping) {
      yield* noteSpelling(...excludePatterns)
      const excluded = excludePatterns.flatMap((pattern) =>
        pattern.includes('*') ? [strictGlob(pattern)] : [pattern, `**/${pattern}`],
      )
      const glob = compileGlobs(excluded)
      return text(JSON.stringify(yield* listTree(pathMapping.inward(path), glob.matches), null, 2))
    },
  }),
  defineDialectTool({
    name: 'move_file',
    title: 'Move File',
    description:
      'Move or rename a file or directory. Nothing is overwritten; the directory of the destination must exist.',
    input: z.object({ source: z.string(), destination: z.string() }),
    output: content,
    annotations: { ...changes, idempotentHint: false, destructiveHint: true },
    uses: ['move_file'],
    *steps({ source, destination }, pathMapping) {
      const to = pathMapping.inward(destination)
      yield* call('move_file', { path: pathMapping.inward(source), to, createParents: false })
      return text(`Successfully moved ${source} to ${destination}`)
    },
  }),
  defineDialectTool({
    name: 'search_files',
    title: 'Search Files',
    description:
      "Find files and directories by a glob on their path from `path`: '*.ext' directly in it, '**/*.ext' at any depth. Gives full paths.",
    input: z.object({ path, pattern: z.string(), excludePatterns: z._default(z.optional(z.array(z.string())), []) }),
    output: content,
    annotations: readHints,
    uses: ['find_files', 'list_directory'],
    narrows: ['find_files'],
    *steps({ path, pattern, excludePatterns }, pathMapping) {
      const result = yield* findEntries(pathMapping.inward(path), pattern, excludePatterns)
      const lines = result.paths.map(pathMapping.outward)
      if (result.withoutIgnored) lines.push('(Ignored files are left out: with them there are too many.)')
      if (result.truncated) lines.push('(There are more: use a narrower pattern or path.)')
      return text(lines.length === 0 ? 'No matches found' : lines.join('\n'))
    },
  }),
  defineDialectTool({
    name: 'get_file_info',
    title: 'Get File Info',
    description: 'Describe a file or directory: size, time of the last change, type, permissions.',
    input: z.object({ path }),
    output: content,
    annotations: readHints,
    uses: ['file_info'],
    *steps({ path }, pathMapping) {
      const entry = yield* call('file_info', { path: pathMapping.inward(path) })
      const info = entry.target === undefined ? entry : yield* call('file_info', { path: entry.target })
      return text(describeFile(info))
    },
  }),
  defineDialectTool({
    name: 'list_allowed_directories',
    title: 'List Allowed Directories',
    description: 'Return the directories in which all paths lie.',
    input: z.object({}),
    output: content,
    annotations: readHints,
    uses: [],
    // biome-ignore lint/correctness/useYield: it needs no call
    *steps(_input, { roots }) {
      return text(`Allowed directories:\n${roots.join('\n')}`)
    },
  }),
]
