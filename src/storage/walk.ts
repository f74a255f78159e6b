import { ToolError } from '../errors.ts'
import { type IgnoreScope, ignoredIn, MAX_IGNORE_FILE_BYTES, scopeWith } from '../paths/ignore.ts'
import { ancestorsOf, childOf, display, nameOf, notFound, type Path, quote, ROOT } from '../paths/logical-path.ts'
import { throwIfAborted } from '../util/abort.ts'
import { yieldToEventLoop } from '../util/timers.ts'
import type { Backend, DirectoryEntry, DirectoryNode, EntryType, FileNode, WalkVisitor } from './backend.ts'

/** Entries that listing, finding and searching leave out by default. */
export interface WalkFilters {
  /** Include names that start with a dot, such as `.github` and `.gitignore`. Never `.git` itself. */
  readonly includeHidden: boolean
  /** Include `node_modules target build dist` and what `.gitignore` files name. */
  readonly includeIgnored: boolean
}

/** An entry of a walk. */
export interface WalkEntry {
  readonly path: Path
  readonly type: EntryType
  /** 1 for entries of the start directory. */
  readonly depth: number
}

export interface WalkOptions {
  readonly filters: WalkFilters
  /** Maximum depth; 1 lists only the start directory. Default: no limit. */
  readonly maxDepth?: number
  /** Includes `.git` and its contents. Only for checks of a whole tree, such as before moving it; never for tool output. */
  readonly includeGit?: boolean
  readonly signal?: AbortSignal
  /** Whether policy shows an entry. */
  see(path: Path, type: EntryType): boolean
  /** Whether policy lets the walk enter a directory, because it may contain visible entries. */
  enter(path: Path): boolean
  /**
   * Cache key for the results of `see` and `enter`: must change whenever one of them may (policy revision and run). For a
   * backend with a tree, the listing of a directory is cached under it.
   */
  readonly revision: string
  /** Called for a directory below the start that could not be listed and is skipped. */
  skipped?(path: Path, error: ToolError): void
}

/**
 * Yields the entries below a directory, the content of a directory right after it, names sorted by UTF-16 code units.
 *
 * Skips `.git` (unless `includeGit`) and, depending on the filters, hidden names, `node_modules target build dist` and
 * what `.gitignore` files name (also those above the start; links of that name are not read). The start itself may be
 * hidden or ignored. Links are yielded as links and never followed. Entries that `see` denies are not yielded; a
 * directory is entered if `enter` allows it, yielded or not.
 *
 * @throws ToolError `NOT_FOUND` and `NOT_A_DIRECTORY` for the start; `ABORTED`
 */
export async function* walk(
  backend: Backend,
  start: Path,
  options: WalkOptions,
): AsyncGenerator<WalkEntry, void, undefined> {
  const cursor = createCursor(backend, start, options)
  for (;;) {
    const entry = cursor.next()
    if (entry === WAIT) await cursor.load()
    else if (entry === undefined) return
    else if (typeof entry === 'string') yield { path: entry, type: 'file', depth: cursor.depth() }
    else if (entry.isShown) yield { path: entry.path, type: entry.type, depth: cursor.depth() }
  }
}

/** Options of {@link visibleFiles}. */
export interface VisibleOptions extends WalkOptions {
  /** Include links. */
  readonly links?: boolean
}

/**
 * Returns the paths of all files that a walk yields, in its order: the fast form for finding and searching a whole tree.
 * For a backend with a tree, only directories that changed since the last call are listed again, and an unchanged tree
 * returns the same array.
 *
 * @throws ToolError as {@link walk}
 */
export async function visibleFiles(backend: Backend, start: Path, options: VisibleOptions): Promise<readonly Path[]> {
  const cached = cachedFiles(backend, start, options)
  if (cached?.files !== undefined) return cached.files
  const { walk: walkTree } = backend
  if (walkTree !== undefined && backend.tree?.() === undefined) {
    return filesFromBackendWalk(backend, (visitor) => walkTree.call(backend, start, visitor), start, options)
  }
  const cursor = createCursor(backend, start, options)
  const files: Path[] = []
  const links = options.links === true
  for (;;) {
    const entry = cursor.next()
    if (entry === WAIT) await cursor.load()
    else if (entry === undefined) break
    else if (typeof entry === 'string') files.push(entry)
    else if (links && entry.isShown && entry.type === 'link') files.push(entry.path)
  }
  cached?.remember(files)
  return files
}

/** Directories with generated files. */
const GENERATED_DIRECTORIES: ReadonlySet<string> = new Set(['node_modules', 'target', 'build', 'dist'])

const IGNORE_FILE = '.gitignore'
const SLICE_MS = 20

/** An entry that is shown, entered, or both. A file, the most frequent type, is only its path. */
type Entry = Path | VisibleEntry

interface VisibleEntry {
  readonly path: Path
  readonly type: EntryType
  readonly isShown: boolean
  readonly isEntered: boolean
  /** The node of an entered directory, if the backend has a tree. */
  readonly node: DirectoryNode | undefined
}

/** The visible entries of a directory, and the ignore rules that apply in it. */
interface Listing {
  readonly entries: readonly Entry[]
  readonly scope: IgnoreScope | undefined
}

const WAIT = Symbol('the next directory must be loaded first')

interface Cursor {
  /** Returns the next entry, `WAIT` if `load` must be awaited first, or `undefined` at the end. */
  next(): Entry | typeof WAIT | undefined
  load(): Promise<void>
  /** Returns the depth of the last entry from `next`. */
  depth(): number
}

/** Creates a walk as a stack of listings: no recursion, and no promise per entry. */
function createCursor(backend: Backend, start: Path, options: WalkOptions): Cursor {
  const tree = backend.tree?.()
  const maxDepth = options.maxDepth ?? Number.POSITIVE_INFINITY
  const stack: { readonly listing: Listing; at: number }[] = []
  let pending: VisibleEntry | 'start' | undefined = 'start'
  let depth = 0
  let sliceEnd = performance.now() + SLICE_MS

  const isSliceOver = () => performance.now() >= sliceEnd

  const startListing = async (): Promise<Listing> => {
    if (tree === undefined) return listFromBackend(backend, start, await scopeAbove(backend, start, options), options)
    return listFromNode(directoryAt(tree, start), start, scopeInTree(tree, start, options, backend), options, backend)
  }

  return {
    depth: () => depth,
    next() {
      for (;;) {
        if (pending !== undefined) {
          if (pending === 'start' || pending.node === undefined || isSliceOver()) return WAIT
          const outer = stack.at(-1)?.listing.scope
          stack.push({ listing: listFromNode(pending.node, pending.path, outer, options, backend), at: 0 })
          pending = undefined
        }
        const frame = stack.at(-1)
        if (frame === undefined) return undefined
        const entry = frame.listing.entries[frame.at]
        if (entry === undefined) {
          stack.pop()
          continue
        }
        frame.at += 1
        depth = stack.length
        if (typeof entry !== 'string' && entry.isEntered && depth < maxDepth) pending = entry
        return entry
      }
    },
    async load() {
      if (isSliceOver()) {
        await yieldToEventLoop()
        sliceEnd = performance.now() + SLICE_MS
      }
      throwIfCancelled(options.signal, start)
      const directory = pending
      if (directory === 'start') {
        pending = undefined
        stack.push({ listing: await startListing(), at: 0 })
      } else if (directory !== undefined && directory.node === undefined) {
        pending = undefined
        try {
          const outer = stack.at(-1)?.listing.scope
          stack.push({ listing: await listFromBackend(backend, directory.path, outer, options), at: 0 })
        } catch (error) {
          if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
          options.skipped?.(directory.path, error)
        }
      }
    },
  }
}

/** Makes the message only when it is needed: this runs for every directory. */
function throwIfCancelled(signal: AbortSignal | undefined, start: Path): void {
  if (signal?.aborted) throwIfAborted(signal, `Walk of ${quote(display(start))} was cancelled`, { path: start })
}

/** Whether the filters include a name, before ignore files are consulted. */
function passes(name: string, type: EntryType, { filters, includeGit }: WalkOptions): boolean {
  if (name === '.git') return includeGit === true
  if (name.charCodeAt(0) === 0x2e && !filters.includeHidden) return false
  return filters.includeIgnored || type !== 'directory' || !GENERATED_DIRECTORIES.has(name)
}

function toEntry(
  path: Path,
  type: EntryType,
  node: DirectoryNode | undefined,
  options: WalkOptions,
): Entry | undefined {
  const isShown = options.see(path, type)
  if (type === 'file') return isShown ? path : undefined
  const isEntered = type === 'directory' && options.enter(path)
  return isShown || isEntered ? { path, type, isShown, isEntered, node } : undefined
}

// ---- Backends that list one directory at a time

async function listFromBackend(
  backend: Backend,
  directory: Path,
  outer: IgnoreScope | undefined,
  options: WalkOptions,
): Promise<Listing> {
  const listed = await backend.list(directory)
  const scope = hasIgnoreFile(listed, options) ? await readIgnoreFile(backend, directory, outer) : outer
  return { entries: entriesOf(listed, directory, scope, options), scope }
}

function hasIgnoreFile(listed: readonly DirectoryEntry[], { filters }: WalkOptions): boolean {
  return !filters.includeIgnored && listed.some((entry) => entry.name === IGNORE_FILE && entry.type === 'file')
}

function entriesOf(
  listed: readonly DirectoryEntry[],
  directory: Path,
  scope: IgnoreScope | undefined,
  options: WalkOptions,
): Entry[] {
  const isIgnored = options.filters.includeIgnored ? undefined : ignoredIn(scope, directory)
  const entries: Entry[] = []
  for (const { name, type } of listed) {
    if (!passes(name, type, options) || isIgnored?.(name, type === 'directory') === true) continue
    const entry = toEntry(childOf(directory, name), type, undefined, options)
    if (entry !== undefined) entries.push(entry)
  }
  return entries
}

/** A directory of a backend's own walk, and its visible entries. */
interface Stop {
  readonly depth: number
  readonly outer: IgnoreScope | undefined
  entries: readonly Entry[]
}

/** Collects the visible files with the backend's own walk. */
async function filesFromBackendWalk(
  backend: Backend,
  walkBackend: (visitor: WalkVisitor) => Promise<void>,
  start: Path,
  options: VisibleOptions,
): Promise<readonly Path[]> {
  throwIfCancelled(options.signal, start)
  const maxDepth = options.maxDepth ?? Number.POSITIVE_INFINITY
  const stops = new Map<Path, Stop>()
  stops.set(start, { depth: 1, outer: await scopeAbove(backend, start, options), entries: [] })
  await walkBackend({
    visit(directory, listed, read) {
      throwIfCancelled(options.signal, start)
      const stop = stops.get(directory) as Stop
      const rules = hasIgnoreFile(listed, options) ? read(IGNORE_FILE, MAX_IGNORE_FILE_BYTES) : undefined
      const scope = rules === undefined ? stop.outer : scopeInside(stop.outer, directory, rules, backend)
      stop.entries = entriesOf(listed, directory, scope, options)
      if (stop.depth >= maxDepth) return EMPTY
      const names: string[] = []
      for (const entry of stop.entries) {
        if (typeof entry === 'string' || !entry.isEntered) continue
        stops.set(entry.path, { depth: stop.depth + 1, outer: scope, entries: EMPTY })
        names.push(nameOf(entry.path))
      }
      return names
    },
    skipped(directory, error) {
      const stop = stops.get(directory) as Stop
      stop.entries = EMPTY
      options.skipped?.(directory, error)
    },
  })
  const files: Path[] = []
  const links = options.links === true
  const iterators = [(stops.get(start)?.entries ?? EMPTY).values()]
  for (let entries = iterators.at(-1); entries !== undefined; entries = iterators.at(-1)) {
    const { value: entry } = entries.next()
    if (entry === undefined) iterators.pop()
    else if (typeof entry === 'string') files.push(entry)
    else if (entry.isEntered) iterators.push((stops.get(entry.path)?.entries ?? EMPTY).values())
    else if (links && entry.isShown && entry.type === 'link') files.push(entry.path)
  }
  return files
}

const EMPTY: readonly never[] = Object.freeze([])

/** Returns the ignore rules of the directories above the start. */
async function scopeAbove(backend: Backend, start: Path, options: WalkOptions): Promise<IgnoreScope | undefined> {
  if (options.filters.includeIgnored || start === ROOT) return undefined
  let scope: IgnoreScope | undefined
  for (const directory of [ROOT, ...ancestorsOf(start).reverse()]) {
    const stat = await backend.stat(childOf(directory, IGNORE_FILE))
    if (stat?.type === 'file') scope = await readIgnoreFile(backend, directory, scope)
  }
  return scope
}

/** Reads an ignore file. One that cannot be read hides nothing, as in git. */
async function readIgnoreFile(
  backend: Backend,
  directory: Path,
  outer: IgnoreScope | undefined,
): Promise<IgnoreScope | undefined> {
  try {
    const { bytes } = await backend.read(childOf(directory, IGNORE_FILE), { start: 0, end: MAX_IGNORE_FILE_BYTES })
    return scopeInside(outer, directory, bytes, backend)
  } catch (error) {
    if (error instanceof ToolError && error.code !== 'ABORTED') return outer
    throw error
  }
}

function scopeInside(outer: IgnoreScope | undefined, directory: Path, ignoreFile: Uint8Array, backend: Backend) {
  return scopeWith(outer, directory, ignoreFile, !backend.capabilities.caseSensitive)
}

// ---- Backends with a tree in memory: listings are cached by node

interface CachedListing extends Listing {
  readonly path: Path
  readonly outer: IgnoreScope | undefined
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
  readonly includeGit: boolean
  readonly revision: string
  /** Results of `visibleFiles` from here, without and with links. */
  files?: readonly Path[]
  filesAndLinks?: readonly Path[]
}

const MAX_CACHED = 4

/** Cached listings by node, the latest first. Several runs, policies and filters may read one tree. */
const cachedListings = new WeakMap<DirectoryNode, CachedListing[]>()

function recall(
  node: DirectoryNode,
  path: Path,
  outer: IgnoreScope | undefined,
  options: WalkOptions,
): CachedListing | undefined {
  const { includeHidden, includeIgnored } = options.filters
  return cachedListings
    .get(node)
    ?.find(
      (cached) =>
        cached.revision === options.revision &&
        cached.path === path &&
        cached.outer === outer &&
        cached.includeHidden === includeHidden &&
        cached.includeIgnored === includeIgnored &&
        cached.includeGit === (options.includeGit === true),
    )
}

function listFromNode(
  directory: DirectoryNode,
  path: Path,
  outer: IgnoreScope | undefined,
  options: WalkOptions,
  backend: Backend,
): CachedListing {
  const cached = recall(directory, path, outer, options)
  if (cached !== undefined) return cached
  const { filters } = options
  const scope = filters.includeIgnored ? undefined : scopeInNode(directory, path, outer, backend)
  const isIgnored = scope === undefined ? undefined : ignoredIn(scope, path)
  const entries: Entry[] = []
  for (const [name, node] of directory.entries()) {
    const { type } = node
    if (!passes(name, type, options) || isIgnored?.(name, type === 'directory') === true) continue
    const entry = toEntry(childOf(path, name), type, type === 'directory' ? node : undefined, options)
    if (entry !== undefined) entries.push(entry)
  }
  const { includeHidden, includeIgnored } = filters
  const includeGit = options.includeGit === true
  const { revision } = options
  const fresh: CachedListing = { entries, scope, path, outer, includeHidden, includeIgnored, includeGit, revision }
  const others = cachedListings.get(directory)
  if (others === undefined) cachedListings.set(directory, [fresh])
  else {
    others.unshift(fresh)
    if (others.length > MAX_CACHED) others.pop()
  }
  return fresh
}

/** Caches one scope object per ignore file and path, so that scopes can be compared by identity. */
const scopes = new WeakMap<
  FileNode,
  { readonly outer: IgnoreScope | undefined; readonly path: Path; readonly scope: IgnoreScope | undefined }[]
>()

function scopeInNode(
  directory: DirectoryNode,
  path: Path,
  outer: IgnoreScope | undefined,
  backend: Backend,
): IgnoreScope | undefined {
  const file = directory.get(IGNORE_FILE)
  if (file?.type !== 'file') return outer
  const cached = scopes.get(file) ?? []
  const same = cached.find((scope) => scope.outer === outer && scope.path === path)
  if (same !== undefined) return same.scope
  // The content of an ignore file is in memory.
  const scope = scopeInside(outer, path, file.bytes as Uint8Array, backend)
  scopes.set(file, [{ outer, path, scope }, ...cached].slice(0, MAX_CACHED))
  return scope
}

function scopeInTree(
  tree: DirectoryNode,
  start: Path,
  options: WalkOptions,
  backend: Backend,
): IgnoreScope | undefined {
  if (options.filters.includeIgnored || start === ROOT) return undefined
  let scope: IgnoreScope | undefined
  for (const directory of [ROOT, ...ancestorsOf(start).reverse()]) {
    scope = scopeInNode(directoryAt(tree, directory), directory, scope, backend)
  }
  return scope
}

function directoryAt(tree: DirectoryNode, path: Path): DirectoryNode {
  let node: DirectoryNode = tree
  if (path === ROOT) return node
  for (const name of path.split('/')) {
    const child = node.get(name)
    if (!child) throw notFound(path)
    if (child.type !== 'directory') {
      throw new ToolError('NOT_A_DIRECTORY', `Cannot list ${quote(path)}: it is not a directory`, { path })
    }
    node = child
  }
  return node
}

/** Returns the cache of `visibleFiles` for a walk, or `undefined` when it cannot be cached. */
function cachedFiles(
  backend: Backend,
  start: Path,
  options: VisibleOptions,
): { readonly files: readonly Path[] | undefined; remember(files: readonly Path[]): void } | undefined {
  const tree = backend.tree?.()
  if (tree === undefined || options.maxDepth !== undefined) return undefined
  throwIfCancelled(options.signal, start)
  const directory = directoryAt(tree, start)
  const listing = listFromNode(directory, start, scopeInTree(tree, start, options, backend), options, backend)
  const key = options.links === true ? 'filesAndLinks' : 'files'
  return {
    files: listing[key],
    remember(files) {
      listing[key] = files
    },
  }
}
