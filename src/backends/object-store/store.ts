/** One object, or a range of it. */
export interface StoredObject {
  readonly bytes: Uint8Array
  /** Changes with the object. For {@link PutCondition} and `ifNoneMatch`. */
  readonly etag: string
}

/** The condition of a put: the object has this etag, or no object exists. */
export type PutCondition = { readonly ifMatch: string } | { readonly ifNoneMatch: '*' }

/** One object of a listing. */
export interface ListedObject {
  readonly key: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly uploadedAt: number
}

/**
 * An object store for `objectStore`. Built in are `r2(bucket)` and `s3(options)`. Every thrown error counts as a failure of
 * the store; the outcome of a put that throws is unknown.
 */
export interface ObjectStore {
  /** Returns `undefined` if the object does not exist, `'unchanged'` if it still has the etag `ifNoneMatch`. */
  get(
    key: string,
    options?: {
      readonly offset?: number
      readonly length?: number
      readonly ifNoneMatch?: string
      /** A larger object is damaged: the store need not send more of it. */
      readonly maxBytes?: number
    },
  ): Promise<StoredObject | 'unchanged' | undefined>
  /** Returns the new etag; `undefined`, without writing, if the condition is not met. */
  put(key: string, bytes: Uint8Array, condition?: PutCondition): Promise<{ readonly etag: string } | undefined>
  /** Deletes objects. A missing object counts as deleted. */
  delete(keys: readonly string[]): Promise<void>
  /** Lists the objects whose key begins with the prefix, one page per call. */
  list(
    prefix: string,
    cursor?: string,
  ): Promise<{ readonly objects: readonly ListedObject[]; readonly cursor: string | undefined }>
}
