import * as z from 'zod/mini'
import { ToolError } from '../../errors.ts'
import { counted } from '../../util/counted.ts'
import {
  call,
  defineDialectTool,
  type LineRange,
  limitOr,
  readLines,
  readPart,
  refuseUnused,
  renamedFields,
  splitLines,
} from '../define.ts'
import { globAtAnyDepth } from '../runtime/find-files.ts'
import { listDirectory } from '../runtime/list-directory.ts'
import { numberLines } from '../runtime/numbered-lines.ts'
import type { DialectTool } from '../runtime/types.ts'
import { succeeded } from './results.ts'

const path = z.string().check(z.describe('Path of the file'))
const directory = z._default(z.string().check(z.describe('Path of the directory')), '.')
const expectedHash = z
  .nullish(z.string().check(z.regex(/^[0-9a-f]{8,64}$/, 'must be a hash in lowercase hex, as read_file returns it')))
  .check(z.describe('Hash of the version that you read'))

/** Lines of one reading, if it names no limit. */
const LIMIT = 2000

const readInput = z.object({
  path,
  offset: z._default(z.int().check(z.minimum(0), z.describe('Lines to skip')), 0),
  limit: z._default(z.nullable(z.int().check(z.minimum(1))).check(z.describe('Maximum lines')), LIMIT),
  start_line: z.optional(z.int().check(z.minimum(1), z.describe('First line, instead of offset'))),
  end_line: z.optional(z.int().check(z.minimum(1), z.describe('Last line'))),
})

type ReadInput = z.output<typeof readInput>

export const fileTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'read_file',
    description: 'Read lines of a text file, each with its number, below a header with the hash of the file.',
    input: readInput,
    uses: ['read_file'],
    limits: { limit: 'readLines' },
    *steps(input, pathMapping) {
      const { path } = input
      const range = rangeOf(input, yield* limitOr('readLines', LIMIT))
      // Only a file that was asked for from its start, without a limit, fails if it is too large.
      const isWhole = range.startLine === 1 && range.maxLines === LIMIT
      const file = pathMapping.inward(path)
      const read = yield* isWhole ? readLines(file, range) : readPart(file, range, true)
      const { content, startLine, endLine, totalLines, sha256, nextColumn } = read
      const lines = [`[${path} | ${totalLines} lines | hash:${shortHash(sha256)}]`]
      lines.push(content === '' ? '(empty file)' : numberLines(splitLines(content), startLine))
      if (nextColumn !== undefined) {
        lines.push(
          `... (line ${endLine} is cut. Use offset=${endLine - 1}, start_column=${nextColumn} to continue reading.)`,
        )
      } else if (endLine < totalLines) {
        lines.push(`... (${totalLines - endLine} more lines. Use offset=${endLine} to continue reading.)`)
      }
      return succeeded(`${lines.join('\n')}\n`)
    },
  }),
  defineDialectTool({
    name: 'write_file',
    description: 'Create a file, or replace the whole content of one that was read before.',
    input: z.object({ path, content: z.string(), expected_hash: expectedHash }),
    uses: ['write_file'],
    *steps({ path, content, expected_hash }, pathMapping) {
      const file = pathMapping.inward(path)
      const { bytesWritten, created, newSha256 } = yield* call('write_file', {
        ...{ path: file, content },
        ...expecting(expected_hash),
      })
      return succeeded(
        `${created ? 'Created' : 'Replaced'} ${path} (${counted(bytesWritten, 'byte')}) [hash:${shortHash(newSha256)}]`,
      )
    },
  }),
  defineDialectTool({
    name: 'edit_file',
    description: 'Replace old_text, which must occur exactly once, by new_text; with replace_all every occurrence.',
    input: z.object({
      path,
      old_text: z.string().check(z.minLength(1)),
      new_text: z.string(),
      replace_all: z._default(z.boolean(), false),
      expected_hash: expectedHash,
    }),
    uses: ['edit_file'],
    *steps({ path, old_text: oldText, new_text: newText, replace_all: replaceAll, expected_hash }, pathMapping) {
      const file = pathMapping.inward(path)
      const { replacements, newSha256, diff } = yield* call('edit_file', {
        ...{ path: file, oldText, newText, replaceAll },
        ...expecting(expected_hash),
      })
      const occurrences = `${counted(replacements, 'occurrence')} in ${path}`
      return succeeded(
        newSha256 === null
          ? `Dry run: would replace ${occurrences}\n${diff}`
          : `Replaced ${occurrences} [hash:${shortHash(newSha256)}]\n${diff}`,
      )
    },
  }),
  defineDialectTool({
    name: 'list_directory',
    description: 'List a directory, with recursive all below it. Directories end with a slash.',
    input: z.object({ path: directory, recursive: z._default(z.boolean(), false) }),
    uses: ['list_directory'],
    *steps({ path, recursive }, pathMapping) {
      const { entries, note } = yield* listDirectory(pathMapping.inward(path), recursive)
      const lines = entries.map(({ path, type, sizeBytes }) => {
        const size = sizeBytes === undefined ? '' : `  (${counted(sizeBytes, 'byte')})`
        return `${pathMapping.outward(path)}${type === 'directory' ? '/' : size}`
      })
      if (lines.length === 0) lines.push('(empty directory)')
      if (note !== undefined) lines.push(`(${note})`)
      return succeeded(lines.join('\n'))
    },
  }),
  defineDialectTool({
    name: 'search_files',
    description: 'Search file contents, line by line, for a regular expression (no look-around, no back-references).',
    input: z.object({
      pattern: z.string().check(z.minLength(1), z.describe('Regular expression')),
      path: directory,
      include_glob: z.nullish(z.string()).check(z.describe('Only files that match this glob, such as *.py')),
      case_sensitive: z._default(z.boolean(), true),
      max_results: z._default(z.int().check(z.minimum(1)), 100),
    }),
    normalizeInput: (input) => renamedFields(input, { file_pattern: 'include_glob', filePattern: 'include_glob' }),
    uses: ['search_text'],
    limits: { max_results: 'searchMatches' },
    *steps({ pattern, path, include_glob: glob, case_sensitive: caseSensitive, max_results }, pathMapping) {
      const { matches, truncated } = yield* call('search_text', {
        query: pattern,
        mode: 'regex',
        path: pathMapping.inward(path),
        caseSensitive,
        ...(glob == null ? {} : { includeGlob: globAtAnyDepth(glob) }),
        maxMatches: max_results,
      })
      const lines = matches.map((match) => `${pathMapping.outward(match.path)}:${match.line}: ${match.snippet}`)
      if (truncated) lines.push('(more was left out)')
      return succeeded(lines.length === 0 ? 'No matches' : lines.join('\n'))
    },
  }),
  defineDialectTool({
    name: 'find_files',
    description:
      'Find files whose name matches a glob such as *.py, at any depth; or whose path does, such as src/**/*.py.',
    input: z.object({
      pattern: z.string().check(z.minLength(1)),
      path: directory,
      max_results: z._default(z.int().check(z.minimum(1)), 200),
    }),
    uses: ['find_files'],
    limits: { max_results: 'findResults' },
    *steps({ pattern, path, max_results: maxResults }, pathMapping) {
      const { files } = yield* call('find_files', {
        pattern: globAtAnyDepth(pattern),
        path: pathMapping.inward(path),
        maxResults,
      })
      const lines = files.map((file) => pathMapping.outward(file))
      return succeeded(lines.length === 0 ? 'No files found' : lines.join('\n'))
    },
  }),
  defineDialectTool({
    name: 'create_directory',
    description: 'Create a directory, with its parents. An existing one is fine.',
    input: z.object({ path: z.string().check(z.describe('Path of the directory')) }),
    uses: ['create_directory'],
    *steps({ path }, pathMapping) {
      yield* call('create_directory', { path: pathMapping.inward(path) })
      return succeeded(`Created ${path}`)
    },
  }),
  defineDialectTool({
    name: 'file_info',
    description: 'Describe a file or directory: type, size, time, lines, hash, whether it may be read and changed.',
    input: z.object({ path: z.string().check(z.describe('Path of the file or directory')) }),
    uses: ['file_info'],
    *steps({ path }, pathMapping) {
      const info = yield* call('file_info', { path: pathMapping.inward(path) })
      const { type, kind, sizeBytes, modifiedAt, totalLines, sha256, readable, writable, redacted } = info
      const facts = { path, type, kind, size_bytes: sizeBytes, modified_at: modifiedAt, total_lines: totalLines }
      const hash = sha256 === undefined ? {} : { hash: shortHash(sha256) }
      return succeeded(JSON.stringify({ ...facts, ...hash, readable, writable, redacted }))
    },
  }),
]

/** A hash as results show it: enough of the sha256 to tell versions of a file apart. */
function shortHash(sha256: string): string {
  return sha256.slice(0, 12)
}

/** Expects the version that a hash names. */
function expecting(hash: string | null | undefined): { expectedSha256?: string } {
  return hash == null ? {} : { expectedSha256: hash }
}

/** Returns the range of a reading: `offset` and `limit`, or the lines from `start_line` to `end_line`. */
function rangeOf({ offset, limit, start_line, end_line }: ReadInput, defaultLimit: number): LineRange {
  const most = limit ?? defaultLimit
  if (start_line === undefined && end_line === undefined) return { startLine: offset + 1, maxLines: most }
  const startLine = start_line ?? 1
  if (offset > 0) refuseUnused('a call with start_line or end_line', { offset })
  if (end_line === undefined) return { startLine, maxLines: most }
  if (end_line < startLine) {
    throw new ToolError('INVALID_INPUT', 'end_line is before start_line', { field: 'end_line' })
  }
  const lines = end_line - startLine + 1
  // Both ends are explicit, so the default does not apply.
  return { startLine, maxLines: most === defaultLimit ? lines : Math.min(lines, most) }
}
