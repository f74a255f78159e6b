import { ToolError } from '../errors.ts'
import { alteredForm, type Classification, classifyPath } from '../files/classify/index.ts'
import { sha256, sha256Kept } from '../files/hash/sha256.ts'
import { createDocument, type Document, type DocumentCache } from '../files/text/document.ts'
import {
  childOf,
  isWithin,
  type LogicalPath,
  nameOf,
  type Path,
  parentOf,
  parsePath,
  quote,
} from '../paths/logical-path.ts'
import type { Access, ContentProtection, GuardedAccess } from '../policy/access.ts'
import type { Backend, Change, EntryType, FileRead, Stat } from '../storage/backend.ts'
import { visibleFiles, type WalkEntry, type WalkFilters, walk } from '../storage/walk.ts'

/**
 * Guards what a plan names: the lexical guard, then the one true path, then what both names are.
 * A link that is acted on itself (`keepLast`) adds an access for its target, so that policy judges that too.
 *
 * @param judgeName judges, by its name alone, a path that cannot be followed, and throws where that is denied: what lies at a
 * hidden name must not be told by how the way there fails
 * @throws ToolError `PATH_REJECTED`, `NOT_A_DIRECTORY`
 */
export async function guardAccesses(
  backend: Backend,
  planned: readonly Access[],
  judgeName?: (access: GuardedAccess) => void,
): Promise<GuardedAccess[]> {
  const guarded: GuardedAccess[] = []
  const further: GuardedAccess[] = []
  for (const access of planned) {
    const asked = parsePath(access.path)
    refuseAltered(asked)
    const keepLast = access.keepLast === true
    let followed: Followed
    try {
      followed = await follow(backend, access, asked)
    } catch (error) {
      judgeName?.(namedOnly(access, asked))
      throw error
    }
    const { one, bare } = followed
    const { path } = one
    guarded.push(one)
    for (const protection of access.protections ?? []) {
      further.push({ ...one, classification: { ...one.classification, ...contentProtections[protection] } })
    }
    if (!keepLast || bare !== undefined) continue
    const target = await backend.canonical(asked)
    if (target !== path) further.push({ ...one, path: target, classification: classifyBoth(asked, target) })
  }
  return further.length === 0 ? guarded : [...guarded, ...further]
}

interface Followed {
  /** The access with the one true path. */
  readonly one: GuardedAccess
  /** There is nothing yet, for a part of the path is a file that goes away. */
  readonly bare: Path | undefined
}

async function follow(backend: Backend, access: Access, asked: LogicalPath): Promise<Followed> {
  const keepLast = access.keepLast === true
  const bare = access.below === undefined ? undefined : await pathBelow(backend, asked, parsePath(access.below))
  const path = bare ?? (await backend.canonical(asked, keepLast ? { keepLast } : undefined))
  const permission =
    access.permission === 'file:write'
      ? (await backend.stat(path)) === undefined
        ? 'file:write:create'
        : 'file:write:replace'
      : access.permission
  const classification = classifyBoth(asked, path)
  return { one: { permission, asked, path, classification, recursive: access.recursive === true }, bare }
}

function namedOnly({ permission, recursive }: Access, asked: LogicalPath): GuardedAccess {
  return {
    permission: permission === 'file:write' ? 'file:write:create' : permission,
    asked,
    path: asked as string as Path,
    classification: classifyPath(asked),
    recursive: recursive === true,
  }
}

const contentProtections: Readonly<Record<ContentProtection, Partial<Classification>>> = {
  mode: {
    protection: 'mode',
    reason: 'its mode would change',
    hint: 'Leave the mode lines out of the patch: only policy can allow them.',
  },
  binary: {
    protection: 'binary',
    reason: 'the change is binary',
    hint: 'Leave the binary file out of the patch: only policy can allow it.',
  },
}

/**
 * The one true path below a file or a link that the same call takes away: there is nothing yet, and the path is as it is
 * named. `undefined` where something else stands above it.
 */
async function pathBelow(backend: Backend, asked: LogicalPath, above: LogicalPath): Promise<Path | undefined> {
  const path = await backend.canonical(above, { keepLast: true })
  const type = (await backend.stat(path))?.type
  if ((type !== 'file' && type !== 'link') || !isWithin(asked, above)) return undefined
  return `${path}${asked.slice(above.length)}` as Path
}

/** A name that some platform would turn into a protected one is refused, never trimmed. */
function refuseAltered(asked: LogicalPath): void {
  const altered = alteredForm(asked)
  if (altered === undefined) return
  const { protection } = classifyPath(altered)
  if (protection === 'git' || protection === 'secret') {
    throw new ToolError(
      'PATH_REJECTED',
      `Path ${quote(asked)} would become the protected ${quote(altered)} on some platforms`,
    )
  }
}

/** The stricter of what two names of one thing are. */
export function classifyBoth(asked: LogicalPath, path: Path): Classification {
  const byPath = classifyPath(path)
  if (asked === path) return byPath
  const byAsked = classifyPath(asked)
  return strictness(byAsked) > strictness(byPath) ? byAsked : byPath
}

/** The mildest first: those that ask before those that deny, what shows content last but for git's own. */
const byStrictness = ['binary', 'mode', 'lockfile', 'vendored', 'generated', 'secret', 'git'] as const

function strictness({ protection }: Classification): number {
  return protection === undefined ? -1 : byStrictness.indexOf(protection)
}

/** What of a tree a call may see: judged path by path while walking. */
export interface Sight {
  /** Whether a walk shows this path. */
  see(path: Path, type: EntryType): boolean
  /** Whether a walk goes into this directory. */
  enter(path: Path): boolean
  readonly revision: string
}

/** Files, reaching exactly what was granted. */
export interface View {
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
  document(path: Path, maxBytes: number): Promise<Document>
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
  scan(paths: readonly Path[], wants: Wants, visit: Visit): Promise<void>
  /** Notes that something of a scanned file of so many bytes is shown. */
  noteRead(path: Path, bytes: number): void
  /** The changes that remove the directories which lose everything in them, where these granted paths become absent. */
  emptied(removed: readonly Path[], kept: ReadonlySet<Path>): Promise<Change[]>
  /** The changes that make the missing parents of a granted path; `NOT_A_DIRECTORY` where something else stands there. */
  missingParents(path: Path): Promise<Change[]>
  readonly capabilities: Backend['capabilities']
}

/** What a walk is for: which permission hides what it does not cover. */
export type WalkKind = 'list' | 'search' | 'diff' | 'memory'

/** `undefined` ends the scan. */
export type Wants = (path: Path, bytes: Uint8Array, stat: Stat) => boolean | undefined
/** False ends the scan. */
export type Visit = (path: Path, bytes: Uint8Array, stat: Stat) => boolean

export interface ViewOptions {
  readonly backend: Backend
  readonly accesses: readonly GuardedAccess[]
  readonly documents: DocumentCache
  readonly sight: (kind: WalkKind) => Sight
  readonly signal: AbortSignal | undefined
  /** Told of every path whose bytes are read, and of how many. What it throws refuses them. */
  readonly onRead: (path: Path, bytes: number) => void
}

/** A view of a backend that reaches only the granted accesses; anything else is refused as a fault of the tool. */
export function createView(options: ViewOptions): View {
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

  async function filesBelow(start: Path, sight: Sight, filters: WalkFilters, links: boolean): Promise<readonly Path[]> {
    const stat = await backend.stat(granted(start))
    if (stat?.type === 'file') return sight.see(start, 'file') ? [start] : []
    return visibleFiles(backend, start, {
      filters,
      ...sight,
      links,
      ...(signal === undefined ? {} : { signal }),
    })
  }

  const view: View = {
    capabilities: backend.capabilities,
    stat: (path) => backend.stat(granted(path)),
    versionOf: (bytes) => (remembers ? sha256Kept(bytes) : sha256(bytes)),

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

/** Refuses a change outside the granted accesses. Missing parents of a granted path may be made. */
export function coveringAccess(accesses: readonly GuardedAccess[], change: Change): GuardedAccess | undefined {
  const known = accesses.length > MANY ? soleAccesses(accesses).get(change.path) : undefined
  if (known !== undefined) return known
  for (const access of accesses) {
    if (access.path === change.path || (access.recursive && isWithin(change.path, access.path))) return access
    const other = respelled(access)
    if (other !== undefined && other !== access.path && isWithin(change.path, other)) return access
  }
  if (change.to?.type === 'directory' && change.expect === 'any') {
    for (const access of accesses) {
      if (isWithin(access.path, change.path)) return undefined
    }
  }
  // A directory above a granted path may go once it is empty: the backend refuses it while anything is left in it.
  if (change.to === null && accesses.some(({ path }) => isWithin(path, change.path))) return undefined
  throw notGranted(change.path)
}

/** From here on, accesses are looked up instead of gone through. */
const MANY = 16
const sole = new WeakMap<readonly GuardedAccess[], ReadonlyMap<Path, GuardedAccess>>()

/** The first access of each path, where none of them reaches further than its own path. */
function soleAccesses(accesses: readonly GuardedAccess[]): ReadonlyMap<Path, GuardedAccess> {
  let known = sole.get(accesses)
  if (known === undefined) {
    const isSimple = accesses.every(({ recursive, permission }) => !recursive && permission !== 'file:move')
    const found = new Map<Path, GuardedAccess>()
    if (isSimple) for (const access of accesses) if (!found.has(access.path)) found.set(access.path, access)
    known = found
    sole.set(accesses, known)
  }
  return known
}

/** The spelling that a rename asks for, where the storage ignores letter case and so knows the name already. */
function respelled({ permission, path, asked }: GuardedAccess): Path | undefined {
  return permission === 'file:move' ? childOf(parentOf(path), nameOf(asked)) : undefined
}

function notGranted(path: Path): ToolError {
  return new ToolError('POLICY_DENIED', `${quote(path)} was not part of what the call had planned`, { path })
}

/** Refuses what is not there, a directory, or a special file. */
export function requireFile(path: Path, stat: Stat | undefined): asserts stat is Stat {
  if (stat === undefined) throw new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
  if (stat.type === 'directory') throw new ToolError('IS_DIRECTORY', `${quote(path)} is a directory`, { path })
  if (stat.type !== 'file') {
    throw new ToolError('PATH_REJECTED', `${quote(path)} is no ordinary file`, { path })
  }
}
