import { mkdirSync, renameSync, type Stats } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { childOf, isWithin, nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { Change, EntryState, Version } from '../../storage/backend.ts'
import { applyOrder } from '../../storage/change-set.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { syncChange } from './apply-one.ts'
import { concurrentChangeError, openPins, type Pins, place } from './journal-steps.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { stage, syncDirectories } from './staging.ts'
import { type Applying, dropTemps, type Task, verbFor } from './tasks.ts'
import { movedOutsideError } from './tree-access.ts'
import { versionAfter } from './version-after.ts'

/** A new directory with what is in it. */
export interface NewTree {
  readonly top: Path
  readonly changes: readonly (Change & { readonly to: NonNullable<EntryState> })[]
}

/** The new directory that a set consists of, if it consists of one new directory with what is in it. */
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

/** The whole tree is made under a temporary name; one rename gives it its own. */
export async function applyTree(how: Applying, pins: Pins, { top, changes }: NewTree): Promise<Version[]> {
  const parent = parentOf(top)
  const staged = how.state.nextTemp(parent)
  const inside = openPins(how.ground)
  const written = new Map<Path, Stats | undefined>()
  try {
    const pin = await retryOnDescriptorLimit(() => pins.get(parent))
    how.state.log([...how.strays, staged])
    const directories: Path[] = []
    for (const { path, to } of applyOrder(changes)) {
      const there = `${childOf(parent, staged[1])}${path.slice(top.length)}` as Path
      try {
        const at = await retryOnDescriptorLimit(() => place(inside, there))
        if (to.type === 'directory') {
          mkdirSync(at)
          directories.push(there)
        } else written.set(path, await stage(at, to, undefined, how.durable))
      } catch (error) {
        // The temporary name is nobody's business.
        if (error instanceof ToolError) throw concurrentChangeError(path)
        throw storageError(verbFor(to), path, error)
      }
    }
    if (how.durable) await syncDirectories(inside, directories.reverse())
    inside.close()
    throwIfAborted(how.signal)
    if (!pin.holds()) throw movedOutsideError(parent)
    // A directory can take the place of an empty one only, so that nothing is overwritten.
    renameSync(pin.at(staged[1]), pin.at(nameOf(top)))
  } catch (error) {
    inside.close()
    dropTemps(how, pins, [staged])
    if (TAKEN.has(errnoOf(error) ?? '')) throw concurrentChangeError(top)
    throw storageError('create directory', top, error)
  }
  if (how.durable) await syncChange(pins, top, parent)
  how.state.logLeft(how.strays)
  return changes.map(({ path, to }) => versionAfter(to, written.get(path), how.modes))
}

const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR'])
