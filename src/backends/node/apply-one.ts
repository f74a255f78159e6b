import { mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { Version } from '../../storage/backend.ts'
import { storageError } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { concurrentChangeError, linkNoReplace, type Pins } from './journal-steps.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { type Staged, stage, syncDirectories } from './staging.ts'
import type { Temp } from './state-directory.ts'
import { type Applying, dropTemps, isUnchanged, type Task, verbFor } from './tasks.ts'
import { movedOutsideError, type PinnedDirectory } from './tree-access.ts'
import { versionAfter } from './version-after.ts'

/** One change takes effect in one system call, which happens or does not: it needs no journal. */
export async function applyOne(how: Applying, pins: Pins, task: Task): Promise<Version> {
  const { path, to } = task.change
  const parent = parentOf(path)
  let after: Version
  try {
    const pin = await retryOnDescriptorLimit(() => pins.get(parent))
    if (to === null || to.type === 'directory' || (to.type === 'link' && task.present === undefined)) {
      throwIfAborted(how.signal)
      changeName(pin.at(nameOf(path)), task)
      after = to
    } else {
      after = await putStaged(how, pins, pin, task, to)
    }
  } catch (error) {
    throw storageError(verbFor(to), path, error)
  }
  if (how.durable) await syncChange(pins, path, parent)
  how.state.logLeft(how.strays)
  return after
}

function changeName(at: string, { change: { path, to }, present }: Task): void {
  if (present !== undefined && !isUnchanged(at, present)) throw concurrentChangeError(path)
  if (to === null) {
    if (present?.type === 'directory') rmdirSync(at)
    else unlinkSync(at)
    return
  }
  // Each of these refuses to touch what is already there.
  if (to.type === 'link') symlinkSync(to.target, at)
  else mkdirSync(at)
}

async function putStaged(
  how: Applying,
  pins: Pins,
  pin: PinnedDirectory,
  { change: { path }, present }: Task,
  to: Staged,
): Promise<Version> {
  const temp: Temp = how.state.nextTemp(parentOf(path))
  how.state.log([...how.strays, temp])
  const at = pin.at(nameOf(path))
  const staged = pin.at(temp[1])
  try {
    const stats = await stage(staged, to, present?.stats, how.durable)
    throwIfAborted(how.signal)
    if (!pin.holds()) throw movedOutsideError(parentOf(path))
    if (present === undefined) {
      linkNoReplace(staged, at, path)
      dropTemps(how, pins, [temp])
    } else {
      if (!isUnchanged(at, present)) throw concurrentChangeError(path)
      renameSync(staged, at)
    }
    return versionAfter(to, stats, how.modes)
  } catch (error) {
    dropTemps(how, pins, [temp])
    throw error
  }
}

/** The change is made; what is left is that it lasts. */
export async function syncChange(pins: Pins, path: Path, directory: Path): Promise<void> {
  try {
    await syncDirectories(pins, [directory])
  } catch {
    throw new ToolError(
      'BACKEND_ERROR',
      `The change of ${quote(path)} was made, but the storage does not confirm that it will last`,
      {
        path,
        hint: 'Read the file again before you go on, and tell the person in charge.',
      },
    )
  }
}
