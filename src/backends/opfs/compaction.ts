import { crc32 } from '../../util/crc32.ts'
import { type JournalPosition, otherSlot, startSlot, tryTruncate } from './journal.ts'
import { RECORD_HEADER, SLOT_HEADER, sealRecord } from './record-frame.ts'
import type { SnapshotRecord } from './records.ts'
import type { Slot, Slots } from './slots.ts'

/** What a step of a compaction did: `position` is the journal from now on, and `isDone` that the last step was made. */
export type CompactionStep =
  | { readonly position?: JournalPosition; readonly isDone: boolean }
  | { readonly error: unknown; readonly isWhole: boolean }

/**
 * A compaction that goes on in steps between commits: it writes a snapshot into the other slot, then the records of the commits
 * since, and switches to that slot when it has all of them. Dropped at any moment before, it leaves the journal as it is. After
 * the switch it truncates the old slot.
 */
export class Compaction {
  readonly #slots: Slots
  readonly #from: JournalPosition
  readonly #slot: Slot
  readonly #salt: number
  readonly #later: Uint8Array[] = []
  readonly #writing: AsyncGenerator<number, JournalPosition>
  readonly #cutting: AsyncGenerator<number, void>
  #end = SLOT_HEADER
  #seq: number
  /** The checksum of the last header. */
  #chain: number
  #isSwitched = false

  /** The records are a snapshot of the tree at the end of the journal. */
  constructor(slots: Slots, from: JournalPosition, snapshot: Iterable<SnapshotRecord>, salt: number) {
    this.#slots = slots
    this.#from = from
    this.#slot = otherSlot(from.slot)
    this.#salt = salt
    this.#seq = from.seq
    this.#chain = salt
    this.#writing = this.#write(snapshot)
    this.#cutting = this.#cut()
  }

  /** Keeps records of a commit to write them after the snapshot. They must not be those that `append` was given. */
  follow(records: readonly Uint8Array[]): void {
    if (!this.#isSwitched) this.#later.push(...records)
  }

  /**
   * Writes about so many bytes. After a failure, `isWhole` is true if the journal is unchanged; otherwise it must be opened again.
   */
  async advance(bytes: number): Promise<CompactionStep> {
    let rest = bytes
    let position: JournalPosition | undefined
    try {
      while (!this.#isSwitched && rest > 0) {
        const { done, value } = await this.#writing.next()
        if (done) {
          position = value
          this.#isSwitched = true
        } else rest -= value
      }
      if (!this.#isSwitched) await this.#slots.flush(this.#slot)
    } catch (error) {
      return { error, isWhole: await tryTruncate(this.#slots, this.#slot, 0) }
    }
    let isDone = false
    while (this.#isSwitched && rest > 0 && !isDone) {
      const { done, value } = await this.#cutting.next()
      if (done) isDone = true
      else rest -= value
    }
    return { ...(position !== undefined && { position }), isDone }
  }

  /** Yields after each part how many bytes could have been written in its time. */
  async *#write(snapshot: Iterable<SnapshotRecord>): AsyncGenerator<number, JournalPosition> {
    await this.#slots.truncate(this.#slot, 0)
    for (const record of snapshot) yield* this.#put(record)
    const end = this.#end
    for (let record = this.#later.shift(); record !== undefined; record = this.#later.shift()) {
      this.#seq += 1
      const headEnd = record.length > PART_BYTES ? RECORD_HEADER : record.length
      yield* this.#put({ head: record.slice(0, headEnd), content: record.subarray(headEnd) })
    }
    await this.#slots.flush(this.#slot)
    const { generation, seq } = this.#from
    const header = { generation: generation + 1, salt: this.#salt, seq, end }
    const started = await startSlot(this.#slots, this.#slot, header)
    // From here on, the new slot is the journal, even if the old one cannot be truncated.
    return { ...started, end: this.#end, seq: this.#seq, flushed: this.#seq, chain: this.#chain }
  }

  async *#put({ head, content = NOTHING }: SnapshotRecord): AsyncGenerator<number, void> {
    let crc = crc32(head.subarray(RECORD_HEADER))
    for (const part of partsOf(content)) {
      crc = crc32(part, crc)
      yield part.length / CRC_SPEED
    }
    const header = { seq: this.#seq, flushed: this.#from.seq, previous: this.#chain }
    this.#chain = sealRecord(head, header, this.#salt, content.length, crc)
    for (const part of [head, ...partsOf(content)]) {
      const { length } = part
      // The slots may take the bytes.
      await this.#slots.write(this.#slot, this.#end, part === head ? head : part.slice(), false)
      this.#end += length
      yield length
    }
  }

  /** Truncates the old slot. To free a large one at once would take long. */
  async *#cut(): AsyncGenerator<number, void> {
    const { slot } = this.#from
    for (let size = await this.#slots.size(slot).catch(() => 0); size > 0; ) {
      size = Math.max(0, size - CUT_BYTES)
      if (!(await tryTruncate(this.#slots, slot, size))) return
      if (size > 0) yield CUT_BYTES / CUT_SPEED
    }
    await this.#slots.flush(slot).catch(() => {})
  }
}

const NOTHING = new Uint8Array()
const PART_BYTES = 256 * 1024
const CUT_BYTES = 8 * 1024 * 1024
/** How many times faster than writing these are. */
const CRC_SPEED = 4
const CUT_SPEED = 8

function* partsOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES)
}
