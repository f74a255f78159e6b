/** One of the two files that a packed workspace lives in. */
export type Slot = 0 | 1

/**
 * Two byte arrays that outlive the tab, for one user at a time. What was written and not flushed may be lost, torn or
 * reordered by a crash; what was flushed is there.
 */
export interface Slots {
  size(slot: Slot): Promise<number>
  /** Shorter where the slot ends. The bytes are the caller's. */
  read(slot: Slot, at: number, length: number): Promise<Uint8Array>
  /** All of it, or it throws; a part may be there then. The bytes may be taken over: the caller writes them once. */
  write(slot: Slot, at: number, bytes: Uint8Array, flush: boolean): Promise<void>
  truncate(slot: Slot, size: number): Promise<void>
  flush(slot: Slot): Promise<void>
}
