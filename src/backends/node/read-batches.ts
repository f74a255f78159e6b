/** What both threads know of a scan. */
export interface BatchJob {
  /** The physical path of the root, and its open descriptor. */
  readonly physical: string
  readonly rootFd: number
  /** The device of the root. */
  readonly device: number
  /** The paths, with the character 0 between them. */
  readonly paths: string
  readonly sizes: BatchSizes
  readonly memory: BatchMemory
}

export interface BatchSizes {
  /** Files of a batch. */
  readonly files: number
  /** Batches that may be read and not visited yet. Each has a slot in the memory. */
  readonly slots: number
  /** Bytes of a slot. */
  readonly slotBytes: number
}

/** Memory that both threads share. */
export interface BatchMemory {
  /** The number of batches that are taken, the number of those that are visited, and whether the scan is over. */
  readonly control: Int32Array
  /** Whether each batch is read. */
  readonly isRead: Int32Array
  /** Seven numbers for each file of a slot: bytes read or -1, their offset, size, mtimeMs, ino, ctimeMs, mode. */
  readonly numbers: Float64Array
  readonly bytes: Uint8Array
}

/** Creates the memory of a scan. A message of it to another thread shares it. */
export function batchMemory(count: number, { files, slots, slotBytes }: BatchSizes): BatchMemory {
  return {
    control: new Int32Array(new SharedArrayBuffer(3 * 4)),
    isRead: new Int32Array(new SharedArrayBuffer(4 * Math.ceil(count / files))),
    numbers: new Float64Array(new SharedArrayBuffer(8 * 7 * slots * files)),
    bytes: new Uint8Array(new SharedArrayBuffer(slots * slotBytes)),
  }
}

/** Opens directories of a scan, and reads files of them. */
export interface FileReader {
  /** Opens a directory, and verifies as `LinuxAccess` does that it is at its path. Returns -1 if it is not. */
  openDirectory(directory: string): number
  /** Reads a file to an offset, if it ends before `end`. Returns the offset behind it. */
  readFile(path: string, row: number, at: number, end: number): number
  close(fd: number): void
}

/** Creates the reader of single files. The thread gets this function as text, too. */
export function fileReader(
  fs: Pick<
    typeof import('node:fs'),
    'openSync' | 'readlinkSync' | 'fstatSync' | 'readSync' | 'closeSync' | 'constants'
  >,
  { physical, rootFd, device, memory: { numbers, bytes } }: BatchJob,
): FileReader {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const O_PATH = 0x200000
  return {
    openDirectory(directory) {
      const fd = fs.openSync(`/proc/self/fd/${rootFd}/${directory === '' ? '.' : directory}`, O_PATH | O_DIRECTORY)
      const expected = directory === '' ? physical : `${physical}/${directory}`
      if (fs.readlinkSync(`/proc/self/fd/${fd}`) === expected && fs.fstatSync(fd).dev === device) return fd
      fs.closeSync(fd)
      return -1
    },

    readFile(path, row, at, end) {
      const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      try {
        const { size, mtimeMs, ino, ctimeMs, mode } = fs.fstatSync(fd)
        const isFile = (mode & 0o170000) === 0o100000
        if (!isFile || size > end - at) return at
        let length = 0
        while (length < size) {
          const count = fs.readSync(fd, bytes, at + length, size - length, length)
          if (count === 0) break
          length += count
        }
        numbers.set([length, at, size, mtimeMs, ino, ctimeMs, mode], row)
        return at + length
      } finally {
        fs.closeSync(fd)
      }
    },

    close: (fd) => fs.closeSync(fd),
  }
}

/**
 * Creates a function that reads the next batch that no thread has taken, for the program and for the thread that reads beside
 * it. The function returns false if every batch is taken, or if no slot is free and `waits` is false. It does not read a file
 * behind a link or on another device, a file that cannot be read, and a file that is larger than the rest of its slot: the
 * program reads those.
 *
 * The thread gets this function as text: it uses nothing but its parameters and globals.
 */
export function batchReader(
  { openDirectory, readFile, close }: FileReader,
  { paths, sizes: { files, slots, slotBytes }, memory: { control, isRead, numbers } }: BatchJob,
): (waits: boolean) => boolean {
  const all = paths.split('\0')

  function readBatch(batch: number): void {
    const slot = batch % slots
    let at = slot * slotBytes
    const end = at + slotBytes
    let directory: string | undefined
    let fd = -1
    const last = Math.min(all.length, (batch + 1) * files)
    for (let i = batch * files; i < last; i++) {
      const path = all[i] as string
      const row = (slot * files + (i % files)) * 7
      numbers[row] = -1
      const cut = path.lastIndexOf('/')
      const parent = cut === -1 ? '' : path.slice(0, cut)
      try {
        if (parent !== directory) {
          if (fd !== -1) close(fd)
          fd = -1
          directory = parent
          fd = openDirectory(parent)
        }
        if (fd !== -1) at = readFile(`/proc/self/fd/${fd}/${path.slice(cut + 1)}`, row, at, end)
      } catch {
        // The program reads this file, and finds out what is wrong with it.
      }
    }
    if (fd !== -1) close(fd)
    Atomics.store(isRead, batch, 1)
    Atomics.notify(isRead, batch)
  }

  return (waits) => {
    for (;;) {
      const batch = Atomics.load(control, 0)
      if (batch >= isRead.length || Atomics.load(control, 2) === 1) return false
      const visited = Atomics.load(control, 1)
      if (batch - visited >= slots) {
        if (!waits) return false
        Atomics.wait(control, 1, visited)
      } else if (Atomics.compareExchange(control, 0, batch, batch + 1) === batch) {
        readBatch(batch)
        return true
      }
    }
  }
}
