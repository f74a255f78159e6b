import * as z from 'zod/mini'
import type { ToolOutput } from '../../tools/index.ts'
import { counted } from '../../util/counted.ts'
import {
  call,
  createPathMapping,
  defineDialectTool,
  limitOr,
  type PathMapping,
  readBetween,
  readPart,
  renamedFields,
  splitLines,
  ToolError,
} from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { namedTwice } from '../runtime/steps.ts'
import type { Answer, DialectError } from '../runtime/types.ts'

/**
 * `list_dir`, `read_file`, `search_text`, `write_file`, `apply_patch` and `diff_workspace`, which return plain text, and the same
 * as data in `structuredContent`: the tools of an agent that reviews code, patches it and checks the diff. Results contain the
 * versions of files, which changes can expect.
 *
 * @param roots virtual roots of its paths. Default: none, paths are relative to the root of the workspace
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: patchAndDiff() })
 * await workspace.call('list_dir', { path: '.' })
 */
export const patchAndDiff: DialectFactory = createDialectFactory('patchAndDiff()', {}, (roots) => ({
  name: 'patch-and-diff',
  description: 'list_dir, read_file, search_text, write_file, apply_patch and diff_workspace, in plain text',
  pathMapping: createPathMapping(roots),
  tools,
  versions: true,
  hints: {
    WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
    FILE_TOO_LARGE: 'Read a part of it with startLine and maxLines.',
    IS_DIRECTORY: 'Name a file; use list_dir for a directory.',
  },
  formatError,
}))

function formatError({ code, message, hint, path, failure }: DialectError): Answer {
  const { expected, actual, currentSha256 } = failure
  const lines = [`Error ${code}: ${message}`, hint]
  if (typeof currentSha256 === 'string') lines.push(`currentSha256: ${currentSha256}`)
  // The lines of a patch that does not match.
  if (expected !== undefined || actual !== undefined) {
    lines.push(`expected: ${JSON.stringify(expected)}`, `actual: ${JSON.stringify(actual)}`)
  }
  const located = definedOf({ path, currentSha256 })
  return { output: lines.join('\n'), structured: { ok: false, code, message, hint, ...located } }
}

const looks = { readOnlyHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
const line = z.optional(z.int().check(z.minimum(1)))
const sha256 = z
  .string()
  .check(z.regex(/^[0-9a-f]{8,64}$/, 'must be a sha256 in lowercase hex, as read_file returns it'))
const reason = z.optional(z.string().check(z.maxLength(2000)))

const tools = [
  defineDialectTool({
    name: 'list_dir',
    title: 'List directory',
    description: 'List a directory, directories with a final slash. Hidden and ignored names are left out.',
    input: z.object({
      path: z._default(z.string(), '.'),
      maxDepth: z._default(z.int().check(z.minimum(1)), 1),
      includeHidden: z._default(z.boolean(), false),
      maxEntries: z._default(z.int().check(z.minimum(1)), 300),
    }),
    normalizeInput: (input) => renamedFields(input, { depth: 'maxDepth' }),
    annotations: looks,
    uses: ['list_directory'],
    limits: { maxEntries: 'listEntries' },
    *steps({ path, ...options }, pathMapping) {
      const listing = yield* call('list_directory', { path: pathMapping.inward(path), ...options })
      const { entries, truncated } = listing
      return {
        ...answer(entries.map(nameOf(pathMapping)), [], '(empty)'),
        structured: {
          path,
          entries: entries.map((entry) => ({ ...entry, path: pathMapping.outward(entry.path) })),
          truncated,
        },
      }
    },
  }),
  defineDialectTool({
    name: 'read_file',
    title: 'Read file',
    description: 'Read a text file, or maxLines of it from startLine on. The sha256 below it is its version.',
    input: z.object({
      path: z.string(),
      startLine: line,
      maxLines: line,
      lineNumbers: z._default(z.boolean(), false),
    }),
    normalizeInput: withMaxLines,
    annotations: looks,
    uses: ['read_file'],
    *steps({ path, startLine, maxLines, lineNumbers }, pathMapping) {
      const file = pathMapping.inward(path)
      const lines = maxLines ?? (yield* limitOr('readLines', Number.POSITIVE_INFINITY))
      // Only a file that was asked for as a whole fails if it is too large.
      const isWhole = startLine === undefined && lines === Number.POSITIVE_INFINITY
      const read = yield* isWhole ? readBetween(file) : readPart(file, { startLine: startLine ?? 1, maxLines: lines })
      const { startLine: first, endLine, totalLines, sha256, nextColumn } = read
      const content = lineNumbers ? numbered(read.content, first) : read.content
      const truncated = read.isCut || endLine < totalLines
      const range = first > 1 || truncated ? `lines ${first}-${endLine} of ${totalLines}, ` : ''
      const notes = [`${range}sha256 ${sha256}`]
      if (endLine === totalLines && nextColumn === undefined && /[^\n]$/.test(content))
        notes.push('no newline at the end')
      if (nextColumn !== undefined) {
        notes.push(`line ${endLine} is cut: go on with startLine ${endLine}, startColumn ${nextColumn}`)
      }
      return {
        ...answer(content === '' ? [] : [content.replace(/\n$/, '')], notes, '(empty)'),
        structured: {
          path,
          startLine: first,
          endLine,
          totalLines,
          sha256,
          truncated,
          ...definedOf({ nextColumn }),
          content,
        },
      }
    },
  }),
  defineDialectTool({
    name: 'search_text',
    title: 'Search text',
    description: 'Search the lines of files; each match is shown as path:line:text.',
    input: z.object({
      query: z.string().check(z.minLength(1)),
      path: z._default(z.string(), '.'),
      mode: z._default(z.enum(['literal', 'regex']), 'literal'),
      includeGlob: z.optional(z.string().check(z.describe('Only files that match, such as **/*.ts'))),
      maxMatches: z._default(z.int().check(z.minimum(1)), 100),
      contextLines: z._default(z.int().check(z.minimum(0), z.describe('Lines around each match, at most 3')), 0),
      hashes: z._default(z.boolean().check(z.describe('Show the sha256 of the files')), true),
    }),
    normalizeInput: withMode,
    annotations: looks,
    uses: ['search_text'],
    limits: { maxMatches: 'searchMatches' },
    *steps({ path, includeGlob, ...options }, pathMapping) {
      const { matches, truncated, truncatedReason } = yield* call('search_text', {
        path: pathMapping.inward(path),
        ...options,
        ...definedOf({ includeGlob }),
      })
      const outwardMatches = matches.map((match) => ({ ...match, path: pathMapping.outward(match.path) }))
      const versions = new Map(
        outwardMatches.flatMap(({ path, sha256 }) => (sha256 === undefined ? [] : [[path, sha256]])),
      )
      const notes = [...versions].map(([path, version]) => `sha256 ${path} ${version}`)
      const limit = truncatedReason === undefined ? [] : [`There may be more matches (${truncatedReason})`]
      return {
        ...answer(outwardMatches.flatMap(matchLines), [...limit, ...notes], 'No matches'),
        structured: { query: options.query, matches: outwardMatches, truncated },
      }
    },
  }),
  defineDialectTool({
    name: 'write_file',
    title: 'Write file',
    description: 'Create a file, or replace the whole content of one that was read before.',
    input: z.object({
      path: z.string(),
      content: z.string(),
      mode: z._default(z.enum(['CREATE_NEW', 'REPLACE_EXISTING', 'CREATE_OR_REPLACE']), 'CREATE_OR_REPLACE'),
      expectedSha256: z.optional(z.nullable(sha256).check(z.describe('Version that you read; null: none'))),
      reason,
    }),
    annotations: changes,
    uses: ['write_file'],
    *steps({ path, content, mode, ...optional }, pathMapping) {
      const options = { mode, ...definedOf(optional) }
      const result = yield* call('write_file', { path: pathMapping.inward(path), content, ...options })
      const { created, bytesWritten, oldSha256, newSha256, warnings } = result
      const summary = `${created ? 'Created' : 'Replaced'} ${path} (${counted(bytesWritten, 'byte')})`
      return {
        ...answer([summary], [...warnings, `sha256 ${newSha256}`]),
        structured: { ok: true, path, created, bytesWritten, oldSha256, newSha256, summary, warnings },
      }
    },
  }),
  defineDialectTool({
    name: 'apply_patch',
    title: 'Apply patch',
    description:
      'Apply a unified diff or a *** Begin Patch block to several files, all or none. Its paths are relative.',
    input: z.object({
      patch: z.string(),
      expectedBaseCommit: z.optional(z.string().check(z.describe('Commit that the patch is based on'))),
      dryRun: z._default(z.boolean(), false),
      reason,
    }),
    annotations: changes,
    uses: ['apply_patch'],
    *steps({ patch, dryRun, ...optional }, pathMapping) {
      const result = yield* call('apply_patch', { patch, dryRun, ...definedOf(optional) })
      const { applied, filesTouched, insertions, deletions, newWorkspaceDiffSha256, warnings } = result
      const files = filesTouched.map((file) => ({ ...file, path: pathMapping.outward(file.path) }))
      const lines = files.map(({ path, kind }) => `${kind} ${path}`)
      const versions = files.flatMap(({ path, newSha256 }) =>
        newSha256 === null ? [] : [`sha256 ${path} ${newSha256}`],
      )
      const verb = dryRun ? 'Would apply' : 'Applied'
      return {
        ...answer([`${verb}: +${insertions} -${deletions}`, ...lines], [...warnings, ...(dryRun ? [] : versions)]),
        structured: {
          applied,
          dryRun,
          filesTouched: files.map(({ path }) => path),
          files,
          insertions,
          deletions,
          warnings,
          newWorkspaceDiffSha256,
        },
      }
    },
  }),
  defineDialectTool({
    name: 'diff_workspace',
    title: 'Diff workspace',
    description: 'Show what changed since the last commit, or since the workspace was opened, as a patch.',
    input: z.object({
      paths: z.optional(z.array(z.string()).check(z.minLength(1), z.describe('Only these files and directories'))),
      statOnly: z._default(z.boolean().check(z.describe('Only how many lines changed in which files')), false),
      maxBytes: z._default(z.int().check(z.minimum(1)), 120_000),
      base: z.optional(z.string().check(z.minLength(1), z.describe('Commit to compare with'))),
    }),
    annotations: looks,
    uses: ['diff_workspace'],
    limits: { maxBytes: 'diffBytes' },
    *steps({ paths, statOnly, maxBytes, ...optional }, pathMapping) {
      const options = { statOnly, maxBytes, ...definedOf({ paths: paths?.map(pathMapping.inward), ...optional }) }
      const result = yield* call('diff_workspace', options)
      const { baseCommit, filesChanged, insertions, deletions, diff, truncated, diffSha256 } = result
      const stat = result.stat.map((entry) => statLine(entry, pathMapping))
      const lines = filesChanged === 0 ? [] : statOnly ? stat : [diff.replace(/\n$/, '')]
      const total = `${counted(filesChanged, 'file')}, +${insertions} -${deletions}`
      return {
        ...answer(lines, filesChanged === 0 ? [] : [`${total}, sha256 ${diffSha256}`], 'No changes'),
        structured: {
          baseCommit,
          filesChanged,
          insertions,
          deletions,
          stat: stat.join('\n'),
          diff,
          truncated,
          diffSha256,
        },
      }
    },
  }),
]

/** Converts the former field `end_line`, the last line, to `maxLines`. */
function withMaxLines(input: unknown): unknown {
  const { endLine, ...fields } = renamedFields(input, { end_line: 'endLine' })
  if (typeof endLine !== 'number') return input
  if ('maxLines' in fields) throw namedTwice('endLine', 'maxLines')
  const { startLine = 1 } = fields
  if (typeof startLine !== 'number') return input
  if (endLine < startLine) {
    throw new ToolError('INVALID_INPUT', `Invalid input: the last line, ${endLine}, is before the first, ${startLine}`)
  }
  return { ...fields, maxLines: endLine - startLine + 1 }
}

/** Converts the former fields of a search. */
function withMode(input: unknown): unknown {
  const renamed = renamedFields(input, { glob: 'includeGlob', max_results: 'maxMatches', maxResults: 'maxMatches' })
  const { regex, ...fields } = renamed
  if (typeof regex !== 'boolean') return renamed
  if ('mode' in fields) throw namedTwice('regex', 'mode')
  return { ...fields, mode: regex ? 'regex' : 'literal' }
}

/** Returns the lines, followed by the notes in parentheses. */
function answer(lines: readonly string[], notes: readonly string[], none = ''): Answer {
  return { output: [...(lines.length === 0 ? [none] : lines), ...notes.map((note) => `(${note})`)].join('\n') }
}

/** Returns the fields that are not `undefined`. */
function definedOf<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function numbered(content: string, startLine: number): string {
  return splitLines(content)
    .map((text, index) => `${String(startLine + index).padStart(6)} | ${text}\n`)
    .join('')
}

function matchLines({ path, line, snippet, before, after }: ToolOutput<'search_text'>['matches'][number]): string[] {
  return [
    ...before.map((text, index) => `${path}-${line - before.length + index}-${text}`),
    `${path}:${line}:${snippet}`,
    ...after.map((text, index) => `${path}-${line + 1 + index}-${text}`),
  ]
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
