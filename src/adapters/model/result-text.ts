import type { Success } from '../../call/state/call.ts'
import { isDialectResult } from '../../dialects/runtime/types.ts'
import type { Failure } from '../../errors.ts'
import type { ToolName, ToolOutput } from '../../tools/index.ts'
import type { CallResult } from './select-tools.ts'

/**
 * What a model is told of a result, in as few tokens as it needs: a line that says what was done, a line for each fact
 * that this does not tell, an empty line, and then the text that was asked for, as it is. The first empty line ends what
 * the workspace says, so no content can pass for it. What only a program wants to know (ids, old versions, counts, the
 * addresses of diffs) stands in the result alone.
 *
 * @param tool the tool's name
 * @example
 * const text = toModelText('read_file', await workspace.call('read_file', { path: 'src/app.ts' }))
 */
export function toModelText(tool: string, result: Success | Failure): string {
  if (!result.ok) return refusal(result)
  const { facts = {}, body = '' } = told(tool, result)
  const { label, truncated, artifactUri } = result
  const lines = [oneLine(result.summary), ...result.warnings.map((warning) => `Warning: ${oneLine(warning)}`)]
  for (const [name, value] of Object.entries({ ...facts, label, ...(truncated === true && { artifactUri }) })) {
    if (isUsual(name, value)) continue
    lines.push(`${name}: ${typeof value === 'string' ? oneLine(value) : JSON.stringify(value)}`)
  }
  return body === '' ? lines.join('\n') : `${lines.join('\n')}\n\n${body}`
}

/** The text that a model is shown of a call, and whether it is an error: in a dialect, what that answers. */
export function resultToText(tool: string, result: CallResult): { readonly text: string; readonly isError: boolean } {
  if (!isDialectResult(result)) return { text: toModelText(tool, result as Success | Failure), isError: !result.ok }
  const { output, isError } = result
  return { text: typeof output === 'string' ? output : JSON.stringify(output), isError }
}

/** What is told of a success beside its summary: facts of a line each, and at most one text. */
interface Told {
  readonly facts?: Readonly<Record<string, unknown>>
  readonly body?: string
}

function told(tool: string, result: Success): Told {
  if (!Object.hasOwn(forms, tool)) return plain(result)
  try {
    return (forms[tool as ToolName] as (result: Success) => Told)(result)
  } catch {
    // A hook may have made something else of it.
    return plain(result)
  }
}

type Forms = { readonly [N in ToolName]?: (result: Success & ToolOutput<N>) => Told }

/**
 * Short forms of results. The result of any other tool is written with all its fields. The current version of a file is
 * called `sha256`, whether the file was read or written.
 */
const forms: Forms = {
  read_file: ({ sha256, kind, encoding, eol, bom, truncated, content }) => ({
    facts: { sha256, kind, encoding, eol, bom, truncated },
    body: content,
  }),
  list_directory: ({ entries }) => ({ body: entries.map(entryLine).join('\n') }),
  find_files: ({ files }) => ({ body: files.join('\n') }),
  search_text: ({ matches, files, truncatedReason, filesSkipped }) => ({
    facts: { truncatedReason, filesSkipped },
    body: files === undefined ? matchLines(matches) : files.map(({ path, count }) => `${path}: ${count}`).join('\n'),
  }),
  diff_workspace: ({ diff, stat, truncated, baseCommit }) => ({
    facts: { baseCommit, truncated },
    // The diff tells what its numbers are.
    body: diff === '' || truncated ? [...stat.map(statLine), diff].join('\n') : diff,
  }),
  edit_file: ({ newSha256, diff, replacements, dryRun }) => ({
    facts: { sha256: newSha256 },
    // The one change that was named word for word is known.
    body: replacements === 1 && !dryRun ? '' : diff,
  }),
  replace_range: ({ newSha256, totalLines, diff }) => ({ facts: { sha256: newSha256, totalLines }, body: diff }),
  apply_patch: ({ filesTouched }) => ({
    facts: {
      sha256: Object.fromEntries(filesTouched.flatMap(({ path, newSha256 }) => (newSha256 ? [[path, newSha256]] : []))),
    },
  }),
  write_file: written,
  append_file: ({ newSha256, sizeBytes }) => ({ facts: { sha256: newSha256, sizeBytes } }),
  create_directory: () => ({}),
  delete_file: () => ({}),
  copy_file: ({ sha256 }) => ({ facts: { sha256 } }),
  move_file: ({ sha256 }) => ({ facts: { sha256 } }),
  file_info: ({ readable, writable, reason, sha256, mode, modifiedAt, totalLines, encoding, eol, bom, target }) => ({
    facts: {
      ...{ readable, writable, sha256, mode, modifiedAt, totalLines, encoding, eol, bom, target },
      ...(readable && writable ? {} : { reason }),
    },
  }),
  run_command: ({ cwd, filesChanged, refused, ...result }) => output(result, { cwd, filesChanged, refused }),
  start_command: () => ({}),
  check_command: (result) => output(result, {}),
  stop_command: (result) => output(result, {}),
  memory_search: ({ matches, truncated }) => ({
    facts: { truncated },
    body: matches
      .map(({ id, title, line, snippet }) => `${[id, title].filter(Boolean).join(' | ')}\n${line}: ${snippet}`)
      .join('\n'),
  }),
  memory_get: ({ title, labels, scopes, sha256, truncated, content }) => ({
    facts: { title, labels, scopes, sha256, truncated },
    body: content,
  }),
  memory_recall: ({ notes, truncated }) => ({
    facts: { truncated },
    body: notes.map((note) => JSON.stringify(note)).join('\n'),
  }),
  memory_store: written,
  submit_plan: ({ paths, planUri }) => ({ facts: { paths, planUri } }),
}

/** A tool that is not known here: all of its own fields. */
function plain({ ok: _, summary, warnings, callId, artifactUri, label, ...facts }: Success): Told {
  return { facts }
}

function written({ newSha256 }: { readonly newSha256: string }): Told {
  return { facts: { sha256: newSha256 } }
}

/** What a command put out: the longer stream as it is, the other one as a fact. */
function output(
  {
    stdout,
    stderr,
    truncated,
    outputUri,
  }: Pick<ToolOutput<'check_command'>, 'stdout' | 'stderr' | 'truncated' | 'outputUri'>,
  facts: Readonly<Record<string, unknown>>,
): Told {
  const [main, ...rest] =
    stdout.length >= stderr.length
      ? ([stdout, 'stdout', { stderr }] as const)
      : ([stderr, 'stderr', { stdout }] as const)
  const [name, other] = rest
  return { facts: { ...facts, truncated, outputUri, ...other }, body: main === '' ? '' : `${name}:\n${main}` }
}

type Entry = ToolOutput<'list_directory'>['entries'][number]

/** `src/`, `src/app.ts 2048`, `.env SECRET_LIKE`: the size in bytes, and the kind where that is not an ordinary one. */
function entryLine({ path, type, kind, sizeBytes, readable }: Entry): string {
  const notes = [
    ...(type === 'link' || type === 'other' ? [type] : []),
    ...(sizeBytes === undefined ? [] : [String(sizeBytes)]),
    ...(ordinary.has(kind) ? [] : [kind]),
    ...(readable === false ? ['unreadable'] : []),
  ]
  return [type === 'directory' ? `${path}/` : path, ...notes].join(' ')
}

/** The path of a file once, then its lines: `7: text` that matches, `6- text` around it; an empty line between files. */
function matchLines(matches: ToolOutput<'search_text'>['matches']): string {
  const files: string[][] = []
  let last: string | undefined
  for (const { path, line, snippet, before, after } of matches) {
    if (path !== last) files.push([path])
    last = path
    files
      .at(-1)
      ?.push(
        ...before.map((text, i) => `${line - before.length + i}- ${text}`),
        `${line}: ${snippet}`,
        ...after.map((text, i) => `${line + 1 + i}- ${text}`),
      )
  }
  return files.map((lines) => lines.join('\n')).join('\n\n')
}

type Stat = ToolOutput<'diff_workspace'>['stat'][number]

function statLine({ path, oldPath, status, insertions, deletions, binary }: Stat): string {
  return `${status} ${oldPath === undefined ? '' : `${oldPath} -> `}${path} ${binary ? 'binary' : `+${insertions} -${deletions}`}`
}

/** Kinds that say no more than the name of a file does. */
const ordinary: ReadonlySet<unknown> = new Set(['TEXT_SOURCE', 'TEXT_CONFIG', 'TEXT_DOC', 'DIRECTORY', 'UNKNOWN'])

/** What a fact is unless it is told. */
const usual: ReadonlyMap<string, ReadonlySet<unknown>> = new Map([
  ['encoding', new Set(['utf-8'])],
  ['eol', new Set(['lf', 'none'])],
  ['kind', ordinary],
  ['cwd', new Set(['.'])],
  ['filesSkipped', new Set<unknown>([0])],
  ['readable', new Set<unknown>([true])],
  ['writable', new Set<unknown>([true])],
])

function isUsual(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  const known = usual.get(name)
  if (known !== undefined) return known.has(value)
  return value === false || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** A refusal: what, what to do next, and what helps with that. The message names the path, the hint what is meant. */
function refusal({ ok: _, code, message, hint, path: _path, suggestions: _named, ...details }: Failure): string {
  const told = Object.entries(details).filter(([, value]) => value !== undefined)
  const more = told.length === 0 ? '' : `\n${JSON.stringify(Object.fromEntries(told))}`
  return `${code}: ${message}\n${hint}${more}`
}

/** Kept to its line, whatever it holds. */
function oneLine(text: string): string {
  return /[\r\n]/.test(text) ? JSON.stringify(text) : text
}
