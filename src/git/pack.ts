import { isUint8Array } from '../util/bytes.ts'
import { createLruCache } from '../util/lru-cache.ts'
import { yieldToEventLoop } from '../util/timers.ts'
import { corrupt, TooLargeError } from './corrupt-error.ts'
import { applyDelta, MAX_OBJECT_BYTES } from './delta.ts'
import { inflate, inflateStart } from './inflate.ts'
import { hexOf, PackIndex } from './pack-index.ts'
import type { GitFiles } from './repository-files.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}

const TYPES = [undefined, 'commit', 'tree', 'blob', 'tag'] as const
const OFS_DELTA = 6
const REF_DELTA = 7

/** A pack up to this size is loaded whole after several reads. */
const MAX_LOADED_BYTES = 256 * 1024 * 1024
const READS_BEFORE_LOADING = 8

/** Bytes of delta bases that are cached: deltas of one chain are mostly read together. */
const CACHE_BYTES = 32 * 1024 * 1024

/** Bytes that do not compress become slightly longer in a pack. */
const MAX_ENTRY_BYTES = MAX_OBJECT_BYTES + 1024 * 1024

/** A longer chain is circular, or an attack. */
const MAX_CHAIN = 10_000

/** Maximum number of bytes unpacked for one object, including its delta bases: some seconds. */
const MAX_WORK_BYTES = 4 * 1024 * 1024 * 1024
/** Bytes after which timers and other callers run. */
const PACE_BYTES = 64 * 1024 * 1024
/** Maximum number of bytes of the deltas of one chain, which are held until its base is read. */
const MAX_DELTA_BYTES = 256 * 1024 * 1024

/** Inflates a zlib stream to at most `max` bytes. */
export function inflated(bytes: Uint8Array, max: number): Uint8Array | Promise<Uint8Array> {
  return orDamaged(() => inflate(bytes, max))
}

/** Inflates the first `length` bytes of a zlib stream. */
export function inflatedStart(bytes: Uint8Array, length: number): Uint8Array | Promise<Uint8Array> {
  return orDamaged(() => inflateStart(bytes, length))
}

function orDamaged(run: () => Uint8Array | Promise<Uint8Array>): Uint8Array | Promise<Uint8Array> {
  const damaged = () => corrupt('an object is damaged, or larger than its header says')
  try {
    const result = run()
    return isUint8Array(result)
      ? result
      : result.catch(() => {
          throw damaged()
        })
  } catch {
    throw damaged()
  }
}

/** Opens a pack by its name without extension. Returns `undefined` if it does not exist. */
export async function openPack(files: GitFiles, name: string): Promise<Pack | undefined> {
  const index = await files.read(`objects/pack/${name}.idx`)
  const path = `objects/pack/${name}.pack`
  const stat = await files.stat(path)
  if (index === undefined || stat === undefined) return undefined
  return new Pack(new PackIndex(index), new PackBytes(files, path, stat.size))
}

/** One pack with its index, kept open. */
export class Pack {
  readonly #index: PackIndex
  readonly #bytes: PackBytes
  readonly #cache = createLruCache<number, GitObject>(CACHE_BYTES, ({ bytes }) => bytes.length)

  constructor(index: PackIndex, bytes: PackBytes) {
    this.#index = index
    this.#bytes = bytes
  }

  /** Returns the offset of the object with an id (40 hex digits), or `undefined` when it is not in this pack. */
  find(id: string): number | undefined {
    return this.#index.find(id)
  }

  /** Returns the ids that start with these hex digits, at most two. */
  withPrefix(prefix: string): string[] {
    return this.#index.withPrefix(prefix)
  }

  /** Reads the object at an offset. `readElsewhere` reads delta bases that are not in this pack. */
  async read(offset: number, readElsewhere: (id: string) => Promise<GitObject | undefined>): Promise<GitObject> {
    const work = new Work()
    let deltaBytes = 0
    const deltas: Uint8Array[] = []
    const offsets: number[] = []
    let object: GitObject | undefined
    for (let at = offset; object === undefined; ) {
      object = this.#cache.get(at)
      if (object !== undefined) break
      const part = this.#bytes.read(at, this.#index.endOf(at, this.#bytes.size - 20))
      const raw = isUint8Array(part) ? part : await part
      const { type, size, base, start } = parseHeader(raw, at)
      const result = inflated(raw.subarray(start), size)
      const bytes = isUint8Array(result) ? result : await result
      if (bytes.length !== size) throw corrupt('an object does not have the size in its header')
      if (work.add(size)) await yieldToEventLoop()
      if (base === undefined) {
        const name = TYPES[type]
        if (name === undefined) throw corrupt('a pack contains an object of an unknown type')
        object = { type: name, bytes }
        if (deltas.length > 0) this.#addToCache(at, object)
        break
      }
      deltas.push(bytes)
      deltaBytes += size
      if (deltaBytes > MAX_DELTA_BYTES) throw new TooLargeError('a chain of deltas')
      offsets.push(at)
      if (deltas.length > MAX_CHAIN) throw corrupt('a chain of deltas has no end')
      const next = typeof base === 'string' ? this.find(base) : base
      if (next !== undefined) at = next
      else {
        object = await readElsewhere(base as string)
        if (object === undefined) throw corrupt('a delta has no base')
      }
    }
    for (let i = deltas.length - 1; i >= 0; i--) {
      object = { type: object.type, bytes: applyDelta(object.bytes, deltas[i] as Uint8Array) }
      if (work.add(object.bytes.length)) await yieldToEventLoop()
      if (i > 0) this.#addToCache(offsets[i] as number, object)
    }
    return object
  }

  #addToCache(offset: number, object: GitObject): void {
    if (object.bytes.length <= CACHE_BYTES / 8) this.#cache.put(offset, object)
  }
}

/** Counts the bytes that are unpacked for one object. */
class Work {
  #done = 0
  #pace = PACE_BYTES

  /** Returns whether it is time to let others run. @throws ToolError `BACKEND_ERROR` beyond the limit */
  add(bytes: number): boolean {
    this.#done += bytes
    /* v8 ignore if -- @preserve: a limit of work that takes the unpacking of 4 GiB to reach */
    if (this.#done > MAX_WORK_BYTES) throw new TooLargeError('a chain of deltas')
    if (this.#done < this.#pace) return false
    this.#pace = this.#done + PACE_BYTES
    return true
  }
}

/** The bytes of a pack. Single ranges are read first; after several reads the whole pack is loaded. */
export class PackBytes {
  readonly size: number
  readonly #files: GitFiles
  readonly #path: string
  #loaded: Uint8Array | undefined
  #reads = 0

  constructor(files: GitFiles, path: string, size: number) {
    this.#files = files
    this.#path = path
    this.size = size
  }

  read(start: number, end: number): Uint8Array | Promise<Uint8Array> {
    if (end > this.size || start >= end) throw corrupt('a pack index does not fit its pack')
    if (end - start > MAX_ENTRY_BYTES) throw new TooLargeError('an object')
    return this.#loaded?.subarray(start, end) ?? this.#fetch(start, end)
  }

  async #fetch(start: number, end: number): Promise<Uint8Array> {
    this.#reads += 1
    if (this.#reads <= READS_BEFORE_LOADING || this.size > MAX_LOADED_BYTES) {
      const part = await this.#files.read(this.#path, { start, end })
      if (part === undefined || part.length !== end - start) throw corrupt('a pack is missing or cut short')
      return part
    }
    const whole = await this.#files.read(this.#path)
    if (whole?.length !== this.size) throw corrupt('a pack is missing or cut short')
    this.#loaded = whole
    return whole.subarray(start, end)
  }
}

export interface EntryHeader {
  readonly type: number
  /** Number of bytes that the content inflates to. */
  readonly size: number
  /** The base of a delta: an offset in the same pack, or an id. */
  readonly base: number | string | undefined
  /** Where the compressed content starts. */
  readonly start: number
}

/** Parses the header of the entry at an offset. */
export function parseHeader(raw: Uint8Array, offset: number): EntryHeader {
  let byte = raw[0] as number
  const type = (byte >> 4) & 7
  let size = byte & 15
  let scale = 16
  let start = 1
  while (byte & 0x80) {
    byte = raw[start++] ?? 0
    size += (byte & 0x7f) * scale
    scale *= 128
  }
  let base: number | string | undefined
  if (type === OFS_DELTA) {
    byte = raw[start++] as number
    let back = byte & 0x7f
    while (byte & 0x80) {
      byte = raw[start++] as number
      back = (back + 1) * 128 + (byte & 0x7f)
    }
    base = offset - back
    if (!(back > 0 && base >= 12)) throw corrupt('a delta has no base')
  } else if (type === REF_DELTA) {
    if (raw.length < start + 20) throw corrupt('a pack is cut short')
    base = hexOf(raw, start)
    start += 20
  }
  if (!(size <= MAX_OBJECT_BYTES)) throw new TooLargeError('an object')
  return { type, size, base, start }
}
