import { concatBytes } from '../../util/bytes.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import type { ObjectStore } from './store.ts'

/** Maximum bytes of one object. A larger file consists of several. */
export const PART_BYTES = 8 * 1024 * 1024

/** Number of concurrent requests. */
export const CONCURRENCY = 6

/** The bytes of files, as objects that are written once under a unique name. */
export interface Contents {
  write(content: string, bytes: Uint8Array): Promise<void>
  /** The bytes `[start, end)`, which must be within the content, or `undefined` when it does not exist any more. */
  read(content: string, size: number, start: number, end: number): Promise<Uint8Array | undefined>
  remove(contents: readonly { readonly content: string; readonly size: number }[]): Promise<void>
}

/** The keys of the objects of a content of that size. */
export function keysOf(prefix: string, content: string, size: number): string[] {
  const parts = Math.ceil(size / PART_BYTES)
  return Array.from({ length: parts }, (_, part) => `${prefix}${content}${part === 0 ? '' : `.${part}`}`)
}

export function openContents(store: ObjectStore, prefix: string): Contents {
  return {
    async write(content, bytes) {
      const put = async (key: string, part: number) => {
        await store.put(key, bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES))
      }
      await mapConcurrent(keysOf(prefix, content, bytes.length), put, CONCURRENCY)
    },

    async read(content, size, start, end) {
      if (start >= end) return new Uint8Array(0)
      const keys = keysOf(prefix, content, size)
      const first = Math.floor(start / PART_BYTES)
      const parts = keys.slice(first, Math.ceil(end / PART_BYTES))
      const pieces = parts.map((): Uint8Array | undefined => undefined)
      const get = async (key: string, at: number) => {
        const from = (first + at) * PART_BYTES
        const partEnd = Math.min(size, from + PART_BYTES)
        const [offset, stop] = [Math.max(start, from), Math.min(end, partEnd)]
        const isWhole = offset === from && stop === partEnd
        const object = await store.get(key, isWhole ? {} : { offset: offset - from, length: stop - offset })
        if (object === undefined || object === 'unchanged') return
        if (object.bytes.length === stop - offset) pieces[at] = object.bytes
      }
      await mapConcurrent(parts, get, CONCURRENCY)
      if (pieces.length === 1) return pieces[0]
      return pieces.every((piece) => piece !== undefined) ? concatBytes(pieces) : undefined
    },

    async remove(contents) {
      const keys = contents.flatMap(({ content, size }) => keysOf(prefix, content, size))
      if (keys.length > 0) await store.delete(keys)
    },
  }
}
