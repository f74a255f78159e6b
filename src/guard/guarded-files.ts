import { ToolError } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import { sha256, sha256Cached } from '../files/hash/sha256.ts'
import { createDocument, type DocumentCache, type TextDocument } from '../files/text/document.ts'
import { childOf, display, notFound, type Path, parentOf, quote } from '../paths/logical-path.ts'
import type { Backend, Change, FileRead, ReadsNow, Stat } from '../storage/backend.ts'
import { readsAtOnce } from '../storage/lookups.ts'
import { visibleFiles, type WalkEntry, type WalkFilters, walk } from '../storage/walk.ts'
import { AccessGrants, type GrantOptions, type Grants, memoryPermissions, treePermissions } from './grants.ts'
import type { Visibility, WalkKind } from './visibility.ts'

/**
 * The files of a backend that a call was granted. Any other path throws `POLICY_DENIED`.
 *
 * The permission of an access decides what it grants. Every access grants `stat` of its path. Content needs `file:read`,
 * `file:search`, `file:diff`, `memory:read`, or a change that depends on the present content (replace, append, move, copy,
 * patch, `memory:write`) of a file that policy does not deny to read. Below a recursive access, every path is evaluated by policy: hidden paths and the content of
 * protected files are refused.
 */
export interface GuardedFiles extends GuardedReads, GuardedWalks, GuardedDirectories {
  readonly capabilities: Backend['capabilities']
}

/** Reads of granted paths. All but `stat` need an access that grants content. */
export interface GuardedReads {
  /** Returns `undefined` if the path does not exist. Of a protected file whose content is not granted, `size` is 0. */
  stat(path: Path): Promise<Stat | undefined>
  /** @throws ToolError `NOT_FOUND`, `IS_DIRECTORY`, `PATH_REJECTED` for a special file, `FILE_TOO_LARGE` above `maxBytes` */
  read(path: Path, maxBytes: number): Promise<FileRead>
  /** Returns the version of bytes that `read` returned. Cached if nothing but the backend can change the files. */
  versionOf(bytes: Uint8Array): string
  /** Reads the bytes `[start, end)`. With a `tag`, throws `WRITE_CONFLICT` if the file has changed. */
  readRange(path: Path, range: { start: number; end: number; tag?: string }): Promise<FileRead>
  /** Returns the target of a link, as stored. */
  readLink(path: Path): Promise<string>
  /** Reads a file as text, with secrets marked. */
  document(path: Path, maxBytes: number): Promise<TextDocument>
  /** Records that `bytes` bytes of a scanned file were shown. */
  noteRead(path: Path, bytes: number): void
}

/** Walks and scans of granted trees, which need a recursive access. Hidden paths do not appear. */
export interface GuardedWalks {
  /** Walks a directory and yields what a call of this kind may see, in order. */
  walk(start: Path, kind: WalkKind, filters: WalkFilters, maxDepth?: number): AsyncIterable<WalkEntry>
  /**
   * Returns the files and links that a listing shows and `matches` accepts, all at once: the fast form for whole trees. If
   * the start is a file, the result is that file, or empty if it is hidden.
   */
  visible(start: Path, filters: WalkFilters, matches: (path: Path) => boolean): Promise<readonly Path[]>
  /** Returns the files to search. */
  candidates(start: Path, filters: WalkFilters): Promise<readonly Path[]>
  /** Returns the files of a tree of notes, including dot files and ignored files. Needs an access to the notes. */
  notes(start: Path): Promise<readonly Path[]>
  /**
   * Returns everything below a path, to move or copy a whole tree, ignored entries as well. Needs an access that changes the
   * tree, because policy evaluates every entry as a change.
   *
   * @throws ToolError `LIMIT_EXCEEDED` above `maxEntries`; `POLICY_DENIED`, without its name, for an entry that policy hides
   */
  allEntries(start: Path, maxEntries: number): Promise<WalkEntry[]>
  /**
   * Visits the files whose bytes the filter accepts, until a visitor returns false. Bytes are valid only during the visit.
   * The filter gets no bytes of a file over `maxBytes`, which is not read, and must not accept it. A visited file counts as
   * read, for audit and labels, and a file that the filter does not accept for labels.
   */
  scan(paths: readonly Path[], filter: ScanFilter, visit: ScanVisitor, maxBytes?: number): Promise<void>
}

/** Changes of directories that follow from changes of granted paths. */
export interface GuardedDirectories {
  /** Returns the changes that remove directories which become empty when the given paths are removed, except those in `keep`. */
  emptiedDirectories(removed: readonly Path[], keep: ReadonlySet<Path>): Promise<Change[]>
  /**
   * Returns the changes that create the missing parents of a path.
   *
   * @throws ToolError `NOT_A_DIRECTORY` if a parent is something else
   */
  missingParents(path: Path): Promise<Change[]>
}

const NO_BYTES = new Uint8Array()

/** Returns whether to visit the file; `undefined` ends the scan. */
export type ScanFilter = (path: Path, bytes: Uint8Array, stat: Stat) => boolean | undefined
/** Returns false to end the scan. */
export type ScanVisitor = (path: Path, bytes: Uint8Array, stat: Stat) => boolean

export interface GuardedFilesOptions extends GrantOptions {
  readonly backend: Backend
  readonly documents: DocumentCache
  readonly signal: AbortSignal | undefined
  /** Called with each path whose bytes are read, and their number. An exception refuses the read. */
  readonly onRead: (path: Path, bytes: number) => void
  /** Called with each link whose target is read, and each file whose size is shown or that a filter of an own tool refuses. */
  readonly onTarget: (path: Path) => void
  /** Called with each path of a walk, for tools that may show any of them. */
  readonly onName?: ((path: Path) => void) | undefined
  /** Whether a scanned file counts as read when it is visited. If not, the tool calls `noteRead` for what it shows. */
  readonly notesVisits: boolean
  /** Whether the tool may show what `stat` returns. If not, the tool labels what it shows. */
  readonly showsStats: boolean
}

const loadErrors = () => import('./tree-errors.ts')
const everything: WalkFilters = { includeHidden: true, includeIgnored: true }
const unrestricted: Visibility = { see: () => true, enter: () => true, revision: 'all' }

/** Creates the view of a backend that reaches only the granted accesses. Anything else is a fault of the tool and refused. */
export function createGuardedFiles(options: GuardedFilesOptions): GuardedFiles {
  return new BackendView(options)
}

class BackendView implements GuardedFiles {
  readonly #options: GuardedFilesOptions
  readonly #backend: Backend
  readonly #grants: Grants
  /** The reads of the backend without promises, if it has them. */
  readonly #now: ReadsNow | undefined

  constructor(options: GuardedFilesOptions) {
    this.#options = options
    this.#backend = options.backend
    this.#grants = new AccessGrants(options)
    this.#now = readsAtOnce(options.backend)
  }

  get capabilities(): Backend['capabilities'] {
    return this.#backend.capabilities
  }

  async read(path: Path, maxBytes: number): Promise<FileRead> {
    this.#grants.content(path)
    const stat = this.#now === undefined ? await this.#backend.stat(path) : this.#now.stat(path)
    requireFile(path, stat)
    if (stat.size > maxBytes) {
      this.#options.onTarget(path)
      throw new ToolError('FILE_TOO_LARGE', `${quote(path)} has ${stat.size} bytes, over the limit of ${maxBytes}`, {
        path,
        sizeBytes: stat.size,
        limit: maxBytes,
      })
    }
    this.#options.onRead(path, stat.size)
    return this.#now === undefined ? this.#backend.read(path) : this.#now.read(path)
  }

  stat(path: Path): Promise<Stat | undefined> {
    return this.#statEntry(this.#grants.covered(path))
  }

  async #statEntry(path: Path): Promise<Stat | undefined> {
    const stat = this.#now === undefined ? await this.#backend.stat(path) : this.#now.stat(path)
    this.#grants.entry(path, stat?.type)
    if (stat?.type !== 'file' || !classifyPath(path).redacted || this.#grants.showsContent(path)) {
      if (this.#options.showsStats && stat?.type === 'file') this.#options.onTarget(path)
      return stat
    }
    return { type: 'file', size: 0, tag: stat.tag }
  }

  versionOf(bytes: Uint8Array): string {
    return this.#isCacheable ? sha256Cached(bytes) : sha256(bytes)
  }

  async readRange(path: Path, range: { start: number; end: number; tag?: string }): Promise<FileRead> {
    const content = await this.#backend.read(this.#grants.content(path), range)
    this.#options.onRead(path, content.bytes.length)
    return content
  }

  async readLink(path: Path): Promise<string> {
    const target = await this.#backend.readLink(this.#grants.content(path))
    this.#options.onTarget(path)
    return target
  }

  async document(path: Path, maxBytes: number): Promise<TextDocument> {
    const { bytes } = await this.read(path, maxBytes)
    return this.#isCacheable ? this.#options.documents.of(bytes, path) : createDocument(bytes, path)
  }

  noteRead(path: Path, bytes: number): void {
    this.#options.onRead(this.#grants.covered(path), bytes)
  }

  async *walk(start: Path, kind: WalkKind, filters: WalkFilters, maxDepth?: number): AsyncIterable<WalkEntry> {
    const { visibility, onName } = this.#options
    const options = {
      filters,
      ...visibility(kind),
      ...(maxDepth === undefined ? {} : { maxDepth }),
      ...this.#abort,
    }
    try {
      for await (const entry of walk(this.#backend, this.#grants.tree(start), options)) {
        onName?.(entry.path)
        yield entry
      }
    } catch (error) {
      // Below a hidden file nothing exists, but the walk says that a file is there.
      throw (await this.#backend.stat(start)) ? error : notFound(start)
    }
  }

  async visible(start: Path, filters: WalkFilters, matches: (path: Path) => boolean): Promise<readonly Path[]> {
    return (await this.#filesBelow(start, 'list', filters, true)).filter(matches)
  }

  candidates(start: Path, filters: WalkFilters): Promise<readonly Path[]> {
    return this.#filesBelow(start, 'search', filters, false)
  }

  async notes(start: Path): Promise<readonly Path[]> {
    return this.#filesBelow(this.#grants.tree(start, memoryPermissions), 'memory', everything, false)
  }

  async allEntries(start: Path, maxEntries: number): Promise<WalkEntry[]> {
    const entries: WalkEntry[] = []
    for await (const entry of walk(this.#backend, this.#grants.tree(start, treePermissions), {
      filters: everything,
      includeGit: true,
      ...unrestricted,
    })) {
      if (!this.#grants.isShown(entry.path, entry.type)) throw (await loadErrors()).hiddenInside(start)
      entries.push(entry)
      if (entries.length > maxEntries) throw (await loadErrors()).tooManyEntries(start, maxEntries)
    }
    return entries
  }

  async scan(paths: readonly Path[], filter: ScanFilter, visit: ScanVisitor, maxBytes?: number): Promise<void> {
    const { onRead, onTarget, notesVisits } = this.#options
    for (const path of paths) this.#grants.content(path)
    const visitMatch = (path: Path, bytes: Uint8Array, stat: Stat): boolean => {
      const matches = filter(path, bytes, stat)
      if (matches !== true) {
        // What the filter of an own tool has seen can decide about its result.
        if (notesVisits) onTarget(path)
        return matches !== undefined
      }
      if (notesVisits) onRead(path, bytes.length)
      return visit(path, bytes, stat)
    }
    const backend = this.#backend
    if (backend.scan !== undefined) return backend.scan(paths, visitMatch, maxBytes)
    for (const path of paths) {
      const stat = await backend.stat(path)
      if (stat?.type !== 'file') continue
      const isTooLarge = maxBytes !== undefined && stat.size > maxBytes
      const content = isTooLarge ? { bytes: NO_BYTES, stat } : await backend.read(path)
      if (!visitMatch(path, content.bytes, content.stat)) return
    }
  }

  async emptiedDirectories(removed: readonly Path[], keep: ReadonlySet<Path>): Promise<Change[]> {
    const absent = new Set<Path>(removed.map((path) => this.#grants.covered(path)))
    const changes: Change[] = []
    // By length of the path, the longest first: subdirectories are decided before the directory that contains them.
    const pending: Set<Path>[] = []
    const add = (directory: Path) => {
      pending[directory.length] ??= new Set()
      pending[directory.length]?.add(directory)
    }
    for (const path of removed) add(parentOf(path))
    for (let length = pending.length - 1; length > 0; length--) {
      for (const directory of pending[length] ?? []) {
        if (keep.has(directory)) continue
        const stat = await this.#backend.stat(directory)
        if (stat?.type !== 'directory') continue
        if ((await this.#backend.list(directory)).some(({ name }) => !absent.has(childOf(directory, name)))) continue
        absent.add(directory)
        changes.push({ path: directory, expect: { tag: stat.tag }, to: null })
        add(parentOf(directory))
      }
    }
    return changes
  }

  async missingParents(path: Path): Promise<Change[]> {
    const missing: Change[] = []
    for (let parent = parentOf(this.#grants.covered(path)); parent !== ''; parent = parentOf(parent)) {
      const stat = await this.#backend.stat(parent)
      if (stat?.type === 'directory') break
      if (stat !== undefined) {
        throw new ToolError('NOT_A_DIRECTORY', `${quote(parent)} is not a directory`, { path: parent })
      }
      missing.push({ path: parent, expect: 'any', to: { type: 'directory' } })
    }
    return missing.reverse()
  }

  /** Whether nothing but the backend can change the bytes of a file. */
  get #isCacheable(): boolean {
    return this.#backend.capabilities.authority === 'sole'
  }

  get #abort(): { readonly signal?: AbortSignal } {
    const { signal } = this.#options
    return signal === undefined ? {} : { signal }
  }

  async #filesBelow(start: Path, kind: WalkKind, filters: WalkFilters, links: boolean): Promise<readonly Path[]> {
    const { visibility, onName } = this.#options
    const visible = visibility(kind)
    const stat = await this.#backend.stat(this.#grants.covered(start))
    if (!stat) throw notFound(start)
    if (stat.type === 'file') return visible.see(start, 'file') ? [start] : []
    this.#grants.tree(start)
    const paths = await visibleFiles(this.#backend, start, { filters, ...visible, links, ...this.#abort })
    this.#grants.addVisible(start, kind, paths)
    if (onName !== undefined) for (const path of paths) onName(path)
    return paths
  }
}

/** @throws ToolError `NOT_FOUND`, `IS_DIRECTORY`, or `PATH_REJECTED` for a special file */
export function requireFile(path: Path, stat: Stat | undefined): asserts stat is Stat {
  if (!stat) throw notFound(path)
  if (stat.type === 'directory') {
    throw new ToolError('IS_DIRECTORY', `${quote(display(path))} is a directory`, { path: display(path) })
  }
  if (stat.type !== 'file') {
    throw new ToolError('PATH_REJECTED', `${quote(path)} is not a regular file`, { path })
  }
}
