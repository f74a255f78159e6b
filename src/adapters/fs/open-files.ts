import { argumentError, fsError } from './errors.ts'
import type { FileHandle } from './file-handle.ts'

/** The files that a program has opened, by number. Numbers begin at 3 and are not used again. */
export class OpenFiles {
  readonly #handles = new Map<number, FileHandle>()
  #next = 3

  /** Returns the number of a handle that opens. */
  add(handle: FileHandle): number {
    this.#handles.set(this.#next, handle)
    return this.#next++
  }

  delete(fd: number): void {
    this.#handles.delete(fd)
  }

  /** Returns the handle with a number. @throws FsError `EBADF` */
  get(fd: unknown, syscall: string): FileHandle {
    if (typeof fd !== 'number') throw argumentError('fd', 'of type number', fd)
    const handle = this.#handles.get(fd)
    if (handle === undefined) throw fsError('EBADF', syscall)
    return handle
  }
}
