import { mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { Version } from '../../storage/backend.ts'
import { storageError } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { concurrentChangeError, linkNoReplace, type Pins } from './journal-steps.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { stageState } from './stage-state.ts'
import { type Staged, syncDirectories } from './staging.ts'
import type { Temp } from './state-directory.ts'
import { type ApplyContext, dropTemps, isUnchanged, type Task, verbFor } from './tasks.ts'
import { MovedOutsideError, type PinnedDirectory } from './tree-access.ts'
import { versionAfter } from './version-after.ts'

/** Applies one change. It takes effect in a single system call, so it needs no journal. */
export async function applyOne(context: ApplyContext, pins: Pins, task: Task): Promise<Version> {
  const { path, to } = task.change
  const parent = parentOf(path)
  let after: Version
  try {
    const pin = await retryOnDescriptorLimit(() => pins.get(parent))
    if (to === null || to.type === 'directory' || (to.type === 'link' && task.present === undefined)) {
      throwIfAborted(context.signal)
      changeName(pin.at(nameOf(path)), task)
      after = to
    } else {
      after = await putStaged(context, pins, pin, task, to)
    }
  } catch (error) {
    throw storageError(verbFor(to), path, error)
  }
  if (context.durable) await syncChange(pins, path, parent)
  context.state.logLeft(context.strays)
  return after
}

function changeName(at: string, { change: { path, to }, present }: Task): void {
  if (present !== undefined && !isUnchanged(at, present)) throw concurrentChangeError(path)
  if (to === null) {
    if (present?.type === 'directory') rmdirSync(at)
    else unlinkSync(at)
    return
  }
  // Both calls fail if the name exists.
  if (to.type === 'link') symlinkSync(to.target, at)
  else mkdirSync(at)
}

async function putStaged(
  context: ApplyContext,
  pins: Pins,
  pin: PinnedDirectory,
  { change: { path }, present }: Task,
  to: Staged,
): Promise<Version> {
  const temp: Temp = context.state.nextTemp(parentOf(path))
  context.state.log([...context.strays, temp])
  const at = pin.at(nameOf(path))
  const staged = pin.at(temp[1])
  try {
    const stats = await stageState(context, { at: staged, path, to }, present?.stats)
    throwIfAborted(context.signal)
    if (!pin.holds()) throw new MovedOutsideError(parentOf(path))
    if (present === undefined) {
      linkNoReplace(staged, at, path)
      dropTemps(context, pins, [temp])
    } else {
      if (!isUnchanged(at, present)) throw concurrentChangeError(path)
      renameSync(staged, at)
    }
    return await versionAfter(to, stats, context.modes)
  } catch (error) {
    dropTemps(context, pins, [temp])
    throw error
  }
}

/** Makes a visible change durable. */
export async function syncChange(pins: Pins, path: Path, directory: Path): Promise<void> {
  try {
    await syncDirectories(pins, [directory])
  } catch {
    throw new ToolError(
      'BACKEND_ERROR',
      `The change of ${quote(path)} was made, but the storage does not confirm that it will last`,
      {
        path,
        hint: 'Read the file again before you go on. Report this to the user.',
      },
    )
  }
}
