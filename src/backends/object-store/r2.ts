import type { ObjectStore } from './store.ts'

/** What is used of an R2 binding. */
export interface BucketBinding {
  /** An object, or a range of it in bytes; `null` where there is none. */
  get(
    key: string,
    options?: { range?: { offset: number; length: number }; onlyIf?: { etagDoesNotMatch: string } },
  ): Promise<{ readonly etag: string } | null>
  /** Writes an object; `null` where a condition does not hold. */
  put(
    key: string,
    value: Uint8Array,
    options?: { onlyIf?: { etagMatches?: string; etagDoesNotMatch?: string } },
  ): Promise<{ readonly etag: string } | null>
  /** Deletes objects, at most 1,000 a call; what is not there is no error. */
  delete(keys: string[]): Promise<void>
  /** The objects below a prefix, a page at a time. */
  list(options: { prefix: string; cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string; readonly size: number; readonly uploaded: Date }[]
    readonly truncated: boolean
    readonly cursor?: string
  }>
}

/** Keys that one call may delete. */
const MAX_DELETED = 1000

/** The objects of an R2 bucket, by the binding that a Worker is given. */
export function r2(bucket: BucketBinding): ObjectStore {
  return {
    async get(key, { offset, length, ifNoneMatch } = {}) {
      const found = await bucket.get(key, {
        ...(offset === undefined || length === undefined ? {} : { range: { offset, length } }),
        ...(ifNoneMatch === undefined ? {} : { onlyIf: { etagDoesNotMatch: ifNoneMatch } }),
      })
      if (found === null) return undefined
      // Without a body the condition did not hold.
      const { arrayBuffer } = found as { arrayBuffer?: () => Promise<ArrayBuffer> }
      if (arrayBuffer === undefined) return 'unchanged'
      return { bytes: new Uint8Array(await arrayBuffer.call(found)), etag: found.etag }
    },

    async put(key, bytes, condition) {
      const onlyIf =
        condition === undefined
          ? undefined
          : 'ifMatch' in condition
            ? { etagMatches: condition.ifMatch }
            : { etagDoesNotMatch: condition.ifNoneMatch }
      const put = await bucket.put(key, bytes, onlyIf === undefined ? {} : { onlyIf })
      return put === null ? undefined : { etag: put.etag }
    },

    async delete(keys) {
      for (let at = 0; at < keys.length; at += MAX_DELETED) await bucket.delete(keys.slice(at, at + MAX_DELETED))
    },

    async list(prefix, cursor) {
      const { objects, ...page } = await bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) })
      return {
        objects: objects.map(({ key, size, uploaded }) => ({ key, size, uploadedAt: uploaded.getTime() })),
        cursor: page.truncated ? page.cursor : undefined,
      }
    },
  }
}
