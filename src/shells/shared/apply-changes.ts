import { type ErrorCode, ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { isWithin, type Path } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import { isChangeSet } from '../../storage/change-set.ts'
import { sameBytes } from '../../util/bytes.ts'
import { checkArgument, isListOf, isObjectWith, isText } from '../../util/check-options.ts'
import type { CommandFiles } from '../types.ts'
import { type CommandChange, ContentKeeper, keepError } from './content-keeper.ts'
import { refusing } from './refusal-codes.ts'

export type { CommandChange } from './content-keeper.ts'

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

const isCommandFiles = isObjectWith('the files of a command', 'write', 'remove')

/**
 * Re-applies a command's own changes through the policy gate. Each change is guarded, classified and evaluated; refused
 * changes are skipped and listed in the result. Returns the skipped paths, including those that depended on a refused one.
 *
 * The program did not see the refusals, so it may have removed or replaced what it believed to be stored elsewhere. If a write is
 * refused that may hold their content, they stay, unless the content is also at another path.
 *
 * @param refusedBefore paths with changes that the caller has refused
 * @throws ToolError if a change fails for another reason than a refusal, if a file would show a part of a secret while
 *   others are removed, which may be one of those, moved and changed, or if other content would be lost
 */
export async function applyChanges(
  files: CommandFiles,
  changes: readonly CommandChange[],
  refusedBefore: readonly Path[] = [],
): Promise<ReadonlySet<Path>> {
  checkArgument('applyChanges()', 'files', files, isCommandFiles)
  checkArgument('applyChanges()', 'changes', changes, isChangeSet)
  checkArgument('applyChanges()', 'refusedBefore', refusedBefore, isListOf(isText))
  const removesFiles = changes.some(({ before, after }) => before?.type === 'file' && after === null)
  const refused: Path[] = [...refusedBefore]
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
  const isRemoval = ({ before, after }: CommandChange): boolean => before !== null && before.type !== after?.type
  const isInTheWay = obstacles(byPath.filter(({ after }) => after !== null))
  // Children are removed before their parents, and created after them. What takes no other path's place is removed last.
  const removals = byPath.filter(isRemoval).toReversed()
  const cleared = removals.filter(isInTheWay)
  for (const { path } of cleared) await attempt(path, () => files.remove(path))
  const removed = new Set(cleared.filter(({ path }) => !skipped.has(path)))
  for (const { path, after } of byPath) {
    if (after?.type === 'directory') await attempt(path, () => files.makeDirectory(path))
  }
  for (const change of byPath) {
    if (change.after?.type === 'file') await attempt(change.path, () => writeFile(files, change, change.after))
  }
  for (const { path, before, after } of byPath) {
    if (after?.type !== 'link') continue
    if (before?.type === 'link') await attempt(path, () => files.remove(path))
    if (skipped.has(path)) continue
    await attempt(path, () => files.link(path, after.target))
    if (before?.type === 'link' && skipped.has(path)) await files.link(path, before.target)
  }
  const keeper = refused.length === 0 ? undefined : new ContentKeeper(byPath, skipped, refusedBefore.length > 0)
  for (const change of keeper?.lostReplacements() ?? []) {
    await putBack(files, change)
    skipped.add(change.path)
  }
  const kept = (await keeper?.lostRemovals(removals)) ?? new Set()
  for (const change of removals) {
    const { path } = change
    if (kept.has(change)) {
      if (removed.has(change)) await putBack(files, change)
      else files.refuse('file:delete', path, keepError('remove', path))
      skipped.add(path)
    } else if (!isInTheWay(change)) await attempt(path, () => files.remove(path))
  }
  return skipped
}

async function writeFile(files: CommandFiles, { path, before }: CommandChange, after: EntryState): Promise<void> {
  /* v8 ignore if -- @preserve: only files are written */
  if (after?.type !== 'file') return
  const { bytes, mode } = after
  const isSameContent = before?.type === 'file' && sameBytes(before.bytes, bytes)
  if (isSameContent && mode !== undefined) await files.setMode(path, mode)
  else await files.write(path, bytes, mode === undefined ? {} : { mode })
}

/**
 * Puts back a file or link that was replaced or removed to make place.
 *
 * @throws ToolError if that is refused, or it was a directory: then nothing of the command is kept
 */
async function putBack(files: CommandFiles, { path, before, after }: CommandChange): Promise<void> {
  const error = keepError('replace', path)
  const isThere = (await files.stat(path, { noFollow: true })) !== undefined
  if (before?.type === 'link' && !isThere) await files.link(path, before.target)
  else if (before?.type === 'file' && (!isThere || after?.type === 'file')) {
    await writeFile(files, { path, before: null, after: before }, before)
  } else throw error
  files.refuse('file:write:replace', path, error)
}

/**
 * Returns whether an entry has to be removed before others are created: another entry takes its path, or a path that a disk
 * may regard as the same, or a path below it.
 */
function obstacles(created: readonly CommandChange[]): (change: CommandChange) => boolean {
  const folded = (path: string): string => path.normalize('NFC').toLowerCase()
  const taken = new Set(created.map(({ path }) => folded(path)))
  const below = created.flatMap(({ path, before, after }) =>
    before?.type === 'directory' && after?.type !== 'directory' ? [path] : [],
  )
  return ({ path }) => taken.has(folded(path)) || below.some((above) => isWithin(path, above))
}
