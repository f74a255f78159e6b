import type { Dirent } from './stats.ts'
import { optionalCallback } from './with-callback.ts'

/** A directory that is read entry by entry, as `Dir` of `node:fs`. `opendir` creates it. */
export class Dir implements AsyncDisposable {
  /** The path, as the program wrote it. */
  readonly path: string
  readonly #entries: readonly Dirent[]
  #next = 0
  #isOpen = true

  constructor(path: string, entries: readonly Dirent[]) {
    this.path = path
    this.#entries = entries
  }

  /** Returns the next entry, or `null` at the end. */
  readSync(): Dirent | null {
    this.#requireOpen()
    return this.#entries[this.#next++] ?? null
  }

  /** Ends the reading. */
  closeSync(): void {
    this.#requireOpen()
    this.#isOpen = false
  }

  /** Returns the next entry, or `null` at the end. */
  read(callback?: (error: unknown, entry?: Dirent | null) => void): Promise<Dirent | null> {
    return optionalCallback(async () => this.readSync())(callback)
  }

  /** Ends the reading. */
  close(callback?: (error: unknown) => void): Promise<void> {
    return optionalCallback(async () => this.closeSync())(callback)
  }

  /** Ends the reading, if it is not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false
  }

  /** Yields the entries that are left, and ends the reading. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Dirent> {
    try {
      for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry
    } finally {
      this.#isOpen = false
    }
  }

  #requireOpen(): void {
    if (!this.#isOpen) throw Object.assign(new Error('Directory handle was closed'), { code: 'ERR_DIR_CLOSED' })
  }
}
