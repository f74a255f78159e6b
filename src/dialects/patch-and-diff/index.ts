import * as z from 'zod'
import type { ToolOutput } from '../../tools/index.ts'
import {
  call,
  createPathMapping,
  defineDialectTool,
  type PathMapping,
  readBetween,
  type VirtualRoots,
} from '../define.ts'
import type { Answer, Dialect } from '../runtime/types.ts'

/**
 * `list_dir`, `read_file`, `search_text`, `write_file`, `apply_patch` and `diff_workspace`, which return plain text: the tools
 * of an agent that reviews code, patches it and checks the diff.
 *
 * @param roots virtual roots of its paths. Default: none, paths are relative to the root of the workspace
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: patchAndDiff() })
 * await workspace.call('list_dir', { path: '.' })
 */
export function patchAndDiff(roots: VirtualRoots = {}): Dialect {
  return {
    name: 'patch-and-diff',
    description: 'list_dir, read_file, search_text, write_file, apply_patch and diff_workspace, in plain text',
    pathMapping: createPathMapping(roots),
    tools,
    hints: {
      WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
      FILE_TOO_LARGE: 'Read a part of it with start_line and end_line.',
      IS_DIRECTORY: 'Name a file; use list_dir for a directory.',
    },
    fields: { startLine: 'start_line', maxMatches: 'max_results', includeGlob: 'glob' },
    formatError: ({ code, message, hint, failure }) => ({
      output: `Error ${code}: ${message}\n${hint}${mismatch(failure)}`,
    }),
  }
}

/** Formats the expected and the actual lines of a patch that does not match. */
function mismatch({ expected, actual }: { readonly [detail: string]: unknown }): string {
  if (expected === undefined && actual === undefined) return ''
  return `\nexpected: ${JSON.stringify(expected)}\nactual: ${JSON.stringify(actual)}`
}

const looks = { readOnlyHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
const line = z.int().min(1).optional()

const tools = [
  defineDialectTool({
    name: 'list_dir',
    title: 'List directory',
    description: 'List a directory, directories with a final slash. Hidden and ignored names are left out.',
    input: z.object({ path: z.string().default('.'), depth: z.int().min(1).default(1) }),
    annotations: looks,
    uses: ['list_directory'],
    *steps({ path, depth }, pathMapping) {
      const listing = yield* call('list_directory', { path: pathMapping.inward(path), maxDepth: depth })
      return answer(listing.entries.map(nameOf(pathMapping)), listing.warnings, '(empty)')
    },
  }),
  defineDialectTool({
    name: 'read_file',
    title: 'Read file',
    description: 'Read a text file, or its lines from start_line to end_line.',
    input: z.object({ path: z.string(), start_line: line, end_line: line }),
    annotations: looks,
    uses: ['read_file'],
    *steps({ path, start_line, end_line }, pathMapping) {
      return { output: (yield* readBetween(pathMapping.inward(path), start_line, end_line)).content }
    },
  }),
  defineDialectTool({
    name: 'search_text',
    title: 'Search text',
    description: 'Search the lines of files; each match is shown as path:line:text.',
    input: z.object({
      query: z.string().min(1),
      path: z.string().default('.'),
      regex: z.boolean().default(false),
      glob: z.string().optional().describe('Only files that match, such as **/*.ts'),
      max_results: z.int().min(1).default(100),
    }),
    annotations: looks,
    uses: ['search_text'],
    *steps({ query, path, regex, glob, max_results: maxMatches }, pathMapping) {
      const result = yield* call('search_text', {
        query,
        path: pathMapping.inward(path),
        mode: regex ? 'regex' : 'literal',
        maxMatches,
        ...(glob === undefined ? {} : { includeGlob: glob }),
      })
      const lines = result.matches.map((match) => `${pathMapping.outward(match.path)}:${match.line}:${match.snippet}`)
      const limit =
        result.truncatedReason === undefined ? [] : [`There may be more matches (${result.truncatedReason})`]
      return answer(lines, [...result.warnings, ...limit], 'No matches')
    },
  }),
  defineDialectTool({
    name: 'write_file',
    title: 'Write file',
    description: 'Create a file, or replace the whole content of one that was read before.',
    input: z.object({ path: z.string(), content: z.string() }),
    annotations: changes,
    uses: ['write_file'],
    *steps({ path, content }, pathMapping) {
      const written = yield* call('write_file', { path: pathMapping.inward(path), content })
      const summary = `${written.created ? 'Created' : 'Replaced'} ${path} (${written.bytesWritten} bytes)`
      return answer([summary], written.warnings)
    },
  }),
  defineDialectTool({
    name: 'apply_patch',
    title: 'Apply patch',
    description:
      'Apply a unified diff or a *** Begin Patch block to several files, all or none. Its paths are relative.',
    input: z.object({ patch: z.string(), dry_run: z.boolean().default(false) }),
    annotations: changes,
    uses: ['apply_patch'],
    *steps({ patch, dry_run: dryRun }, pathMapping) {
      const applied = yield* call('apply_patch', { patch, dryRun })
      const lines = applied.filesTouched.map(({ path, kind }) => `${kind} ${pathMapping.outward(path)}`)
      const verb = dryRun ? 'Would apply' : 'Applied'
      return answer([`${verb}: +${applied.insertions} -${applied.deletions}`, ...lines], applied.warnings)
    },
  }),
  defineDialectTool({
    name: 'diff_workspace',
    title: 'Diff workspace',
    description: 'Show what changed since the last commit, or since the workspace was opened, as a patch.',
    input: z.object({
      paths: z.array(z.string()).min(1).optional().describe('Only these files and directories'),
      stat_only: z.boolean().default(false).describe('Only how many lines changed in which files'),
    }),
    annotations: looks,
    uses: ['diff_workspace'],
    *steps({ paths, stat_only: statOnly }, pathMapping) {
      const within = paths === undefined ? {} : { paths: paths.map(pathMapping.inward) }
      const { diff, stat, warnings } = yield* call('diff_workspace', { statOnly, ...within })
      const lines = statOnly ? stat.map((entry) => statLine(entry, pathMapping)) : [diff]
      return answer(
        lines.filter((line) => line !== ''),
        warnings,
        'No changes',
      )
    },
  }),
]

/** Returns the lines, followed by the warnings in parentheses. */
function answer(lines: readonly string[], warnings: readonly string[], none = ''): Answer {
  const notes = warnings.map((warning) => `(${warning})`)
  return { output: [...(lines.length === 0 ? [none] : lines), ...notes].join('\n') }
}

function nameOf({ outward }: PathMapping) {
  return ({ path, type, readable }: ToolOutput<'list_directory'>['entries'][number]) =>
    `${outward(path)}${type === 'directory' ? '/' : type === 'link' ? '@' : ''}${readable === false ? ' (protected)' : ''}`
}

function statLine(
  { path, status, insertions, deletions }: ToolOutput<'diff_workspace'>['stat'][number],
  { outward }: PathMapping,
): string {
  return `${status} ${outward(path)} +${insertions} -${deletions}`
}
