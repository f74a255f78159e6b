import type { ToolError } from '../errors.ts'
import type { LogicalPath, Path } from '../paths/logical-path.ts'

/** What a backend can do. A tool asks here and says so, instead of pretending. */
export interface Capabilities {
  /** Symbolic links can be stored and read. */
  readonly links: boolean
  /** Permission bits are kept. */
  readonly modes: boolean
  /** Modification times: ours to set, the storage's own, or none. */
  readonly times: 'set' | 'own' | 'none'
  readonly caseSensitive: boolean
  /** `sole`: nobody else writes here, so that what commits leave behind may be remembered. */
  readonly authority: 'sole' | 'shared'
  /** What was committed survives the end of the process. */
  readonly persistent: boolean
  /** Whether a change set is applied whole or not at all (`set`), or each file by itself (`file`). */
  readonly atomic: 'set' | 'file'
}

/** What stands at a name; `other` is what is neither read nor written, such as a socket. */
export type EntryType = 'file' | 'directory' | 'link' | 'other'

/** What a look at a path tells, without reading it. */
export interface Stat {
  readonly type: EntryType
  /** Bytes of a file; 0 for anything else. */
  readonly size: number
  /** Permission bits, as in 0o644, where the backend keeps them. */
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

/** What a path shall be; `null` means absent. */
export type EntryState =
  | null
  | { readonly type: 'directory' }
  | { readonly type: 'link'; readonly target: string }
  | {
      readonly type: 'file'
      /** Owned by the backend from the commit on: nobody may write into it afterwards. */
      readonly bytes: Uint8Array
      /** Left out: an existing file's bits are kept, a new file gets the backend's default. */
      readonly mode?: number
      /** How many leading bytes equal the present content, where the caller knows (appending). A hint. */
      readonly sharedPrefix?: number
    }

/**
 * What a path must be now for the change to happen; otherwise the whole set is refused with `WRITE_CONFLICT`, or with
 * `ALREADY_EXISTS` for `absent`. `{ sha256 }` also refuses anything that is not a file. `any` never lets a directory give
 * way to a file or a link (`IS_DIRECTORY`), nor the other way round (`ALREADY_EXISTS`): that must be expected by `tag` or
 * `sha256`.
 */
export type Expectation = 'any' | 'absent' | { readonly sha256: string } | { readonly tag: string }

/** One path's way from an expected state to a target state. A change set holds each path at most once, in any order. */
export interface Change {
  readonly path: Path
  readonly expect: Expectation
  readonly to: EntryState
  /** The path whose state this one takes over and which the same set makes absent: a hint that lets a disk rename. */
  readonly from?: Path
}

/** What a path was or is, for audit and undo. */
export type Version =
  | null
  | { readonly type: 'directory' }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'file'; readonly sha256: string; readonly size: number; readonly mode?: number }

/** What a commit did, one entry per change, in the order of the set. */
export interface Receipt {
  readonly applied: readonly { readonly path: Path; readonly before: Version; readonly after: Version }[]
}

/** How a set is to be committed. */
export interface CommitOptions {
  /** `durable`: what was acknowledged survives a power cut. `relaxed`: it may be lost, never torn. */
  readonly durability: 'durable' | 'relaxed'
  /** The time to note as modifiedAt, in milliseconds since 1970, where the backend's times are `set`. */
  readonly at?: number
  readonly signal?: AbortSignal
}

/**
 * Where bytes live: a handful of reads and one mutation. A backend never follows a link on its own: only `canonical`
 * does, and every other method takes what it gave. All methods throw only `ToolError`, without physical paths:
 * `INVALID_INPUT`, `NOT_FOUND`, `ALREADY_EXISTS`, `IS_DIRECTORY`, `NOT_A_DIRECTORY`, `DIRECTORY_NOT_EMPTY`,
 * `PATH_REJECTED`, `WRITE_CONFLICT`, `NO_SPACE`, `READ_ONLY`, `ABORTED`, `BACKEND_ERROR`, `LIMIT_EXCEEDED`.
 */
export interface Backend {
  readonly capabilities: Capabilities
  /**
   * The one true path: links inside the root resolved, spelled as stored. What does not exist keeps its name below the
   * nearest directory that does. `noFollow` leaves the last name alone, for what acts on a link itself.
   * Throws `PATH_REJECTED` where a link leads outside the root (dangling or not) or in a circle, and for names that the
   * storage would alter; `NOT_A_DIRECTORY` where a file stands in the way.
   */
  canonical(path: LogicalPath, options?: { readonly noFollow?: boolean }): Promise<Path>
  /** `undefined` where nothing is. The root always is a directory. */
  stat(path: Path): Promise<Stat | undefined>
  /** Sorted by UTF-16 units. `NOT_FOUND`, `NOT_A_DIRECTORY`. Names that the lexical guard refuses are left out. */
  list(path: Path): Promise<readonly DirectoryEntry[]>
  /**
   * The bytes of a file, or of a range `[start, end)` of it, clipped to its size. The bytes are the caller's to read, not
   * to write. With `range.tag`, `WRITE_CONFLICT` if the file is no longer that one.
   */
  read(path: Path, range?: { readonly start: number; readonly end: number; readonly tag?: string }): Promise<FileRead>
  /** The target of a link, as stored. */
  readLink(path: Path): Promise<string>
  /**
   * Applies the set: all of it or nothing. Parents must exist or be in the set (a directory with `expect: 'any'` that is
   * already there is no change); a directory can be made absent only with everything below it in the same set.
   * No link may be stored whose target leads outside the root (`PATH_REJECTED`).
   */
  commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt>
  /**
   * Hands out the bytes of many files, in the order given; what is gone or no file is passed over. The bytes are valid
   * only during the visit. Ends early when `visit` returns false.
   */
  scan?(paths: readonly Path[], visit: (path: Path, bytes: Uint8Array, stat: Stat) => boolean): Promise<void>
  /**
   * The names in directories with what a look at each tells, without opening a file: what a comparison with git's index
   * needs, many times faster than `list` and `stat`. A directory that is gone or is none gives `undefined`. `known` gives
   * what was found last time: where the directory's own stamp is still the same, its names are taken from there.
   */
  statDirectories?(
    directories: readonly Path[],
    known: (directory: Path) => DirectoryStats | undefined,
  ): Promise<readonly (DirectoryStats | undefined)[]>
  /**
   * Goes down a tree, directory by directory, in far fewer steps than a `list` of each. Throws what `list` throws for the
   * start, and what the visitor throws.
   */
  walk?(start: Path, visitor: WalkVisitor): Promise<void>
  /** The present tree as immutable nodes, where the backend holds one: lets walks remember what they saw. */
  tree?(): DirectoryNode
  /**
   * Whether a physical path lies, or would lie, in what this backend reaches: what must stay out of an agent's hands,
   * such as an audit file, is refused there.
   */
  containsPhysicalPath?(physicalPath: string): boolean
  /** An independent copy that shares what it can. */
  fork?(): Backend
  /** Gives back what the backend holds, such as locks and handles. Nothing may be asked of it afterwards. */
  close(): Promise<void>
}

/** What was read, and of which file: the stat belongs to these very bytes. */
export interface FileRead {
  readonly bytes: Uint8Array
  readonly stat: Stat
}

/** Who is told of the directories on the way down. */
export interface WalkVisitor {
  /**
   * A directory's entries, as `list` gives them; answers which directories among them to enter, by name: what is below one
   * is told before the next is entered. `read` gives the first bytes of a file in this directory, at most so many, and
   * `undefined` where that is no file or cannot be read. Where files are short, a directory may be told again.
   */
  visit(
    directory: Path,
    entries: readonly DirectoryEntry[],
    read: (name: string, most: number) => Uint8Array | undefined,
  ): readonly string[]
  /** A directory that could not be listed, or that was moved meanwhile: what was told of it and of what is below is void. */
  skipped(directory: Path, error: ToolError): void
}

/** Numbers per name in {@link DirectoryStats.facts}. */
export const FACTS = 5

/** The number of each type in {@link DirectoryStats.types}. */
export const TYPE_CODES = Object.freeze({ other: 0, file: 1, directory: 2, link: 3 }) satisfies Record<
  EntryType,
  number
>

/** A directory at one moment. */
export interface DirectoryStats {
  /** The same number means the same names; NaN where it may not be trusted. */
  readonly stamp: number
  /** Sorted by UTF-16 units, as `list` gives them. */
  readonly names: readonly string[]
  /** By position: 0 other, 1 file, 2 directory, 3 link. */
  readonly types: Uint8Array
  /**
   * Five numbers by position: size; permission bits, or -1 without; the times of the last modification and of the last
   * change in milliseconds, NaN where they are not known; and a number that tells the file's identity. Of a directory: 0.
   */
  readonly facts: Float64Array
}

/** An immutable node of a backend that holds its tree in memory. A changed directory is a new node, and so are those above it. */
export type TreeNode = FileNode | DirectoryNode | LinkNode

/** A file of such a tree. */
export interface FileNode {
  readonly type: 'file'
  readonly bytes: Uint8Array
  readonly stat: Stat
}

/** A symbolic link of such a tree. */
export interface LinkNode {
  readonly type: 'link'
  readonly target: string
  readonly stat: Stat
}

/** A directory of such a tree. */
export interface DirectoryNode {
  readonly type: 'directory'
  readonly stat: Stat
  /** Sorted by UTF-16 units. */
  entries(): Iterable<readonly [name: string, node: TreeNode]>
  /** What stands at a name in it. */
  get(name: string): TreeNode | undefined
}
