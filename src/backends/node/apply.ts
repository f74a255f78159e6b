import type { Version } from '../../storage/backend.ts'
import { applyOne } from './apply-one.ts'
import { applySet } from './apply-set.ts'
import { applyTree, newTree } from './apply-tree.ts'
import { openPins } from './journal-steps.ts'
import type { ApplyContext, Task } from './tasks.ts'

/**
 * Applies checked changes, all or none, and returns the new version of each path. A single change and a new directory
 * with its contents take effect in one system call; every other set uses the journal.
 */
export async function applyTasks(context: ApplyContext, tasks: readonly Task[]): Promise<Version[]> {
  const pins = openPins(context.access)
  try {
    const [first, ...others] = tasks
    if (first === undefined) return []
    if (tasks.length === 1 && !changesKind(first)) return [await applyOne(context, pins, first)]
    const tree = newTree(tasks)
    return tree === undefined ? await applySet(context, pins, [first, ...others]) : await applyTree(context, pins, tree)
  } finally {
    pins.close()
  }
}

/** Whether a directory becomes a file or link, or the reverse. No single system call does that. */
function changesKind({ change: { to }, present }: Task): boolean {
  if (to === null || present === undefined) return false
  return (to.type === 'directory') !== (present.type === 'directory')
}
