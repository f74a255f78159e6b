/** One of the two files of a packed workspace. */
export type Slot = 0 | 1

/**
 * Two persistent byte arrays with one user at a time. A crash may lose, tear or reorder writes that were not flushed;
 * flushed writes are durable.
 */
export interface Slots {
  size(slot: Slot): Promise<number>
  /** Returns fewer bytes at the end of the slot. The caller owns them. */
  read(slot: Slot, at: number, length: number): Promise<Uint8Array>
  /** Writes everything or throws, possibly after a part. May take ownership of the bytes. */
  write(slot: Slot, at: number, bytes: Uint8Array, flush: boolean): Promise<void>
  truncate(slot: Slot, size: number): Promise<void>
  flush(slot: Slot): Promise<void>
}
