import * as z from 'zod/mini'
import { compileGlobs } from '../../paths/glob.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { counted } from '../../util/counted.ts'
import { parentText } from '../../util/slashes.ts'
import {
  call,
  defineDialectTool,
  limitOr,
  type PathMapping,
  readPart,
  refuseUnused,
  takingMedia,
  tryCall,
} from '../define.ts'
import { noteSpelling } from '../runtime/find-files.ts'
import { shownMedia } from '../runtime/mcp-text.ts'
import { splitLines } from '../runtime/numbered-lines.ts'
import type { DialectTool } from '../runtime/types.ts'

/** What a workspace allows by default. A limit for each file needs more matches than the search returns without one. */
const MAX_MATCHES = 1000

const path = z.string().check(z.describe('Path of the file'))

export const fileTools: readonly DialectTool[] = [
  defineDialectTool({
    name: 'mastra_workspace_read_file',
    description:
      'Read a text file, or with offset and limit a part of it. Each line has its number and an arrow before it.',
    input: z.object({
      path,
      offset: z.optional(z.int().check(z.minimum(1), z.describe('First line, from 1'))),
      limit: z.optional(z.int().check(z.minimum(1), z.describe('Lines at most'))),
      showLineNumbers: z._default(z.boolean(), true),
      encoding: z.optional(z.enum(['utf-8', 'utf8']).check(z.describe('Files are read as text'))),
    }),
    uses: ['read_file'],
    *steps({ path, offset = 1, limit: maxLines = Number.POSITIVE_INFINITY, showLineNumbers }, pathMapping) {
      const read = yield* takingMedia(readPart(pathMapping.inward(path), { startLine: offset, maxLines }))
      if (read.media !== undefined) return shownMedia(`${path} (${read.media.mimeType})`, path, read.media)
      const { content, bytes, startLine, endLine, totalLines, isCut } = read
      const isWhole = startLine === 1 && endLine >= totalLines && !isCut
      const extent = isWhole
        ? `${bytes} bytes`
        : `lines ${startLine}-${endLine} of ${totalLines}${isCut ? ', cut' : ''}`
      const text = showLineNumbers ? arrowed(splitLines(content), startLine) : content
      return { output: `${path} (${extent})\n${text}` }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_write_file',
    description: 'Create a file, or replace the whole content of one that was read before.',
    input: z.object({
      path,
      content: z.string(),
      overwrite: z._default(z.boolean().check(z.describe('false: only if there is no file')), true),
    }),
    uses: ['write_file'],
    *steps({ path, content, overwrite }, pathMapping) {
      const mode = overwrite ? {} : { mode: 'CREATE_NEW' as const }
      const { bytesWritten } = yield* call('write_file', { path: pathMapping.inward(path), content, ...mode })
      return { output: `Wrote ${bytesWritten} bytes to ${path}` }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_edit_file',
    description:
      'Replace old_string, which must occur exactly once, by new_string; with replace_all every occurrence. Line numbers are not part of them.',
    input: z.object({
      path,
      old_string: z.string().check(z.minLength(1)),
      new_string: z.string(),
      replace_all: z._default(z.boolean(), false),
    }),
    uses: ['edit_file'],
    *steps({ path, old_string: oldText, new_string: newText, replace_all: replaceAll }, pathMapping) {
      const { replacements } = yield* call('edit_file', {
        path: pathMapping.inward(path),
        oldText,
        newText,
        replaceAll,
      })
      return { output: `Replaced ${counted(replacements, 'occurrence')} in ${path}` }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_list_files',
    description: 'List a directory as a tree whose levels are indented by tabs.',
    input: z.object({
      path: z._default(z.string().check(z.describe('Path of the directory')), '.'),
      maxDepth: z._default(z.int().check(z.minimum(1)), 2),
      showHidden: z._default(z.boolean(), false),
      dirsOnly: z._default(z.boolean(), false),
      exclude: z.optional(
        z
          .string()
          .check(
            z.minLength(1),
            z.regex(/^[^*/]*$/, 'must be a part of a name, without / and *'),
            z.describe('Leave out names that contain this'),
          ),
      ),
      extension: z.optional(
        z
          .string()
          .check(
            z.minLength(1),
            z.regex(/^[^*/]*$/, 'must be the end of a name, without / and *'),
            z.describe('Only files with this ending, such as .ts'),
          ),
      ),
      pattern: z.optional(
        z
          .union([z.string(), z.array(z.string()).check(z.minLength(1))])
          .check(z.describe('Only files whose path from there matches one of these globs')),
      ),
      respectGitignore: z._default(z.boolean(), true),
    }),
    uses: ['list_directory'],
    *steps({ path, maxDepth, showHidden, respectGitignore, ...options }, pathMapping) {
      const { dirsOnly, exclude, extension, pattern = [] } = options
      yield* noteSpelling(exclude, extension, ...[pattern].flat())
      if (dirsOnly) refuseUnused('a list of directories', { extension, pattern: options.pattern })
      const listing = yield* call('list_directory', {
        path: pathMapping.inward(path),
        maxDepth,
        maxEntries: yield* limitOr('listEntries', 500),
        includeHidden: showHidden,
        includeIgnored: !respectGitignore,
      })
      return { output: tree(listing, options) }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_delete',
    description: 'Delete a file. Never a directory.',
    input: z.object({ path, recursive: z._default(z.literal(false), false) }),
    uses: ['delete_file'],
    *steps({ path }, pathMapping) {
      yield* call('delete_file', { path: pathMapping.inward(path) })
      return { output: `Deleted ${path}` }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_file_stat',
    description: 'Show whether a file or directory exists, its type, size and time.',
    input: z.object({ path: z.string() }),
    uses: ['file_info'],
    *steps({ path }, pathMapping) {
      const info = yield* tryCall('file_info', { path: pathMapping.inward(path) })
      if (!info.ok) return info.code === 'NOT_FOUND' ? { output: `${path}: not found` } : info
      const size = info.sizeBytes === undefined ? '' : ` Size: ${info.sizeBytes} bytes`
      const time = info.modifiedAt === undefined ? '' : ` Modified: ${info.modifiedAt}`
      return { output: `${path} Type: ${info.type}${size}${time}` }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_mkdir',
    description: 'Create a directory, with its parents. An existing one is fine.',
    input: z.object({
      path: z.string(),
      recursive: z._default(z.boolean().check(z.describe('false: its parent must exist')), true),
    }),
    uses: ['create_directory'],
    mayUse: ['file_info'],
    *steps({ path, recursive }, pathMapping) {
      const directory = pathMapping.inward(path)
      const parent = parentText(directory)
      if (!recursive && parent !== '') yield* call('file_info', { path: parent })
      yield* call('create_directory', { path: directory })
      return { output: `Created directory ${path}` }
    },
  }),
  defineDialectTool({
    name: 'mastra_workspace_grep',
    description: 'Search file contents, line by line, for a regular expression (no look-around, no back-references).',
    input: z.object({
      pattern: z.string().check(z.minLength(1)),
      path: z._default(z.string().check(z.describe('Directory, file, or a glob such as src/**/*.ts')), '.'),
      contextLines: z._default(z.int().check(z.minimum(0), z.describe('Lines around each match, at most 3')), 0),
      maxCount: z.optional(z.int().check(z.minimum(1), z.describe('Maximum matches in each file'))),
      caseSensitive: z._default(z.boolean(), true),
      includeHidden: z._default(z.boolean(), false),
    }),
    uses: ['search_text'],
    *steps({ pattern: query, path, maxCount, ...options }, pathMapping) {
      const within = pathMapping.inward(path)
      const target = /[*?[{]/.test(within) ? { includeGlob: within.replace(/^\.\//, '') } : { path: within }
      // The limit of the search is for all files together.
      const limit = maxCount === undefined ? {} : { maxMatches: yield* limitOr('searchMatches', MAX_MATCHES) }
      const result = yield* call('search_text', { query, mode: 'regex', ...target, ...limit, ...options })
      return { output: hits({ ...result, matches: firstInEachFile(result.matches, maxCount) }, pathMapping) }
    },
  }),
]

function arrowed(lines: readonly string[], startLine: number): string {
  const width = Math.max(6, String(startLine + lines.length - 1).length + 1)
  return lines.map((line, index) => `${String(startLine + index).padStart(width)}→${line}`).join('\n')
}

interface Wanted {
  readonly dirsOnly: boolean
  readonly exclude?: string | undefined
  readonly extension?: string | undefined
  readonly pattern?: string | readonly string[] | undefined
}

/** Formats a listing as a tree. A listing is depth first, so each entry follows its directory. */
function tree({ path, entries }: ToolOutput<'list_directory'>, filters: Wanted): string {
  const skip = path === '.' ? 0 : path.length + 1
  const globs = filters.pattern === undefined ? undefined : compileGlobs([filters.pattern].flat())
  const lines: string[] = []
  const count = { directory: 0, file: 0 }
  for (const { path: at, type } of entries) {
    const names = at.slice(skip).split('/')
    const isDirectory = type === 'directory'
    const isWanted =
      isDirectory ||
      (!filters.dirsOnly && at.endsWith(filters.extension ?? '') && globs?.matches(at.slice(skip)) !== false)
    if (!isWanted || names.some((name) => filters.exclude !== undefined && name.includes(filters.exclude))) continue
    lines.push(`${'\t'.repeat(names.length - 1)}${names.at(-1)}`)
    count[isDirectory ? 'directory' : 'file'] += 1
  }
  return `${lines.join('\n')}\n\n${counted(count.directory, 'directory', 'directories')}, ${counted(count.file, 'file')}`
}

/** Returns at most `maxCount` matches of each file. */
function firstInEachFile<M extends { readonly path: string }>(matches: readonly M[], maxCount = matches.length): M[] {
  const counts = new Map<string, number>()
  return matches.filter(({ path }) => {
    const count = (counts.get(path) ?? 0) + 1
    counts.set(path, count)
    return count <= maxCount
  })
}

function hits({ matches, truncated }: ToolOutput<'search_text'>, pathMapping: PathMapping): string {
  const files = new Set(matches.map(({ path }) => path)).size
  const lines = matches.flatMap(({ path, line, column, snippet, before, after }) => {
    const shownPath = pathMapping.outward(path)
    return [
      ...before.map((text, index) => `${shownPath}:${line - before.length + index}- ${text}`),
      `${shownPath}:${line}:${column}: ${snippet}`,
      ...after.map((text, index) => `${shownPath}:${line + 1 + index}- ${text}`),
    ]
  })
  const summary = `${counted(matches.length, 'match', 'matches')} across ${counted(files, 'file')}`
  return [`${summary}${truncated ? ' (truncated)' : ''}`, '---', ...lines].join('\n')
}
