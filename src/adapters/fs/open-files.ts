import { argumentError, fsError, rangeError } from './errors.ts'

/** The functions that create streams of open files. */
export interface HandleStreams<H> {
  createReadStream(path: string, options: { readonly fd: H }): object
  createWriteStream(path: string, options: { readonly fd: H }): object
}

/** The files that a program has opened, by number. Numbers begin at 3 and are not used again. */
export class OpenFiles<H> {
  /** Creates the streams of a handle. */
  streams: HandleStreams<H> | undefined
  readonly #handles = new Map<number, H>()
  #next = 3

  /** Returns the number of a handle that opens. */
  add(handle: H): number {
    this.#handles.set(this.#next, handle)
    return this.#next++
  }

  delete(fd: number): void {
    this.#handles.delete(fd)
  }

  /** Returns the handle with a number. @throws FsError `EBADF` */
  get(fd: unknown, syscall: string): H {
    const handle = this.#handles.get(checkNumber(fd))
    if (handle === undefined) throw fsError('EBADF', syscall)
    return handle
  }
}

/** Returns the number of a file. @throws TypeError or RangeError for what can be none */
export function checkNumber(fd: unknown): number {
  if (typeof fd !== 'number') throw argumentError('fd', 'of type number', fd)
  if (!Number.isInteger(fd)) throw rangeError('fd', 'an integer', fd)
  if (fd < 0 || fd > 0x7fff_ffff) throw rangeError('fd', '>= 0 && <= 2147483647', fd)
  return fd
}
