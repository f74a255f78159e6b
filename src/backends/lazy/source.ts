/** An entry that a {@link LazySource} lists. Directories above an entry need not be listed. */
export type LazyEntry = LazyFile | LazyLink | LazyDirectory | LazyOther | LazyOmitted

/** A file. Its content is loaded when it is first read. */
export interface LazyFile {
  readonly type: 'file'
  /** Relative to the root, with forward slashes, normalized. */
  readonly path: string
  /** Bytes. A content of another size is refused. */
  readonly size: number
  /** Permission bits. Default: 0o644. */
  readonly mode?: number
  /** SHA-256 of the content, in lower-case hex. A content with another hash is refused. */
  readonly sha256?: string
  /** Names the content: the same text for the same content, such as a hash of any kind. Default: `sha256`. */
  readonly version?: string
}

/** A symbolic link. */
export interface LazyLink {
  readonly type: 'link'
  readonly path: string
  /** The target as UTF-8. Without it, `load` returns the target. */
  readonly target?: string
}

/** A directory. */
export interface LazyDirectory {
  readonly type: 'directory'
  readonly path: string
}

/** An entry that is shown and can be neither read nor written, such as a submodule. */
export interface LazyOther {
  readonly type: 'other'
  readonly path: string
  /** What it is, for {@link LazyBackend.omitted}. */
  readonly reason: string
}

/** A path that is not shown. */
export interface LazyOmitted {
  readonly type: 'omitted'
  readonly path: string
  /** Why, for {@link LazyBackend.omitted}. */
  readonly reason: string
}

/** An entry whose content a source loads. */
export type LazyContent<E extends LazyEntry> = Extract<E, { readonly type: 'file' | 'link' }>

/** Options of the methods of a {@link LazySource}. */
export interface LoadOptions {
  /** Aborts when the backend is closed, when its own signal aborts, and after its timeout. */
  readonly signal: AbortSignal
}

/**
 * Files that are listed at once and loaded one by one. Entries may have fields of the source's own. A `ToolError` is
 * passed on; the text of any other error is dropped, because it can hold addresses.
 */
export interface LazySource<E extends LazyEntry = LazyEntry> {
  /** Returns all entries, in any order. */
  list(options: LoadOptions): Promise<Iterable<E>>
  /** Returns the whole content of a listed file, or the target of a listed link, in bytes that nobody else writes into. */
  load(entry: LazyContent<E>, options: LoadOptions): Promise<Uint8Array>
}
