import * as z from 'zod'
import { ToolError } from '../../errors.ts'
import { call, defineDialectTool, readLines } from '../define.ts'
import type { DialectTool } from '../runtime/types.ts'
import { succeeded } from './results.ts'

const path = z.string().describe('Path of the file')
const directory = z.string().default('.').describe('Path of the directory')

export const fileTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'read_file',
    description: 'Read a text file, or the lines from start_line to end_line.',
    input: z.object({
      path,
      start_line: z.int().min(1).optional().describe('First line, from 1'),
      end_line: z.int().min(1).optional().describe('Last line'),
    }),
    uses: ['read_file'],
    *steps({ path, start_line: startLine = 1, end_line = Number.POSITIVE_INFINITY }, pathMapping) {
      if (end_line < startLine) {
        throw new ToolError('INVALID_INPUT', 'end_line is before start_line', { field: 'end_line' })
      }
      const { content } = yield* readLines(pathMapping.inward(path), { startLine, maxLines: end_line - startLine + 1 })
      return succeeded(content)
    },
  }),
  defineDialectTool({
    name: 'write_file',
    description: 'Create a file, or replace the whole content of one that was read before.',
    input: z.object({ path, content: z.string() }),
    uses: ['write_file'],
    *steps({ path, content }, pathMapping) {
      const { bytesWritten, created } = yield* call('write_file', { path: pathMapping.inward(path), content })
      return succeeded(`${created ? 'Created' : 'Replaced'} ${path} (${bytesWritten} bytes)`)
    },
  }),
  defineDialectTool({
    name: 'edit_file',
    description: 'Replace old_text, which must occur exactly once, by new_text; with replace_all every occurrence.',
    input: z.object({
      path,
      old_text: z.string().min(1),
      new_text: z.string(),
      replace_all: z.boolean().default(false),
    }),
    uses: ['edit_file'],
    *steps({ path, old_text: oldText, new_text: newText, replace_all: replaceAll }, pathMapping) {
      const edit = { path: pathMapping.inward(path), oldText, newText, replaceAll }
      const { replacements, diff } = yield* call('edit_file', edit)
      return succeeded(
        `Replaced ${replacements} ${replacements === 1 ? 'occurrence' : 'occurrences'} in ${path}\n${diff}`,
      )
    },
  }),
  defineDialectTool({
    name: 'list_directory',
    description: 'List a directory, with recursive all below it. Directories end with a slash.',
    input: z.object({ path: directory, recursive: z.boolean().default(false) }),
    uses: ['list_directory'],
    *steps({ path, recursive }, pathMapping) {
      const { entries, truncated, totalEntries } = yield* call('list_directory', {
        path: pathMapping.inward(path),
        ...(recursive ? { maxDepth: 100 } : {}),
      })
      const lines = entries.map((entry) => `${pathMapping.outward(entry.path)}${entry.type === 'directory' ? '/' : ''}`)
      if (truncated) lines.push(`(${totalEntries - entries.length} more)`)
      return succeeded(lines.join('\n'))
    },
  }),
  defineDialectTool({
    name: 'search_files',
    description: 'Search file contents, line by line, for a regular expression (no look-around, no back-references).',
    input: z.object({
      pattern: z.string().min(1).describe('Regular expression'),
      path: directory,
      file_pattern: z.string().optional().describe('Only files that match this glob, such as *.py'),
      case_sensitive: z.boolean().default(true),
      max_results: z.int().min(1).optional(),
    }),
    uses: ['search_text'],
    *steps({ pattern, path, file_pattern: glob, case_sensitive: caseSensitive, max_results }, pathMapping) {
      const { matches, truncated } = yield* call('search_text', {
        query: pattern,
        mode: 'regex',
        path: pathMapping.inward(path),
        caseSensitive,
        ...(glob === undefined ? {} : { includeGlob: anyDepth(glob) }),
        ...(max_results === undefined ? {} : { maxMatches: max_results }),
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
    input: z.object({ pattern: z.string().min(1), path: directory }),
    uses: ['find_files'],
    *steps({ pattern, path }, pathMapping) {
      const { files, totalFound } = yield* call('find_files', {
        pattern: anyDepth(pattern),
        path: pathMapping.inward(path),
      })
      const lines = files.map((file) => pathMapping.outward(file))
      if (totalFound > files.length) lines.push(`(${totalFound - files.length} more)`)
      return succeeded(lines.length === 0 ? 'No files found' : lines.join('\n'))
    },
  }),
  defineDialectTool({
    name: 'create_directory',
    description: 'Create a directory, with its parents. An existing one is fine.',
    input: z.object({ path: z.string().describe('Path of the directory') }),
    uses: ['create_directory'],
    *steps({ path }, pathMapping) {
      yield* call('create_directory', { path: pathMapping.inward(path) })
      return succeeded(`Created ${path}`)
    },
  }),
  defineDialectTool({
    name: 'file_info',
    description: 'Describe a file or directory: type, size, time, whether it may be read and changed.',
    input: z.object({ path: z.string().describe('Path of the file or directory') }),
    uses: ['file_info'],
    *steps({ path }, pathMapping) {
      const info = yield* call('file_info', { path: pathMapping.inward(path) })
      const { type, kind, sizeBytes, modifiedAt, totalLines, readable, writable } = info
      const facts = { path, type, kind, size_bytes: sizeBytes, modified_at: modifiedAt, total_lines: totalLines }
      return succeeded(JSON.stringify({ ...facts, readable, writable }))
    },
  }),
]

/** Makes a glob without a slash match names at any depth. */
function anyDepth(glob: string): string {
  return glob.includes('/') ? glob : `**/${glob}`
}
