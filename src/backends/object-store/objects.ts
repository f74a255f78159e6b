import { concatBytes } from '../../util/bytes.ts'
import { createLruCache } from '../../util/lru-cache.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { newName } from './keys.ts'
import type { ObjectStore } from './store.ts'

/** Maximum bytes of one object. A larger file consists of several. */
export const PART_BYTES = 8 * 1024 * 1024

/** Maximum bytes of a pack, which is read with one request. */
export const PACK_BYTES = 4 * 1024 * 1024

/** Larger pieces have objects of their own. */
export const MAX_PACKED_BYTES = 1024 * 1024

/** Up to this many pieces of a commit have objects of their own, which the next commits can delete one by one. */
const MAX_SINGLE = 4

/** Number of concurrent requests. */
export const CONCURRENCY = 6

/** Unused bytes between two pieces that one request reads anyway. */
const MAX_GAP_BYTES = 256 * 1024

/**
 * Where the bytes of a file or a node are: the name of an object, or `name@offset` within a pack. Names are random and
 * never used twice, so bytes at a location never change.
 */
export type Location = string

/** The location and the number of bytes there. */
export interface Piece {
  readonly location: Location
  readonly size: number
}

/** Pieces that are written once below a prefix. */
export interface Objects {
  write(batch: Batch): Promise<void>
  /** The bytes `[start, end)`, which must be within the piece. Throws {@link MissingObject}. */
  read(piece: Piece, start: number, end: number): Promise<Uint8Array>
  /** The bytes of a whole small piece, if they are in memory. */
  cached(location: Location): Uint8Array | undefined
  /** Keeps the bytes of a small piece in memory. */
  keep(location: Location, bytes: Uint8Array): void
  /** Reads pieces of up to 8 MiB into memory, with few requests. A missing object is no error. */
  prefetch(pieces: readonly Piece[]): Promise<void>
}

/** Thrown for an object that a commit has deleted since its name was read. */
export class MissingObject extends Error {
  readonly location: Location

  constructor(location: Location) {
    super('An object is missing')
    this.location = location
  }
}

/** The name of the object in which a piece lies, and the offset of the piece in a pack. */
export function parseLocation(location: Location): { readonly name: string; readonly offset: number | undefined } {
  const at = location.indexOf('@')
  if (at === -1) return { name: location, offset: undefined }
  return { name: location.slice(0, at), offset: Number(location.slice(at + 1)) }
}

/** The names of the objects that only this piece uses: none for a piece in a pack. */
export function ownNames({ location, size }: Piece): string[] {
  return parseLocation(location).offset === undefined ? partNames(location, size) : []
}

/** The names of the objects of a piece, or of the pack that contains it. */
export function objectNames(piece: Piece): string[] {
  const { name, offset } = parseLocation(piece.location)
  return offset === undefined ? partNames(name, piece.size) : [name]
}

function partNames(name: string, size: number): string[] {
  return Array.from({ length: Math.ceil(size / PART_BYTES) }, (_, part) => (part === 0 ? name : `${name}.${part}`))
}

/** Pieces that are written together. */
export class Batch {
  /** The bytes of each object. */
  readonly objects = new Map<string, Uint8Array[]>()
  readonly #isPacked: boolean
  #pack: { readonly name: string; size: number } | undefined

  /** @param count the number of pieces, at most: a few get an object each, more of them share packs */
  constructor(count: number) {
    this.#isPacked = count > MAX_SINGLE
  }

  /** Adds a piece and returns its location. */
  add(bytes: Uint8Array): Location {
    const name = newName()
    if (!this.#isPacked || bytes.length > MAX_PACKED_BYTES) {
      this.objects.set(name, [bytes])
      return name
    }
    if (this.#pack === undefined || this.#pack.size + bytes.length > PACK_BYTES) {
      this.#pack = { name, size: 0 }
      this.objects.set(name, [])
    }
    const location = `${this.#pack.name}@${this.#pack.size}`
    this.objects.get(this.#pack.name)?.push(bytes)
    this.#pack.size += bytes.length
    return location
  }

  /** The names of all objects of this batch. */
  names(): string[] {
    return Array.from(this.objects, ([name, parts]) =>
      partNames(
        name,
        parts.reduce((size, { length }) => size + length, 0),
      ),
    ).flat()
  }
}

/**
 * Opens the pieces below a prefix.
 *
 * @param cacheBytes the bytes of prefetched pieces that stay in memory
 */
export function openObjects(store: ObjectStore, prefix: string, cacheBytes: number): Objects {
  const cache = createLruCache<Location, Uint8Array>(cacheBytes, ({ length }) => length)

  async function get(name: string, from: number, end: number, isWhole: boolean): Promise<Uint8Array> {
    const object = await store.get(
      prefix + name,
      isWhole ? { maxBytes: end - from } : { offset: from, length: end - from },
    )
    if (object === undefined || object === 'unchanged' || object.bytes.length !== end - from) {
      throw new MissingObject(name)
    }
    return object.bytes
  }

  function keep(location: Location, bytes: Uint8Array): void {
    if (bytes.length <= MAX_PACKED_BYTES) cache.put(location, bytes)
  }

  return {
    cached: cache.get,
    keep,

    async write({ objects }) {
      const parts = Array.from(objects, ([name, pieces]) => {
        const bytes = () => (pieces.length === 1 ? (pieces[0] as Uint8Array) : concatBytes(pieces))
        const size = pieces.reduce((sum, { length }) => sum + length, 0)
        return partNames(name, size).map((part, i) => [part, i, bytes] as const)
      })
      const put = async ([name, i, bytes]: readonly [string, number, () => Uint8Array]) => {
        await store.put(prefix + name, bytes().subarray(i * PART_BYTES, (i + 1) * PART_BYTES))
      }
      await mapConcurrent(parts.flat(), put, CONCURRENCY)
    },

    async read({ location, size }, start, end) {
      if (start >= end) return new Uint8Array(0)
      const kept = cache.get(location)
      if (kept !== undefined) return kept.subarray(start, end)
      const { name, offset } = parseLocation(location)
      if (size <= MAX_PACKED_BYTES && end - start === size) {
        const bytes = await get(name, offset ?? 0, (offset ?? 0) + size, offset === undefined)
        keep(location, bytes)
        return bytes
      }
      if (offset !== undefined) return get(name, offset + start, offset + end, false)
      const first = Math.floor(start / PART_BYTES)
      const names = partNames(name, size).slice(first, Math.ceil(end / PART_BYTES))
      const pieces: Uint8Array[] = []
      await mapConcurrent(
        names,
        async (part, i) => {
          const from = (first + i) * PART_BYTES
          const partEnd = Math.min(size, from + PART_BYTES)
          const [begin, stop] = [Math.max(start, from), Math.min(end, partEnd)]
          pieces[i] = await get(part, begin - from, stop - from, begin === from && stop === partEnd)
        },
        CONCURRENCY,
      )
      return pieces.length === 1 ? (pieces[0] as Uint8Array) : concatBytes(pieces)
    },

    async prefetch(pieces) {
      const fetchRun = async ({ name, pieces, start, end }: Run) => {
        const isWhole = pieces[0]?.offset === undefined
        const bytes = await get(name, start, end, isWhole).catch((error: unknown) => {
          if (error instanceof MissingObject) return undefined
          throw error
        })
        if (bytes === undefined) return
        for (const { location, offset = 0, size } of pieces) {
          cache.put(location, bytes.subarray(offset - start, offset - start + size))
        }
      }
      await mapConcurrent(runsOf(pieces.filter(({ location }) => !cache.get(location))), fetchRun, CONCURRENCY)
    },
  }
}

/** Pieces that one request reads. */
interface Run {
  readonly name: string
  readonly start: number
  end: number
  readonly pieces: (Piece & { readonly offset: number | undefined })[]
}

/** Groups pieces of the same pack that are close together. */
function runsOf(pieces: readonly Piece[]): Run[] {
  const located = pieces.map((piece) => ({ ...piece, ...parseLocation(piece.location) }))
  located.sort((a, b) => (a.name === b.name ? (a.offset ?? 0) - (b.offset ?? 0) : a.name < b.name ? -1 : 1))
  const runs: Run[] = []
  for (const { name, ...piece } of located) {
    const start = piece.offset ?? 0
    const run = runs.at(-1)
    if (run?.name === name && start - run.end <= MAX_GAP_BYTES) {
      run.pieces.push(piece)
      run.end = Math.max(run.end, start + piece.size)
    } else runs.push({ name, start, end: start + piece.size, pieces: [piece] })
  }
  return runs
}
