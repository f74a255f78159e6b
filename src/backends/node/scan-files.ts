import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { ScanVisit, Stat } from '../../storage/backend.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import { isNoLongerThere } from './errno.ts'
import { ReadAhead, type ReadFile } from './read-ahead.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { statOf } from './stat.ts'
import { isTempName } from './temp-names.ts'
import type { PinnedDirectory, TreeAccess } from './tree-access.ts'

/** What a scan does with each file. */
export interface ScanOptions {
  readonly visit: ScanVisit
  /** Whether the platform has permission bits. */
  readonly modes: boolean
  /** Larger files are visited without their bytes. */
  readonly maxBytes: number | undefined
}

/** Longest time without yielding to the event loop, in milliseconds. */
const TURN_MS = 10

/** Initial size of the buffer that is reused for all files, and the largest size that is kept. */
const BUFFER_BYTES = 256 * 1024
const MAX_KEPT_BYTES = 16 * 1024 * 1024

/** Larger files are skipped: such arrays do not exist on every platform. */
const MAX_BYTES = 1024 * 1024 * 1024

const NO_BYTES = new Uint8Array()

// Undefined flags of other platforms count as 0.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Reads many files one after another, synchronously, into one buffer: asynchronous reads of small files cost five times
 * as much. The directory of the last file stays pinned, so that files of one directory need one verification. It is
 * verified again after every pause. Of many files, another thread reads some ahead.
 */
export async function scanFiles(access: TreeAccess, paths: readonly Path[], options: ScanOptions): Promise<void> {
  const scan = { access, paths, options, buffer: { bytes: new Uint8Array(BUFFER_BYTES) } }
  const ahead = ReadAhead.start(access, paths, options.modes)
  let next = 0
  try {
    while (next < paths.length) {
      next = await retryOnDescriptorLimit(() => scanTurn(scan, ahead, next, (at) => (next = at)))
      if (next < paths.length) await yieldToEventLoop()
    }
  } finally {
    ahead?.end()
  }
}

interface Scan {
  readonly access: TreeAccess
  readonly paths: readonly Path[]
  readonly options: ScanOptions
  readonly buffer: { bytes: Uint8Array }
}

interface Pinned {
  readonly directory: Path
  readonly pin: PinnedDirectory | undefined
}

/** Scans until the turn is over. Returns the index of the next path. */
function scanTurn(
  { access, paths, options, buffer }: Scan,
  ahead: ReadAhead | undefined,
  start: number,
  reached: (index: number) => void,
): number {
  const end = performance.now() + TURN_MS
  let pinned: Pinned | undefined
  try {
    for (let i = start; i < paths.length; i++) {
      const path = paths[i] as Path
      const name = nameOf(path)
      const file = ahead?.file(i)
      let goesOn = true
      if (file !== undefined && !isTempName(name)) goesOn = visitRead(path, file, options)
      else if (file === undefined) {
        const directory = parentOf(path)
        if (pinned?.directory !== directory) {
          pinned?.pin?.close()
          pinned = undefined
          pinned = { directory, pin: pinOrNothing(access, directory) }
        }
        if (pinned.pin !== undefined && name !== '' && !isTempName(name))
          goesOn = visitFile(pinned.pin.at(name), path, options, buffer)
      }
      if (!goesOn) return paths.length
      reached(i + 1)
      if (performance.now() > end) return i + 1
    }
    return paths.length
  } finally {
    pinned?.pin?.close()
  }
}

function pinOrNothing(access: TreeAccess, directory: Path): PinnedDirectory | undefined {
  try {
    return access.pin(directory)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Visits a file that was read ahead. */
function visitRead(path: Path, { bytes, stat }: ReadFile, { visit, maxBytes = MAX_BYTES }: ScanOptions): boolean {
  return visit(path, stat.size > maxBytes ? NO_BYTES : bytes, stat)
}

function visitFile(
  physicalPath: string,
  path: Path,
  { visit, modes, maxBytes = MAX_BYTES }: ScanOptions,
  buffer: { bytes: Uint8Array },
): boolean {
  let fd: number
  try {
    fd = openSync(physicalPath, FLAGS)
  } catch (error) {
    if (isGone(error)) return true
    throw error
  }
  let bytes: Uint8Array
  let stat: Stat
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile() || (stats.size > MAX_BYTES && maxBytes >= MAX_BYTES)) return true
    bytes = stats.size > maxBytes ? NO_BYTES : fillStart(fd, bufferFor(stats.size, buffer), stats.size)
    stat = statOf(stats, modes)
  } catch (error) {
    // Some entries can be opened but not read.
    if (errnoOf(error) === 'EISDIR' || errnoOf(error) === 'EINVAL') return true
    throw error
  } finally {
    closeSync(fd)
  }
  return visit(path, bytes, stat)
}

/** Reads at most `size` bytes to the start of a buffer. */
function fillStart(fd: number, buffer: Uint8Array, size: number): Uint8Array {
  let filled = 0
  while (filled < size) {
    const count = readSync(fd, buffer, filled, size - filled, filled)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}

function bufferFor(size: number, buffer: { bytes: Uint8Array }): Uint8Array {
  if (size <= buffer.bytes.length) return buffer.bytes
  const larger = new Uint8Array(Math.max(size, Math.min(2 * buffer.bytes.length, MAX_KEPT_BYTES)))
  if (larger.length <= MAX_KEPT_BYTES) buffer.bytes = larger
  return larger
}

/** Whether a scan skips the path: it is gone, behind a link, not a file, or not readable. */
function isGone(error: unknown): boolean {
  return isNoLongerThere(error) || SKIPPED_CODES.has(errnoOf(error) ?? '')
}

const SKIPPED_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'ENXIO',
  'ENODEV',
  'ENAMETOOLONG',
  'EINVAL',
  'EOPNOTSUPP',
])
