import { type Failure, ToolError } from '../../errors.ts'
import { call, lastShownVersion, type PartialText, readLines, refuseUnused, trySteps } from '../define.ts'
import { type NewLines, newLinesOf, numberLines, splitLines } from '../runtime/numbered-lines.ts'
import type { Steps } from '../runtime/types.ts'

// Commands that the editor and the memory share; only their messages differ.

/**
 * Returns a required parameter.
 *
 * @throws ToolError `INVALID_INPUT` if it is missing
 */
export function requireParameter<T>(name: string, value: T | undefined, command: string): T {
  if (value !== undefined) return value
  throw new ToolError('INVALID_INPUT', `Parameter \`${name}\` is required for command: ${command}`, { field: name })
}

/** The parameters of each command, beside the path. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  view: ['view_range'],
  create: ['file_text'],
  str_replace: ['old_str', 'new_str'],
  insert: ['insert_line', 'insert_text'],
  delete: [],
  rename: ['old_path', 'new_path'],
}

/**
 * Refuses parameters of other commands.
 *
 * @throws ToolError `INVALID_INPUT`
 */
export function refuseOtherParameters(
  { command, path, ...others }: { readonly command: string; readonly path?: string | undefined },
  more: readonly string[] = [],
): void {
  const allowedNames = [...(parameters[command] ?? []), ...more]
  const unused = Object.entries({ ...others, ...(command === 'rename' ? { path } : {}) })
  refuseUnused(command, Object.fromEntries(unused.filter(([field]) => !allowedNames.includes(field))))
}

/** Returns the lines of a file with their numbers, all or a range. -1 as the end means the last line. */
export function* viewFile(
  path: string,
  range?: readonly number[],
): Steps<{ ok: true; text: string; media: PartialText['media'] } | Failure> {
  const [first = 1, last = -1] = range ?? []
  if (first < 1 || (last !== -1 && last < first)) {
    throw new ToolError('INVALID_INPUT', `Invalid \`view_range\`: [${first}, ${last}]`, {
      field: 'view_range',
      hint: 'Give the first and the last line, from 1; -1 as the last is the end of the file.',
    })
  }
  const maxLines = last === -1 ? Number.POSITIVE_INFINITY : last - first + 1
  const read = yield* trySteps(readLines(path, { startLine: first, maxLines }))
  if (!read.ok) return read
  const { content, startLine, media } = read.value
  return { ok: true, text: numberLines(splitLines(content), startLine), media }
}

/** Replaces a text that occurs once. Returns the lines around it. */
export function* replaceOnce(path: string, oldText: string | undefined, newText = ''): Steps<readonly NewLines[]> {
  const { diff } = yield* call('edit_file', {
    path,
    oldText: requireParameter('old_str', oldText, 'str_replace'),
    newText,
  })
  return newLinesOf(diff)
}

/** Inserts lines after a line. Expects the version that the model was shown last, because line numbers refer to it. */
export function* insertAfter(
  path: string,
  line: number | undefined,
  text: string | undefined,
): Steps<readonly NewLines[]> {
  const after = requireParameter('insert_line', line, 'insert')
  const newText = requireParameter('insert_text', text, 'insert')
  const { diff } = yield* call('replace_range', {
    path,
    startLine: after + 1,
    endLine: after,
    newText: newText === '' ? '\n' : newText,
    expectedSha256: yield* lastShownVersion(path),
  })
  return newLinesOf(diff)
}

/** Formats passages with line numbers. */
export function snippet(passages: readonly NewLines[]): string {
  return passages.map(({ lines, startLine }) => numberLines(lines, startLine)).join('\n')
}
