import type { Path } from '../../paths/logical-path.ts'
import type { Change, EntryState } from '../../storage/backend.ts'
import type { Present } from './check-changes.ts'
import { lstatAt, type Pins, tempPathOf } from './journal-steps.ts'
import { removeTree } from './remove-tree.ts'
import type { StagedContents } from './staged-content.ts'
import type { StateDirectory, Temp } from './state-directory.ts'
import type { TreeAccess } from './tree-access.ts'

/** A change with an effect, and the entry that is there now. */
export interface Task {
  readonly change: Change
  readonly present: Present | undefined
}

/** What applying changes needs. */
export interface ApplyContext {
  readonly access: TreeAccess
  readonly state: StateDirectory
  readonly durable: boolean
  readonly signal: AbortSignal | undefined
  readonly modes: boolean
  readonly contents: StagedContents
  /** Temporary files that could not be removed. They stay in the log until they are. */
  readonly strays: Temp[]
}

/** Removes temporary files. Those that cannot be removed stay in the log. */
export function dropTemps({ state, strays }: ApplyContext, pins: Pins, temps: readonly Temp[]): void {
  for (const temp of temps) {
    try {
      removeTree(tempPathOf(pins, temp))
    } catch {
      strays.push(temp)
    }
  }
  state.logLeft(strays)
}

/** Whether a physical path still has the entry that was checked: the last check before it is replaced. */
export function isUnchanged(at: string, present: Present): boolean {
  const now = lstatAt(at)
  if (now === undefined) return false
  // Staging next to it changes the times of a directory.
  if (present.type === 'directory') return now.isDirectory() && now.ino === present.stats.ino
  return now.ino === present.stats.ino && now.size === present.stats.size && now.mtimeMs === present.stats.mtimeMs
}

export function verbFor(to: EntryState): string {
  if (to === null) return 'delete'
  return to.type === 'directory' ? 'create directory' : to.type === 'link' ? 'link' : 'write'
}

/** The tasks of a path. */
export type TaskMap = ReadonlyMap<Path, Task>
