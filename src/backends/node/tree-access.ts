import { closeSync, constants, fstatSync, openSync, readlinkSync, type Stats, statfsSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { childOf, display, type LogicalPath, type Path, quote } from '../../paths/logical-path.ts'

/**
 * The only access to the tree. Everything it returns was verified to be, at that moment, at exactly the requested path,
 * without a link on the way. Later operations are relative to the open descriptor, so a link swapped in later has no
 * effect.
 */
export interface TreeAccess {
  /** The physical path of the root. Never shown. */
  readonly physical: string
  /** What another thread needs to read files below the root, where the platform has descriptors with paths. */
  readonly shared?: { readonly physical: string; readonly rootFd: number; readonly device: number } | undefined
  /**
   * Returns the entry at a path, without following a link. The file itself is not opened yet, so a FIFO or device is not
   * affected. Throws system errors, and `PATH_REJECTED` if the entry turns out to be elsewhere.
   */
  look(path: Path): EntryHandle
  /** Whether the path, with links followed, leads to exactly this path: then it contains no link. */
  isStraight(path: LogicalPath): boolean
  /** Opens a directory and holds it open. `listing` pins can also be listed and synced. Throws like `look`. */
  pin(directory: Path, purpose?: 'listing'): PinnedDirectory
  close(): void
}

export interface EntryHandle {
  readonly stat: Stats
  /** `open` is guaranteed to open the entry that `stat` describes. */
  readonly isExact: boolean
  /** Opens the file for reading. The caller closes the descriptor. Never blocks. */
  open(): number
  close(): void
}

export interface PinnedDirectory {
  /** The descriptor; -1 if the platform has none for directories. */
  readonly fd: number
  /** Returns the physical path of a name in the directory, for one system call that does not follow a final link. */
  at(name: string): string
  /** The physical path of the directory itself. */
  readonly self: string
  /**
   * Opens a subdirectory and holds it open. Refuses a link. The subdirectory is where this directory is: call `holds` on
   * this one afterwards to verify that this is still the right path.
   */
  child(name: string): PinnedDirectory
  /** Whether the directory is still where it was pinned. */
  holds(): boolean
  close(): void
}

/** Linux flag for a descriptor that only refers to a path. node:fs does not export it. */
const O_PATH = 0x200000

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** How often an entry that is being replaced all the time is opened. */
const ATTEMPTS = 64

/**
 * Creates the access to a root on Linux. One open by path and one readlink of `/proc/self/fd/N` tell where the
 * descriptor really is. The root itself is held open, and everything is opened below that descriptor. If the root is
 * moved or replaced, every call throws `BACKEND_ERROR`, because its lock and journal belong to its old path.
 */
export function createLinuxAccess(physical: string): TreeAccess {
  return new LinuxAccess(physical)
}

class LinuxAccess implements TreeAccess {
  readonly physical: string
  readonly #rootFd: number
  readonly #rootSelf: string
  readonly #prefix: string
  readonly #rootDev: number
  /** Whether a device is an ordinary file system, by its number. */
  readonly #devices: Map<number, boolean>

  constructor(physical: string) {
    this.physical = physical
    this.#rootFd = openSync(physical, O_RDONLY | O_DIRECTORY)
    this.#rootSelf = `/proc/self/fd/${this.#rootFd}`
    this.#prefix = physical === '/' ? '/' : `${physical}/`
    this.#rootDev = fstatSync(this.#rootFd).dev
    this.#devices = new Map([[this.#rootDev, true]])
  }

  get shared(): TreeAccess['shared'] {
    // Below `/`, the paths of the kernel are refused one by one.
    if (this.physical === '/') return undefined
    return { physical: this.physical, rootFd: this.#rootFd, device: this.#rootDev }
  }

  look(path: Path): EntryHandle {
    this.refuseKernelPaths(path)
    const fd = this.#openAt(path, O_PATH | O_NOFOLLOW)
    try {
      const stat = fstatSync(fd)
      this.checkDevice(path, stat.dev, fd)
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
  }

  isStraight(path: LogicalPath): boolean {
    const fd = openSync(`${this.#rootSelf}/${path}`, O_PATH)
    try {
      return physicalPathOf(fd) === this.#prefix + path
    } finally {
      closeSync(fd)
    }
  }

  pin(directory: Path, purpose?: 'listing'): PinnedDirectory {
    this.refuseKernelPaths(directory)
    const fd = this.#openAt(
      directory,
      purpose === 'listing' ? O_RDONLY | O_DIRECTORY | O_NONBLOCK : O_PATH | O_DIRECTORY,
    )
    try {
      this.checkDevice(directory, fstatSync(fd).dev, fd)
    } catch (error) {
      closeSync(fd)
      throw error
    }
    return linuxPin(this, directory, fd)
  }

  close(): void {
    closeSync(this.#rootFd)
  }

  physicalPath(path: LogicalPath): string {
    return path === '' ? this.physical : this.#prefix + path
  }

  /** Throws if the device holds a file system of the kernel, such as proc. */
  checkDevice(path: LogicalPath, dev: number, fd: number): void {
    if (dev !== this.#rootDev && !this.#isOrdinary(dev, fd)) throw kernelPathError(path)
  }

  refuseKernelPaths(path: LogicalPath): void {
    if (this.physical === '/' && KERNEL_PATHS.test(path)) throw kernelPathError(path)
  }

  /** Opens by path and verifies where the descriptor is. */
  #openAt(path: LogicalPath, flags: number): number {
    for (let attempt = 0; ; attempt++) {
      // The dot makes the kernel follow its own link to the root, whatever the flags.
      const fd = openSync(`${this.#rootSelf}/${path === '' ? '.' : path}`, flags)
      const location = physicalPathOf(fd)
      if (location === this.physicalPath(path)) return fd
      closeSync(fd)
      // Replaced or moved between the two calls: try again with the entry that is there now.
      /* v8 ignore next -- @preserve: that it is removed between these two calls of the system cannot be arranged */
      const attempts = location.endsWith(' (deleted)') ? ATTEMPTS : 2
      if (attempt < attempts) continue
      if (readlinkSync(this.#rootSelf) !== this.physical) throw rootMovedError()
      throw new MovedOutsideError(path)
    }
  }

  #isOrdinary(dev: number, fd: number): boolean {
    let isOrdinary = this.#devices.get(dev)
    if (isOrdinary === undefined) {
      isOrdinary = !kernelFilesystems.has(statfsSync(`/proc/self/fd/${fd}`).type)
      this.#devices.set(dev, isOrdinary)
    }
    return isOrdinary
  }
}

function linuxPin(access: LinuxAccess, directory: Path, fd: number): PinnedDirectory {
  const self = `/proc/self/fd/${fd}`
  return {
    fd,
    self,
    at: (name) => `${self}/${name}`,
    child(name) {
      const path = childOf(directory, name)
      access.refuseKernelPaths(path)
      const childFd = openSync(`${self}/${name}`, O_PATH | O_DIRECTORY | O_NOFOLLOW)
      try {
        access.checkDevice(path, fstatSync(childFd).dev, childFd)
      } catch (error) {
        closeSync(childFd)
        throw error
      }
      return linuxPin(access, path, childFd)
    },
    holds: () => physicalPathOf(fd) === access.physicalPath(directory),
    close: () => closeSync(fd),
  }
}

/** The error for a path that turned out to be elsewhere. */
export class MovedOutsideError extends ToolError {
  constructor(path: LogicalPath) {
    super('PATH_REJECTED', `Path ${quote(display(path))} leads through a link`, { path: display(path) })
  }
}

/** The error of every call once the root is no longer where it was. */
export function rootMovedError(): ToolError {
  return new ToolError(
    'BACKEND_ERROR',
    'Cannot reach the workspace: its root directory was moved, replaced or deleted',
    {
      hint: 'Report this to the user.',
    },
  )
}

function kernelPathError(path: LogicalPath): ToolError {
  return new ToolError('PATH_REJECTED', `Path ${quote(display(path))} belongs to the operating system`, {
    path: display(path),
  })
}

function physicalPathOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`)
}

const KERNEL_PATHS = /^(?:proc|sys|dev)(?:\/|$)/

/** Magic numbers of kernel file systems: proc, sysfs, cgroups, debugging, security and the like. */
const kernelFilesystems: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11, 0x62656570, 0xde5e81e4,
  0x6165676c, 0xf97cff8c, 0x1cd1, 0x6e736673, 0x42494e4d, 0x65735543, 0x19800202,
])
