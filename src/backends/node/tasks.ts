import type { Path } from '../../paths/logical-path.ts'
import type { Change, EntryState } from '../../storage/backend.ts'
import type { Present } from './check-changes.ts'
import { lstatAt, type Pins, tempPlace } from './journal-steps.ts'
import { removeTree } from './remove-tree.ts'
import type { StateDirectory, Temp } from './state-directory.ts'
import type { TreeAccess } from './tree-access.ts'

/** A change that has something to do, with what is there now. */
export interface Task {
  readonly change: Change
  readonly present: Present | undefined
}

export interface Applying {
  readonly ground: TreeAccess
  readonly state: StateDirectory
  readonly durable: boolean
  readonly signal: AbortSignal | undefined
  readonly modes: boolean
  /** Temporaries that could not be removed; they stay in the log until they can. */
  readonly strays: Temp[]
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
  state.logLeft(strays)
}

/** Whether what is at a place still is what was judged: the last look before it is replaced. */
export function isUnchanged(at: string, present: Present): boolean {
  const now = lstatAt(at)
  if (now === undefined) return false
  // Making the staged copy of a neighbour changes a directory's times.
  if (present.type === 'directory') return now.isDirectory() && now.ino === present.stats.ino
  return now.ino === present.stats.ino && now.size === present.stats.size && now.mtimeMs === present.stats.mtimeMs
}

export function verbFor(to: EntryState): string {
  if (to === null) return 'delete'
  return to.type === 'directory' ? 'create directory' : to.type === 'link' ? 'link' : 'write'
}

/** The tasks of a path. */
export type TaskMap = ReadonlyMap<Path, Task>
