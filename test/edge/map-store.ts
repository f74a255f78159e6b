import type { ObjectStore } from '../../src/backends/object-store/index.ts'
import { yieldToEventLoop } from '../../src/util/timers.ts'

/** What the requests of an object store were. */
export interface RequestCounts {
  get: number
  put: number
  delete: number
  list: number
  /** Bytes of all puts. */
  written: number
  /** Requests that had to wait for an earlier one. */
  inARow: number
}

/** The objects of a store, by key. */
export type MapObjects = Map<string, { readonly bytes: Uint8Array; readonly etag: string; readonly uploadedAt: number }>

/** An object store in memory that counts its requests. Those that are sent in one turn are answered in the next. */
export function mapStore(
  initial: Iterable<readonly [string, MapObjects extends Map<string, infer O> ? O : never]> = [],
) {
  const objects: MapObjects = new Map(initial)
  const counts: RequestCounts = { get: 0, put: 0, delete: 0, list: 0, written: 0, inARow: 0 }
  let etags = objects.size * 1000
  let wave: Promise<void> | undefined

  async function answer<T>(kind: 'get' | 'put' | 'delete' | 'list', action: () => T): Promise<T> {
    counts[kind] += 1
    wave ??= yieldToEventLoop().then(() => {
      counts.inARow += 1
      wave = undefined
    })
    await wave
    return action()
  }

  const store: ObjectStore = {
    get: (key, { offset, length, ifNoneMatch } = {}) =>
      answer('get', () => {
        const object = objects.get(key)
        if (object === undefined) return undefined
        if (object.etag === ifNoneMatch) return 'unchanged'
        const bytes = offset === undefined ? object.bytes : object.bytes.subarray(offset, offset + (length ?? 0))
        return { bytes, etag: object.etag }
      }),
    put: (key, bytes, condition) => {
      counts.written += bytes.length
      return answer('put', () => {
        const present = objects.get(key)
        const isMet =
          condition === undefined ||
          ('ifMatch' in condition ? present?.etag === condition.ifMatch : present === undefined)
        if (!isMet) return undefined
        const etag = String(++etags)
        objects.set(key, { bytes: bytes.slice(), etag, uploadedAt: Date.now() })
        return { etag }
      })
    },
    delete: (keys) => answer('delete', () => keys.forEach((key) => void objects.delete(key))),
    list: (prefix) =>
      answer('list', () => {
        const matches = [...objects].filter(([key]) => key.startsWith(prefix))
        const listed = matches.map(([key, { bytes, uploadedAt }]) => ({ key, size: bytes.length, uploadedAt }))
        return { objects: listed, cursor: undefined }
      }),
  }

  return {
    store,
    objects,
    /** Returns the requests of an action. */
    async count(action: () => Promise<unknown>): Promise<RequestCounts> {
      Object.assign(counts, { get: 0, put: 0, delete: 0, list: 0, written: 0, inARow: 0 })
      await action()
      return { ...counts }
    },
  }
}
