import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import type { ToolError } from '../../errors.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { WalkVisitor } from '../../storage/backend.ts'
import { storageError } from '../../storage/storage-error.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import { listPinned } from './list-directory.ts'
import { fill } from './read-content.ts'
import { isOutOfDescriptors, retryOnDescriptorLimit } from './retry-descriptors.ts'
import { MovedOutsideError, type PinnedDirectory, rootMovedError, type TreeAccess } from './tree-access.ts'

/** Longest time without yielding to the event loop, in milliseconds. */
const TURN_MS = 10

/** Maximum number of nested directories held open at once. Deeper ones are opened by their path from the root. */
const MAX_HELD = 32

// Undefined flags of other platforms count as 0.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** A directory that the walk is in. */
interface Frame {
  readonly path: Path
  /** Names of the directories to enter. */
  readonly names: readonly string[]
  next: number
  pin: PinnedDirectory | undefined
  /** Directories were opened through the pin since it was last verified. */
  isUnverified: boolean
}

/**
 * Walks a tree with every directory above held open. Each directory is opened by its name in its parent, so no link can
 * be on the way and it needs no verification of its own. When a directory is left, and before a pause, one check determines
 * whether it is still where it was opened; if not, everything found through it is reported as `skipped`.
 *
 * Returns what the visitor threw, so that it is not taken for a failure of the storage.
 */
export async function walkTree(
  access: TreeAccess,
  start: Path,
  visitor: WalkVisitor,
): Promise<{ readonly error: unknown } | undefined> {
  const walk = new TreeWalk(access, start, visitor)
  try {
    do {
      if (walk.isBegun) await yieldToEventLoop()
      await retryOnDescriptorLimit(() => walk.turn())
    } while (!walk.isDone)
  } catch (error) {
    if (walk.thrown === undefined) throw error
  }
  return walk.thrown
}

class TreeWalk {
  readonly #access: TreeAccess
  readonly #start: Path
  readonly #visitor: WalkVisitor
  readonly #frames: Frame[] = []
  isBegun = false
  /** What the visitor threw. */
  thrown: { readonly error: unknown } | undefined

  constructor(access: TreeAccess, start: Path, visitor: WalkVisitor) {
    this.#access = access
    this.#start = start
    this.#visitor = visitor
  }

  get isDone(): boolean {
    return this.#frames.length === 0
  }

  /** Walks on for at most {@link TURN_MS}, and then lets go of all directories. */
  turn(): void {
    const end = performance.now() + TURN_MS
    try {
      if (!this.isBegun) this.#enter(this.#start, this.#access.pin(this.#start))
      this.isBegun = true
      for (;;) {
        const frame = this.#frames.at(-1)
        if (frame === undefined) return
        if (frame.next < frame.names.length) this.#enterNext(frame)
        else {
          this.#frames.pop()
          this.#release(frame)
        }
        if (performance.now() > end) return
      }
    } finally {
      this.#releaseAll()
    }
  }

  /** Lists a pinned directory and reports it. From then on the frame owns the pin. */
  #enter(path: Path, pin: PinnedDirectory): void {
    let names: readonly string[] = []
    try {
      const entries = listPinned(pin, path)
      names = this.#report(() => this.#visitor.visit(path, entries, (name, maxBytes) => readStart(pin, name, maxBytes)))
    } finally {
      if (names.length === 0) pin.close()
    }
    if (names.length === 0) return
    const isHeld = this.#frames.length < MAX_HELD
    if (!isHeld) pin.close()
    this.#frames.push({ path, names, next: 0, pin: isHeld ? pin : undefined, isUnverified: false })
  }

  #enterNext(frame: Frame): void {
    const path = childOf(frame.path, frame.names[frame.next] as string)
    try {
      this.#enter(path, this.#pinChild(frame, path))
    } catch (error) {
      if (isOutOfDescriptors(error) || this.thrown !== undefined) throw error
      this.#report(() => this.#visitor.skipped(path, storageError('list', path, error)))
    }
    frame.next += 1
  }

  #pinChild(frame: Frame, path: Path): PinnedDirectory {
    if (this.#frames.indexOf(frame) >= MAX_HELD) return this.#access.pin(path)
    frame.pin ??= this.#access.pin(frame.path)
    frame.isUnverified = true
    return frame.pin.child(frame.names[frame.next] as string)
  }

  /** Closes the pin of a directory. If the directory was moved meanwhile, reports it as skipped. */
  #release(frame: Frame): void {
    const { pin, isUnverified } = frame
    frame.pin = undefined
    frame.isUnverified = false
    if (pin === undefined) return
    const isInPlace = !isUnverified || pin.holds()
    pin.close()
    if (isInPlace) return
    const error = notThere(frame.path)
    if (frame.path === this.#start) throw error
    this.#report(() => this.#visitor.skipped(frame.path, error))
  }

  #releaseAll(): void {
    let failure: { readonly error: unknown } | undefined
    for (const frame of this.#frames) {
      try {
        this.#release(frame)
      } catch (error) {
        failure ??= { error }
      }
    }
    if (failure !== undefined) throw failure.error
  }

  /** Calls the visitor, and keeps what it throws. */
  #report<T>(call: () => T): T {
    try {
      return call()
    } catch (error) {
      if (!isOutOfDescriptors(error)) this.thrown = { error }
      throw error
    }
  }
}

function notThere(path: Path): ToolError {
  return path === ROOT ? rootMovedError() : new MovedOutsideError(path)
}

function readStart(pin: PinnedDirectory, name: string, maxBytes: number): Uint8Array | undefined {
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
    const bytes = new Uint8Array(Math.min(stats.size, maxBytes))
    return bytes.subarray(0, fill(fd, bytes, 0))
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}
