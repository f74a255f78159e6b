import type { Version } from '../../storage/backend.ts'
import { applyOne } from './apply-one.ts'
import { applySet } from './apply-set.ts'
import { applyTree, newTree } from './apply-tree.ts'
import { openPins } from './journal-steps.ts'
import type { Applying, Task } from './tasks.ts'

/**
 * Applies judged changes, all of them or none; returns what each path is afterwards. One change, and a new directory with
 * all that is in it, take effect in one system call; every other set has a journal.
 */
export async function applyTasks(how: Applying, tasks: readonly Task[]): Promise<Version[]> {
  const pins = openPins(how.ground)
  try {
    const [first, ...others] = tasks
    if (first === undefined) return []
    if (tasks.length === 1 && !changesKind(first)) return [await applyOne(how, pins, first)]
    const tree = newTree(tasks)
    return tree === undefined ? await applySet(how, pins, [first, ...others]) : await applyTree(how, pins, tree)
  } finally {
    pins.close()
  }
}

/** Whether a directory becomes something else, or something else a directory: no single call does that. */
function changesKind({ change: { to }, present }: Task): boolean {
  if (to === null || present === undefined) return false
  return (to.type === 'directory') !== (present.type === 'directory')
}
