import { checkArgument, isObjectWith, refuseSurplus } from '../../util/check-options.ts'
import type { ObjectStore } from './store.ts'

/** The part of an R2 binding that is used. */
export interface BucketBinding {
  /** An object, or a range of it in bytes, or `null` when it does not exist. */
  get(
    key: string,
    options?: { range?: { offset: number; length: number }; onlyIf?: { etagDoesNotMatch: string } },
  ): Promise<{ readonly etag: string } | null>
  /** Writes an object, or `null` when a condition is not met. */
  put(
    key: string,
    value: Uint8Array,
    options?: { onlyIf?: { etagMatches?: string; etagDoesNotMatch?: string } },
  ): Promise<{ readonly etag: string } | null>
  /** Deletes objects, at most 1,000 per call. A missing object is not an error. */
  delete(keys: string[]): Promise<void>
  /** Lists the objects below a prefix, one page per call. */
  list(options: { prefix: string; cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string; readonly size: number; readonly uploaded: Date }[]
    readonly truncated: boolean
    readonly cursor?: string
  }>
}

/** Maximum keys per delete call. */
const MAX_DELETED = 1000

/** An R2 bucket as an object store, through the binding of a Worker. */
export function r2(bucket: BucketBinding): ObjectStore {
  refuseSurplus('r2()', 1, arguments)
  checkArgument('r2()', 'bucket', bucket, isObjectWith('an R2 bucket', 'get', 'put', 'delete', 'list'))
  return {
    async get(key, { offset, length, ifNoneMatch } = {}) {
      const object = await bucket.get(key, {
        ...(offset === undefined || length === undefined ? {} : { range: { offset, length } }),
        ...(ifNoneMatch === undefined ? {} : { onlyIf: { etagDoesNotMatch: ifNoneMatch } }),
      })
      if (object === null) return undefined
      // Without a body, the condition was not met.
      const { arrayBuffer } = object as { arrayBuffer?: () => Promise<ArrayBuffer> }
      if (arrayBuffer === undefined) return 'unchanged'
      return { bytes: new Uint8Array(await arrayBuffer.call(object)), etag: object.etag }
    },

    async put(key, bytes, condition) {
      const onlyIf =
        condition === undefined
          ? undefined
          : 'ifMatch' in condition
            ? { etagMatches: condition.ifMatch }
            : { etagDoesNotMatch: condition.ifNoneMatch }
      const object = await bucket.put(key, bytes, onlyIf === undefined ? {} : { onlyIf })
      return object === null ? undefined : { etag: object.etag }
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
