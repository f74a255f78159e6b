import * as z from 'zod/mini'
import type { Success } from '../../call/state/call.ts'
import type { Failure } from '../../errors.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { fieldProblem } from '../../util/in-english.ts'
import {
  call,
  createPathMapping,
  defineDialectTool,
  type PathMapping,
  readBetween,
  ToolError,
  tryCall,
} from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { globAtAnyDepth } from '../runtime/find-files.ts'
import { toSnakeCase as inSnakeCase, snakeName } from '../runtime/snake-case.ts'
import type { Answer, Steps } from '../runtime/types.ts'

/**
 * Tools of coding agents with fields in snake_case: `read_file`, `write_file`, `edit_file`, `list_directory`, `search_files`,
 * `run_command` if the workspace has a shell, and `submit_plan` in plan mode. Results are JSON: `{ ok: true, … }` or
 * `{ ok: false, error }`. A change may pass the version that it expects.
 *
 * @param roots virtual roots of its paths. Default: the root of the workspace as `/workspace`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: snakeCase() })
 * await workspace.call('write_file', { path: 'a.txt', content: 'Hello\n' })
 */
export const snakeCase: DialectFactory = createDialectFactory('snakeCase()', { '/workspace': '' }, (roots) => {
  const pathMapping = createPathMapping(roots)
  return {
    name: 'snake-case',
    description:
      'read_file, write_file, edit_file, list_directory, search_files, run_command and submit_plan with snake_case fields',
    pathMapping,
    tools,
    versions: true,
    hints: {
      WRITE_CONFLICT: 'Read the whole file again, and repeat the change on what it shows.',
      FILE_TOO_LARGE: 'Read a part of it with start_line and end_line, or a long line with start_column.',
      EDIT_NO_MATCH: 'Copy old_text exactly from the file, with its white space.',
      EDIT_AMBIGUOUS: 'Add surrounding lines to old_text until it occurs once, or set replace_all.',
      COMMAND_TIMEOUT: 'Use a shorter command or a longer timeout_seconds.',
      PLAN_MODE: 'Submit a plan with submit_plan, and wait for its approval before changing anything.',
    },
    fields: {
      oldText: 'old_text',
      newText: 'new_text',
      replaceAll: 'replace_all',
      expectedSha256: 'expected_sha256',
      includeGlob: 'file_pattern',
      maxMatches: 'max_results',
      startLine: 'start_line',
    },
    formatError({ code, message, hint, path, failure }) {
      const { ok, code: _code, message: _message, hint: _hint, path: _path, field, ...others } = failure
      const details = { ...others, ...(field === undefined ? {} : { field: snakeName(field) }) }
      const location = path === undefined ? {} : { path }
      return { output: { ok, error: { code, message, hint, ...location, ...snakeCaseFields(details, pathMapping) } } }
    },
  }
})

function snakeCaseFields(details: object, pathMapping: PathMapping): object {
  return inSnakeCase(details, pathMapping) as object
}

/** Returns a result without the fields that only programs need. */
function answer(
  { ok, summary, callId, warnings: _, ...fields }: { readonly [field: string]: unknown },
  pathMapping: PathMapping,
  warnings: readonly string[] = [],
): Answer {
  const warningFields = warnings.length > 0 ? { warnings } : {}
  return { output: { ok, ...snakeCaseFields({ ...fields, ...warningFields }, pathMapping) } }
}

const looks = { readOnlyHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
const path = z.string()
const line = z.optional(z.int().check(z.minimum(1)))
const expected_sha256 = z.optional(
  z
    .nullable(z.string().check(z.regex(/^[0-9a-f]{8,64}$/, 'must be a sha256 in lowercase hex, as read_file gives it')))
    .check(z.describe('sha256 of the version you read; null: the file must not exist')),
)

/** Returns an object with one field, or an empty one if the value is `undefined`. */
function optional<T>(name: string, value: T | undefined): Record<string, T> {
  return value === undefined ? {} : { [name]: value }
}

const tools = [
  defineDialectTool({
    name: 'read_file',
    title: 'Read file',
    description: 'Read a text file, or its lines from start_line to end_line.',
    input: z.object({
      path: path.check(z.describe('File to read')),
      start_line: line.check(z.describe('First line, from 1')),
      end_line: line.check(z.describe('Last line, included')),
    }),
    annotations: looks,
    uses: ['read_file'],
    *steps({ path, start_line, end_line }, pathMapping) {
      const read = yield* readBetween(pathMapping.inward(path), start_line, end_line, true)
      const { content, totalLines, sha256, label, endLine, nextColumn, isCut } = read
      // With next_column, only the beginning of the last line is shown; start_column continues it.
      const cut = isCut ? { truncated: true, endLine, ...optional('nextColumn', nextColumn) } : {}
      return answer({ ok: true, content, totalLines, sha256, label, ...cut }, pathMapping)
    },
  }),
  defineDialectTool({
    name: 'write_file',
    title: 'Write file',
    description: 'Create a file, or replace the whole content of one that was read before.',
    input: z.object({ path, content: z.string(), expected_sha256 }),
    annotations: changes,
    uses: ['write_file'],
    *steps({ path, content, expected_sha256 }, pathMapping) {
      const options = optional('expectedSha256', expected_sha256)
      const result = yield* call('write_file', { path: pathMapping.inward(path), content, ...options })
      return answer(result, pathMapping, result.warnings)
    },
  }),
  defineDialectTool({
    name: 'edit_file',
    title: 'Edit file',
    description: 'Replace exact text in a file. old_text must occur exactly once, unless replace_all.',
    input: z.object({
      path,
      old_text: z.string().check(z.minLength(1), z.describe('Exact text that occurs once')),
      new_text: z.string(),
      replace_all: z._default(z.boolean(), false),
      expected_sha256,
    }),
    annotations: changes,
    uses: ['edit_file'],
    *steps({ path, old_text: oldText, new_text: newText, replace_all: replaceAll, expected_sha256 }, pathMapping) {
      const options = { oldText, newText, replaceAll, ...optional('expectedSha256', expected_sha256) }
      const result = yield* call('edit_file', { path: pathMapping.inward(path), ...options })
      return answer(result, pathMapping, result.warnings)
    },
  }),
  defineDialectTool({
    name: 'list_directory',
    title: 'List directory',
    description:
      'List a directory, without hidden and ignored names unless asked for. The paths of directories end with a slash.',
    input: z.object({
      path: z._default(path, '.'),
      max_depth: z._default(z.int().check(z.minimum(1)), 1),
      include_hidden: z._default(z.boolean(), false),
      include_ignored: z._default(z.boolean(), false),
    }),
    annotations: looks,
    uses: ['list_directory'],
    *steps({ path, max_depth: maxDepth, include_hidden: includeHidden, include_ignored: includeIgnored }, pathMapping) {
      const options = { maxDepth, includeHidden, includeIgnored }
      const listing = yield* call('list_directory', { path: pathMapping.inward(path), ...options })
      const entries = listing.entries.map((entry) =>
        entry.type === 'directory' ? { ...entry, path: `${entry.path}/` } : entry,
      )
      return answer({ ...listing, entries }, pathMapping)
    },
  }),
  defineDialectTool({
    name: 'search_files',
    title: 'Search files',
    description:
      'Find files by a glob on their names, or with content_search the lines that contain a text or regular expression.',
    input: z.object({
      path: z._default(path.check(z.describe('Directory to search; for contents also a file')), '.'),
      pattern: z.optional(
        z.string().check(z.minLength(1), z.describe('Glob on names, such as *.ts; with content_search, what to find')),
      ),
      content_search: z.optional(z.boolean().check(z.describe('Search contents, not names'))),
      query: z.optional(z.string().check(z.minLength(1), z.describe('Text to find in contents, in place of pattern'))),
      is_regex: z.optional(z.boolean().check(z.describe('Whether contents are searched by a regular expression'))),
      case_sensitive: z.optional(z.boolean().check(z.describe('Default: true'))),
      file_pattern: z.optional(z.string().check(z.describe('Only contents of files that match, such as **/*.ts'))),
      max_results: z.optional(z.int().check(z.minimum(1))),
    }),
    annotations: looks,
    uses: ['search_text'],
    mayUse: ['find_files'],
    *steps(input, pathMapping) {
      const { pattern, query, content_search } = input
      const path = pathMapping.inward(input.path)
      if ((pattern === undefined) === (query === undefined)) throw wrongField('pattern', 'give either pattern or query')
      if (query !== undefined && content_search === false) throw wrongField('content_search', 'query searches contents')
      if (pattern === undefined || content_search === true) {
        const result = yield* searchContents(path, input)
        if (!result.ok) return result
        const { note, ...found } = result
        return answer(found, pathMapping, note === undefined ? [] : [note])
      }
      for (const field of ['is_regex', 'case_sensitive', 'file_pattern'] as const) {
        if (input[field] === undefined) continue
        throw wrongField(
          field === 'file_pattern' ? 'file_pattern (include_glob)' : field,
          'has no effect on a search by name',
        )
      }
      const options = optional('maxResults', input.max_results)
      return answer(yield* call('find_files', { pattern: globAtAnyDepth(pattern), path, ...options }), pathMapping)
    },
  }),
  defineDialectTool({
    name: 'run_command',
    title: 'Run command',
    description: 'Run a shell command line. Its file changes are applied together when it ends.',
    input: z.object({
      command: z.string().check(z.minLength(1)),
      cwd: z.optional(z.string().check(z.describe('Directory to run in'))),
      timeout_seconds: z.optional(z.number().check(z.positive())),
    }),
    annotations: changes,
    uses: ['run_command'],
    *steps({ command, cwd, timeout_seconds }, pathMapping) {
      const timeoutMs = timeout_seconds === undefined ? undefined : Math.ceil(timeout_seconds * 1000)
      const options = {
        ...optional('cwd', cwd === undefined ? undefined : pathMapping.inward(cwd)),
        ...optional('timeoutMs', timeoutMs),
      }
      const result = yield* call('run_command', { command, ...options })
      const { output } = answer(result, pathMapping)
      // As `pwd` prints it.
      const { shellPath = pathMapping.outward } = pathMapping
      return { output: { ...(output as object), cwd: shellPath(result.cwd) } }
    },
  }),
  defineDialectTool({
    name: 'submit_plan',
    title: 'Submit plan',
    description: 'Submit a plan of your changes and wait for its approval; until then nothing can be changed.',
    input: z.object({
      plan: z.string().check(z.minLength(1), z.describe('Your plan, in Markdown')),
      paths: z.optional(
        z.array(z.string().check(z.minLength(1))).check(z.minLength(1), z.describe('Globs of the paths to change')),
      ),
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    uses: ['submit_plan'],
    *steps({ plan, paths }, pathMapping) {
      const options = optional('paths', paths?.map(pathMapping.inward))
      return answer(yield* call('submit_plan', { plan, ...options }), pathMapping)
    },
  }),
]

/** The input of `search_files` for a search in contents. */
interface ContentSearch {
  readonly pattern?: string | undefined
  readonly query?: string | undefined
  readonly is_regex?: boolean | undefined
  readonly case_sensitive?: boolean | undefined
  readonly file_pattern?: string | undefined
  readonly max_results?: number | undefined
}

/** Searches contents. A `pattern` that is not a valid regular expression is searched as text, unless the caller sets `is_regex`. */
function* searchContents(
  path: string,
  { pattern, query, is_regex, case_sensitive = true, file_pattern, max_results }: ContentSearch,
): Steps<(Success & ToolOutput<'search_text'> & { readonly note?: string }) | Failure> {
  const input = {
    query: query ?? pattern ?? '',
    path,
    caseSensitive: case_sensitive,
    ...optional('includeGlob', file_pattern),
    ...optional('maxMatches', max_results),
  }
  if (pattern === undefined || is_regex !== undefined) {
    return yield* call('search_text', { ...input, mode: is_regex === true ? 'regex' : 'literal' })
  }
  const search = yield* tryCall('search_text', { ...input, mode: 'regex' })
  if (search.ok || search.code !== 'INVALID_PATTERN') return search
  if (isRegexElsewhere(pattern)) {
    return { ...search, hint: `${search.hint} Or search for the text itself with is_regex: false.` }
  }
  const result = yield* call('search_text', { ...input, mode: 'literal' })
  return { ...result, note: 'The pattern is not a regular expression, so it was searched as text' }
}

/**
 * Whether a pattern that search does not support is a regular expression in another language: with its groups read as plain
 * ones, and its possessive quantifiers as greedy ones, it compiles in JavaScript, which takes any escape.
 */
function isRegexElsewhere(pattern: string): boolean {
  const plain = pattern.replace(/\\[\s\S]|(\()\?|([*+?}])\+/g, (match, group = '', quantifier = '') =>
    match.startsWith('\\') ? 'x' : `${group}${quantifier}`,
  )
  try {
    new RegExp(plain)
    return true
  } catch {
    return false
  }
}

function wrongField(field: string, reason: string): ToolError {
  return new ToolError('INVALID_INPUT', `Invalid input for search_files: ${fieldProblem(field, reason)}`, {
    field,
    hint: 'Use path and pattern, and content_search: true to search contents.',
  })
}
