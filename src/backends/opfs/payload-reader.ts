import { crc32 } from '../../util/crc32.ts'
import { openReader, type Reader } from './byte-cursor.ts'
import type { Segment } from './contents.ts'

/** Returns bytes of a slot, fewer at its end. They are valid until the next call. */
export type ReadSlot = (at: number, length: number) => Promise<Uint8Array>

/** Reads the payload of a record, which need not fit into memory: contents are skipped. */
export class PayloadReader {
  /** Reads values of the entry that {@link ready} made available. */
  values: Reader
  readonly #read: ReadSlot
  readonly #end: number
  /** The bytes of `values`, and their offset in the slot. */
  #part: Uint8Array = NOTHING
  #partAt: number

  /** @param at the offset of the payload in the slot */
  constructor(read: ReadSlot, at: number, length: number) {
    this.#read = read
    this.#partAt = at
    this.#end = at + length
    this.values = openReader(NOTHING)
  }

  isAtEnd(): boolean {
    return this.#at === this.#end
  }

  /** Makes the values of an entry available. To be awaited before each, if it returns a promise. */
  ready(): Promise<void> | undefined {
    const partEnd = this.#partAt + this.#part.length
    return partEnd === this.#end || partEnd - this.#at >= ENTRY_BYTES ? undefined : this.#moveTo(this.#at)
  }

  /** Skips a content, and returns where it is. */
  content(length: number): Segment | Promise<Segment> {
    const at = this.#at
    if (!(length >= 0 && at + length <= this.#end)) throw new RangeError('The record ends too early')
    const from = this.values.at
    if (from + length > this.#part.length) return this.#longContent(at, length)
    this.values.skip(length)
    return { at, length, crc: crc32(this.#part, 0, from, from + length), used: length }
  }

  async #longContent(at: number, length: number): Promise<Segment> {
    const crc = (await checksumOf(this.#read, at, length)) as number
    await this.#moveTo(at + length)
    return { at, length, crc, used: length }
  }

  async #moveTo(at: number): Promise<void> {
    this.#part = await this.#read(at, Math.min(PART_BYTES, this.#end - at))
    this.#partAt = at
    this.values = openReader(this.#part)
  }

  get #at(): number {
    return this.#partAt + this.values.at
  }
}

/** Returns the checksum of a part of a slot, or `undefined` if the slot ends before. */
export async function checksumOf(read: ReadSlot, at: number, length: number): Promise<number | undefined> {
  let crc = 0
  for (let done = 0; done < length; done += PART_BYTES) {
    const wanted = Math.min(PART_BYTES, length - done)
    const part = await read(at + done, wanted)
    if (part.length < wanted) return undefined
    crc = crc32(part, crc)
  }
  return crc
}

const NOTHING = new Uint8Array()
const PART_BYTES = 1024 * 1024
/** More than the values of any entry: three texts of 64 KiB at most, and numbers. */
const ENTRY_BYTES = 200 * 1024
