import { ToolError } from '../errors.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import { checkArgument, isFunction, isObjectValue, requireText } from '../util/check-options.ts'
import type { Backend, Stat } from './backend.ts'

/**
 * Returns the bytes `[start, end)` that a `read` with this range returns, within the size of the file; without a range,
 * all of them.
 *
 * @throws ToolError `WRITE_CONFLICT` with `currentSha256`, if the range has a `tag` that the file no longer has
 */
export function rangeOf(
  path: Path,
  range: Parameters<Backend['read']>[1],
  stat: Stat,
  sha256: () => string,
): { readonly start: number; readonly end: number } {
  requireText('rangeOf()', 'path', path)
  if (range !== undefined) checkArgument('rangeOf()', 'range', range, isObjectValue)
  checkArgument('rangeOf()', 'stat', stat, isObjectValue)
  checkArgument('rangeOf()', 'sha256', sha256, isFunction)
  const { size, tag } = stat
  if (range === undefined) return { start: 0, end: size }
  if (range.tag !== undefined && range.tag !== tag) {
    throw new ToolError('WRITE_CONFLICT', `Cannot read ${quote(path)}: it changed in the meantime`, {
      path,
      currentSha256: sha256(),
    })
  }
  const start = Math.min(Math.max(0, range.start), size)
  return { start, end: Math.max(start, Math.min(range.end, size)) }
}
