import { ToolError } from '../../errors.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { ToolContext } from '../define-tool.ts'

/** What a caller said about the version that it wants to change: a hash, `null` for none, or nothing. */
export type Expected = string | null | undefined

/**
 * Checks the version that a mutation expects against the present one (`null`: there is none).
 * With `mustKnow`, a call without a hash is served by the read ledger: the run must have been shown the whole version. With the
 * stale guard `shown`, both are needed.
 *
 * @throws ToolError `WRITE_CONFLICT`, with `currentSha256`
 */
export function checkExpected(
  context: ToolContext,
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
  const shownIsNeeded = context.staleGuard === 'shown' || (expected === undefined && options.mustKnow)
  if (shownIsNeeded && !context.hasReadWhole(path, current)) {
    throw conflict(path, 'was never read as a whole in this version by this run', current)
  }
}

/**
 * Checks the expected version only: for what loses no content, such as a move.
 *
 * @throws ToolError `WRITE_CONFLICT`, with `currentSha256`
 */
export function checkVersion(path: Path, expected: Expected, current: string | null): void {
  if (expected === undefined || expected === current) return
  const why =
    current === null
      ? 'does not exist'
      : expected === null
        ? 'exists already'
        : 'has changed since the version that expectedSha256 names'
  throw conflict(path, why, current)
}

/** Refuses a version for what has none: a link, a directory. */
export function refuseVersion(path: Path, expected: Expected, type: string): void {
  if (expected !== undefined) throw conflict(path, `is a ${type}, which has no sha256`, null)
}

function conflict(path: Path, why: string, currentSha256: string | null): ToolError {
  return new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: it ${why}`, { path, currentSha256 })
}
