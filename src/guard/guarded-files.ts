import { ToolError } from '../errors.ts'
import { sha256, sha256Cached } from '../files/hash/sha256.ts'
import { createDocument, type DocumentCache, type TextDocument } from '../files/text/document.ts'
import { childOf, isWithin, type Path, parentOf, quote } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { Backend, Change, FileRead, Stat } from '../storage/backend.ts'
import { visibleFiles, type WalkEntry, type WalkFilters, walk } from '../storage/walk.ts'
import { notGranted } from './guard-accesses.ts'
import type { Visibility, WalkKind } from './visibility.ts'

/** Files, reaching exactly what was granted. */
export interface GuardedFiles {
  /** `undefined` where nothing is. */
  stat(path: Path): Promise<Stat | undefined>
  /** `NOT_FOUND`, `IS_DIRECTORY`, or `FILE_TOO_LARGE` over `maxBytes`. */
  read(path: Path, maxBytes: number): Promise<FileRead>
  /** The version of bytes that `read` gave, worked out once where the backend never changes them. */
  versionOf(bytes: Uint8Array): string
  /** The bytes `[start, end)`; with a `tag`, `WRITE_CONFLICT` if the file is no longer that one. */
  readRange(path: Path, range: { start: number; end: number; tag?: string }): Promise<FileRead>
  /** The target of a link, as stored. */
  readLink(path: Path): Promise<string>
  /** The file as text, with secrets marked. */
  document(path: Path, maxBytes: number): Promise<TextDocument>
  /** What a walk shows of a granted tree: what policy hides is not there. */
  walk(start: Path, sight: WalkKind, filters: WalkFilters, maxDepth?: number): AsyncIterable<WalkEntry>
  /**
   * The wanted among the files and links that such a walk shows, all at once: the fast form for whole trees. A start that
   * is a file gives that file, or nothing where it is hidden.
   */
  visible(start: Path, filters: WalkFilters, wanted: (path: Path) => boolean): Promise<readonly Path[]>
  /** The files to search. */
  candidates(start: Path, filters: WalkFilters): Promise<readonly Path[]>
  /** The files of a granted tree of notes, hidden and ignored names too. */
  notes(start: Path): Promise<readonly Path[]>
  /** Everything below a path that shall be moved or copied whole, hidden and ignored names too; `LIMIT_EXCEEDED` over `most`. */
  all(start: Path, most: number): Promise<WalkEntry[]>
  /**
   * Visits the candidates whose bytes are wanted, until a visit gives false. The bytes are valid only during the visit.
   */
  scan(paths: readonly Path[], wants: ScanFilter, visit: ScanVisitor): Promise<void>
  /** Notes that something of a scanned file of so many bytes is shown. */
  noteRead(path: Path, bytes: number): void
  /** The changes that remove the directories which lose everything in them, where these granted paths become absent. */
  emptied(removed: readonly Path[], kept: ReadonlySet<Path>): Promise<Change[]>
  /** The changes that make the missing parents of a granted path; `NOT_A_DIRECTORY` where something else stands there. */
  missingParents(path: Path): Promise<Change[]>
  readonly capabilities: Backend['capabilities']
}

/** `undefined` ends the scan. */
export type ScanFilter = (path: Path, bytes: Uint8Array, stat: Stat) => boolean | undefined
/** False ends the scan. */
export type ScanVisitor = (path: Path, bytes: Uint8Array, stat: Stat) => boolean

export interface GuardedFilesOptions {
  readonly backend: Backend
  readonly accesses: readonly GuardedAccess[]
  readonly documents: DocumentCache
  readonly sight: (kind: WalkKind) => Visibility
  readonly signal: AbortSignal | undefined
  /** Told of every path whose bytes are read, and of how many. What it throws refuses them. */
  readonly onRead: (path: Path, bytes: number) => void
}

/** A view of a backend that reaches only the granted accesses; anything else is refused as a fault of the tool. */
export function createGuardedFiles(options: GuardedFilesOptions): GuardedFiles {
  const { backend, accesses, documents, signal } = options
  const remembers = backend.capabilities.authority === 'sole'

  const exact = new Set(accesses.map((access) => access.path))

  function granted(path: Path): Path {
    if (exact.has(path)) return path
    for (const access of accesses) {
      if (access.recursive && isWithin(path, access.path)) return path
    }
    throw notGranted(path)
  }

  async function filesBelow(
    start: Path,
    sight: Visibility,
    filters: WalkFilters,
    links: boolean,
  ): Promise<readonly Path[]> {
    const stat = await backend.stat(granted(start))
    if (stat?.type === 'file') return sight.see(start, 'file') ? [start] : []
    return visibleFiles(backend, start, {
      filters,
      ...sight,
      links,
      ...(signal === undefined ? {} : { signal }),
    })
  }

  const view: GuardedFiles = {
    capabilities: backend.capabilities,
    stat: (path) => backend.stat(granted(path)),
    versionOf: (bytes) => (remembers ? sha256Cached(bytes) : sha256(bytes)),

    async read(path, maxBytes) {
      const stat = await backend.stat(granted(path))
      requireFile(path, stat)
      if (stat.size > maxBytes) {
        throw new ToolError('FILE_TOO_LARGE', `${quote(path)} has ${stat.size} bytes, over the limit of ${maxBytes}`, {
          path,
          sizeBytes: stat.size,
          limit: maxBytes,
        })
      }
      options.onRead(path, stat.size)
      return backend.read(path)
    },
    async readRange(path, range) {
      const found = await backend.read(granted(path), range)
      options.onRead(path, found.bytes.length)
      return found
    },
    readLink: (path) => backend.readLink(granted(path)),
    async document(path, maxBytes) {
      const { bytes } = await view.read(path, maxBytes)
      return remembers ? documents.of(bytes, path) : createDocument(bytes, path)
    },
    walk: (start, kind, filters, maxDepth) =>
      walk(backend, granted(start), {
        filters,
        ...options.sight(kind),
        ...(maxDepth === undefined ? {} : { maxDepth }),
        ...(signal === undefined ? {} : { signal }),
      }),
    async visible(start, filters, wanted) {
      return (await filesBelow(start, options.sight('list'), filters, true)).filter(wanted)
    },
    candidates: (start, filters) => filesBelow(start, options.sight('search'), filters, false),
    notes: (start) => filesBelow(start, options.sight('memory'), { includeHidden: true, includeIgnored: true }, false),
    async all(start, most) {
      const found: WalkEntry[] = []
      const everything = { includeHidden: true, includeIgnored: true }
      const sight = { see: () => true, enter: () => true, revision: 'all' }
      for await (const entry of walk(backend, granted(start), { filters: everything, includeGit: true, ...sight })) {
        found.push(entry)
        if (found.length > most) {
          throw new ToolError('LIMIT_EXCEEDED', `${quote(start)} holds more than ${most} entries`, {
            path: start,
            value: most,
          })
        }
      }
      return found
    },
    async scan(paths, wants, visit) {
      for (const path of paths) granted(path)
      const visitWanted = (path: Path, bytes: Uint8Array, stat: Stat): boolean => {
        const wanted = wants(path, bytes, stat)
        if (wanted !== true) return wanted !== undefined
        return visit(path, bytes, stat)
      }
      if (backend.scan !== undefined) return backend.scan(paths, visitWanted)
      for (const path of paths) {
        const stat = await backend.stat(path)
        if (stat?.type !== 'file') continue
        const read = await backend.read(path)
        if (!visitWanted(path, read.bytes, read.stat)) return
      }
    },
    noteRead: (path, bytes) => options.onRead(granted(path), bytes),
    async emptied(removed, kept) {
      const gone = new Set<Path>(removed.map(granted))
      const changes: Change[] = []
      // By length, the deepest first: whether a directory loses all of it is known once those below it are judged.
      const waiting: Set<Path>[] = []
      const wait = (directory: Path) => {
        waiting[directory.length] ??= new Set()
        waiting[directory.length]?.add(directory)
      }
      for (const path of removed) wait(parentOf(path))
      for (let length = waiting.length - 1; length > 0; length--) {
        for (const directory of waiting[length] ?? []) {
          if (kept.has(directory)) continue
          const stat = await backend.stat(directory)
          if (stat?.type !== 'directory') continue
          if ((await backend.list(directory)).some(({ name }) => !gone.has(childOf(directory, name)))) continue
          gone.add(directory)
          changes.push({ path: directory, expect: { tag: stat.tag }, to: null })
          wait(parentOf(directory))
        }
      }
      return changes
    },
    async missingParents(path) {
      const missing: Change[] = []
      for (let parent = parentOf(granted(path)); parent !== ''; parent = parentOf(parent)) {
        const stat = await backend.stat(parent)
        if (stat?.type === 'directory') break
        if (stat !== undefined) {
          throw new ToolError('NOT_A_DIRECTORY', `${quote(parent)} is not a directory`, { path: parent })
        }
        missing.unshift({ path: parent, expect: 'any', to: { type: 'directory' } })
      }
      return missing
    },
  }
  return view
}

/** Refuses what is not there, a directory, or a special file. */
export function requireFile(path: Path, stat: Stat | undefined): asserts stat is Stat {
  if (stat === undefined) throw new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
  if (stat.type === 'directory') throw new ToolError('IS_DIRECTORY', `${quote(path)} is a directory`, { path })
  if (stat.type !== 'file') {
    throw new ToolError('PATH_REJECTED', `${quote(path)} is no ordinary file`, { path })
  }
}
