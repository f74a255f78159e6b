import * as z from 'zod/mini'
import { quote } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import {
  call,
  defineDialectTool,
  limitOr,
  type PathMapping,
  readPart,
  renamedFields,
  ToolError,
  takingMedia,
} from '../define.ts'
import { formatCommandOutput } from '../runtime/command-text.ts'
import { globAtAnyDepth } from '../runtime/find-files.ts'
import { shownMedia } from '../runtime/mcp-text.ts'
import { numeric } from '../runtime/numeric.ts'
import type { DialectTool } from '../runtime/types.ts'

const filePath = z.string().check(z.describe('Absolute path of the file'))
const path = z._default(z.string().check(z.describe('Absolute path of the directory')), '/')

/** The original takes `path` for `file_path` as well. */
const withFilePath = (input: unknown) => renamedFields(input, { path: 'file_path' })

export const deepagentsTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'ls',
    description: 'List a directory.',
    input: z.object({ path }),
    uses: ['list_directory'],
    *steps({ path }, pathMapping) {
      const { entries } = yield* call('list_directory', {
        path: pathMapping.inward(path),
        maxEntries: yield* limitOr('listEntries', 500),
        includeHidden: true,
      })
      if (entries.length === 0) return { output: `No files found in ${path}` }
      const lines = entries.map(({ path, type, sizeBytes }) => {
        const size = sizeBytes === undefined ? '' : ` (${sizeBytes} bytes)`
        return `${pathMapping.outward(path)}${type === 'directory' ? '/ (directory)' : size}`
      })
      return { output: lines.join('\n') }
    },
  }),
  defineDialectTool({
    name: 'read_file',
    description:
      'Read lines of a text file, 100 of them unless limit is given. Below a header with the lines that are shown, the content stands as it is. Images and PDF are shown if you can see them.',
    input: z.object({
      file_path: filePath,
      offset: z._default(numeric(z.int().check(z.minimum(0), z.describe('Lines to pass over'))), 0),
      limit: z._default(numeric(z.int().check(z.minimum(1), z.describe('Lines at most'))), 100),
    }),
    normalizeInput: withFilePath,
    uses: ['read_file'],
    limits: { limit: 'readLines' },
    *steps({ file_path, offset, limit }, pathMapping) {
      const range = { startLine: offset + 1, maxLines: limit }
      const read = yield* takingMedia(readPart(pathMapping.inward(file_path), range))
      if (read.media !== undefined) return shownMedia(`${file_path}: ${read.media.mimeType}`, file_path, read.media)
      const { content, startLine, endLine, totalLines } = read
      if (content === '') return { output: 'System reminder: File exists but has empty contents' }
      const next = endLine < totalLines ? ` | next offset ${endLine}` : ''
      return { output: `@@ lines ${startLine}-${endLine} of ${totalLines}${next} @@\n${content.replace(/\r?\n$/, '')}` }
    },
  }),
  defineDialectTool({
    name: 'write_file',
    description: 'Create a file, or replace the whole content of one that was read before.',
    input: z.object({ file_path: filePath, content: z.string() }),
    normalizeInput: withFilePath,
    uses: ['write_file'],
    *steps({ file_path, content }, pathMapping) {
      yield* call('write_file', { path: pathMapping.inward(file_path), content })
      return { output: `Successfully wrote to '${file_path}'` }
    },
  }),
  defineDialectTool({
    name: 'edit_file',
    description: 'Replace old_string, which must occur exactly once, by new_string; with replace_all every occurrence.',
    input: z.object({
      file_path: filePath,
      old_string: z.string().check(z.minLength(1)),
      new_string: z.string(),
      replace_all: z._default(z.boolean(), false),
    }),
    normalizeInput: withFilePath,
    uses: ['edit_file'],
    *steps({ file_path, old_string: oldText, new_string: newText, replace_all: replaceAll }, pathMapping) {
      const edit = { path: pathMapping.inward(file_path), oldText, newText, replaceAll }
      const { replacements } = yield* call('edit_file', edit)
      return { output: `Successfully replaced ${replacements} occurrence(s) in '${file_path}'` }
    },
  }),
  defineDialectTool({
    name: 'delete',
    description: 'Delete a file. Never a directory.',
    input: z.object({ file_path: filePath }),
    normalizeInput: withFilePath,
    uses: ['delete_file'],
    *steps({ file_path }, pathMapping) {
      yield* call('delete_file', { path: pathMapping.inward(file_path) })
      return { output: `Deleted ${file_path}` }
    },
  }),
  defineDialectTool({
    name: 'glob',
    description: 'Find files by a glob such as **/*.py.',
    input: z.object({ pattern: z.string().check(z.minLength(1)), path }),
    uses: ['find_files'],
    *steps({ pattern, path }, pathMapping) {
      const { files } = yield* call('find_files', {
        pattern: relativeGlob('pattern', pattern, path),
        path: pathMapping.inward(path),
        includeHidden: true,
      })
      if (files.length === 0) return { output: `No files found matching pattern '${pattern}'` }
      return { output: files.map(pathMapping.outward).join('\n') }
    },
  }),
  defineDialectTool({
    name: 'grep',
    description: 'Search file contents, line by line, for a literal text.',
    input: z.object({
      pattern: z.string().check(z.minLength(1), z.describe('Literal text')),
      path: path.check(z.describe('Absolute path of the directory or file')),
      glob: z.nullish(z.string()).check(z.describe("Only files that match this glob, such as '*.py'")),
      max_count: z.nullish(numeric(z.int().check(z.minimum(1)))).check(z.describe('Matches at most')),
      output_mode: z._default(z.enum(['files_with_matches', 'content', 'count']), 'content'),
    }),
    uses: ['search_text'],
    *steps({ pattern, path, glob, max_count, output_mode: mode }, pathMapping) {
      const result = yield* call('search_text', {
        query: pattern,
        path: pathMapping.inward(path),
        includeHidden: true,
        filesOnly: mode !== 'content',
        ...(glob == null
          ? {}
          : { includeGlob: glob.startsWith('/') ? relativeGlob('glob', glob, path) : globAtAnyDepth(glob) }),
        ...(max_count == null ? {} : { maxMatches: max_count }),
      })
      const lines = mode === 'content' ? matches(result, pathMapping) : counts(result, pathMapping, mode === 'count')
      if (result.truncated) lines.push('', '(more was left out)')
      return { output: lines.length === 0 ? `No matches found for pattern '${pattern}'` : lines.join('\n') }
    },
  }),
  defineDialectTool({
    name: 'execute',
    description: 'Run a shell command line in the directory that the other tools call /. Use relative paths in it.',
    input: z.object({ command: z.string().check(z.minLength(1)) }),
    uses: ['run_command'],
    *steps({ command }) {
      const result = yield* call('run_command', { command })
      const status = result.exitCode === 0 ? 'succeeded' : 'failed'
      return { output: `${formatCommandOutput(result)}\n[Command ${status} with exit code ${result.exitCode}]` }
    },
  }),
]

/**
 * Returns a glob relative to the directory of a search. An absolute one names paths below `/`.
 *
 * @throws ToolError `INVALID_INPUT` for an absolute glob that matches nothing in the directory
 */
function relativeGlob(field: string, glob: string, directory: string): string {
  const base = directory.endsWith('/') ? directory : `${directory}/`
  if (glob.startsWith(base)) return glob.slice(base.length).replace(/^\/+/, '')
  if (!glob.startsWith('/') || glob.startsWith('/**')) return glob.replace(/^\/+/, '')
  throw new ToolError('INVALID_INPUT', `Invalid input: ${field}: ${quote(glob)} is not below ${quote(directory)}`, {
    field,
    hint: 'Write the glob relative to "path", or leave out "path".',
  })
}

type Found = ToolOutput<'search_text'>

function matches({ matches }: Found, pathMapping: PathMapping): string[] {
  const lines: string[] = []
  let last: string | undefined
  for (const { path, line, snippet } of matches) {
    if (path !== last) lines.push(`${pathMapping.outward(path)}:`)
    last = path
    lines.push(`  ${line}: ${snippet}`)
  }
  return lines
}

function counts({ files }: Found, pathMapping: PathMapping, withCount: boolean): string[] {
  return (files as NonNullable<typeof files>).map(
    ({ path, count }) => `${pathMapping.outward(path)}${withCount ? `: ${count}` : ''}`,
  )
}
