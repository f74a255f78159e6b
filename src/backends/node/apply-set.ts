import { closeSync, constants, linkSync, lstatSync, openSync, type Stats } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../errors.ts'
import { sha256Async } from '../../files/hash/sha256.ts'
import { nearestFinder, type Path, parentOf, ROOT } from '../../paths/logical-path.ts'
import type { Change, Version } from '../../storage/backend.ts'
import { applyOrder } from '../../storage/change-set.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { type FileState, sizeOf } from '../../storage/versions.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { readLinkAt } from './canonical.ts'
import type { Present } from './check-changes.ts'
import {
  concurrentChangeError,
  doStep,
  NO_HARD_LINKS,
  type Pins,
  physicalPathOf,
  type Step,
  stepFailure,
  tempPathOf,
  tempsOf,
  undoStep,
} from './journal-steps.ts'
import { isOutOfDescriptors, retryOnDescriptorLimit } from './retry-descriptors.ts'
import { copyFile, stageState } from './stage-state.ts'
import { fsyncAsync, type Staged, stage, syncDirectories } from './staging.ts'
import { bootId, type StateDirectory, type Temp } from './state-directory.ts'
import { type ApplyContext, dropTemps, isUnchanged, type Task, type TaskMap, verbFor } from './tasks.ts'
import { MovedOutsideError } from './tree-access.ts'
import { versionAfter } from './version-after.ts'

/** The journal of a set that is being applied. */
export interface Journal {
  readonly boot: string
  readonly durable: boolean
  /** The set is being rolled back. */
  readonly undo?: boolean
  readonly steps: readonly Step[]
}

/**
 * Applies any set: stages and syncs everything, writes the steps to the journal, then does them. After a kill, recovery
 * completes the set if the journal is complete, and drops it otherwise. A step that fails rolls back the whole set.
 */
export async function applySet(
  context: ApplyContext,
  pins: Pins,
  tasks: readonly [Task, ...Task[]],
): Promise<Version[]> {
  const { state, durable } = context
  const taskOf = new Map(tasks.map((task) => [task.change.path, task]))
  const planned = planSteps(context, taskOf)
  const temps = planned.flatMap(({ step }) => tempsOf(step))
  const statsByPath = new Map<Path, Stats | undefined>()
  const steps: Step[] = []
  try {
    state.log([...context.strays, ...temps])
    for (const plan of planned) {
      steps.push('to' in plan ? await stageStep(context, pins, taskOf, plan, statsByPath) : plan.step)
    }
    if (durable) await syncDirectories(pins, new Set(temps.map(([home]) => home)))
    throwIfAborted(context.signal)
    await retryOnDescriptorLimit(() => requireUndisturbed(pins, tasks, taskOf))
    state.writeJournal(JSON.stringify({ boot: bootId(), durable, steps } satisfies Journal), durable)
  } catch (error) {
    try {
      state.clearJournal(false)
      dropTemps(context, pins, temps)
    } catch {
      context.strays.push(...temps)
    }
    throw storageError('change', tasks[0].change.path, error)
  }
  await runSteps(context, pins, steps, temps)
  dropTemps(context, pins, temps)
  return Promise.all(tasks.map(({ change }) => versionAfter(change.to, statsByPath.get(change.path), context.modes)))
}

/** Returns the directories whose names change and that exist after all steps. */
export function changedDirectories(steps: readonly Step[]): Set<Path> {
  const touched = new Set<Path>()
  for (const step of steps) {
    touched.add(parentOf(step.path))
    if (step.do === 'mkdir') touched.add(step.path)
    if (step.do === 'rmdir') touched.delete(step.path)
    for (const [home] of tempsOf(step)) touched.add(home)
  }
  for (const step of steps) if (step.do === 'rmdir') touched.delete(step.path)
  return touched
}

async function runSteps(
  context: ApplyContext,
  pins: Pins,
  steps: readonly Step[],
  temps: readonly Temp[],
): Promise<void> {
  const { state, durable } = context
  let doneCount = 0
  try {
    while (doneCount < steps.length) {
      // Without yielding, so that no other code in this process sees half of a set.
      await resumed(() => {
        for (; doneCount < steps.length; doneCount++) doStep(pins, steps[doneCount] as Step)
      })
    }
    if (durable) await syncDirectories(pins, changedDirectories(steps))
    state.clearJournal(durable)
  } catch (error) {
    const failed = steps[Math.min(doneCount, steps.length - 1)] as Step
    journalUndo(state, { boot: bootId(), durable, steps })
    // The next holder of the lock tries again; the temporary files have the old content.
    if ((await undoSteps(pins, steps.slice(0, doneCount + 1))).length > 0) throw rollbackFailedError()
    if (durable) await syncDirectories(pins, changedDirectories(steps)).catch(() => {})
    state.clearJournal(durable)
    dropTemps(context, pins, temps)
    throw stepFailure(failed, error)
  }
}

/**
 * Marks the journal as rolling back. Call before undoing the first step, so that recovery after a kill continues the
 * rollback and does not roll forward from a half undone set.
 */
export function journalUndo(state: StateDirectory, journal: Journal): void {
  try {
    state.writeJournal(JSON.stringify({ ...journal, undo: true } satisfies Journal), journal.durable)
  } catch {
    // As long as the journal says forward, only rolling forward is safe.
    if (state.readJournal() !== undefined) throw rollbackFailedError()
  }
}

/** Undoes steps, the last one first. Returns the errors of those that failed. */
export async function undoSteps(pins: Pins, steps: readonly Step[]): Promise<unknown[]> {
  const errors: unknown[] = []
  for (const step of [...steps].reverse()) {
    try {
      await resumed(() => undoStep(pins, step))
    } catch (error) {
      errors.push(error)
    }
  }
  return errors
}

/** The error while a set is half applied, and the old state of the other half is under temporary names. */
export function rollbackFailedError(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot take back a change that failed halfway: the storage refuses', {
    hint: 'Report this to the user. It is tried again before the next change.',
  })
}

/** Runs an action that can continue where it stopped, again whenever descriptors run out. */
async function resumed(action: () => void): Promise<void> {
  for (;;) {
    try {
      return action()
    } catch (error) {
      if (!isOutOfDescriptors(error)) throw error
      await sleep(5)
    }
  }
}

/** A step that creates or replaces a file or link, with its content. */
interface PutStep {
  readonly step: Extract<Step, { do: 'create' | 'replace' }>
  readonly change: Change
  readonly present: Present | undefined
  readonly to: Staged
}

function planSteps({ state }: ApplyContext, taskOf: TaskMap): (PutStep | { readonly step: Step })[] {
  // The nearest directory above a path that exists before, during and after the set.
  const homeOf = nearestFinder<Path>((path) => !taskOf.has(path))
  const ordered = applyOrder([...taskOf.values()].map(({ change }) => change))
  return ordered.flatMap((change): (PutStep | { readonly step: Step })[] => {
    const { path, to } = change
    const present = taskOf.get(path)?.present
    const temp = () => state.nextTemp(homeOf(parentOf(path)) ?? ROOT)
    const away: { readonly step: Step }[] =
      present === undefined
        ? []
        : present.type === 'directory'
          ? [{ step: { do: 'rmdir', path, mode: present.stats.mode & 0o777 } }]
          : [{ step: { do: 'remove', path, aside: temp(), ino: present.stats.ino } }]
    if (to === null) return away
    if (to.type === 'directory') return [...away, { step: { do: 'mkdir', path } }]
    const placement = { change, present, to }
    if (present === undefined || present.type === 'directory')
      return [...away, { step: { do: 'create', path, temp: temp(), ino: 0 }, ...placement }]
    return [{ step: { do: 'replace', path, temp: temp(), ino: 0, backup: temp() }, ...placement }]
  })
}

/** Writes the files that a step needs under their temporary names. */
async function stageStep(
  context: ApplyContext,
  pins: Pins,
  taskOf: TaskMap,
  { step, change: { from }, present, to }: PutStep,
  statsByPath: Map<Path, Stats | undefined>,
): Promise<Step> {
  try {
    const at = await retryOnDescriptorLimit(() => tempPathOf(pins, step.temp))
    const source = from === undefined ? undefined : taskOf.get(from)
    let stats = source === undefined ? undefined : await linkSource(context, pins, source, to, at)
    const old = present?.stats ?? source?.present?.stats
    if (stats === undefined && from !== undefined && to.type === 'file' && isMoved(context, to)) {
      stats = await copyFile(context, from, at, to, old)
    }
    stats ??= await stageState(context, { at, path: step.path, to }, old)
    if (to.type === 'file') statsByPath.set(step.path, stats)
    if (step.do === 'replace') await keepBackup(context, pins, step.path, step.backup)
    return { ...step, ino: stats?.ino ?? lstatSync(at).ino }
  } catch (error) {
    throw storageError(verbFor(to), step.path, error)
  }
}

/** Whether a content is that of a file which the set moves. */
function isMoved({ contents }: ApplyContext, { content }: FileState): boolean {
  return content !== undefined && !contents.has(content)
}

/** Stages a moved file as a hard link to its source, so that it is not written again. */
async function linkSource(
  context: ApplyContext,
  pins: Pins,
  { change, present }: Task,
  to: Staged,
  at: string,
): Promise<Stats | undefined> {
  const version = present?.version
  if (change.to !== null || to.type !== 'file' || version?.type !== 'file' || present === undefined) return undefined
  if (to.mode !== undefined && to.mode !== (present.stats.mode & 0o777)) return undefined
  if (version.size !== sizeOf(to)) return undefined
  if (version.sha256 !== (to.content?.sha256 ?? (await sha256Async(to.bytes)))) return undefined
  const source = await retryOnDescriptorLimit(() => physicalPathOf(pins, change.path))
  if (!isUnchanged(source, present) || !tryLink(source, at)) return undefined
  if (context.durable) {
    const fd = await retryOnDescriptorLimit(() => openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW))
    try {
      await fsyncAsync(fd)
    } finally {
      closeSync(fd)
    }
  }
  return lstatSync(at)
}

/** Keeps the old state as a hard link, or as a copy if the file system has no hard links. */
async function keepBackup(context: ApplyContext, pins: Pins, path: Path, backup: Temp): Promise<void> {
  const at = await retryOnDescriptorLimit(() => tempPathOf(pins, backup))
  const here = await retryOnDescriptorLimit(() => physicalPathOf(pins, path))
  if (tryLink(here, at)) return
  const stats = lstatSync(here)
  if (!stats.isSymbolicLink()) await copyFile(context, path, at, {}, stats)
  else await stage(at, { type: 'link', target: readLinkAt(context.access, path) }, stats, context.durable)
}

function tryLink(source: string, at: string): boolean {
  try {
    linkSync(source, at)
    return true
  } catch (error) {
    const code = errnoOf(error)
    if (NO_HARD_LINKS.has(code) || code === 'EXDEV') return false
    throw error
  }
}

/** The last check before the journal is written: everything is as it was checked, and where it was. */
function requireUndisturbed(pins: Pins, tasks: readonly Task[], taskOf: TaskMap): void {
  const directories = new Set<Path>()
  for (const { change, present } of tasks) {
    const parent = parentOf(change.path)
    if (!taskOf.has(parent)) directories.add(parent)
    if (present !== undefined && !isUnchanged(physicalPathOf(pins, change.path), present))
      throw concurrentChangeError(change.path)
  }
  for (const directory of directories) if (!pins.get(directory).holds()) throw new MovedOutsideError(directory)
}
