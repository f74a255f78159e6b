import { type ErrorCode, ToolError } from '../../errors.ts'
import { isWithin, type Path } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import { sameBytes } from '../../util/bytes.ts'
import type { CommandFiles } from '../types.ts'
import { refusing } from './refusal-codes.ts'

/** What a command has made of a path. */
export interface CommandChange {
  readonly path: Path
  readonly before: EntryState
  readonly after: EntryState
}

/** What is said of a path below one that was refused. */
const followsFromRefusal: ReadonlySet<ErrorCode> = new Set([
  'NOT_FOUND',
  'NOT_A_DIRECTORY',
  'IS_DIRECTORY',
  'ALREADY_EXISTS',
  'DIRECTORY_NOT_EMPTY',
])

/**
 * Does once more, through the gate, what a command has done by itself: each change is guarded, classified and judged, and
 * what is refused is left out and noted in the result. Gives the paths that were left out, with what only stood or fell
 * with them.
 *
 * @throws ToolError where something else than a refusal keeps a change from being carried out
 */
export async function applyChanges(files: CommandFiles, made: readonly CommandChange[]): Promise<ReadonlySet<Path>> {
  const refused: Path[] = []
  const leftOut = new Set<Path>()
  async function attempt(path: Path, action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      const follows = followsFromRefusal.has(error.code) && refused.some((above) => isWithin(path, above))
      if (refusing.has(error.code)) refused.push(path)
      else if (!follows) throw error
      leftOut.add(path)
    }
  }

  const byPath = [...made].sort((a, b) => (a.path < b.path ? -1 : 1))
  // What is below goes first, and what is above comes first.
  for (const { path, before, after } of byPath.toReversed()) {
    if (before !== null && before.type !== after?.type) await attempt(path, () => files.remove(path))
  }
  for (const { path, after } of byPath) {
    if (after?.type === 'directory') await attempt(path, () => files.makeDirectory(path))
  }
  for (const { path, before, after } of byPath) {
    if (after?.type !== 'file') continue
    const { bytes, mode } = after
    const isSameContent = before?.type === 'file' && sameBytes(before.bytes, bytes)
    await attempt(path, () =>
      isSameContent && mode !== undefined
        ? files.setMode(path, mode)
        : files.write(path, bytes, mode === undefined ? {} : { mode }),
    )
  }
  for (const { path, before, after } of byPath) {
    if (after?.type !== 'link') continue
    if (before?.type === 'link') await attempt(path, () => files.remove(path))
    await attempt(path, () => files.link(path, after.target))
  }
  return leftOut
}
