import { closeSync, constants, fstatSync, openSync, readlinkSync, type Stats, statfsSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { childOf, display, type LogicalPath, type Path, quote } from '../../paths/logical-path.ts'

/**
 * The one way to reach anything in the tree. Whatever it hands out was verified to lie, at that moment, at the very path
 * that was asked for, with no link on the way; what is done afterwards is done relative to the open descriptor, so that
 * a link swapped in later changes nothing.
 */
export interface TreeAccess {
  /** The physical path of the root. Never shown. */
  readonly physical: string
  /**
   * What is at a path, without following a link there. The file itself is not opened yet, so that looking at a FIFO or a
   * device has no effect. Throws the system's errors, and `PATH_REJECTED` for what turns out to lie elsewhere.
   */
  look(path: Path): EntryHandle
  /** Whether the path leads, links followed, to something at exactly this path: then no link is in it. */
  isStraight(path: LogicalPath): boolean
  /** A directory, held open. `listing` pins can also be listed and synced. Throws like `look`. */
  pin(directory: Path, how?: 'listing'): PinnedDirectory
  close(): void
}

export interface EntryHandle {
  readonly stat: Stats
  /** What `open` opens is what `stat` tells of, and cannot be anything else. */
  readonly isExact: boolean
  /** A descriptor for reading the file; the caller closes it. Never blocks. */
  open(): number
  close(): void
}

export interface PinnedDirectory {
  /** The descriptor; -1 where the platform has none for directories. */
  readonly fd: number
  /** The physical path of a name in the directory, good for one system call that does not follow a link at its end. */
  at(name: string): string
  /** The physical path of the directory itself. */
  readonly self: string
  /**
   * A directory in this one, held open; a link of that name is refused. Lies where this one does: verify with `holds`,
   * here and afterwards, that this is where it should be.
   */
  child(name: string): PinnedDirectory
  /** Whether the directory still is where it was pinned. */
  holds(): boolean
  close(): void
}

/** Linux' flag for a descriptor that only names a place; node:fs does not list it. */
const O_PATH = 0x200000

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** How often something that is being replaced all the time is looked for. */
const ATTEMPTS = 64

/**
 * The ground of a root on Linux: one open by path and one readlink of `/proc/self/fd/N` tell where the descriptor really
 * is. The root itself is held open and everything is found below that descriptor: if the root is moved or replaced,
 * every call is refused with `BACKEND_ERROR`, because its lock and journal belong to the place it had.
 */
export function createLinuxAccess(physical: string): TreeAccess {
  const rootFd = openSync(physical, O_RDONLY | O_DIRECTORY)
  const rootSelf = `/proc/self/fd/${rootFd}`
  const below = physical === '/' ? '/' : `${physical}/`
  const rootDev = fstatSync(rootFd).dev
  const devices = new Map<number, boolean>([[rootDev, true]])

  /** Opens by path and verifies the place. */
  function openAt(path: LogicalPath, flags: number): number {
    for (let attempt = 0; ; attempt++) {
      // The dot makes the kernel follow its own link to the root, whatever the flags.
      const fd = openSync(`${rootSelf}/${path === '' ? '.' : path}`, flags)
      const place = placeOf(fd)
      if (place === (path === '' ? physical : below + path)) return fd
      closeSync(fd)
      // Replaced or moved between the two calls: what is there now is another thing.
      /* v8 ignore next -- @preserve: that it is removed between these two calls of the system cannot be arranged */
      const attempts = place.endsWith(' (deleted)') ? ATTEMPTS : 2
      if (attempt < attempts) continue
      if (readlinkSync(rootSelf) !== physical) throw rootMovedError()
      throw movedOutsideError(path)
    }
  }

  function check(path: LogicalPath, dev: number, fd: number): void {
    if (dev !== rootDev && !isOrdinary(dev, fd)) throw kernel(path)
  }

  function isOrdinary(dev: number, fd: number): boolean {
    let ordinary = devices.get(dev)
    if (ordinary === undefined) {
      ordinary = !kernelFilesystems.has(statfsSync(`/proc/self/fd/${fd}`).type)
      devices.set(dev, ordinary)
    }
    return ordinary
  }

  function refuseKernelPaths(path: LogicalPath): void {
    if (physical === '/' && KERNEL_PATHS.test(path)) throw kernel(path)
  }

  function pinned(directory: Path, fd: number): PinnedDirectory {
    const self = `/proc/self/fd/${fd}`
    return {
      fd,
      self,
      at: (name) => `${self}/${name}`,
      child(name) {
        const path = childOf(directory, name)
        refuseKernelPaths(path)
        const inner = openSync(`${self}/${name}`, O_PATH | O_DIRECTORY | O_NOFOLLOW)
        try {
          check(path, fstatSync(inner).dev, inner)
        } catch (error) {
          closeSync(inner)
          throw error
        }
        return pinned(path, inner)
      },
      holds: () => placeOf(fd) === (directory === '' ? physical : below + directory),
      close: () => closeSync(fd),
    }
  }

  return {
    physical,

    look(path) {
      refuseKernelPaths(path)
      const fd = openAt(path, O_PATH | O_NOFOLLOW)
      try {
        const stat = fstatSync(fd)
        check(path, stat.dev, fd)
        return {
          stat,
          isExact: true,
          open: () => openSync(`/proc/self/fd/${fd}`, O_RDONLY | O_NONBLOCK),
          close: () => closeSync(fd),
        }
      } catch (error) {
        closeSync(fd)
        throw error
      }
    },

    isStraight(path) {
      const fd = openSync(`${rootSelf}/${path}`, O_PATH)
      try {
        return placeOf(fd) === below + path
      } finally {
        closeSync(fd)
      }
    },

    pin(directory, how) {
      refuseKernelPaths(directory)
      const fd = openAt(directory, how === 'listing' ? O_RDONLY | O_DIRECTORY | O_NONBLOCK : O_PATH | O_DIRECTORY)
      try {
        check(directory, fstatSync(fd).dev, fd)
      } catch (error) {
        closeSync(fd)
        throw error
      }
      return pinned(directory, fd)
    },

    close() {
      closeSync(rootFd)
    },
  }
}

/** The refusal of a path that turned out to lie elsewhere. */
export function movedOutsideError(path: LogicalPath): ToolError {
  return new ToolError('PATH_REJECTED', `Path ${quote(display(path))} leads through a link`, { path: display(path) })
}

/** The refusal of everything, once the root is no longer where it was. */
export function rootMovedError(): ToolError {
  return new ToolError(
    'BACKEND_ERROR',
    'Cannot reach the workspace: its root directory was moved, replaced or deleted',
    {
      hint: 'Tell the person in charge.',
    },
  )
}

function kernel(path: LogicalPath): ToolError {
  return new ToolError('PATH_REJECTED', `Path ${quote(display(path))} belongs to the operating system`, {
    path: display(path),
  })
}

function placeOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`)
}

const KERNEL_PATHS = /^(?:proc|sys|dev)(?:\/|$)/

/** The magic numbers of filesystems that are the kernel's own: proc, sysfs, cgroups, debugging, security and the like. */
const kernelFilesystems: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11, 0x62656570, 0xde5e81e4,
  0x6165676c, 0xf97cff8c, 0x1cd1, 0x6e736673, 0x42494e4d, 0x65735543, 0x19800202,
])
