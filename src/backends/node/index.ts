import type { Backend } from '../../storage/backend.ts'
import { refuseSurplus } from '../../util/check-options.ts'
import { type NodeOptions, openDisk } from './open-disk.ts'
import { TreeWatches } from './watch-tree.ts'

export type { NodeOptions } from './open-disk.ts'

/**
 * Creates a backend over a directory on disk. Nothing outside of it is reached, also when other processes swap in links
 * during a call (on Linux; see the threat model for macOS and Windows). Commits are durable, exclude each other between
 * processes, and are completed or rolled back after a kill, when the root is opened or the lock is taken next.
 *
 * The directory is held open until `close()`: if it is moved or replaced, every call throws. Temporary files are created
 * next to what they replace, as `.wardspace-<32 hex digits>.tmp`, a name that no tool can see or use. On Linux, searches of
 * many files read with a second thread, which keeps no process running.
 *
 * @throws TypeError if the root is not a readable directory, belongs to the operating system, or contains the state directory
 * @example
 * const backend = nodeBackend('./repo')
 */
export function nodeBackend(root: string, options?: NodeOptions): Backend {
  refuseSurplus('nodeBackend()', 2, arguments)
  return openDisk(root, options, new TreeWatches())
}
