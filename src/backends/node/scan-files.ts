import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import { isOutOfDescriptors, retryOnDescriptorLimit } from './retry-descriptors.ts'
import { statOf } from './stat.ts'
import { isTempName } from './temp-names.ts'
import type { PinnedDirectory, TreeAccess } from './tree-access.ts'

type Visit = (path: Path, bytes: Uint8Array, stat: Stat) => boolean

/** How long the event loop may have to wait, in milliseconds. */
const TURN_MS = 10

/** The buffer that is kept from file to file; a larger file gets one of its own. */
const BUFFER_BYTES = 256 * 1024
const LARGEST_KEPT_BYTES = 16 * 1024 * 1024

/** A file beyond this is passed over: it would not fit into one array everywhere. */
const LARGEST_BYTES = 1024 * 1024 * 1024

// A flag that a platform does not have counts as none.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Reads many files one after the other, synchronously, into one buffer: asynchronous reads of small files cost five times
 * as much. The directory of the last file stays pinned, so that files of one directory need one verification; it is
 * verified again after every pause.
 */
export async function scanFiles(
  ground: TreeAccess,
  paths: readonly Path[],
  visit: Visit,
  modes: boolean,
): Promise<void> {
  const buffer = { bytes: new Uint8Array(BUFFER_BYTES) }
  let next = 0
  while (next < paths.length) {
    next = await retryOnDescriptorLimit(() => scanTurn(ground, paths, next, visit, modes, buffer, (at) => (next = at)))
    if (next < paths.length) await yieldToEventLoop()
  }
}

/** Scans until the turn is over; returns where to go on. */
function scanTurn(
  ground: TreeAccess,
  paths: readonly Path[],
  start: number,
  visit: Visit,
  modes: boolean,
  buffer: { bytes: Uint8Array },
  reached: (index: number) => void,
): number {
  const end = performance.now() + TURN_MS
  let pinned: { directory: Path; pin: PinnedDirectory | undefined } | undefined
  try {
    for (let i = start; i < paths.length; i++) {
      const path = paths[i] as Path
      const name = nameOf(path)
      const directory = parentOf(path)
      if (pinned?.directory !== directory) {
        pinned?.pin?.close()
        pinned = undefined
        pinned = { directory, pin: pinOrNothing(ground, directory) }
      }
      if (pinned.pin !== undefined && name !== '' && !isTempName(name)) {
        const more = visitFile(pinned.pin.at(name), path, visit, modes, buffer)
        if (!more) return paths.length
      }
      reached(i + 1)
      if (performance.now() > end) return i + 1
    }
    return paths.length
  } finally {
    pinned?.pin?.close()
  }
}

function pinOrNothing(ground: TreeAccess, directory: Path): PinnedDirectory | undefined {
  try {
    return ground.pin(directory)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function visitFile(place: string, path: Path, visit: Visit, modes: boolean, buffer: { bytes: Uint8Array }): boolean {
  let fd: number
  try {
    fd = openSync(place, FLAGS)
  } catch (error) {
    if (isGone(error)) return true
    throw error
  }
  let bytes: Uint8Array
  let stat: Stat
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile() || stats.size > LARGEST_BYTES) return true
    bytes = fillStart(fd, bufferFor(stats.size, buffer), stats.size)
    stat = statOf(stats, modes)
  } catch (error) {
    // Not everything that can be opened can be read.
    if (errnoOf(error) === 'EISDIR' || errnoOf(error) === 'EINVAL') return true
    throw error
  } finally {
    closeSync(fd)
  }
  return visit(path, bytes, stat)
}

/** Reads so many bytes, or as many as there are, to the start of a buffer. */
function fillStart(fd: number, buffer: Uint8Array, size: number): Uint8Array {
  let got = 0
  while (got < size) {
    const count = readSync(fd, buffer, got, size - got, got)
    if (count === 0) break
    got += count
  }
  return buffer.subarray(0, got)
}

function bufferFor(size: number, buffer: { bytes: Uint8Array }): Uint8Array {
  if (size <= buffer.bytes.length) return buffer.bytes
  const larger = new Uint8Array(Math.max(size, Math.min(2 * buffer.bytes.length, LARGEST_KEPT_BYTES)))
  if (larger.length <= LARGEST_KEPT_BYTES) buffer.bytes = larger
  return larger
}

/** What a scan passes over: gone, behind a link, no file, or not ours to read. */
function isGone(error: unknown): boolean {
  if (isOutOfDescriptors(error)) return false
  if (error instanceof ToolError) return error.code === 'PATH_REJECTED'
  const code = errnoOf(error)
  return code !== undefined && PASSED_OVER.has(code)
}

const PASSED_OVER: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EACCES',
  'EPERM',
  'ENXIO',
  'ENODEV',
  'ENAMETOOLONG',
  'EINVAL',
  'EOPNOTSUPP',
])
