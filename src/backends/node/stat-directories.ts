import { fstatSync, lstatSync, type Stats } from 'node:fs'
import type { Path } from '../../paths/logical-path.ts'
import { type DirectoryStats, FACTS, TYPE_CODES } from '../../storage/backend.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import { isNoLongerThere } from './errno.ts'
import { listPinned } from './list-directory.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { typeOf } from './stat.ts'
import type { TreeAccess } from './tree-access.ts'

/** Longest time without yielding to the event loop, in milliseconds. */
const TURN_MS = 10

/** Milliseconds within which a second change of a directory may leave its times the same. */
const RACY_MS = 2000

const QUIET = Object.freeze({ throwIfNoEntry: false })

/**
 * Implements `Backend.statDirectories`: synchronous, one pin per directory, because asynchronous stats cost ten times as
 * much. Names are listed again only if the times of the directory have changed.
 */
export async function statDirectories(
  access: TreeAccess,
  directories: readonly Path[],
  previous: (directory: Path) => DirectoryStats | undefined,
  modes: boolean,
): Promise<(DirectoryStats | undefined)[]> {
  const results: (DirectoryStats | undefined)[] = []
  while (results.length < directories.length) {
    await retryOnDescriptorLimit(() => {
      const end = performance.now() + TURN_MS
      while (results.length < directories.length) {
        const directory = directories[results.length] as Path
        const last = previous(directory)
        results.push(restatDirectory(access, directory, last, modes) ?? statDirectory(access, directory, last, modes))
        if (performance.now() > end) return
      }
    })
    if (results.length < directories.length) await yieldToEventLoop()
  }
  return results
}

/**
 * Stats the previous names by their physical paths, with a third of the system calls. The result is only numbers, which
 * decide whether a file is read again through the tree access, so a link swapped in gains nothing.
 */
function restatDirectory(
  access: TreeAccess,
  directory: Path,
  last: DirectoryStats | undefined,
  modes: boolean,
): DirectoryStats | undefined {
  if (last === undefined || Number.isNaN(last.stamp)) return undefined
  const physicalPath = directory === '' ? access.physical : `${access.physical}/${directory}`
  try {
    const now = lstatSync(physicalPath, QUIET)
    if (now?.isDirectory() !== true || stampOf(now) !== last.stamp) return undefined
    return readFacts(`${physicalPath}/`, last, modes)
  } catch {
    return undefined
  }
}

function statDirectory(
  access: TreeAccess,
  directory: Path,
  last: DirectoryStats | undefined,
  modes: boolean,
): DirectoryStats | undefined {
  let pin: ReturnType<TreeAccess['pin']>
  try {
    pin = access.pin(directory)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
  try {
    const stamp = pin.fd < 0 ? Number.NaN : stampOf(fstatSync(pin.fd))
    if (last !== undefined && last.stamp === stamp) return readFacts(`${pin.self}/`, last, modes)
    const entries = listPinned(pin, directory)
    const names = entries.map(({ name }) => name)
    const types = Uint8Array.from(entries, ({ type }) => TYPE_CODES[type])
    return readFacts(`${pin.self}/`, { stamp, names, types }, modes)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  } finally {
    pin.close()
  }
}

/** Reads the facts of names in a directory. If the type of a name changed, the stamp is NaN. */
function readFacts(
  prefix: string,
  { stamp, names, types }: Omit<DirectoryStats, 'facts'>,
  modes: boolean,
): DirectoryStats {
  const facts = new Float64Array(FACTS * names.length)
  let present = types
  for (let i = 0; i < names.length; i++) {
    if (types[i] === TYPE_CODES.directory) continue
    const stats = lstatSync(prefix + (names[i] as string), QUIET)
    const type = stats === undefined ? TYPE_CODES.other : TYPE_CODES[typeOf(stats)]
    if (type !== types[i]) {
      if (present === types) present = types.slice()
      present[i] = type
    }
    if (stats === undefined) continue
    const at = FACTS * i
    facts[at] = stats.size
    facts[at + 1] = modes ? stats.mode & 0o777 : -1
    facts[at + 2] = stats.mtimeMs
    facts[at + 3] = stats.ctimeMs
    facts[at + 4] = stats.ino
  }
  return { stamp: present === types ? stamp : Number.NaN, names, types: present, facts }
}

/**
 * Returns the ctime of a directory: every added or removed name changes it, and no process can set it back. NaN, which
 * equals nothing, for a time too recent to be trusted.
 */
function stampOf({ ctimeMs }: Stats): number {
  return ctimeMs < Date.now() - RACY_MS ? ctimeMs : Number.NaN
}

function isGone(error: unknown): boolean {
  return isNoLongerThere(error) || errnoOf(error) === 'EACCES'
}
