import type { Path } from '../../paths/logical-path.ts'
import type { Change, State, Version } from '../../vfs/backend.ts'
import { applyOne } from './applying-one.ts'
import { applySet } from './applying-set.ts'
import { applyTree, newTree } from './applying-tree.ts'
import type { Ground } from './ground.ts'
import type { Present } from './judging.ts'
import { removeTree } from './removing.ts'
import type { StateDirectory, Temp } from './state.ts'
import { lookAt, openPins, type Pins, tempPlace } from './steps.ts'

/** A change that has something to do, with what is there now. */
export interface Task {
  readonly change: Change
  readonly present: Present | undefined
}

export interface Applying {
  readonly ground: Ground
  readonly state: StateDirectory
  readonly durable: boolean
  readonly signal: AbortSignal | undefined
  readonly modes: boolean
  /** Temporaries that could not be removed; they stay in the log until they can. */
  readonly strays: Temp[]
}

/**
 * Applies judged changes, all of them or none; returns what each path is afterwards. One change, and a new directory with
 * all that is in it, take effect in one system call; every other set has a journal.
 */
export async function applyTasks(how: Applying, tasks: readonly Task[]): Promise<Version[]> {
  const pins = openPins(how.ground)
  try {
    const [first] = tasks
    if (first === undefined) return []
    if (tasks.length === 1 && !changesKind(first)) return [await applyOne(how, pins, first)]
    const top = newTree(tasks)
    return top === undefined ? await applySet(how, pins, tasks) : await applyTree(how, pins, tasks, top)
  } finally {
    pins.close()
  }
}

/** Whether a directory becomes something else, or something else a directory: no single call does that. */
function changesKind({ change: { to }, present }: Task): boolean {
  if (to === null || present === undefined) return false
  return (to.type === 'directory') !== (present.type === 'directory')
}

/** Removes temporaries; those that cannot be removed stay in the log. */
export function dropTemps({ state, strays }: Applying, pins: Pins, temps: readonly Temp[]): void {
  for (const temp of temps) {
    try {
      removeTree(tempPlace(pins, temp))
    } catch {
      strays.push(temp)
    }
  }
  state.log(strays)
}

/** Whether what is at a place still is what was judged: the last look before it is replaced. */
export function isSame(at: string, present: Present): boolean {
  const now = lookAt(at)
  if (now === undefined) return false
  // Making the staged copy of a neighbour changes a directory's times.
  if (present.type === 'directory') return now.isDirectory() && now.ino === present.stats.ino
  return now.ino === present.stats.ino && now.size === present.stats.size && now.mtimeMs === present.stats.mtimeMs
}

export function verbFor(to: State): string {
  if (to === null) return 'delete'
  return to.type === 'directory' ? 'create directory' : to.type === 'link' ? 'link' : 'write'
}

/** The tasks of a path. */
export type TaskMap = ReadonlyMap<Path, Task>
