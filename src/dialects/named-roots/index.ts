import * as z from 'zod/mini'
import { call, createPathMapping, defineDialectTool, joinSentences, limitOr, readPart, ToolError } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { listDirectory } from '../runtime/list-directory.ts'
import type { Answer } from '../runtime/types.ts'

/**
 * `read_file`, `write_file`, `list_directory`, `append_file` and `delete_file` with absolute paths below named roots, which
 * return `{ success, … }` or `{ success: false, error }`.
 *
 * @param roots maps names to directories of the workspace. Default: the root as `/workspace`
 * @example
 * const dialect = namedRoots({ '/workspace': 'project', '/notes': 'notes' })
 * const workspace = await createWorkspace({ backend: memory({ 'notes/a.md': 'A\n' }), policy: 'autonomous', dialect })
 * await workspace.call('read_file', { path: '/notes/a.md' })
 */
export const namedRoots: DialectFactory = createDialectFactory('namedRoots()', { '/workspace': '' }, (roots) => ({
  name: 'named-roots',
  description:
    'read_file, write_file, list_directory, append_file and delete_file with absolute paths under named roots',
  pathMapping: createPathMapping(roots),
  tools,
  hints: {
    WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
    FILE_TOO_LARGE: 'Read a part of it with start_line and max_lines.',
    IS_DIRECTORY: 'Name a single file; list_directory shows what is in a directory.',
  },
  fields: { startLine: 'start_line', maxLines: 'max_lines' },
  formatError: ({ code, message, hint, path }) => ({
    output: { success: false, error: { type: code, message: joinSentences(message, hint), ...(path && { path }) } },
  }),
}))

function success(fields: object): Answer {
  return { output: { success: true, ...fields } }
}

const looks = { readOnlyHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
const path = z.string().check(z.describe('Absolute path below one of the roots'))

const tools = [
  defineDialectTool({
    name: 'read_file',
    title: 'Read file',
    description:
      'Read a text file. Of more than 64 KiB, it returns the first lines; start_line continues, and start_column within a line.',
    input: z.object({
      path,
      start_line: z._default(z.int().check(z.minimum(1), z.describe('First line, from 1')), 1),
      max_lines: z.optional(z.int().check(z.minimum(1), z.describe('Maximum lines'))),
    }),
    annotations: looks,
    uses: ['read_file'],
    *steps({ path, start_line: startLine, max_lines }, pathMapping) {
      const maxLines = max_lines ?? Number.POSITIVE_INFINITY
      const range = { startLine, maxLines }
      const read = yield* readPart(pathMapping.inward(path), range, true)
      const { content, endLine, totalLines, isCut, nextColumn } = read
      if (startLine === 1 && endLine === totalLines && !isCut) return success({ content })
      const lines = { start_line: startLine, end_line: endLine, total_lines: totalLines }
      // Only the beginning of the last line is shown; start_column continues it.
      const column = nextColumn === undefined ? {} : { next_column: nextColumn }
      return success({ content, ...lines, ...(isCut ? { truncated: true } : {}), ...column })
    },
  }),
  defineDialectTool({
    name: 'write_file',
    title: 'Write file',
    description:
      'Create a file, or replace the whole content of one that was read before. Missing directories are created.',
    input: z.object({ path, content: z.string() }),
    annotations: changes,
    uses: ['write_file'],
    *steps({ path, content }, pathMapping) {
      const { bytesWritten, created } = yield* call('write_file', { path: pathMapping.inward(path), content })
      return success({ path, created, bytes: bytesWritten })
    },
  }),
  defineDialectTool({
    name: 'list_directory',
    title: 'List directory',
    description: 'List a directory; with recursive also what is in the directories below, without ignored names.',
    input: z.object({ path, recursive: z._default(z.boolean(), false) }),
    annotations: looks,
    uses: ['list_directory'],
    *steps({ path, recursive }, pathMapping) {
      const maxEntries = yield* limitOr('listEntries', 500)
      const options = { maxEntries, includeHidden: true }
      const listing = yield* listDirectory(pathMapping.inward(path), recursive, options)
      const entries = listing.entries.map(({ path, type, sizeBytes: size, modifiedAt: modified }) => ({
        path: pathMapping.outward(path),
        type,
        ...(size === undefined ? {} : { size }),
        ...(modified === undefined ? {} : { modified }),
      }))
      const total = listing.truncated ? { truncated: true, total: listing.totalEntries } : {}
      return success({ entries, ...total, ...(listing.note && { truncated: true, warnings: [listing.note] }) })
    },
  }),
  defineDialectTool({
    name: 'append_file',
    title: 'Append to file',
    description: 'Add text at the end of a file, creating it if missing.',
    input: z.object({ path, content: z.string() }),
    annotations: changes,
    uses: ['append_file'],
    *steps({ path, content }, pathMapping) {
      const { bytesAppended, sizeBytes } = yield* call('append_file', { path: pathMapping.inward(path), content })
      return success({ path, appended: bytesAppended, size: sizeBytes })
    },
  }),
  defineDialectTool({
    name: 'delete_file',
    title: 'Delete file',
    description: 'Delete a file. Directories are never deleted; recursive is refused.',
    input: z.object({ path, recursive: z._default(z.boolean(), false) }),
    annotations: { ...changes, idempotentHint: true },
    uses: ['delete_file'],
    *steps({ path, recursive }, pathMapping) {
      if (recursive) {
        throw new ToolError(
          'INVALID_INPUT',
          `Cannot delete ${JSON.stringify(path)} with recursive: only single files are deleted`,
          {
            field: 'recursive',
            hint: 'Leave out recursive, and delete the files of a directory one by one.',
          },
        )
      }
      yield* call('delete_file', { path: pathMapping.inward(path) })
      return success({ path })
    },
  }),
]
