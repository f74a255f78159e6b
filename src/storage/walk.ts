import { ToolError } from '../errors.ts'
import { type IgnoreScope, ignoredIn, MAX_IGNORE_FILE_BYTES, scopeWith } from '../paths/ignore.ts'
import { ancestorsOf, childOf, display, nameOf, type Path, quote, ROOT } from '../paths/logical-path.ts'
import { throwIfAborted } from '../util/abort.ts'
import { yieldToEventLoop } from '../util/timers.ts'
import type { Backend, DirectoryEntry, DirectoryNode, EntryType, FileNode, WalkVisitor } from './backend.ts'

/** What listing, finding and searching leave out unless they are asked for it. */
export interface WalkFilters {
  /** Also names that start with a dot: `.github`, `.gitignore` and the like. Never `.git` itself. */
  readonly includeHidden: boolean
  /** Also `node_modules target build dist` and what `.gitignore` files name. */
  readonly includeIgnored: boolean
}

/** One thing that a walk meets. */
export interface WalkEntry {
  readonly path: Path
  readonly type: EntryType
  /** 1 is directly in the start directory. */
  readonly depth: number
}

export interface WalkOptions {
  readonly filters: WalkFilters
  /** How deep to go; 1 is the start directory's own entries. Without it, to the bottom. */
  readonly maxDepth?: number
  /** Shows `.git` and what is in it: only for code that must judge a whole tree, as before moving it. Never for a tool's output. */
  readonly includeGit?: boolean
  readonly signal?: AbortSignal
  /** Whether policy shows an entry. */
  see(path: Path, type: EntryType): boolean
  /** Whether policy lets the walk look into a directory, because it leads to something that may be seen. */
  enter(path: Path): boolean
  /**
   * Stands for all that `see` and `enter` answer: must change whenever one of their answers may (policy revision and
   * run). Where a backend holds a tree, what a directory shows is remembered under it.
   */
  readonly revision: string
  /** Told about a directory below the start that could not be listed: it is passed over. */
  skipped?(path: Path, error: ToolError): void
}

/**
 * The entries below a directory, a directory's content right after it, names in the order of their UTF-16 units.
 *
 * Stays out of `.git` (unless `includeGit`); out of hidden names, of `node_modules target build dist` and of what the `.gitignore`
 * files name (those above the start too; links of that name are not read) as the filters say. The start itself is taken
 * as asked for: it may be hidden or ignored. Links are shown as links and never followed. What `see` denies is not shown;
 * a directory is entered if `enter` allows it, shown or not.
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
    const seen = cursor.next()
    if (seen === WAIT) await cursor.load()
    else if (seen === undefined) return
    else if (typeof seen === 'string') yield { path: seen, type: 'file', depth: cursor.depth() }
    else if (seen.isShown) yield { path: seen.path, type: seen.type, depth: cursor.depth() }
  }
}

/** What `visibleFiles` collects beside files. */
export interface VisibleOptions extends WalkOptions {
  /** Links too. */
  readonly links?: boolean
}

/**
 * The paths of all files that a walk shows, in its order: the fast form for finding and searching a whole tree. Over a
 * backend that holds its tree, only directories that changed since the last time are looked at again, and an unchanged
 * tree gives the same array again.
 *
 * @throws ToolError as {@link walk}
 */
export async function visibleFiles(backend: Backend, start: Path, options: VisibleOptions): Promise<readonly Path[]> {
  const known = knownFiles(backend, start, options)
  if (known?.files !== undefined) return known.files
  const { walk: descend } = backend
  if (descend !== undefined && backend.tree?.() === undefined) {
    return filesOnTheWayDown(backend, (visitor) => descend.call(backend, start, visitor), start, options)
  }
  const cursor = createCursor(backend, start, options)
  const files: Path[] = []
  const links = options.links === true
  for (;;) {
    const seen = cursor.next()
    if (seen === WAIT) await cursor.load()
    else if (seen === undefined) break
    else if (typeof seen === 'string') files.push(seen)
    else if (links && seen.isShown && seen.type === 'link') files.push(seen.path)
  }
  known?.remember(files)
  return files
}

/** Directories that hold what tools make, not what people write. */
const GENERATED_DIRECTORIES: ReadonlySet<string> = new Set(['node_modules', 'target', 'build', 'dist'])

const IGNORE_FILE = '.gitignore'
const SLICE_MS = 20

/** One entry of a directory that is shown, entered, or both. A file, which most are, is its path alone. */
type Entry = Path | Seen

interface Seen {
  readonly path: Path
  readonly type: EntryType
  readonly isShown: boolean
  readonly isEntered: boolean
  /** Of an entered directory, where the backend holds a tree. */
  readonly node: DirectoryNode | undefined
}

/** What a directory shows, and the ignore rules that hold in it. */
interface Listing {
  readonly entries: readonly Entry[]
  readonly scope: IgnoreScope | undefined
}

const WAIT = Symbol('the next directory must be loaded first')

interface Cursor {
  /** The next entry; `WAIT` where `load` must be awaited before; `undefined` at the end. */
  next(): Entry | typeof WAIT | undefined
  load(): Promise<void>
  /** The depth of the entry that `next` gave last. */
  depth(): number
}

/** A walk as a stack of listings, so that depth costs no stack and entries cost no promise. */
function createCursor(backend: Backend, start: Path, options: WalkOptions): Cursor {
  const tree = backend.tree?.()
  const maxDepth = options.maxDepth ?? Number.POSITIVE_INFINITY
  const stack: { readonly listing: Listing; at: number }[] = []
  let pending: Seen | 'start' | undefined = 'start'
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
        const seen = frame.listing.entries[frame.at]
        if (seen === undefined) {
          stack.pop()
          continue
        }
        frame.at += 1
        depth = stack.length
        if (typeof seen !== 'string' && seen.isEntered && depth < maxDepth) pending = seen
        return seen
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

/** Whether the filters let a name through that no ignore file was asked about yet. */
function passes(name: string, type: EntryType, { filters, includeGit }: WalkOptions): boolean {
  if (name === '.git') return includeGit === true
  if (name.charCodeAt(0) === 0x2e && !filters.includeHidden) return false
  return filters.includeIgnored || type !== 'directory' || !GENERATED_DIRECTORIES.has(name)
}

function judge(path: Path, type: EntryType, node: DirectoryNode | undefined, options: WalkOptions): Entry | undefined {
  const isShown = options.see(path, type)
  if (type === 'file') return isShown ? path : undefined
  const isEntered = type === 'directory' && options.enter(path)
  return isShown || isEntered ? { path, type, isShown, isEntered, node } : undefined
}

// ---- Backends that are asked directory by directory

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
    const seen = judge(childOf(directory, name), type, undefined, options)
    if (seen !== undefined) entries.push(seen)
  }
  return entries
}

/** A directory that a descent comes to, and what it shows. */
interface Stop {
  readonly depth: number
  readonly outer: IgnoreScope | undefined
  entries: readonly Entry[]
}

/** The visible files where a backend goes down its tree by itself. */
async function filesOnTheWayDown(
  backend: Backend,
  descend: (visitor: WalkVisitor) => Promise<void>,
  start: Path,
  options: VisibleOptions,
): Promise<readonly Path[]> {
  throwIfCancelled(options.signal, start)
  const maxDepth = options.maxDepth ?? Number.POSITIVE_INFINITY
  const stops = new Map<Path, Stop>()
  stops.set(start, { depth: 1, outer: await scopeAbove(backend, start, options), entries: [] })
  await descend({
    visit(directory, listed, read) {
      throwIfCancelled(options.signal, start)
      const stop = stops.get(directory) as Stop
      const rules = hasIgnoreFile(listed, options) ? read(IGNORE_FILE, MAX_IGNORE_FILE_BYTES) : undefined
      const scope = rules === undefined ? stop.outer : scopeInside(stop.outer, directory, rules, backend)
      stop.entries = entriesOf(listed, directory, scope, options)
      if (stop.depth >= maxDepth) return NOTHING
      const names: string[] = []
      for (const entry of stop.entries) {
        if (typeof entry === 'string' || !entry.isEntered) continue
        stops.set(entry.path, { depth: stop.depth + 1, outer: scope, entries: NOTHING })
        names.push(nameOf(entry.path))
      }
      return names
    },
    skipped(directory, error) {
      const stop = stops.get(directory) as Stop
      stop.entries = NOTHING
      options.skipped?.(directory, error)
    },
  })
  const files: Path[] = []
  const links = options.links === true
  const collect = (directory: Path): void => {
    for (const entry of stops.get(directory)?.entries ?? NOTHING) {
      if (typeof entry === 'string') files.push(entry)
      else if (entry.isEntered) collect(entry.path)
      else if (links && entry.isShown && entry.type === 'link') files.push(entry.path)
    }
  }
  collect(start)
  return files
}

const NOTHING: readonly never[] = Object.freeze([])

/** The ignore rules of the directories above the start. */
async function scopeAbove(backend: Backend, start: Path, options: WalkOptions): Promise<IgnoreScope | undefined> {
  if (options.filters.includeIgnored || start === ROOT) return undefined
  let scope: IgnoreScope | undefined
  for (const directory of [ROOT, ...ancestorsOf(start).reverse()]) {
    const stat = await backend.stat(childOf(directory, IGNORE_FILE))
    if (stat?.type === 'file') scope = await readIgnoreFile(backend, directory, scope)
  }
  return scope
}

/** An ignore file that cannot be read hides nothing, as in git. */
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

// ---- Backends that hold their tree: an unchanged node shows what it showed

interface Remembered extends Listing {
  readonly path: Path
  readonly outer: IgnoreScope | undefined
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
  readonly includeGit: boolean
  readonly revision: string
  /** What `visibleFiles` gave for a walk from here, without and with links. */
  files?: readonly Path[]
  filesAndLinks?: readonly Path[]
}

const MAX_REMEMBERED = 4

/** By node, the latest first: several runs, policies and filters may look at one tree. */
const remembered = new WeakMap<DirectoryNode, Remembered[]>()

function recall(
  node: DirectoryNode,
  path: Path,
  outer: IgnoreScope | undefined,
  options: WalkOptions,
): Remembered | undefined {
  const { includeHidden, includeIgnored } = options.filters
  return remembered
    .get(node)
    ?.find(
      (known) =>
        known.revision === options.revision &&
        known.path === path &&
        known.outer === outer &&
        known.includeHidden === includeHidden &&
        known.includeIgnored === includeIgnored &&
        known.includeGit === (options.includeGit === true),
    )
}

function listFromNode(
  directory: DirectoryNode,
  path: Path,
  outer: IgnoreScope | undefined,
  options: WalkOptions,
  backend: Backend,
): Remembered {
  const known = recall(directory, path, outer, options)
  if (known !== undefined) return known
  const { filters } = options
  const scope = filters.includeIgnored ? undefined : scopeInNode(directory, path, outer, backend)
  const isIgnored = scope === undefined ? undefined : ignoredIn(scope, path)
  const entries: Entry[] = []
  for (const [name, node] of directory.entries()) {
    const { type } = node
    if (!passes(name, type, options) || isIgnored?.(name, type === 'directory') === true) continue
    const seen = judge(childOf(path, name), type, type === 'directory' ? node : undefined, options)
    if (seen !== undefined) entries.push(seen)
  }
  const { includeHidden, includeIgnored } = filters
  const includeGit = options.includeGit === true
  const { revision } = options
  const fresh: Remembered = { entries, scope, path, outer, includeHidden, includeIgnored, includeGit, revision }
  const others = remembered.get(directory)
  if (others === undefined) remembered.set(directory, [fresh])
  else {
    others.unshift(fresh)
    if (others.length > MAX_REMEMBERED) others.pop()
  }
  return fresh
}

/** One scope object for one ignore file in one place, so that scopes can be compared as they are. */
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
  const known = scopes.get(file) ?? []
  const same = known.find((scope) => scope.outer === outer && scope.path === path)
  if (same !== undefined) return same.scope
  const scope = scopeInside(outer, path, file.bytes, backend)
  scopes.set(file, [{ outer, path, scope }, ...known].slice(0, MAX_REMEMBERED))
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
    if (child === undefined) throw new ToolError('NOT_FOUND', `Cannot list ${quote(path)}: it does not exist`, { path })
    if (child.type !== 'directory') {
      throw new ToolError('NOT_A_DIRECTORY', `Cannot list ${quote(path)}: it is not a directory`, { path })
    }
    node = child
  }
  return node
}

/** What an earlier `visibleFiles` found, if nothing changed since; `undefined` where nothing can be remembered. */
function knownFiles(
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
