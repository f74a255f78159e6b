import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import type { ToolError } from '../../errors.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { WalkVisitor } from '../../storage/backend.ts'
import { storageError } from '../../storage/storage-error.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import { listPinned } from './list-directory.ts'
import { fill } from './read-content.ts'
import { isOutOfDescriptors, retryOnDescriptorLimit } from './retry-descriptors.ts'
import { movedOutsideError, type PinnedDirectory, rootMovedError, type TreeAccess } from './tree-access.ts'

/** How long the event loop may have to wait, in milliseconds. */
const TURN_MS = 10

/** How many directories, one in the other, are held open at once; deeper ones are each found from the root. */
const DEEPEST_HELD = 32

// A flag that a platform does not have counts as none.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** A directory that is being gone through. */
interface Frame {
  readonly path: Path
  /** Names of the directories to enter. */
  readonly names: readonly string[]
  next: number
  pin: PinnedDirectory | undefined
  /** Directories were found through the pin since it was last verified. */
  isUnverified: boolean
}

/**
 * Goes down a tree with every directory above held open, so that each is opened by its name in the one above and needs no
 * verification of its own: no link can be on the way, and when a directory is left, or before a pause, one look tells
 * whether all that was found through it was found in the right place. If it was moved meanwhile, that is void.
 *
 * Gives what the visitor threw, if it did: its own business, and no failure of the storage.
 */
export async function walkTree(
  ground: TreeAccess,
  start: Path,
  visitor: WalkVisitor,
): Promise<{ readonly error: unknown } | undefined> {
  const frames: Frame[] = []
  let isBegun = false
  let thrown: { readonly error: unknown } | undefined

  function tell<T>(what: () => T): T {
    try {
      return what()
    } catch (error) {
      if (!isOutOfDescriptors(error)) thrown = { error }
      throw error
    }
  }

  /** Lists a pinned directory and tells of it; the pin is the frame's from then on. */
  function enter(path: Path, pin: PinnedDirectory): void {
    let names: readonly string[] = []
    try {
      const entries = listPinned(pin, path)
      names = tell(() => visitor.visit(path, entries, (name, most) => readStart(pin, name, most)))
    } finally {
      if (names.length === 0) pin.close()
    }
    if (names.length === 0) return
    const isHeld = frames.length < DEEPEST_HELD
    if (!isHeld) pin.close()
    frames.push({ path, names, next: 0, pin: isHeld ? pin : undefined, isUnverified: false })
  }

  function enterNext(frame: Frame): void {
    const path = childOf(frame.path, frame.names[frame.next] as string)
    try {
      enter(path, pinChild(frame, path))
    } catch (error) {
      if (isOutOfDescriptors(error) || thrown !== undefined) throw error
      tell(() => visitor.skipped(path, storageError('list', path, error)))
    }
    frame.next += 1
  }

  function pinChild(frame: Frame, path: Path): PinnedDirectory {
    if (frames.indexOf(frame) >= DEEPEST_HELD) return ground.pin(path)
    frame.pin ??= ground.pin(frame.path)
    frame.isUnverified = true
    return frame.pin.child(frame.names[frame.next] as string)
  }

  /** Lets go of a directory, and of what was found through it if it no longer is where it was. */
  function release(frame: Frame): void {
    const { pin, isUnverified } = frame
    frame.pin = undefined
    frame.isUnverified = false
    if (pin === undefined) return
    const isRight = !isUnverified || pin.holds()
    pin.close()
    if (isRight) return
    const error = notThere(frame.path)
    if (frame.path === start) throw error
    tell(() => visitor.skipped(frame.path, error))
  }

  function turn(): void {
    const end = performance.now() + TURN_MS
    try {
      if (!isBegun) enter(start, ground.pin(start))
      isBegun = true
      for (;;) {
        const frame = frames.at(-1)
        if (frame === undefined) return
        if (frame.next < frame.names.length) enterNext(frame)
        else {
          frames.pop()
          release(frame)
        }
        if (performance.now() > end) return
      }
    } finally {
      releaseAll()
    }
  }

  function releaseAll(): void {
    let failed: { readonly error: unknown } | undefined
    for (const frame of frames) {
      try {
        release(frame)
      } catch (error) {
        failed ??= { error }
      }
    }
    if (failed !== undefined) throw failed.error
  }

  try {
    do {
      if (isBegun) await yieldToEventLoop()
      await retryOnDescriptorLimit(turn)
    } while (frames.length > 0)
  } catch (error) {
    if (thrown === undefined) throw error
  }
  return thrown
}

function notThere(path: Path): ToolError {
  return path === ROOT ? rootMovedError() : movedOutsideError(path)
}

function readStart(pin: PinnedDirectory, name: string, most: number): Uint8Array | undefined {
  let fd: number
  try {
    fd = openSync(pin.at(name), FLAGS)
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error
    return undefined
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) return undefined
    const bytes = new Uint8Array(Math.min(stats.size, most))
    return bytes.subarray(0, fill(fd, bytes, 0))
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}
