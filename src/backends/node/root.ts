import { lstatSync, opendirSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createLinuxAccess, type TreeAccess } from './tree-access.ts'
import { createRecheckingAccess } from './tree-access-recheck.ts'

export interface Root {
  readonly access: TreeAccess
  /** The physical path. */
  readonly physical: string
  readonly ino: number
  readonly caseSensitive: boolean
}

/**
 * Opens a directory as the root of a backend.
 *
 * @throws TypeError if it does not exist, is not a directory, cannot be read, or belongs to the operating system
 */
export function openRoot(root: string, grounding?: 'recheck'): Root {
  const physical = physicalRoot(root)
  if (process.platform !== 'win32' && KERNEL_PATHS.test(physical)) {
    throw new TypeError(
      'nodeBackend(): the root belongs to the operating system; /proc, /sys and /dev are never reached',
    )
  }
  let access: TreeAccess
  try {
    access =
      grounding === undefined && hasDescriptorPaths() ? createLinuxAccess(physical) : createRecheckingAccess(physical)
  } catch (error) {
    throw new TypeError('nodeBackend(): the root cannot be opened for reading', { cause: error })
  }
  return { access, physical, ino: statSync(physical).ino, caseSensitive: isCaseSensitive(physical) }
}

const KERNEL_PATHS = /^\/(?:proc|sys|dev)(?:\/|$)/

function physicalRoot(root: string): string {
  if (typeof root !== 'string' || root === '')
    throw new TypeError('nodeBackend(): the root must be the path of a directory')
  let physical: string
  try {
    physical = realpathSync.native(root)
  } catch (error) {
    throw new TypeError(`nodeBackend(): the root ${JSON.stringify(root)} does not exist or cannot be reached`, {
      cause: error,
    })
  }
  if (!statSync(physical).isDirectory())
    throw new TypeError(`nodeBackend(): the root ${JSON.stringify(root)} is not a directory`)
  return physical
}

/** Whether `/proc/self/fd` shows the path of a descriptor. */
function hasDescriptorPaths(): boolean {
  if (process.platform !== 'linux') return false
  try {
    readlinkSync('/proc/self/fd/0')
    return true
  } catch {
    // Standard input may be closed while the directory exists.
    try {
      return readdirSync('/proc/self/fd').length > 0
    } catch {
      return false
    }
  }
}

/** Checks whether an existing name is also found in the other letter case. Without such a name, the platform decides. */
function isCaseSensitive(physical: string): boolean {
  for (const [directory, name] of namesToTry(physical)) {
    const swapped = swapCase(name)
    if (swapped === name) continue
    try {
      const here = lstatSync(join(directory, name))
      const there = lstatSync(join(directory, swapped))
      return here.ino !== there.ino || here.dev !== there.dev
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
    }
  }
  return process.platform !== 'win32' && process.platform !== 'darwin'
}

function* namesToTry(physical: string): Generator<[string, string]> {
  const directory = opendirSync(physical)
  try {
    for (let i = 0; i < 32; i++) {
      const entry = directory.readSync()
      if (entry === null) break
      yield [physical, entry.name]
    }
  } finally {
    directory.closeSync()
  }
  yield [dirname(physical), basename(physical)]
}

function swapCase(name: string): string {
  return name.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}
