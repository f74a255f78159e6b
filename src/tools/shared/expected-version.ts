import { ToolError } from '../../errors.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { BuiltinContext } from '../builtin-tool.ts'

/** The version that a caller expects: a hash, `null` for no file, or `undefined` for no expectation. */
export type Expected = string | null | undefined

/**
 * Returns the mark of an access whose file is compared with an expected version: the answer tells whether a guess of its
 * content is right, so policy decides about reading the file as well.
 */
export function comparing(expected: Expected): { readonly reveals?: true } {
  return typeof expected === 'string' ? { reveals: true } : {}
}

/**
 * Checks the version that a mutation expects against the current one (`null`: no file).
 * With `mustKnow`, a call without a hash needs a run that has read the whole version. The stale guard `shown` needs both.
 *
 * @throws ToolError `WRITE_CONFLICT`, with `currentSha256`
 */
export function checkExpected(
  context: BuiltinContext,
  path: Path,
  expected: Expected,
  current: string | null,
  options: { readonly mustKnow: boolean },
): void {
  checkVersion(path, expected, current)
  if (current === null) return
  if (context.staleGuard === 'shown' && expected === undefined) {
    throw conflict(path, 'needs expectedSha256 of the version you read', current)
  }
  const mustBeRead = context.staleGuard === 'shown' || (expected === undefined && options.mustKnow)
  if (mustBeRead && !context.hasReadWhole(path, current)) {
    throw conflict(
      path,
      'was never read as a whole in this version by this run',
      current,
      unreadHint(context, path, current),
    )
  }
}

/** Names the lines that the run still has to read, if it has read others. */
function unreadHint({ previousReads }: BuiltinContext, path: Path, sha256: string): string | undefined {
  const unread = previousReads.firstUnread(path, sha256)
  if (unread === undefined) return undefined
  const lines = unread.end === undefined ? `from line ${unread.start} on` : `${unread.start}-${unread.end}`
  return `Lines ${lines} were not read: read the file with startLine ${unread.start} until no lines are missing, and repeat the change.`
}

/**
 * Checks only the expected version, for operations that lose no content, such as a move.
 *
 * @throws ToolError `WRITE_CONFLICT`, with `currentSha256`
 */
export function checkVersion(path: Path, expected: Expected, current: string | null): void {
  if (expected === undefined || expected === current) return
  const problem = isShort(expected)
    ? `is known to this run in no single version that begins with ${expected}`
    : current === null
      ? 'does not exist'
      : expected === null
        ? 'exists already'
        : 'has changed since the version of expectedSha256'
  throw conflict(path, problem, current, isShort(expected) ? SHORT_HINT : current === null ? NO_FILE_HINT : undefined)
}

/** Whether these are the first digits of a version that the run could not complete. */
const isShort = (expected: string | null) => expected !== null && expected.length < 64

const SHORT_HINT = 'Read the file again, or give all digits of the version that you read.'

const NO_FILE_HINT = 'Correct the path, or leave out the expected version to create the file.'

/**
 * Refuses an expected version for an entry without one, such as a link or a directory.
 *
 * @throws ToolError `WRITE_CONFLICT`
 */
export function refuseVersion(path: Path, expected: Expected, type: string): void {
  if (expected === undefined) return
  throw conflict(path, `is a ${type}, which has no sha256`, null, 'Leave out the expected version, or name a file.')
}

function conflict(path: Path, problem: string, currentSha256: string | null, hint?: string): ToolError {
  return new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: it ${problem}`, {
    path,
    currentSha256,
    ...(hint === undefined ? {} : { hint }),
  })
}
