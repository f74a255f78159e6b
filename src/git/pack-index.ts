import { byteText } from '../util/native-bytes.ts'
import { corrupt } from './corrupt-error.ts'

const FANOUT = 8
const IDS = FANOUT + 4 * 256

/** The index of a pack, version 2: object ids in order, with their offsets in the pack (see git's `gitformat-pack`). */
export class PackIndex {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #count: number
  /** Where the table of offsets starts, and that of offsets over 31 bits. */
  readonly #offsets: number
  readonly #largeOffsets: number
  #sortedOffsets: Float64Array | undefined

  /** @throws ToolError `BACKEND_ERROR` for a damaged index or another version */
  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (bytes.length < 1072 || view.getUint32(0) !== 0xff744f63 || view.getUint32(4) !== 2) {
      throw corrupt('a pack index has an unknown version')
    }
    for (let i = 1; i < 256; i++) {
      if (view.getUint32(FANOUT + 4 * i) < view.getUint32(FANOUT + 4 * (i - 1)))
        throw corrupt('a pack index is damaged')
    }
    this.#bytes = bytes
    this.#view = view
    this.#count = view.getUint32(FANOUT + 4 * 255)
    this.#offsets = IDS + 24 * this.#count
    this.#largeOffsets = this.#offsets + 4 * this.#count
    if (bytes.length < this.#largeOffsets + 40) throw corrupt('a pack index is cut short')
  }

  /** Returns the offset of an object, or `undefined` when it is not in the pack. */
  find(id: string): number | undefined {
    let [low, high] = this.#rangeOf(id)
    const target = new Uint8Array(20)
    writeId(target, 0, id)
    const bytes = this.#bytes
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = IDS + 20 * middle
      let order = 0
      for (let i = 0; i < 20 && order === 0; i++) order = (bytes[at + i] as number) - (target[i] as number)
      if (order === 0) return this.#offsetAt(middle)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return undefined
  }

  /** Returns the ids that start with these hex digits, at most two. */
  withPrefix(prefix: string): string[] {
    const [low, high] = this.#rangeOf(prefix)
    const ids: string[] = []
    for (let i = low; i < high && ids.length < 2; i++) {
      const id = hexOf(this.#bytes, IDS + 20 * i)
      if (id.startsWith(prefix)) ids.push(id)
    }
    return ids
  }

  /** Returns the end of the object at an offset: the next offset, or `packEnd` for the last object. */
  endOf(offset: number, packEnd: number): number {
    const sorted = this.#sorted()
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle] as number) <= offset) low = middle + 1
      else high = middle
    }
    return low < sorted.length ? (sorted[low] as number) : packEnd
  }

  #sorted(): Float64Array {
    if (this.#sortedOffsets === undefined) {
      this.#sortedOffsets = new Float64Array(this.#count)
      for (let i = 0; i < this.#count; i++) this.#sortedOffsets[i] = this.#offsetAt(i)
      this.#sortedOffsets.sort()
    }
    return this.#sortedOffsets
  }

  #offsetAt(i: number): number {
    const small = this.#view.getUint32(this.#offsets + 4 * i)
    if (small < 0x8000_0000) return small
    const at = this.#largeOffsets + 8 * (small - 0x8000_0000)
    if (at + 8 > this.#bytes.length) throw corrupt('a pack index is cut short')
    return this.#view.getUint32(at) * 0x1_0000_0000 + this.#view.getUint32(at + 4)
  }

  /** The positions of the ids that have the same first byte. */
  #rangeOf(id: string): [low: number, high: number] {
    const first = Number.parseInt(id.slice(0, 2), 16)
    const low = first === 0 ? 0 : this.#view.getUint32(FANOUT + 4 * (first - 1))
    return [low, this.#view.getUint32(FANOUT + 4 * first)]
  }
}

/** Writes an id as 20 bytes. */
export function writeId(bytes: Uint8Array, at: number, id: string): void {
  for (let i = 0; i < 20; i++) bytes[at + i] = Number.parseInt(id.slice(2 * i, 2 * i + 2), 16)
}

/** Returns the id in 20 bytes, as hex. */
export function hexOf(bytes: Uint8Array, at: number): string {
  for (let i = 0; i < 20; i++) {
    const byte = bytes[at + i] as number
    digits[2 * i] = HEX_DIGITS[byte >> 4] as number
    digits[2 * i + 1] = HEX_DIGITS[byte & 15] as number
  }
  // One step: an id of joined parts would be joined when it is first compared, which takes four times as long.
  return byteText(digits)
}

const HEX_DIGITS = new TextEncoder().encode('0123456789abcdef')
const digits = new Uint8Array(40)
