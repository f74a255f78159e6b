import { ToolError } from '../../errors.ts'
import { precomputeSha256, sha256Cached } from '../../files/hash/sha256.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Change, CommitOptions, EntryState, Receipt, Version } from '../../storage/backend.ts'
import { applyOrder, checkChangeSet, conflict, validateChanges } from '../../storage/change-set.ts'
import { versionOf } from '../../storage/versions.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { type BaseEntry, type CommitBase, readCommitBase } from './commit-base.ts'
import type { Entry, Folder } from './folder.ts'
import type { RedoStep } from './redo-log.ts'
import type { Staging } from './staging.ts'
import type { StagingLease } from './staging-lease.ts'
import { storageFailure } from './storage-failure.ts'
import type { StoredStreams } from './stored-streams.ts'

/** Stages a change set, writes its journal, and applies it; a set that fails is rolled back. */
export async function commitFiles(
  lease: StagingLease,
  folder: Folder,
  changes: readonly Change[],
  { signal }: CommitOptions,
  streams: StoredStreams,
  onCommit: ((changes: readonly Change[]) => void) | undefined,
): Promise<Receipt> {
  throwIfAborted(signal)
  validateChanges(changes, true)
  streams.requireKnown(changes)
  const first = changes[0]
  if (first === undefined) return { applied: [] }
  return lease.run('change', first.path, async (staging) => {
    const base = await readCommitBase(folder, changes)
    checkChangeSet(changes, base.view)
    requireMoved(changes, base, streams)
    let hasSteps: boolean
    try {
      const steps = await stageSteps(staging, changes, base, streams)
      hasSteps = steps.length > 0
      throwIfAborted(signal)
      if (needsJournal(staging, steps, base)) await staging.writeJournal(steps)
      await applySteps(staging, folder, steps, base)
    } catch (error) {
      streams.drop(changes)
      // The journal of a set that is half applied stays: the next step completes the set.
      if (isHalfApplied(error)) lease.invalidate()
      else await clearOrInvalidate(staging, lease)
      throw error
    }
    streams.drop(changes)
    // The set is applied. If its journal stays, applying it again changes nothing.
    await clearOrInvalidate(staging, lease)
    if (hasSteps) onCommit?.(changes)
    return {
      applied: changes.map(({ path, to }) => {
        const before = base.version(path)
        return { path, before, after: isNoChange(base.at(path), to) ? before : versionAfter(to) }
      }),
    }
  })
}

/** Stages the contents of a set and returns the steps that apply it. */
async function stageSteps(
  staging: Staging,
  changes: readonly Change[],
  base: CommitBase,
  streams: StoredStreams,
): Promise<RedoStep[]> {
  const effective = applyOrder(changes).filter(({ path, to }) => !isNoChange(base.at(path), to))
  const staged = new Map<Path, RedoStep>()
  await mapConcurrent(effective, async ({ path, to, from }) => {
    if (to?.type !== 'file') return
    if (to.content !== undefined) {
      const source = from === undefined ? undefined : base.at(from)
      const name = streams.nameOf(to.content) ?? (source?.type === 'file' ? await staging.stageFile(source.file) : '')
      staged.set(path, { do: 'file', path, staged: name })
      return
    }
    await precomputeSha256([to.bytes])
    staged.set(path, await staging.stage(path, to.bytes))
  })
  const steps: RedoStep[] = []
  for (const { path, to } of effective) {
    const type = base.at(path)?.type
    if (type !== undefined && (to === null || to.type !== type)) steps.push({ do: `remove ${type}`, path })
    if (to?.type === 'directory') steps.push({ do: 'directory', path })
    if (to?.type === 'file') steps.push(staged.get(path) as RedoStep)
  }
  return steps
}

function needsJournal(staging: Staging, steps: readonly RedoStep[], base: CommitBase): boolean {
  const [only, ...others] = steps
  if (only === undefined) return false
  return others.length > 0 || isLarge(base.at(only.path)) || !staging.isAtomic(only, !base.at(only.path))
}

/** Applies the steps. Rolls back those that were applied if one fails. */
async function applySteps(
  staging: Staging,
  folder: Folder,
  steps: readonly RedoStep[],
  base: CommitBase,
): Promise<void> {
  const applied: RedoStep[] = []
  const apply = async (step: RedoStep) => {
    applied.push(step)
    if (isLarge(base.at(step.path))) await staging.keep(step.path)
    await staging.apply(step)
  }
  try {
    // Files do not depend on each other.
    let concurrent: RedoStep[] = []
    for (const step of steps) {
      const isDirectory = step.do === 'directory' || step.do === 'remove directory'
      if (isDirectory || concurrent[0]?.do !== step.do) {
        await mapConcurrent(concurrent, apply)
        concurrent = []
      }
      if (isDirectory) await apply(step)
      else concurrent.push(step)
    }
    await mapConcurrent(concurrent, apply)
  } catch (error) {
    await rollBack(staging, folder, applied, base).catch(() => {
      throw halfAppliedError(error)
    })
    throw error
  }
}

async function rollBack(
  staging: Staging,
  folder: Folder,
  applied: readonly RedoStep[],
  base: CommitBase,
): Promise<void> {
  for (const { path } of [...applied].reverse()) {
    const before = base.at(path)
    const current = await folder.look(path)
    if (isLarge(before)) {
      if (!isSameFile(current, before)) await staging.restore(path)
      continue
    }
    if (current !== undefined && current.type !== before?.type) await folder.remove(path)
    if (before?.type === 'directory') await folder.makeDirectory(path)
    if (before?.type === 'file') await staging.apply(await staging.stage(path, before.bytes as Uint8Array))
  }
}

/** What cannot be cleared now is cleared when the lease is acquired next. */
async function clearOrInvalidate(staging: Staging, lease: StagingLease): Promise<void> {
  await staging.clear().catch(() => lease.invalidate())
}

const HALF_APPLIED =
  'The change is half applied and could not be rolled back. It is completed as soon as the storage can be written.'

/** The error of a set that could be neither completed nor rolled back. */
function halfAppliedError(error: unknown): ToolError {
  const { code, message } = storageFailure('Cannot finish the change', error)
  return new ToolError(code, message, { hint: HALF_APPLIED })
}

function isHalfApplied(error: unknown): boolean {
  return error instanceof ToolError && error.details.hint === HALF_APPLIED
}

function isNoChange(current: Entry | undefined, to: EntryState): boolean {
  if (to === null) return current === undefined
  return to.type === 'directory' && current?.type === 'directory'
}

/** Whether an entry is a file whose content is not in memory. */
function isLarge(entry: BaseEntry | undefined): boolean {
  return entry?.type === 'file' && entry.bytes === undefined
}

function isSameFile(current: Entry | undefined, before: BaseEntry | undefined): boolean {
  if (current?.type !== 'file' || before?.type !== 'file') return false
  return current.file.size === before.file.size && current.file.lastModified === before.file.lastModified
}

/** Refuses the move of a file that no longer has the content which the set names. */
function requireMoved(changes: readonly Change[], base: CommitBase, streams: StoredStreams): void {
  for (const { to, from } of changes) {
    if (to?.type !== 'file' || to.content === undefined || from === undefined) continue
    const source = base.version(from)
    const sha256 = source?.type === 'file' ? source.sha256 : null
    if (streams.nameOf(to.content) === undefined && sha256 !== to.content.sha256) throw conflict(from, sha256)
  }
}

/** Without permission bits, which the storage does not have. */
function versionAfter(to: EntryState): Version {
  if (to?.type !== 'file') return versionOf(to)
  const { mode: _, ...state } = to
  return versionOf(state, sha256Cached)
}
