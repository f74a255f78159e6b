import * as z from 'zod/mini'
import type { ToolOutput } from '../../tools/index.ts'
import { counted } from '../../util/counted.ts'
import {
  call,
  defineDialectTool,
  limitOr,
  type PathMapping,
  readPart,
  renamedFields,
  tryCall,
  trySteps,
} from '../define.ts'
import { globAtAnyDepth, noteSpelling } from '../runtime/find-files.ts'
import type { Answer, Steps } from '../runtime/types.ts'
import { directory } from './files.ts'

const searchPath = z.optional(directory.check(z.describe('Directory to search; default: all of the workspace')))

export const glob = defineDialectTool({
  name: 'glob',
  description: 'Find files by a glob such as **/*.ts. Their paths are sorted by name.',
  input: z.object({
    pattern: z.string().check(z.describe('Glob on the path from dir_path on')),
    dir_path: searchPath,
    respect_git_ignore: z.optional(z.boolean().check(z.describe('Leave out what .gitignore names; default true'))),
  }),
  normalizeInput: (input) => renamedFields(input, { path: 'dir_path' }),
  uses: ['find_files'],
  *steps({ pattern, dir_path, respect_git_ignore }, pathMapping) {
    const path = pathOf(dir_path, pathMapping)
    const { files, totalFound } = yield* call('find_files', {
      pattern,
      path,
      includeHidden: true,
      includeIgnored: respect_git_ignore === false,
    })
    const within = ` within ${dir_path ?? pathMapping.outward('')}`
    if (totalFound === 0) return { output: `No files found matching pattern "${pattern}"${within}` }
    const paths = files.map((path) => pathMapping.outward(path))
    return {
      output: `Found ${totalFound} file(s) matching "${pattern}"${within}, sorted by path:\n${paths.join('\n')}`,
    }
  },
})

export const grepSearch = defineDialectTool({
  name: 'grep_search',
  description: 'Search file contents, line by line, for a regular expression (no look-around, no back-references).',
  input: z.object({
    pattern: z.string().check(z.minLength(1), z.describe('Regular expression')),
    dir_path: searchPath.check(z.describe('Directory or file to search; default: all of the workspace')),
    include_pattern: z.optional(
      z.string().check(z.describe('Only files that match this glob, such as *.ts or src/**')),
    ),
    names_only: z.optional(z.boolean().check(z.describe('Only the paths of the files'))),
    case_sensitive: z.optional(z.boolean().check(z.describe('Default false'))),
    fixed_strings: z.optional(z.boolean().check(z.describe('Take the pattern as plain text'))),
    context: z.optional(z.int().check(z.minimum(0), z.describe('Lines around each match, at most 3'))),
    no_ignore: z.optional(z.boolean().check(z.describe('Search also hidden files and what .gitignore names'))),
    total_max_matches: z.optional(z.int().check(z.minimum(1), z.describe('Default 100'))),
  }),
  formerNames: ['search_file_content'],
  normalizeInput: (input) => renamedFields(input, { path: 'dir_path', include: 'include_pattern' }),
  uses: ['search_text'],
  *steps(input, pathMapping) {
    const { pattern, dir_path, include_pattern: include, names_only = false, no_ignore = false } = input
    const maxMatches = input.total_max_matches ?? (yield* limitOr('searchMatches', 100))
    const result = yield* call('search_text', {
      query: pattern,
      mode: input.fixed_strings === true ? 'literal' : 'regex',
      path: pathOf(dir_path, pathMapping),
      caseSensitive: input.case_sensitive === true,
      contextLines: input.context ?? 0,
      maxMatches,
      filesOnly: names_only,
      includeHidden: no_ignore,
      includeIgnored: no_ignore,
      ...(include === undefined ? {} : { includeGlob: globAtAnyDepth(include) }),
    })
    const within = dir_path === undefined ? 'in the workspace directory' : `in path "${dir_path}"`
    const target = `for pattern "${pattern}" ${within}${include === undefined ? '' : ` (filter: "${include}")`}`
    return { output: formatMatches(result, names_only, target, maxMatches) }
  },
})

type Found = ToolOutput<'search_text'>

function formatMatches(
  { files = [], matches, truncated, truncatedReason }: Found,
  namesOnly: boolean,
  target: string,
  maxMatches: number,
): string {
  const count = namesOnly ? files.length : matches.length
  const limit =
    truncatedReason === 'maxMatches' ? `to ${counted(maxMatches, 'match', 'matches')}` : `by ${truncatedReason}`
  const limited = truncated ? ` (results limited ${limit} for performance)` : ''
  if (count === 0) return `No matches found ${target}${limited}.`
  if (namesOnly)
    return `Found ${counted(count, 'file')} with matches ${target}${limited}:\n${files.map(({ path }) => path).join('\n')}`
  const sections: string[] = []
  let last: string | undefined
  for (const { path, line, snippet, before, after } of matches) {
    if (path !== last) sections.push('---', `File: ${path}`)
    last = path
    before.forEach((text, index) => {
      sections.push(`L${line - before.length + index}- ${text}`)
    })
    sections.push(`L${line}: ${snippet}`)
    after.forEach((text, index) => {
      sections.push(`L${line + 1 + index}- ${text}`)
    })
  }
  return `Found ${counted(count, 'match', 'matches')} ${target}${limited}:\n${sections.join('\n')}\n---`
}

export const readManyFiles = defineDialectTool({
  name: 'read_many_files',
  description: 'Read several text files, by their paths or by globs: at most 64 KiB in all.',
  input: z.object({
    include: z
      .array(z.string().check(z.minLength(1)))
      .check(z.minLength(1), z.maxLength(100), z.describe('Paths and globs, such as src/**/*.ts')),
    exclude: z.optional(
      z.array(z.string().check(z.minLength(1))).check(z.maxLength(100), z.describe('Globs of files to leave out')),
    ),
  }),
  normalizeInput: (input) => renamedFields(input, { paths: 'include' }),
  uses: ['read_file', 'find_files', 'file_info'],
  narrows: ['read_file'],
  *steps({ include, exclude = [] }, pathMapping) {
    yield* noteSpelling(...exclude)
    const included = yield* findAll(include, pathMapping, yield* limitOr('findResults', MOST_FILES))
    const excluded = yield* findAll(exclude, pathMapping, MOST_EXCLUDED)
    for (const path of excluded.paths) included.paths.delete(path)
    return yield* readAll([...included.paths].toSorted(), included.omitted, pathMapping)
  },
})

/** Files that one glob of a reading finds. */
const MOST_FILES = 1000
/** Files that one glob leaves out, as many as a search can find. */
const MOST_EXCLUDED = 100_000

/** Returns the files that globs, directories and plain paths match: of each glob, the first `maxResults`. */
function* findAll(
  patterns: readonly string[],
  pathMapping: PathMapping,
  maxResults: number,
): Steps<{ readonly paths: Set<string>; readonly omitted: readonly string[] }> {
  const paths = new Set<string>()
  const omitted: string[] = []
  for (const name of patterns) {
    const pattern = pathMapping.inward(name.replace(/\/$/, '/**'))
    // A plain path is read even if a glob would skip it, so that its error is reported.
    if (!/[*?[{]/.test(pattern)) {
      paths.add(pattern)
      continue
    }
    const { files, totalFound } = yield* call('find_files', { pattern, maxResults })
    for (const path of files) paths.add(path)
    if (totalFound > files.length) omitted.push(`${name} (${counted(totalFound - files.length, 'more file')})`)
  }
  return { paths, omitted }
}

const MOST_BYTES = 64 * 1024

function* readAll(paths: readonly string[], omitted: readonly string[], pathMapping: PathMapping): Steps<Answer> {
  const parts: string[] = []
  const skipped = [...omitted]
  let room = MOST_BYTES
  for (const path of paths) {
    const outwardPath = pathMapping.outward(path)
    // A read counts as seen, so only files that are also shown are read.
    const info = yield* tryCall('file_info', { path })
    const size = info.ok ? Math.min(info.sizeBytes ?? 0, MOST_BYTES) : 0
    if (size > room) {
      skipped.push(`${outwardPath} (there was no room for it)`)
      continue
    }
    const read = yield* trySteps(readPart(path, { startLine: 1, maxLines: Number.POSITIVE_INFINITY }))
    if (read.ok) {
      room -= size
      const cut = read.value.isCut ? '[WARNING: This file was truncated. Read it with read_file.]\n\n' : ''
      parts.push(`--- ${outwardPath} ---\n\n${cut}${read.value.content}\n\n`)
    } else {
      skipped.push(`${outwardPath} (${read.code})`)
    }
  }
  const skippedNote = skipped.length === 0 ? '' : `\nSkipped:\n${skipped.join('\n')}`
  if (parts.length === 0)
    return { output: `No files matching the criteria were found or all were skipped.${skippedNote}` }
  return { output: `${parts.join('')}\n--- End of content ---${skippedNote}` }
}

function pathOf(path: string | undefined, pathMapping: PathMapping): string {
  return path === undefined ? '.' : pathMapping.inward(path)
}
