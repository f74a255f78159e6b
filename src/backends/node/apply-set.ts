import { closeSync, constants, linkSync, lstatSync, openSync, type Stats } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { ancestorsOf, type Path, parentOf, ROOT } from '../../paths/logical-path.ts'
import type { Change, Version } from '../../storage/backend.ts'
import { applyOrder } from '../../storage/change-set.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { readLinkAt } from './canonical.ts'
import type { Present } from './check-changes.ts'
import {
  concurrentChangeError,
  doStep,
  NO_HARD_LINKS,
  type Pins,
  place,
  type Step,
  stepFailure,
  tempPlace,
  tempsOf,
  undoStep,
} from './journal-steps.ts'
import { readContent } from './read-content.ts'
import { isOutOfDescriptors, retryOnDescriptorLimit } from './retry-descriptors.ts'
import { fsyncAsync, type Staged, stage, syncDirectories } from './staging.ts'
import { bootId, type StateDirectory, type Temp } from './state-directory.ts'
import { type Applying, dropTemps, isUnchanged, type Task, type TaskMap, verbFor } from './tasks.ts'
import { movedOutsideError } from './tree-access.ts'
import { versionAfter } from './version-after.ts'

/** What the journal holds of a set that is being applied. */
export interface Journal {
  readonly boot: string
  readonly durable: boolean
  /** Taking it back failed halfway. */
  readonly undo?: boolean
  readonly steps: readonly Step[]
}

/**
 * The general case: everything is staged and synced, then the steps are written to the journal, then done. From the
 * moment the journal holds them whole, a kill leads to all of them; before it, to none. A step that fails takes back all.
 */
export async function applySet(how: Applying, pins: Pins, tasks: readonly [Task, ...Task[]]): Promise<Version[]> {
  const { state, durable } = how
  const taskOf = new Map(tasks.map((task) => [task.change.path, task]))
  const planned = planSteps(how, taskOf)
  const temps = planned.flatMap(({ step }) => tempsOf(step))
  const written = new Map<Path, Stats | undefined>()
  const steps: Step[] = []
  try {
    state.log([...how.strays, ...temps])
    for (const plan of planned) {
      steps.push('to' in plan ? await stageStep(how, pins, taskOf, plan, written) : plan.step)
    }
    if (durable) await syncDirectories(pins, new Set(temps.map(([home]) => home)))
    throwIfAborted(how.signal)
    await retryOnDescriptorLimit(() => requireUndisturbed(pins, tasks, taskOf))
    state.writeJournal(JSON.stringify({ boot: bootId(), durable, steps } satisfies Journal), durable)
  } catch (error) {
    try {
      state.clearJournal(false)
      dropTemps(how, pins, temps)
    } catch {
      how.strays.push(...temps)
    }
    throw storageError('change', tasks[0].change.path, error)
  }
  await runSteps(how, pins, steps, temps)
  dropTemps(how, pins, temps)
  return tasks.map(({ change }) => versionAfter(change.to, written.get(change.path), how.modes))
}

/** Every directory in which names change and that is there after all steps. */
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

async function runSteps(how: Applying, pins: Pins, steps: readonly Step[], temps: readonly Temp[]): Promise<void> {
  const { state, durable } = how
  let done = 0
  try {
    while (done < steps.length) {
      // Without a pause, so that nobody in this process sees half of a set.
      await resumed(() => {
        for (; done < steps.length; done++) doStep(pins, steps[done] as Step)
      })
    }
    if (durable) await syncDirectories(pins, changedDirectories(steps))
    state.clearJournal(durable)
  } catch (error) {
    const failed = steps[Math.min(done, steps.length - 1)] as Step
    journalUndo(state, { boot: bootId(), durable, steps })
    // Whoever takes the lock next tries again; the temporaries hold the old content.
    if ((await undoSteps(pins, steps.slice(0, done + 1))).length > 0) throw rollbackFailedError()
    if (durable) await syncDirectories(pins, changedDirectories(steps)).catch(() => {})
    state.clearJournal(durable)
    dropTemps(how, pins, temps)
    throw stepFailure(failed, error)
  }
}

/** To be done before anything is taken back: a kill in between must not lead on from what is half taken back. */
export function journalUndo(state: StateDirectory, journal: Journal): void {
  try {
    state.writeJournal(JSON.stringify({ ...journal, undo: true } satisfies Journal), journal.durable)
  } catch {
    // While the journal leads forward, only forward is safe.
    if (state.readJournal() !== undefined) throw rollbackFailedError()
  }
}

/** Takes steps back, the last one first; returns why some could not be. */
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

/** The refusal while half of a set stands, and the old state of the other half under temporary names. */
export function rollbackFailedError(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot take back a change that failed halfway: the storage refuses', {
    hint: 'Tell the person in charge. It is tried again before the next change.',
  })
}

/** Runs something that can be run on from where it stopped, whenever descriptors are short. */
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

/** A step that puts something there, with what it puts there. */
interface Putting {
  readonly step: Extract<Step, { do: 'create' | 'replace' }>
  readonly change: Change
  readonly present: Present | undefined
  readonly to: Staged
}

function planSteps({ state }: Applying, taskOf: TaskMap): (Putting | { readonly step: Step })[] {
  const ordered = applyOrder([...taskOf.values()].map(({ change }) => change))
  return ordered.flatMap((change): (Putting | { readonly step: Step })[] => {
    const { path, to } = change
    const present = taskOf.get(path)?.present
    const temp = () => state.nextTemp(homeOf(path, taskOf))
    const away: { readonly step: Step }[] =
      present === undefined
        ? []
        : present.type === 'directory'
          ? [{ step: { do: 'rmdir', path, mode: present.stats.mode & 0o777 } }]
          : [{ step: { do: 'remove', path, aside: temp(), ino: present.stats.ino } }]
    if (to === null) return away
    if (to.type === 'directory') return [...away, { step: { do: 'mkdir', path } }]
    const put = { change, present, to }
    if (present === undefined || present.type === 'directory')
      return [...away, { step: { do: 'create', path, temp: temp(), ino: 0 }, ...put }]
    return [{ step: { do: 'replace', path, temp: temp(), ino: 0, backup: temp() }, ...put }]
  })
}

/** The nearest directory above that is there before, while and after the set is applied. */
function homeOf(path: Path, taskOf: TaskMap): Path {
  return ancestorsOf(path).find((above) => !taskOf.has(above)) ?? ROOT
}

/** Writes what a step needs under its temporary names. */
async function stageStep(
  how: Applying,
  pins: Pins,
  taskOf: TaskMap,
  { step, change: { from }, present, to }: Putting,
  written: Map<Path, Stats | undefined>,
): Promise<Step> {
  try {
    const at = await retryOnDescriptorLimit(() => tempPlace(pins, step.temp))
    const source = from === undefined ? undefined : taskOf.get(from)
    let stats = source === undefined ? undefined : await linkSource(how, pins, source, to, at)
    stats ??= await stage(at, to, present?.stats ?? source?.present?.stats, how.durable)
    if (to.type === 'file') written.set(step.path, stats)
    if (step.do === 'replace') await keepBackup(how, pins, step.path, step.backup)
    return { ...step, ino: stats?.ino ?? lstatSync(at).ino }
  } catch (error) {
    throw storageError(verbFor(to), step.path, error)
  }
}

/** A moved file need not be written again: its staged copy is a second name of it. */
async function linkSource(
  how: Applying,
  pins: Pins,
  { change, present }: Task,
  to: Staged,
  at: string,
): Promise<Stats | undefined> {
  const version = present?.version
  if (change.to !== null || to.type !== 'file' || version?.type !== 'file' || present === undefined) return undefined
  if (to.mode !== undefined && to.mode !== (present.stats.mode & 0o777)) return undefined
  if (version.size !== to.bytes.length || version.sha256 !== sha256(to.bytes)) return undefined
  const source = await retryOnDescriptorLimit(() => place(pins, change.path))
  if (!isUnchanged(source, present) || !tryLink(source, at)) return undefined
  if (how.durable) {
    const fd = await retryOnDescriptorLimit(() => openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW))
    try {
      await fsyncAsync(fd)
    } finally {
      closeSync(fd)
    }
  }
  return lstatSync(at)
}

/** Keeps the old state under a second name, or as a copy where it cannot have two. */
async function keepBackup(how: Applying, pins: Pins, path: Path, backup: Temp): Promise<void> {
  const at = await retryOnDescriptorLimit(() => tempPlace(pins, backup))
  const here = await retryOnDescriptorLimit(() => place(pins, path))
  if (tryLink(here, at)) return
  const stats = lstatSync(here)
  const old: Staged = stats.isSymbolicLink()
    ? { type: 'link', target: readLinkAt(how.ground, path) }
    : { type: 'file', bytes: (await readContent(how.ground, path, undefined, how.modes)).bytes }
  await stage(at, old, stats, how.durable)
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

/** The last look before the journal: everything is as it was judged, and where it was. */
function requireUndisturbed(pins: Pins, tasks: readonly Task[], taskOf: TaskMap): void {
  const directories = new Set<Path>()
  for (const { change, present } of tasks) {
    const parent = parentOf(change.path)
    if (!taskOf.has(parent)) directories.add(parent)
    if (present !== undefined && !isUnchanged(place(pins, change.path), present))
      throw concurrentChangeError(change.path)
  }
  for (const directory of directories) if (!pins.get(directory).holds()) throw movedOutsideError(directory)
}
