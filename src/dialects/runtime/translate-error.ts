import type { Failure } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import type { Dialect, DialectError, Hints } from './types.ts'

/**
 * A refusal with the dialect's paths, and with hints that name none of the workspace's own tools and fields. `own`: the tool
 * of the workspace that refused, if it was one.
 */
export function toDialectError(
  dialect: Pick<Dialect, 'pathMapping' | 'hints' | 'fields'>,
  tool: string,
  failure: Failure,
  { input, own }: { readonly input?: unknown; readonly own?: string | undefined } = {},
): DialectError {
  const { code, path } = failure
  const { pathMapping: place, fields = {} } = dialect
  const shown = path === undefined ? undefined : place.outward(path)
  const message = renamed(own === undefined ? failure.message : failure.message.replace(own, tool), fields)
  return {
    code,
    message: path === undefined || shown === undefined ? message : message.replace(quote(path), () => quote(shown)),
    hint: dialect.hints?.[code] ?? hintOf(failure, dialect, own),
    ...(shown === undefined ? {} : { path: shown }),
    tool,
    input,
    failure,
  }
}

/** Field names outside of what is quoted. */
function renamed(text: string, fields: Readonly<Record<string, string>>): string {
  return text.replace(/"[^"]*"|\b[a-z]+[A-Z]\w*/g, (word) =>
    Object.hasOwn(fields, word) ? String(fields[word]) : word,
  )
}

/** Suggested names are logical ones. */
function hintOf(
  { code, hint, suggestions }: Failure,
  { pathMapping: place }: Pick<Dialect, 'pathMapping'>,
  own: string | undefined,
): string {
  // Its hint would list the fields of another tool.
  if (code === 'INVALID_INPUT' && own !== undefined) return 'Correct the input and call again.'
  const neutral = hints(place.roots)[code]
  if (neutral !== undefined) return neutral
  if (!Array.isArray(suggestions)) return hint
  return suggestions.reduce(
    (text: string, one: string) => text.replace(`"${one}"`, () => `"${place.outward(one)}"`),
    hint,
  )
}

/** Hints of a workspace that name its own tools or fields, in words of no dialect. */
function hints(roots: readonly string[]): Hints {
  return {
    ...(roots.length === 0
      ? {}
      : {
          PATH_REJECTED: `Use a path below ${roots.join(' or ')} with forward slashes; the same path will not work.`,
        }),
    IS_DIRECTORY: 'Name a file; list a directory to see what is in it.',
    WRITE_CONFLICT: 'Read the whole file again and repeat the change on its current version.',
    EDIT_NO_MATCH: 'Copy the text exactly from the file, with its white space.',
    EDIT_AMBIGUOUS: 'Add surrounding lines until the text occurs once.',
    UNSUPPORTED_BINARY: 'The file is not text.',
    COMMAND_TIMEOUT: 'Use a shorter command or a longer time limit.',
  }
}
