import { fstatSync, lstatSync, type Stats } from 'node:fs'
import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import { type DirectoryStats, FACTS, TYPE_CODES } from '../../storage/backend.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import { listDirectory } from './list-directory.ts'
import { isOutOfDescriptors, retryOnDescriptorLimit } from './retry-descriptors.ts'
import { typeOf } from './stat.ts'
import type { TreeAccess } from './tree-access.ts'

/** How long the event loop may have to wait, in milliseconds. */
const TURN_MS = 10

/** The times of a directory that changed within the last two seconds may stay the same when it changes again. */
const RACY_MS = 2000

const QUIET = Object.freeze({ throwIfNoEntry: false })

/**
 * Looks at directories one after the other, synchronously, each pinned once: a stat by promise costs ten times as much.
 * Names are listed again only where the directory's own times are not those of the last time.
 */
export async function statDirectories(
  ground: TreeAccess,
  directories: readonly Path[],
  known: (directory: Path) => DirectoryStats | undefined,
  modes: boolean,
): Promise<(DirectoryStats | undefined)[]> {
  const found: (DirectoryStats | undefined)[] = []
  while (found.length < directories.length) {
    await retryOnDescriptorLimit(() => {
      const end = performance.now() + TURN_MS
      while (found.length < directories.length) {
        const directory = directories[found.length] as Path
        const last = known(directory)
        found.push(glanceAgain(ground, directory, last, modes) ?? glanceAt(ground, directory, last, modes))
        if (performance.now() > end) return
      }
    })
    if (found.length < directories.length) await yieldToEventLoop()
  }
  return found
}

/**
 * The same names once more, by their physical paths: nothing but numbers comes from there, and they decide only whether a
 * file is looked at again through the ground, so that a link swapped in leads nowhere. A third of the system calls.
 */
function glanceAgain(
  ground: TreeAccess,
  directory: Path,
  last: DirectoryStats | undefined,
  modes: boolean,
): DirectoryStats | undefined {
  if (last === undefined || Number.isNaN(last.stamp)) return undefined
  const place = directory === '' ? ground.physical : `${ground.physical}/${directory}`
  try {
    const now = lstatSync(place, QUIET)
    if (now?.isDirectory() !== true || stampOf(now) !== last.stamp) return undefined
    return look(`${place}/`, last, modes)
  } catch {
    return undefined
  }
}

function glanceAt(
  ground: TreeAccess,
  directory: Path,
  last: DirectoryStats | undefined,
  modes: boolean,
): DirectoryStats | undefined {
  let pin: ReturnType<TreeAccess['pin']>
  try {
    pin = ground.pin(directory)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
  try {
    const stamp = pin.fd < 0 ? Number.NaN : stampOf(fstatSync(pin.fd))
    if (last !== undefined && last.stamp === stamp) return look(`${pin.self}/`, last, modes)
    const entries = listDirectory(ground, directory)
    const names = entries.map(({ name }) => name)
    const types = Uint8Array.from(entries, ({ type }) => TYPE_CODES[type])
    return look(`${pin.self}/`, { stamp, names, types }, modes)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  } finally {
    pin.close()
  }
}

/** The facts of names in a directory; one that is no longer what it was makes the stamp untrustworthy. */
function look(prefix: string, { stamp, names, types }: Omit<DirectoryStats, 'facts'>, modes: boolean): DirectoryStats {
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
 * The time of the directory's last change: a name that comes or goes always moves it, and nobody can set it back. NaN,
 * which equals nothing, for a time too young to be trusted.
 */
function stampOf({ ctimeMs }: Stats): number {
  return ctimeMs < Date.now() - RACY_MS ? ctimeMs : Number.NaN
}

function isGone(error: unknown): boolean {
  if (isOutOfDescriptors(error)) return false
  if (error instanceof ToolError) return error.code === 'PATH_REJECTED'
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EACCES'
}
