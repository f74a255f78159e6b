import * as z from 'zod'
import { ToolError } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import { clamp } from '../limits.ts'
import { compileGlob } from '../paths/glob.ts'
import { display, type Path, quote } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import { compileQuery } from '../search/query.ts'
import { defineTool, type ToolContext } from './define-tool.ts'
import { directoryPath, filters } from './shared/fields.ts'
import { scanInSlices } from './shared/scan-in-slices.ts'
import { createFileSearch } from './shared/search-file.ts'
import { notFound, relativeTo, targetOf } from './shared/target.ts'

const input = z.strictObject({
  query: z.string().min(1).describe('Text to find, or a regular expression'),
  mode: z.enum(['literal', 'regex']).default('literal'),
  path: directoryPath.describe('Directory or file to search'),
  includeGlob: z.string().optional().describe('Only files that match, such as **/*.ts (relative to path)'),
  excludeGlob: z.string().optional().describe('Without files that match'),
  caseSensitive: z.boolean().default(true),
  contextLines: z.int().min(0).default(0).describe('Lines before and after each match, at most 3'),
  maxMatches: z.int().min(1).optional().describe('Lines (with filesOnly: files) at most'),
  maxFileBytes: z.int().min(1).optional().describe('Larger files are passed over'),
  timeoutMs: z.int().min(1).optional(),
  filesOnly: z.boolean().default(false).describe('Only the files and how many lines match in each'),
  ...filters,
})

const match = z.object({
  path: z.string(),
  kind: z.string(),
  line: z.number(),
  column: z.number().describe('Of the first match in the line, in UTF-16 units'),
  snippet: z.string(),
  before: z.array(z.string()),
  after: z.array(z.string()),
})

const fileCount = z.object({ path: z.string(), kind: z.string(), count: z.number().describe('Lines that match') })

const output = z.object({
  path: z.string(),
  matches: z.array(match),
  files: z.array(fileCount).optional().describe('With filesOnly'),
  truncated: z.boolean(),
  truncatedReason: z.enum(['maxMatches', 'bytes', 'timeout']).optional(),
  filesSearched: z.number(),
  filesSkipped: z.number().describe('Files over maxFileBytes'),
})

type Match = z.output<typeof match>
type Reason = NonNullable<z.output<typeof output>['truncatedReason']>

/** Lines that match, in the order of the tree. Takes linear time in the text, whatever the pattern. */
export const searchText = defineTool({
  name: 'search_text',
  title: 'Search text',
  description:
    'Search file contents line by line for a literal text, or with mode regex (no look-around or back-references). Same filters as list_directory.',
  input,
  output,
  permission: 'file:search',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:search', path, recursive: true }],
  async draft(asked, context) {
    const access = targetOf(context)
    const { limits, warnings } = context
    const contextLines = clamp('contextLines', asked.contextLines, limits.searchContextLines, warnings)
    const maxMatches = clamp('maxMatches', asked.maxMatches ?? limits.searchMatches, limits.searchMatchesHard, warnings)
    const maxFileBytes = clamp(
      'maxFileBytes',
      asked.maxFileBytes ?? limits.searchFileBytes,
      limits.textFileBytes,
      warnings,
    )
    const timeoutMs = clamp(
      'timeoutMs',
      asked.timeoutMs ?? limits.searchTimeoutMs,
      limits.searchTimeoutMsHard,
      warnings,
    )
    // Only for the deadline: it must not stand still with an injected clock.
    const end = performance.now() + timeoutMs
    const isLate = () => performance.now() >= end

    const search = createFileSearch({
      query: compileQuery(asked),
      asked,
      contextLines,
      snippetUnits: limits.searchSnippet,
      isLate,
      areKept: context.files.capabilities.authority === 'sole',
    })
    const candidates = await candidatesOf(asked, access, context)
    const matches: Match[] = []
    const files: z.output<typeof fileCount>[] = []
    let reason: Reason | undefined
    let room = limits.projectionBytes - ROOM_FOR_THE_REST
    let filesSearched = 0
    let filesSkipped = 0
    const stop = (why: Reason): false => {
      reason = why
      return false
    }

    /** Whether a file is to be searched line by line. */
    const wants = (_path: Path, bytes: Uint8Array, size: number): boolean | undefined => {
      if (size > maxFileBytes) {
        filesSkipped += 1
        return false
      }
      filesSearched += 1
      return search.mayMatch(bytes)
    }

    const visit = (path: Path, bytes: Uint8Array): boolean => {
      if (isLate()) return stop('timeout')
      if (asked.filesOnly) {
        const count = search.count(path, bytes)
        if (isLate()) return stop('timeout')
        if (count === 0) return true
        if (files.length === maxMatches) return stop('maxMatches')
        files.push({ path, kind: classifyPath(path).kind, count })
        context.files.noteRead(path, bytes.length)
        return true
      }
      const found = search.find(path, bytes, maxMatches - matches.length)
      if (found.matches.length > 0) context.files.noteRead(path, bytes.length)
      for (const one of found.matches) {
        const result = { path, kind: classifyPath(path).kind, ...one }
        room -= weightOf(result)
        if (room < 0) return stop('bytes')
        matches.push(result)
      }
      if (isLate()) return stop('timeout')
      return found.truncated ? stop('maxMatches') : true
    }
    const scanned = await scanInSlices(context, candidates, { wants, visit, isLate })
    if (!scanned && reason === undefined) reason = 'timeout'

    const total = asked.filesOnly ? files.length : matches.length
    if (reason === 'timeout' && total === 0) {
      throw new ToolError(
        'SEARCH_TIMEOUT',
        `Search in ${quote(display(access.asked))} took longer than ${timeoutMs} ms`,
        {
          filesSearched,
          candidates: candidates.length,
        },
      )
    }
    if (filesSkipped > 0) warnings.push(`${filesSkipped} files over ${maxFileBytes} bytes were not searched`)
    if (total === 0 && candidates.length === 0) warnings.push('No file was searched: check path, globs and filters')
    return {
      summary: summaryOf(asked.filesOnly, total, filesSearched, reason),
      result: () => ({
        path: display(access.asked),
        matches,
        ...(asked.filesOnly ? { files } : {}),
        truncated: reason !== undefined,
        ...(reason === undefined ? {} : { truncatedReason: reason }),
        filesSearched,
        filesSkipped,
      }),
    }
  },
})

/** Bytes of a result that are not matches. */
const ROOM_FOR_THE_REST = 4096

/** The files that the walk shows and the globs let through. */
async function candidatesOf(
  asked: z.output<typeof input>,
  { path, asked: named }: GuardedAccess,
  { files }: ToolContext,
): Promise<readonly Path[]> {
  const options = { caseInsensitive: !files.capabilities.caseSensitive }
  const include = asked.includeGlob === undefined ? undefined : compileGlob(asked.includeGlob, options)
  const exclude = asked.excludeGlob === undefined ? undefined : compileGlob(asked.excludeGlob, options)
  const stat = await files.stat(path)
  if (stat === undefined) throw notFound(path)
  if (stat.type === 'other') throw new ToolError('PATH_REJECTED', `${quote(path)} is no ordinary file`, { path })
  const visible = await files.candidates(path, asked)
  if (stat.type === 'file') {
    if (visible.length > 0) return visible
    throw new ToolError('POLICY_DENIED', `Policy does not allow to search ${quote(named)}`, { path: named })
  }
  if (include === undefined && exclude === undefined) return visible
  const relative = relativeTo(path)
  return visible.filter((candidate) => {
    const name = relative(candidate)
    return (include?.matches(name) ?? true) && !(exclude?.matches(name) ?? false)
  })
}

/** About as many bytes as a match takes in JSON, from above, as the projection counts. */
function weightOf({ path, kind, snippet, before, after }: Match): number {
  let units = path.length + kind.length + snippet.length
  for (const line of before) units += line.length + 1
  for (const line of after) units += line.length + 1
  return units * 3 + 100
}

function summaryOf(filesOnly: boolean, total: number, searched: number, reason: Reason | undefined): string {
  const unit = filesOnly ? (total === 1 ? 'file matches' : 'files match') : total === 1 ? 'line matches' : 'lines match'
  const more = reason === undefined ? '' : `, and there may be more (${reason})`
  return `${total} ${unit} in ${searched} ${searched === 1 ? 'file' : 'files'} searched${more}`
}
