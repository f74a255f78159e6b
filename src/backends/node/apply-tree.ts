import { mkdirSync, renameSync, type Stats } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { childOf, isWithin, nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { Change, EntryState, Version } from '../../storage/backend.ts'
import { applyOrder } from '../../storage/change-set.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { syncChange } from './apply-one.ts'
import { concurrentChangeError, openPins, type Pins, physicalPathOf } from './journal-steps.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { stageState } from './stage-state.ts'
import { syncDirectories } from './staging.ts'
import { type ApplyContext, dropTemps, type Task, verbFor } from './tasks.ts'
import { MovedOutsideError } from './tree-access.ts'
import { versionAfter } from './version-after.ts'

/** A new directory and its contents. */
export interface NewTree {
  readonly top: Path
  readonly changes: readonly (Change & { readonly to: NonNullable<EntryState> })[]
}

/** Returns the new tree if the set consists of one new directory and its contents. */
export function newTree(tasks: readonly Task[]): NewTree | undefined {
  let top: Path | undefined
  const changes: NewTree['changes'][number][] = []
  for (const { change, present } of tasks) {
    const { path, to } = change
    if (present !== undefined || to === null) return undefined
    if (to.type === 'directory' && (top === undefined || isWithin(top, path))) top = path
    changes.push({ ...change, to })
  }
  return top !== undefined && changes.every(({ path }) => isWithin(path, top)) ? { top, changes } : undefined
}

/** Creates the whole tree under a temporary name and renames it once. */
export async function applyTree(context: ApplyContext, pins: Pins, { top, changes }: NewTree): Promise<Version[]> {
  const parent = parentOf(top)
  const staged = context.state.nextTemp(parent)
  const inside = openPins(context.access)
  const statsByPath = new Map<Path, Stats | undefined>()
  try {
    const pin = await retryOnDescriptorLimit(() => pins.get(parent))
    context.state.log([...context.strays, staged])
    const directories: Path[] = []
    for (const { path, to } of applyOrder(changes)) {
      const there = `${childOf(parent, staged[1])}${path.slice(top.length)}` as Path
      try {
        const at = await retryOnDescriptorLimit(() => physicalPathOf(inside, there))
        if (to.type === 'directory') {
          mkdirSync(at)
          directories.push(there)
        } else statsByPath.set(path, await stageState(context, { at, path, to }, undefined))
      } catch (error) {
        // The error names the temporary path, which must not be shown.
        if (error instanceof ToolError) throw concurrentChangeError(path)
        throw storageError(verbFor(to), path, error)
      }
    }
    if (context.durable) await syncDirectories(inside, directories.reverse())
    inside.close()
    throwIfAborted(context.signal)
    if (!pin.holds()) throw new MovedOutsideError(parent)
    // A directory can replace only an empty one, so nothing is overwritten.
    renameSync(pin.at(staged[1]), pin.at(nameOf(top)))
  } catch (error) {
    inside.close()
    dropTemps(context, pins, [staged])
    if (NAME_TAKEN.has(errnoOf(error) ?? '')) throw concurrentChangeError(top)
    throw storageError('create directory', top, error)
  }
  if (context.durable) await syncChange(pins, top, parent)
  context.state.logLeft(context.strays)
  return Promise.all(changes.map(({ path, to }) => versionAfter(to, statsByPath.get(path), context.modes)))
}

const NAME_TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR'])
