import { argumentError, fsError } from './errors.ts'

/** The files that a program has opened, by number. Numbers begin at 3 and are not used again. */
export class OpenFiles<H> {
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
    if (typeof fd !== 'number') throw argumentError('fd', 'of type number', fd)
    const handle = this.#handles.get(fd)
    if (handle === undefined) throw fsError('EBADF', syscall)
    return handle
  }
}
