/** One object, or a range of it. */
export interface StoredObject {
  readonly bytes: Uint8Array
  /** Changes with the object; what {@link PutCondition} and `ifNoneMatch` take. */
  readonly etag: string
}

/** When a put may happen: over exactly that object, or only where none is. */
export type PutCondition = { readonly ifMatch: string } | { readonly ifNoneMatch: '*' }

/** One object of a listing. */
export interface ListedObject {
  readonly key: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly uploadedAt: number
}

/**
 * What is needed of a store of objects. Two exist: `r2(bucket)` and `s3(options)`. Any error that is thrown counts as one
 * of the store, and a put that threw as one whose outcome is not known.
 */
export interface ObjectStore {
  /** `undefined` where nothing is, `'unchanged'` where the object still has the etag `ifNoneMatch`. */
  get(
    key: string,
    options?: { readonly offset?: number; readonly length?: number; readonly ifNoneMatch?: string },
  ): Promise<StoredObject | 'unchanged' | undefined>
  /** The new etag; `undefined` where the condition did not hold, and then nothing was written. */
  put(key: string, bytes: Uint8Array, condition?: PutCondition): Promise<{ readonly etag: string } | undefined>
  /** What is not there counts as deleted. */
  delete(keys: readonly string[]): Promise<void>
  /** Objects whose key begins so, a page at a time. */
  list(
    prefix: string,
    cursor?: string,
  ): Promise<{ readonly objects: readonly ListedObject[]; readonly cursor: string | undefined }>
}
