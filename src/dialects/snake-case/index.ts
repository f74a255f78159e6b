import * as z from 'zod'
import {
  call,
  createPathMapping,
  defineDialectTool,
  type PathMapping,
  readBetween,
  type VirtualRoots,
} from '../define.ts'
import { toSnakeCase as inSnakeCase } from '../runtime/snake-case.ts'
import type { Answer, Dialect } from '../runtime/types.ts'

/**
 * Tools of coding agents with fields in snake_case: `read_file`, `write_file`, `edit_file`, `list_directory`, `search_files`
 * and, if the workspace has a shell, `run_command`. Results are JSON: `{ ok: true, … }` or `{ ok: false, error }`. A change may
 * pass the version that it expects.
 *
 * @param roots virtual roots of its paths. Default: none, paths are relative to the root of the workspace
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: snakeCase() })
 * await workspace.call('write_file', { path: 'a.txt', content: 'Hello\n' })
 */
export function snakeCase(roots: VirtualRoots = {}): Dialect {
  const pathMapping = createPathMapping(roots)
  return {
    name: 'snake-case',
    description:
      'read_file, write_file, edit_file, list_directory, search_files and run_command with snake_case fields',
    pathMapping,
    tools,
    versions: true,
    hints: {
      WRITE_CONFLICT: 'Read the whole file again, and repeat the change on what it shows.',
      FILE_TOO_LARGE: 'Read a part of it with start_line and end_line.',
      EDIT_NO_MATCH: 'Copy old_text exactly from the file, with its white space.',
      EDIT_AMBIGUOUS: 'Add surrounding lines to old_text until it occurs once, or set replace_all.',
      COMMAND_TIMEOUT: 'Use a shorter command or a longer timeout_seconds.',
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
      const { ok, code: _code, message: _message, hint: _hint, path: _path, ...details } = failure
      const location = path === undefined ? {} : { path }
      return { output: { ok, error: { code, message, hint, ...location, ...snakeCaseFields(details, pathMapping) } } }
    },
  }
}

function snakeCaseFields(details: object, pathMapping: PathMapping): object {
  return inSnakeCase(details, pathMapping) as object
}

/** Returns a result without the fields that only programs need. */
function answer(
  { ok, summary, callId, label, warnings, ...fields }: { readonly [field: string]: unknown },
  pathMapping: PathMapping,
): Answer {
  const warningFields = Array.isArray(warnings) && warnings.length > 0 ? { warnings } : {}
  return { output: { ok, ...snakeCaseFields({ ...fields, ...warningFields }, pathMapping) } }
}

const looks = { readOnlyHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
const path = z.string()
const line = z.int().min(1).optional()
const expected_sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a sha256 in lowercase hex, as read_file gives it')
  .nullable()
  .optional()
  .describe('sha256 of the version you read; null: the file must not exist')

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
      path: path.describe('File to read'),
      start_line: line.describe('First line, from 1'),
      end_line: line.describe('Last line, included'),
    }),
    annotations: looks,
    uses: ['read_file'],
    *steps({ path, start_line, end_line }, pathMapping) {
      const { content, totalLines, sha256 } = yield* readBetween(pathMapping.inward(path), start_line, end_line)
      return answer({ ok: true, content, totalLines, sha256 }, pathMapping)
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
      return answer(yield* call('write_file', { path: pathMapping.inward(path), content, ...options }), pathMapping)
    },
  }),
  defineDialectTool({
    name: 'edit_file',
    title: 'Edit file',
    description: 'Replace exact text in a file. old_text must occur exactly once, unless replace_all.',
    input: z.object({
      path,
      old_text: z.string().min(1).describe('Exact text that occurs once'),
      new_text: z.string(),
      replace_all: z.boolean().default(false),
      expected_sha256,
    }),
    annotations: changes,
    uses: ['edit_file'],
    *steps({ path, old_text: oldText, new_text: newText, replace_all: replaceAll, expected_sha256 }, pathMapping) {
      const options = { oldText, newText, replaceAll, ...optional('expectedSha256', expected_sha256) }
      return answer(yield* call('edit_file', { path: pathMapping.inward(path), ...options }), pathMapping)
    },
  }),
  defineDialectTool({
    name: 'list_directory',
    title: 'List directory',
    description: 'List a directory, without hidden and ignored names unless asked for.',
    input: z.object({
      path: path.default('.'),
      max_depth: z.int().min(1).default(1),
      include_hidden: z.boolean().default(false),
      include_ignored: z.boolean().default(false),
    }),
    annotations: looks,
    uses: ['list_directory'],
    *steps({ path, max_depth: maxDepth, include_hidden: includeHidden, include_ignored: includeIgnored }, pathMapping) {
      const options = { maxDepth, includeHidden, includeIgnored }
      return answer(yield* call('list_directory', { path: pathMapping.inward(path), ...options }), pathMapping)
    },
  }),
  defineDialectTool({
    name: 'search_files',
    title: 'Search files',
    description: 'Search the lines of files for a text, or with is_regex for a regular expression.',
    input: z.object({
      query: z.string().min(1),
      path: path.default('.').describe('Directory or file to search'),
      is_regex: z.boolean().default(false),
      case_sensitive: z.boolean().default(true),
      file_pattern: z.string().optional().describe('Only files that match, such as **/*.ts'),
      max_results: z.int().min(1).optional(),
    }),
    annotations: looks,
    uses: ['search_text'],
    *steps({ query, path, is_regex, case_sensitive: caseSensitive, file_pattern, max_results }, pathMapping) {
      const mode = is_regex ? ('regex' as const) : ('literal' as const)
      const options = { ...optional('includeGlob', file_pattern), ...optional('maxMatches', max_results) }
      return answer(
        yield* call('search_text', { query, path: pathMapping.inward(path), mode, caseSensitive, ...options }),
        pathMapping,
      )
    },
  }),
  defineDialectTool({
    name: 'run_command',
    title: 'Run command',
    description: 'Run a shell command line. Its file changes are applied together when it ends.',
    input: z.object({
      command: z.string().min(1),
      cwd: z.string().optional().describe('Directory to run in'),
      timeout_seconds: z.number().positive().optional(),
    }),
    annotations: changes,
    uses: ['run_command'],
    *steps({ command, cwd, timeout_seconds }, pathMapping) {
      const timeoutMs = timeout_seconds === undefined ? undefined : Math.ceil(timeout_seconds * 1000)
      const options = {
        ...optional('cwd', cwd === undefined ? undefined : pathMapping.inward(cwd)),
        ...optional('timeoutMs', timeoutMs),
      }
      return answer(yield* call('run_command', { command, ...options }), pathMapping)
    },
  }),
]
