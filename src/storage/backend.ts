import type { ToolError } from '../errors.ts'
import type { LogicalPath, Path } from '../paths/logical-path.ts'

/** What a backend can do. Tools report what it cannot do instead of pretending. */
export interface Capabilities {
  /** Symbolic links can be stored and read. */
  readonly links: boolean
  /** Permission bits are stored. */
  readonly modes: boolean
  /** Modification times: set by `CommitOptions.at`, assigned by the storage, or none. */
  readonly times: 'set' | 'own' | 'none'
  readonly caseSensitive: boolean
  /** `sole`: nothing else writes here, so callers may cache the state after a commit. */
  readonly authority: 'sole' | 'shared'
  /** Commits survive the end of the process. */
  readonly persistent: boolean
  /** Whether a change set is applied as a whole or not at all (`set`), or each file by itself (`file`). */
  readonly atomic: 'set' | 'file'
}

/** Type of an entry. `other` can be neither read nor written, such as a socket. */
export type EntryType = 'file' | 'directory' | 'link' | 'other'

/** Metadata of an entry. */
export interface Stat {
  readonly type: EntryType
  /** Bytes of a file; 0 for anything else. */
  readonly size: number
  /** Permission bits, such as 0o644, if the backend stores them. */
  readonly mode?: number
  /** Milliseconds since 1970. */
  readonly modifiedAt?: number
  /** Opaque: equal tags of one path mean equal content, as far as the backend can tell without reading. */
  readonly tag: string
}

/** One name in a directory. */
export interface DirectoryEntry {
  readonly name: string
  readonly type: EntryType
}

/** The state of a path; `null` means absent. */
export type EntryState =
  | null
  | { readonly type: 'directory' }
  | { readonly type: 'link'; readonly target: string }
  | {
      readonly type: 'file'
      /**
       * The content, or the first bytes of it if there is a `content`. Owned by the backend from the commit on: callers must
       * not write into it afterwards.
       */
      readonly bytes: Uint8Array
      /**
       * The content of a file that is too large for memory, which the storage has already: what {@link Backend.stage} took, or
       * for a change with `from` the content of that file. Only for backends with `stage`; others refuse it.
       */
      readonly content?: StoredContent
      /** Default: the bits of the existing file, or the backend's default for a new file. */
      readonly mode?: number
      /** A hint: how many leading bytes equal the present content, if the caller knows (appending). */
      readonly sharedPrefix?: number
    }

/** The size and the version of a content that a storage has. */
export interface StoredContent {
  /** Bytes. */
  readonly size: number
  /** SHA-256 as 64 lowercase hex digits. */
  readonly sha256: string
}

/** Takes a content in parts, in order. Nothing of it is in the tree. */
export interface ContentSink {
  /** Stores bytes after those of earlier calls. Await it before the next call. The caller may change the bytes afterwards. */
  write(bytes: Uint8Array): Promise<void>
  /** Returns the content, once all of it is stored. A durable commit of it survives a power cut. */
  finish(): Promise<StagedContent>
  /** Removes what was stored. Does nothing after `finish`. */
  discard(): Promise<void>
}

/** A content that was taken in parts. A change of one commit may name it as `content`, once. */
export interface StagedContent extends StoredContent {
  /** Returns the bytes `[start, end)`, clipped to the size. Not after the commit. */
  read(start: number, end: number): Promise<Uint8Array>
  /** Removes it, unless a commit has put it in place. To be called in any case. */
  discard(): Promise<void>
}

/**
 * The state that a path must have for the change to happen. Otherwise the whole set fails with `WRITE_CONFLICT`, or with
 * `ALREADY_EXISTS` for `absent`. `{ sha256 }` matches only a file. `any` does not allow replacing a directory by a file or
 * link (`IS_DIRECTORY`) or the reverse (`ALREADY_EXISTS`): expect the entry by `tag` or `sha256` for that.
 */
export type Expectation = 'any' | 'absent' | { readonly sha256: string } | { readonly tag: string }

/** A transition of one path from an expected state to a target state. A change set has each path at most once, in any order. */
export interface Change {
  readonly path: Path
  readonly expect: Expectation
  readonly to: EntryState
  /** The path that this one is moved from, and that the same set deletes. A hint that lets a disk rename. */
  readonly from?: Path
}

/** The version of a path, for audit and undo. */
export type Version =
  | null
  | { readonly type: 'directory' }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'file'; readonly sha256: string; readonly size: number; readonly mode?: number }

/** The result of a commit: one entry per change, in the order of the set. */
export interface Receipt {
  readonly applied: readonly { readonly path: Path; readonly before: Version; readonly after: Version }[]
}

/** Options of `Backend.commit`. */
export interface CommitOptions {
  /** `durable`: an acknowledged commit survives a power cut. `relaxed`: it may be lost, but is never torn. */
  readonly durability: 'durable' | 'relaxed'
  /** The new `modifiedAt`, in milliseconds since 1970, if the backend's `times` are `set`. */
  readonly at?: number
  readonly signal?: AbortSignal
}

/** Receives the paths that others changed, sorted, or `undefined` if any path may have changed. */
export type OutsideListener = (paths: readonly Path[] | undefined) => void

/** Visits the content of a file during a scan. Returns false to end the scan. */
export type ScanVisit = (path: Path, bytes: Uint8Array, stat: Stat) => boolean

/**
 * A storage of files, directories and links: a handful of reads and one mutation. Only `canonical` follows links; every
 * other method takes canonical paths. All methods throw only `ToolError`, without physical paths:
 * `INVALID_INPUT`, `NOT_FOUND`, `ALREADY_EXISTS`, `IS_DIRECTORY`, `NOT_A_DIRECTORY`, `DIRECTORY_NOT_EMPTY`,
 * `PATH_REJECTED`, `WRITE_CONFLICT`, `NO_SPACE`, `READ_ONLY`, `ABORTED`, `BACKEND_ERROR`, `LIMIT_EXCEEDED`.
 */
export interface Backend {
  readonly capabilities: Capabilities
  /**
   * Returns the canonical path: links inside the root resolved, names spelled as stored. Names that do not exist are kept
   * below the nearest existing directory. `noFollow` does not resolve the last name, for operations on a link itself.
   * Throws `PATH_REJECTED` if a link leads outside the root (dangling or not) or in a circle, and for names that the
   * storage would alter; `NOT_A_DIRECTORY` if an ancestor is a file.
   */
  canonical(path: LogicalPath, options?: { readonly noFollow?: boolean }): Promise<Path>
  /** Returns `undefined` for an absent path, and for one that leads through a link or a file. The root is always a directory. */
  stat(path: Path): Promise<Stat | undefined>
  /** Lists a directory, sorted by UTF-16 code units, without names that `parsePath` refuses. `NOT_FOUND`, `NOT_A_DIRECTORY`. */
  list(path: Path): Promise<readonly DirectoryEntry[]>
  /**
   * Reads a file, or the range `[start, end)` of it, clipped to its size. The caller must not write into the bytes.
   * With `range.tag`, throws `WRITE_CONFLICT` if the file has another tag now.
   */
  read(path: Path, range?: { readonly start: number; readonly end: number; readonly tag?: string }): Promise<FileRead>
  /** Returns the target of a link, as stored. */
  readLink(path: Path): Promise<string>
  /**
   * Applies the whole set or nothing. Parents must exist or be in the set; a directory with `expect: 'any'` that already
   * exists is left unchanged. A directory can be deleted only if the same set deletes everything below it. Links whose
   * target leads outside the root are refused (`PATH_REJECTED`).
   */
  commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt>
  /**
   * Stores a content part by part, before a commit puts it at a path: for files that are too large for memory. What a killed
   * process leaves of it is removed like other temporary files. `path` is where it will be, whose parents need not exist yet.
   */
  stage?(path: Path): Promise<ContentSink>
  /**
   * Throws the error with which `commit` would refuse the set because of where its paths are, such as in a read-only part.
   * Called before anybody is asked for an approval; `commit` checks the same.
   */
  checkPlaces?(changes: readonly Change[]): Promise<void>
  /**
   * Reads many files, in the given order. Skips paths that are gone or not files. The bytes are valid only during the
   * visit. Ends early if `visit` returns false. A file whose `stat.size` is over `maxBytes` may be visited with no bytes,
   * so that its content need not be read.
   */
  scan?(paths: readonly Path[], visit: ScanVisit, maxBytes?: number): Promise<void>
  /**
   * Returns names and stats of many directories without opening a file, many times faster than `list` and `stat`: for
   * comparisons with git's index. The result is `undefined` for a path that is not a directory. `known` returns the
   * previous result of a directory: if its stamp is unchanged, its names are reused.
   */
  statDirectories?(
    directories: readonly Path[],
    previous: (directory: Path) => DirectoryStats | undefined,
  ): Promise<readonly (DirectoryStats | undefined)[]>
  /**
   * Walks a tree, directory by directory, in far fewer steps than a `list` of each. Throws what `list` throws for the
   * start, and what the visitor throws.
   */
  walk?(start: Path, visitor: WalkVisitor): Promise<void>
  /**
   * Reports what others change at a path and below it, or with `recursive: false` in one directory, if the storage can tell.
   * What this backend commits is not reported. Returns a function that ends it. Rejects with `LIMIT_EXCEEDED` if there is more
   * than can be watched, `NOT_FOUND`.
   */
  watch?(path: Path, onChange: OutsideListener, options?: { readonly recursive?: boolean }): Promise<() => void>
  /**
   * Returns reads that return at once, if the backend has all content in memory. Programs that call synchronous functions of a
   * file system need them.
   */
  readsNow?(): ReadsNow
  /** Returns the present tree as immutable nodes, if the backend has one. Walks cache their results by node. */
  tree?(): DirectoryNode
  /**
   * Returns whether this backend reaches a physical path, existing or not. Files that agents must not reach, such as an
   * audit file, are refused there.
   */
  containsPhysicalPath?(physicalPath: string): boolean
  /** Returns an independent copy that shares unchanged data. */
  fork?(): Backend
  /**
   * Called when a call of a tool begins, by a storage that asks for changes by others with each read. Until the returned
   * function is called, a read may use the answer to an earlier one, if that was asked after the last `pin` and at most
   * two seconds ago.
   */
  pin?(): () => void
  /** Releases locks and handles. No method may be called afterwards. */
  close(): Promise<void>
}

/** The reads of a {@link Backend}, without promises. They throw what the others reject with. */
export interface ReadsNow {
  /** See `Backend.canonical`. */
  canonical(path: LogicalPath, options?: { readonly noFollow?: boolean }): Path
  /** See `Backend.stat`. */
  stat(path: Path): Stat | undefined
  /** See `Backend.list`. */
  list(path: Path): readonly DirectoryEntry[]
  /** See `Backend.read`. */
  read(path: Path, range?: { readonly start: number; readonly end: number; readonly tag?: string }): FileRead
  /** See `Backend.readLink`. */
  readLink(path: Path): string
}

/** The bytes of a file, and the stat of exactly these bytes. */
export interface FileRead {
  readonly bytes: Uint8Array
  readonly stat: Stat
}

/** Receives the directories of a walk. */
export interface WalkVisitor {
  /**
   * Called with the entries of a directory, as `list` returns them. Returns the names of the directories to enter, depth
   * first. `read` returns at most `maxBytes` leading bytes of a file in this directory, or `undefined` if it is not a file
   * or cannot be read. When file descriptors run out, a directory may be visited again.
   */
  visit(
    directory: Path,
    entries: readonly DirectoryEntry[],
    read: (name: string, maxBytes: number) => Uint8Array | undefined,
  ): readonly string[]
  /**
   * Called for a directory that could not be listed or was moved during the walk. Discard everything reported for it and
   * for its descendants.
   */
  skipped(directory: Path, error: ToolError): void
}

/** Numbers per name in {@link DirectoryStats.facts}. */
export const FACTS = 5

/** The number of each type in {@link DirectoryStats.types}. */
export const TYPE_CODES = Object.freeze({ other: 0, file: 1, directory: 2, link: 3 }) satisfies Record<
  EntryType,
  number
>

/** Names and stats of a directory at one moment. */
export interface DirectoryStats {
  /** An equal stamp means equal names. NaN if it cannot be trusted. */
  readonly stamp: number
  /** Sorted by UTF-16 code units, as `list` returns them. */
  readonly names: readonly string[]
  /** By position: 0 other, 1 file, 2 directory, 3 link. */
  readonly types: Uint8Array
  /**
   * {@link FACTS} numbers per name: size; permission bits, or -1; mtime and ctime in milliseconds, or NaN; and a number
   * that identifies the file. All are 0 for a directory.
   */
  readonly facts: Float64Array
}

/** An immutable node of a tree in memory. A change creates new nodes for its directory and all directories above. */
export type TreeNode = FileNode | DirectoryNode | LinkNode

/** A file of a tree in memory. */
export interface FileNode {
  readonly type: 'file'
  /** The content; `undefined` while it is not in memory. That of `.gitignore` always is. */
  readonly bytes: Uint8Array | undefined
  readonly stat: Stat
  /** Returns the content of a node without `bytes`; `undefined` if it no longer exists. */
  load?(): Promise<Uint8Array | undefined>
}

/** A symbolic link of a tree in memory. */
export interface LinkNode {
  readonly type: 'link'
  readonly target: string
  readonly stat: Stat
}

/** A directory of a tree in memory. */
export interface DirectoryNode {
  readonly type: 'directory'
  readonly stat: Stat
  /** Sorted by UTF-16 code units. */
  entries(): Iterable<readonly [name: string, node: TreeNode]>
  /** Returns the node of a name. */
  get(name: string): TreeNode | undefined
}
