import { createLruCache } from '../util/lru-cache.ts'
import { corrupt } from './corrupt-error.ts'
import { applyDelta, MAX_OBJECT_BYTES } from './delta.ts'
import { inflate } from './inflate.ts'
import type { GitFiles } from './repository-files.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}

/** One pack with its index, kept open. */
export interface Pack {
  /** Where the object with that id (20 bytes as 40 hex digits) starts; `undefined` if it is not in this pack. */
  find(id: string): number | undefined
  /** The object that starts there; `elsewhere` is asked for the bases of deltas that are not in this pack. */
  read(offset: number, elsewhere: (id: string) => Promise<GitObject | undefined>): Promise<GitObject>
  /** All ids that start with these hex digits, two at most. */
  withPrefix(prefix: string): string[]
}

const TYPES = [undefined, 'commit', 'tree', 'blob', 'tag'] as const
const OFS_DELTA = 6
const REF_DELTA = 7

/** A pack up to this size is held in memory once several objects of it were wanted. */
const HELD_BYTES = 256 * 1024 * 1024
const READS_BEFORE_HELD = 8

/** How many bytes of bases stay at hand, since deltas of one chain are mostly wanted together. */
const CACHE_BYTES = 32 * 1024 * 1024

/** A longer chain is a circle, or an attack. */
const MAX_CHAIN = 10_000

/** What one object may take in all, the objects that it is made of included: a few seconds. */
const MAX_WORK_BYTES = 8 * 1024 * 1024 * 1024

/** What a stream holds, at most so many bytes. */
export function inflated(bytes: Uint8Array, most: number): Uint8Array | Promise<Uint8Array> {
  const damaged = () => corrupt('an object is damaged, or larger than it tells')
  try {
    const found = inflate(bytes, most)
    return found instanceof Uint8Array
      ? found
      : found.catch(() => {
          throw damaged()
        })
  } catch {
    throw damaged()
  }
}

/** Opens a pack by its name without ending. `undefined` if it is gone. */
export async function openPack(files: GitFiles, name: string): Promise<Pack | undefined> {
  const index = await files.read(`objects/pack/${name}.idx`)
  const packStat = await files.stat(`objects/pack/${name}.pack`)
  if (index === undefined || packStat === undefined) return undefined
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength)
  if (index.length < 1072 || view.getUint32(0) !== 0xff744f63 || view.getUint32(4) !== 2) {
    throw corrupt('a pack index is of an unknown version')
  }
  const count = view.getUint32(8 + 4 * 255)
  for (let i = 1; i < 256; i++) {
    if (view.getUint32(8 + 4 * i) < view.getUint32(4 + 4 * i)) throw corrupt('a pack index is damaged')
  }
  const ids = 8 + 1024
  const offsets = ids + 24 * count
  const large = offsets + 4 * count
  if (index.length < large + 40) throw corrupt('a pack index ends too early')
  const packBytes = packStat.size

  const offsetAt = (i: number): number => {
    const small = view.getUint32(offsets + 4 * i)
    if (small < 0x8000_0000) return small
    const at = large + 8 * (small - 0x8000_0000)
    if (at + 8 > index.length) throw corrupt('a pack index ends too early')
    return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4)
  }

  let sorted: Float64Array | undefined
  /** Where what starts at an offset ends: the next offset, since objects follow one another. */
  function endOf(offset: number): number {
    if (sorted === undefined) {
      sorted = new Float64Array(count)
      for (let i = 0; i < count; i++) sorted[i] = offsetAt(i)
      sorted.sort()
    }
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle] as number) <= offset) low = middle + 1
      else high = middle
    }
    return low < count ? (sorted[low] as number) : packBytes - 20
  }

  let held: Uint8Array | undefined
  let reads = 0
  function bytesAt(start: number, end: number): Uint8Array | Promise<Uint8Array> {
    if (end > packBytes || start >= end) throw corrupt('a pack index does not fit its pack')
    if (held !== undefined) return held.subarray(start, end)
    return fetchBytes(start, end)
  }
  async function fetchBytes(start: number, end: number): Promise<Uint8Array> {
    reads += 1
    const path = `objects/pack/${name}.pack`
    if (reads <= READS_BEFORE_HELD || packBytes > HELD_BYTES) {
      const part = await files.read(path, { start, end })
      if (part === undefined || part.length !== end - start) throw corrupt('a pack is gone or cut')
      return part
    }
    held = await files.read(path)
    if (held?.length !== packBytes) {
      held = undefined
      throw corrupt('a pack is gone or cut')
    }
    return held.subarray(start, end)
  }

  const cache = createLruCache<number, GitObject>(CACHE_BYTES, ({ bytes }) => bytes.length)
  function keep(offset: number, object: GitObject): void {
    if (object.bytes.length <= CACHE_BYTES / 8) cache.put(offset, object)
  }

  const find = (id: string): number | undefined => {
    const [low, high] = rangeOf(view, Number.parseInt(id.slice(0, 2), 16))
    const at = search(index, ids, low, high, id)
    return at === undefined ? undefined : offsetAt(at)
  }

  return {
    find,
    withPrefix(prefix) {
      const [low, high] = rangeOf(view, Number.parseInt(prefix.slice(0, 2), 16))
      const found: string[] = []
      for (let i = low; i < high && found.length < 2; i++) {
        const id = hexOf(index, ids + 20 * i)
        if (id.startsWith(prefix)) found.push(id)
      }
      return found
    },
    async read(offset, elsewhere) {
      let work = 0
      const deltas: Uint8Array[] = []
      const places: number[] = []
      let object: GitObject | undefined
      for (let at = offset; object === undefined; ) {
        object = cache.get(at)
        if (object !== undefined) break
        const end = endOf(at)
        const part = bytesAt(at, end)
        const raw = part instanceof Uint8Array ? part : await part
        const { type, size, body } = header(raw)
        let start = body
        let from: number | string | undefined
        if (type === OFS_DELTA) {
          let byte = raw[start++] as number
          let back = byte & 0x7f
          while (byte & 0x80) {
            byte = raw[start++] as number
            back = (back + 1) * 128 + (byte & 0x7f)
          }
          from = at - back
          if (!(back > 0 && from >= 12)) throw corrupt('a delta has no base')
        } else if (type === REF_DELTA) {
          if (raw.length < start + 20) throw corrupt('a pack is cut')
          from = hexOf(raw, start)
          start += 20
        }
        if (!(size <= MAX_OBJECT_BYTES)) throw corrupt('an object is too large')
        const found = inflated(raw.subarray(start), size)
        let bytes: Uint8Array
        if (found instanceof Uint8Array) bytes = found
        else bytes = await found
        work += size
        /* v8 ignore if -- @preserve: a limit of work that takes the unpacking of 8 GiB to reach */
        if (work > MAX_WORK_BYTES) throw corrupt('a chain of deltas is too large')
        if (bytes.length !== size) throw corrupt('an object has not the size that it tells')
        if (from === undefined) {
          const name = TYPES[type]
          if (name === undefined) throw corrupt('a pack holds an object of an unknown type')
          object = { type: name, bytes }
          if (deltas.length > 0) keep(at, object)
          break
        }
        deltas.push(bytes)
        places.push(at)
        if (deltas.length > MAX_CHAIN) throw corrupt('a chain of deltas has no end')
        const next = typeof from === 'string' ? find(from) : from
        if (next !== undefined) at = next
        else {
          object = await elsewhere(from as string)
          if (object === undefined) throw corrupt('a delta has no base')
        }
      }
      for (let i = deltas.length - 1; i >= 0; i--) {
        object = { type: object.type, bytes: applyDelta(object.bytes, deltas[i] as Uint8Array) }
        work += object.bytes.length
        /* v8 ignore if -- @preserve: a limit of work that takes the unpacking of 8 GiB to reach */
        if (work > MAX_WORK_BYTES) throw corrupt('a chain of deltas is too large')
        if (i > 0) keep(places[i] as number, object)
      }
      return object
    },
  }
}

function header(raw: Uint8Array): { type: number; size: number; body: number } {
  let byte = raw[0] as number
  const type = (byte >> 4) & 7
  let size = byte & 15
  let scale = 16
  let next = 1
  while (byte & 0x80) {
    byte = raw[next++] ?? 0
    size += (byte & 0x7f) * scale
    scale *= 128
  }
  return { type, size, body: next }
}

function rangeOf(index: DataView, first: number): [number, number] {
  return [first === 0 ? 0 : index.getUint32(8 + 4 * (first - 1)), index.getUint32(8 + 4 * first)]
}

function search(index: Uint8Array, ids: number, from: number, to: number, id: string): number | undefined {
  let low = from
  let high = to
  const wanted = new Uint8Array(20)
  for (let i = 0; i < 20; i++) wanted[i] = Number.parseInt(id.slice(2 * i, 2 * i + 2), 16)
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = ids + 20 * middle
    let order = 0
    for (let i = 0; i < 20 && order === 0; i++) order = (index[at + i] as number) - (wanted[i] as number)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return undefined
}

/** The 20 bytes of an id as hex. */
export function hexOf(bytes: Uint8Array, at: number): string {
  let hex = ''
  for (let i = at; i < at + 20; i++) hex += HEX[bytes[i] as number]
  return hex
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
