import type { Success, SuccessOf } from '../../call/state/call.ts'
import { checkLines } from '../../dialects/runtime/check-lines.ts'
import { isDialectResult } from '../../dialects/runtime/types.ts'
import type { Failure } from '../../errors.ts'
import type { ToolName, ToolOutput } from '../../tools/index.ts'
import { checkArgument, isText, must } from '../../util/check-options.ts'
import { shortVersion } from '../../util/short-version.ts'
import { refusalText } from './refusal-text.ts'
import type { CallResult } from './select-tools.ts'
import { shortenTestOutput } from './test-output.ts'

/**
 * Converts a result to text for a model, in as few tokens as it needs: a summary line, a line for each further fact, an empty line,
 * and the requested text. The first empty line ends what the workspace says, so content cannot imitate it. Fields for programs only
 * (ids, old versions, counts, addresses of diffs) are left out. A version is shown by its first 8 digits: later calls of the same run
 * accept them. Of a test run in the Test Anything Protocol, durations are left out, and the text says so.
 *
 * @param tool the tool's name
 * @example
 * const text = toModelText('read_file', await workspace.call('read_file', { path: 'src/app.ts' }))
 */
export function toModelText(tool: string, result: Success | Failure): string {
  checkArgument('toModelText()', 'tool', tool, isText)
  checkArgument('toModelText()', 'result', result, isResult)
  if (!result.ok) return refusalText(result)
  const { facts = {}, body = '' } = partsOf(tool, result)
  const { summary, warnings, label, truncated, artifactUri } = result
  const lines = [
    oneLine(summary),
    ...warnings.map((warning) => `Warning: ${oneLine(warning)}`),
    ...checkLines(result.checks),
  ]
  for (const [name, value] of Object.entries({ ...facts, label, ...(truncated === true && { artifactUri }) })) {
    if (isDefault(name, value)) continue
    lines.push(
      `${name}: ${typeof value === 'string' ? oneLine(name === 'sha256' ? shortVersion(value) : value) : JSON.stringify(value)}`,
    )
  }
  return body === '' ? lines.join('\n') : `${lines.join('\n')}\n\n${body}`
}

const isResult = must('the result of a call', (result) => {
  const { ok, summary, message, warnings } = Object(result)
  return ok === true
    ? typeof summary === 'string' && Array.isArray(warnings)
    : ok === false && typeof message === 'string'
})

/** Returns the text of a result for a model, and whether it is an error. A dialect determines its own text. */
export function resultToText(tool: string, result: CallResult): { readonly text: string; readonly isError: boolean } {
  if (!isDialectResult(result)) return { text: toModelText(tool, result as Success | Failure), isError: !result.ok }
  const { output, isError } = result
  return { text: typeof output === 'string' ? output : JSON.stringify(output), isError }
}

/** Parts of a text besides the summary: facts with one line each, and at most one body. */
interface TextParts {
  readonly facts?: Readonly<Record<string, unknown>>
  readonly body?: string
}

function partsOf(tool: string, result: Success): TextParts {
  const form = (Object.hasOwn(forms, tool) ? forms[tool as ToolName] : plain) as (result: Success) => TextParts
  try {
    return form(result)
  } catch {
    // A hook may have changed the shape of the result.
    return plain(result)
  }
}

type Forms = { readonly [N in ToolName]?: (result: SuccessOf<ToolOutput<N>>) => TextParts }

/**
 * Short forms of results. The result of any other tool is written with all fields. `sha256` is the current version of a file, after
 * a read and after a write.
 */
const forms: Forms = {
  read_file: ({ sha256, kind, encoding, eol, bom, truncated, content, media, unchangedSince }) => ({
    // The earlier call has shown the same version.
    facts: unchangedSince ? {} : media ? { sha256 } : { sha256, kind, encoding, eol, bom, truncated },
    body: content,
  }),
  list_directory: ({ entries }) => ({ body: entries.map(entryLine).join('\n') }),
  find_files: ({ files }) => ({ body: files.join('\n') }),
  search_text: ({ matches, files, truncatedReason, filesSkipped }) => ({
    facts: { truncatedReason, filesSkipped },
    body: files ? files.map(({ path, count }) => `${path}: ${count}`).join('\n') : matchLines(matches),
  }),
  // The summary names the base.
  diff_workspace: ({ diff, stat, truncated }) => ({
    facts: { truncated },
    // A complete diff already contains the numbers.
    body: diff === '' || truncated ? [...stat.map(statLine), diff].join('\n') : diff,
  }),
  edit_file: ({ newSha256, diff, replacements, dryRun }) => ({
    facts: { sha256: newSha256 },
    // The model already knows a single replacement that it specified.
    body: replacements === 1 && !dryRun ? '' : diff,
  }),
  replace_range: ({ newSha256, totalLines, diff }) => ({
    facts: { sha256: newSha256, totalLines },
    body: diff,
  }),
  apply_patch: ({ filesTouched }) => ({
    facts: {
      sha256: Object.fromEntries(
        filesTouched.flatMap(({ path, newSha256 }) => (newSha256 ? [[path, shortVersion(newSha256)]] : [])),
      ),
    },
  }),
  write_file: newVersion,
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
  check_command: ({ refused, ...result }) => output(result, { refused }),
  stop_command: ({ refused, ...result }) => output(result, { refused }),
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
  memory_store: newVersion,
  submit_plan: ({ paths, planUri }) => ({ facts: { paths, planUri } }),
}

/** Returns all fields of a result, for a tool without a short form. */
function plain({ ok: _, summary, warnings, callId, artifactUri, label, checks, ...facts }: Success): TextParts {
  return { facts }
}

function newVersion({ newSha256 }: { readonly newSha256: string }): TextParts {
  return { facts: { sha256: newSha256 } }
}

/** Returns the output of a command: the longer stream as the body, the other one as a fact. */
function output(
  result: Pick<ToolOutput<'check_command'>, 'stdout' | 'stderr' | 'truncated' | 'outputUri'>,
  facts: Readonly<Record<string, unknown>>,
): TextParts {
  const { stdout, stderr, truncated, outputUri } = result
  const [name, other] =
    stdout.length >= stderr.length ? (['stdout', 'stderr'] as const) : (['stderr', 'stdout'] as const)
  const main = result[name]
  return {
    facts: { ...facts, truncated, outputUri, [other]: result[other] },
    body: main === '' ? '' : `${name}:\n${shortenTestOutput(main)}`,
  }
}

type Entry = ToolOutput<'list_directory'>['entries'][number]

/** Formats an entry: `src/`, `src/app.ts 2048`, `.env SECRET_LIKE`, with the size in bytes and a kind that is not usual. */
function entryLine({ path, type, kind, sizeBytes, readable }: Entry): string {
  const notes = [
    type === 'directory' ? `${path}/` : path,
    type === 'file' || type === 'directory' ? '' : type,
    sizeBytes ?? '',
    isDefault('kind', kind) ? '' : kind,
    readable === false ? 'unreadable' : '',
  ]
  return notes.filter((note) => note !== '').join(' ')
}

/** Formats matches by file: the path, then `7: text` for a match and `6- text` for context. An empty line separates files. */
function matchLines(matches: ToolOutput<'search_text'>['matches']): string {
  const lines: string[] = []
  let last: string | undefined
  for (const { path, line, snippet, before, after } of matches) {
    if (path !== last) lines.push(...(last ? [''] : []), path)
    last = path
    lines.push(
      ...before.map((text, i) => `${line - before.length + i}- ${text}`),
      `${line}: ${snippet}`,
      ...after.map((text, i) => `${line + 1 + i}- ${text}`),
    )
  }
  return lines.join('\n')
}

type Stat = ToolOutput<'diff_workspace'>['stat'][number]

function statLine({ path, oldPath, status, insertions, deletions, binary }: Stat): string {
  return `${status} ${oldPath ? `${oldPath} -> ` : ''}${path} ${binary ? 'binary' : `+${insertions} -${deletions}`}`
}

/** Facts that are left out, besides those that are false or empty. A usual kind adds nothing to the name of a file. */
const usualFacts =
  /^(?:encoding utf-8|eol (?:lf|none)|kind (?:TEXT_(?:SOURCE|CONFIG|DOC)|DIRECTORY|UNKNOWN)|cwd \.|filesSkipped 0|(?:readable|writable) true)$/

function isDefault(name: string, value: unknown): boolean {
  if (typeof value === 'object') return value === null || Object.keys(value).length === 0
  if (value === false) return !name.endsWith('able')
  return value === undefined || value === '' || usualFacts.test(`${name} ${value}`)
}

/** Returns the text on one line: text with line breaks as JSON. */
function oneLine(text: string): string {
  return /[\r\n]/.test(text) ? JSON.stringify(text) : text
}
