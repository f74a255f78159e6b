import type { DirectoryNode } from '../../storage/backend.ts'
import { crc32 } from '../../util/crc32.ts'
import { type Place, partsOf, type Segment, type StoredFile, segmentsOf, splitBytes } from './contents.ts'
import { type JournalPosition, otherSlot, startSlot, tryTruncate } from './journal.ts'
import { RECORD_HEADER, SLOT_HEADER, sealRecord } from './record-frame.ts'
import { type EncodedRecord, encodeSnapshot } from './records.ts'
import type { Slot, Slots } from './slots.ts'

/** Whether the last step of a compaction was made, or why a step failed. */
export type CompactionStep = { readonly isDone: boolean } | { readonly error: unknown; readonly isWhole: boolean }

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
  readonly #later: EncodedRecord[] = []
  /** Where the new slot has the contents: by the index of a file, as three arrays are cheaper than an object for each. */
  readonly #files: StoredFile[] = []
  readonly #ats: number[] = []
  readonly #crcs: number[] = []
  /** The segments of files that have several. */
  readonly #parts = new Map<StoredFile, readonly Segment[]>()
  readonly #onSwitch: (position: JournalPosition) => void
  readonly #writing: AsyncGenerator<number, JournalPosition>
  readonly #cutting: AsyncGenerator<number, void>
  #end = SLOT_HEADER
  #seq: number
  /** The checksum of the last header. */
  #chain: number
  #isSwitched = false

  /**
   * @param root the tree at the end of the journal
   * @param onSwitch called with the new journal as soon as it is the present one
   */
  constructor(
    slots: Slots,
    from: JournalPosition,
    root: DirectoryNode,
    salt: number,
    onSwitch: (position: JournalPosition) => void,
  ) {
    this.#slots = slots
    this.#from = from
    this.#slot = otherSlot(from.slot)
    this.#salt = salt
    this.#seq = from.seq
    this.#chain = salt
    this.#onSwitch = onSwitch
    this.#writing = this.#write(root)
    this.#cutting = this.#cut()
  }

  /** Keeps records of a commit to write them after the snapshot. They must not be those that `append` was given. */
  follow(records: readonly EncodedRecord[]): void {
    if (!this.#isSwitched) this.#later.push(...records)
  }

  /**
   * Writes about so many bytes. After a failure, `isWhole` is true if the journal is unchanged; otherwise it must be opened again.
   */
  async advance(bytes: number): Promise<CompactionStep> {
    let rest = bytes
    try {
      while (!this.#isSwitched && rest > 0) {
        const { done, value } = await this.#writing.next()
        if (done) this.#switchTo(value)
        else rest -= value
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
    return { isDone }
  }

  #switchTo(position: JournalPosition): void {
    this.#isSwitched = true
    for (const [i, file] of this.#files.entries()) {
      file.moveTo(this.#ats[i] as number, this.#crcs[i] as number)
      file.generation = position.generation
    }
    for (const [file, segments] of this.#parts) file.segments = segments
    this.#onSwitch(position)
  }

  /** Notes where the new slot has the contents of a record. */
  #keep(place: Place, start: number): void {
    const { file, at, length, crc, reused } = place
    file.index = this.#files.length
    this.#files.push(file)
    this.#ats.push(start + at)
    this.#crcs.push(crc)
    if (reused !== undefined || length === 0)
      this.#parts.set(
        file,
        segmentsOf(place, start, (one) => this.#segmentsOf(one)),
      )
  }

  #segmentsOf(file: StoredFile): readonly Segment[] {
    const { index } = file
    const { size } = file.stat
    if (this.#files[index] !== file) throw new Error('The file is not in the snapshot')
    return (
      this.#parts.get(file) ?? [
        { at: this.#ats[index] as number, length: size, crc: this.#crcs[index] as number, used: size },
      ]
    )
  }

  /** Yields after each part how many bytes could have been written in its time. */
  async *#write(root: DirectoryNode): AsyncGenerator<number, JournalPosition> {
    await this.#slots.truncate(this.#slot, 0)
    for await (const record of encodeSnapshot(root, { slots: this.#slots, ...this.#from })) {
      yield record.places.length * FILE_COST
      yield* this.#put(record)
    }
    const end = this.#end
    // These must cost less than each commit adds to a step, or commits of many small files would never let it end.
    for (let record = this.#later.shift(); record !== undefined; record = this.#later.shift()) {
      this.#seq += 1
      yield* this.#put(record)
    }
    await this.#slots.flush(this.#slot)
    const { generation, seq } = this.#from
    const header = { generation: generation + 1, salt: this.#salt, seq, end }
    const started = await startSlot(this.#slots, this.#slot, header)
    // From here on, the new slot is the journal, even if the old one cannot be truncated.
    return { ...started, end: this.#end, seq: this.#seq, flushed: this.#seq, chain: this.#chain }
  }

  async *#put({ head, large, places }: EncodedRecord): AsyncGenerator<number, void> {
    const start = this.#end
    let crc = 0
    let largeCrc = 0
    for (const part of splitBytes(head.subarray(RECORD_HEADER))) {
      crc = crc32(part, crc)
      yield part.length / CRC_SPEED
    }
    for await (const part of this.#partsOf(large)) {
      crc = crc32(part, crc)
      largeCrc = crc32(part, largeCrc)
      yield part.length / CRC_SPEED
    }
    const header = { seq: this.#seq, flushed: this.#from.seq, previous: this.#chain }
    this.#chain = sealRecord(head, header, this.#salt, large?.stat.size ?? 0, crc)
    for (const part of splitBytes(head)) yield* this.#append(part)
    for await (const part of this.#partsOf(large)) yield* this.#append(part)
    for (const place of places) this.#keep(place.file === large ? { ...place, crc: largeCrc } : place, start)
  }

  #partsOf(file: StoredFile | undefined): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
    return file === undefined ? [] : partsOf({ slots: this.#slots, ...this.#from }, file)
  }

  async *#append(part: Uint8Array): AsyncGenerator<number, void> {
    const { length } = part
    // The slots may take the bytes.
    await this.#slots.write(this.#slot, this.#end, part.slice(), false)
    this.#end += length
    yield length
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

/** The bytes that can be written in the time that one file of a snapshot takes. */
const FILE_COST = 512
const CUT_BYTES = 8 * 1024 * 1024
/** How many times faster than writing these are. */
const CRC_SPEED = 4
const CUT_SPEED = 8
