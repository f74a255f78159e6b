import { type ErrorCode, ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { isWithin, type Path } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import { sameBytes } from '../../util/bytes.ts'
import type { CommandFiles } from '../types.ts'
import { refusing } from './refusal-codes.ts'

/** A change that a command made to a path. */
export interface CommandChange {
  readonly path: Path
  readonly before: EntryState
  readonly after: EntryState
}

/** Whether a change was refused for the secrets in its content, and not for its name. */
function wouldReveal({ code }: ToolError, path: Path): boolean {
  return code === 'POLICY_DENIED_SECRET' && classifyPath(path).protection !== 'secret'
}

/** Errors that follow from the refusal of a path above. */
const followsFromRefusal: ReadonlySet<ErrorCode> = new Set([
  'NOT_FOUND',
  'NOT_A_DIRECTORY',
  'IS_DIRECTORY',
  'ALREADY_EXISTS',
  'DIRECTORY_NOT_EMPTY',
])

/**
 * Re-applies a command's own changes through the policy gate. Each change is guarded, classified and evaluated; refused
 * changes are skipped and listed in the result. Returns the skipped paths, including those that depended on a refused one.
 *
 * @throws ToolError if a change fails for another reason than a refusal, or if a file would show a part of a secret while
 *   others are removed: it may be one of those, moved and changed, whose content would be lost
 */
export async function applyChanges(files: CommandFiles, changes: readonly CommandChange[]): Promise<ReadonlySet<Path>> {
  const removesFiles = changes.some(({ before, after }) => before?.type === 'file' && after === null)
  const refused: Path[] = []
  const skipped = new Set<Path>()
  async function attempt(path: Path, action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (!(error instanceof ToolError) || (removesFiles && wouldReveal(error, path))) throw error
      const follows = followsFromRefusal.has(error.code) && refused.some((above) => isWithin(path, above))
      if (refusing.has(error.code)) refused.push(path)
      else if (!follows) throw error
      skipped.add(path)
    }
  }

  const byPath = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1))
  // Children are removed before their parents, and created after them.
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
  return skipped
}
