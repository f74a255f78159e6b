import { objectId } from '../files/hash/sha1.ts'
import { type IgnoreScope, ignoredIn } from '../paths/ignore.ts'
import { childOf, type Path, ROOT } from '../paths/logical-path.ts'
import { type Backend, type DirectoryStats, FACTS, TYPE_CODES } from '../storage/backend.ts'
import { throwIfAborted } from '../util/abort.ts'
import { type BaseDirectory, sideOfBase } from './base-tree.ts'
import { type Changed, gitMode, LINK, type Side, SUBMODULE } from './changed-path.ts'
import { deletions } from './compare-tree.ts'
import { type Facts, scopeWith } from './ignore-scope.ts'
import type { IndexEntry } from './index-file.ts'
import type { Objects } from './objects.ts'
import { readDirectoryStats } from './stat-directories.ts'
import { isValidGitPath } from './valid-path.ts'

/** What git's index remembers of the files, and when it was written. */
export interface Index {
  readonly entries: ReadonlyMap<string, IndexEntry>
  readonly writtenAt: number
}

/** Content younger than this may change again within one tick of a file system's clock. */
const RACY_MS = 2000

/** A file over this is not looked into: it is said to differ where its facts do. */
const LARGEST = 256 * 1024 * 1024

const NONE: readonly Changed[] = []

interface Known {
  glance: DirectoryStats
  /** Blob ids by position; undefined where the facts are too young to be trusted, or were never looked at. */
  ids: (string | undefined)[]
  /** What the verdicts were made of. */
  base?: BaseDirectory | undefined
  outer?: IgnoreScope | undefined
  ignored?: boolean
  facts?: Facts
  /** The ignore file by its id, and the scope in here. */
  ignoreId: string | undefined
  scope: IgnoreScope | undefined
  changed: readonly Changed[]
  /** Every verdict may be kept while the facts stay. */
  settled: boolean
  /** Directories to look into, with what is known of each. */
  children: readonly Visit[]
}

interface Visit {
  readonly path: Path
  readonly base: BaseDirectory | undefined
  readonly ignored: boolean
}

/**
 * What differs between the files of a backend and a base, by their stats: a file is read only where its facts are neither
 * those in git's index nor those of the last time. The names of a directory are taken from the last time while its own
 * facts are the same.
 */
export function diskComparer(backend: Backend, objects: Objects) {
  const memory = new Map<Path, Known>()
  const justRead = createJustRead()

  return async function compare(
    base: BaseDirectory,
    index: Index,
    facts: Facts,
    signal: AbortSignal | undefined,
  ): Promise<readonly Changed[]> {
    const changed: Changed[] = []
    justRead.clear()
    const now = Date.now()
    const seen = new Set<Path>()
    let level: (Visit & { readonly outer: IgnoreScope | undefined })[] = [
      { path: ROOT, base, ignored: false, outer: facts.exclude },
    ]
    while (level.length > 0) {
      throwIfAborted(signal)
      const glances = await readDirectoryStats(
        backend,
        level.map(({ path }) => path),
        (path) => memory.get(path)?.glance,
      )
      const next: typeof level = []
      for (const [i, visit] of level.entries()) {
        const glance = glances[i]
        seen.add(visit.path)
        if (glance === undefined) {
          memory.delete(visit.path)
          if (visit.base !== undefined) deletions(objects, visit.base, visit.path, (one) => changed.push(one))
          continue
        }
        const known = await lookInto(visit, glance, index, facts, now)
        for (const one of known.changed) changed.push(one)
        for (const child of known.children) next.push({ ...child, outer: known.scope })
      }
      level = next
    }
    if (memory.size > seen.size) for (const path of memory.keys()) if (!seen.has(path)) memory.delete(path)
    return changed
  }

  async function lookInto(
    visit: Visit & { readonly outer: IgnoreScope | undefined },
    glance: DirectoryStats,
    index: Index,
    facts: Facts,
    now: number,
  ): Promise<Known> {
    const { path, base, outer, ignored } = visit
    const last = memory.get(path)
    if (
      last?.settled === true &&
      last.base === base &&
      last.outer === outer &&
      last.ignored === ignored &&
      last.facts === facts &&
      sameFacts(last.glance, glance)
    ) {
      last.glance = glance
      return last
    }
    const { names, types } = glance
    const ids = idsFrom(last, glance)
    const known: Known = {
      glance,
      ids,
      base,
      outer,
      ignored,
      facts,
      ignoreId: undefined,
      scope: outer,
      changed: NONE,
      settled: true,
      children: [],
    }
    const changed: Changed[] = []
    const children: Visit[] = []
    const young = (i: number) => {
      const modifiedAt = glance.facts[FACTS * i + 2] as number
      const changedAt = glance.facts[FACTS * i + 3] as number
      return !(Math.max(modifiedAt, changedAt) < now - RACY_MS)
    }
    /** The id of a file's content, read only if need be. */
    const idOf = async (i: number, childPath: Path): Promise<string> => {
      const remembered = ids[i]
      if (remembered !== undefined) return remembered
      const entry = index.entries.get(childPath)
      if (entry !== undefined && isAsIndexed(glance, i, entry, index.writtenAt)) {
        ids[i] = entry.id
        return entry.id
      }
      const bytes = await contentOf(childPath, types[i] as number, glance.facts[FACTS * i] as number)
      const id = bytes === undefined ? '' : objectId('blob', bytes)
      if (bytes !== undefined) justRead.keep(childPath, id, bytes)
      if (young(i)) known.settled = false
      else ids[i] = id
      return id
    }

    const ignoreAt = names.indexOf('.gitignore')
    if (ignoreAt !== -1 && types[ignoreAt] === TYPE_CODES.file) {
      const file = childOf(path, '.gitignore')
      const id = await idOf(ignoreAt, file)
      if (last?.ignoreId === id && last.outer === outer) known.scope = last.scope
      else {
        const bytes = await contentOf(file, TYPE_CODES.file, 0)
        known.scope = bytes === undefined ? outer : scopeWith(outer, path, bytes, facts.caseInsensitive)
      }
      known.ignoreId = id
    }
    const isIgnored = ignoredIn(known.scope, path)
    let present = 0
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string
      if (name === '.git') continue
      const type = types[i]
      const old = base?.files.get(name)
      if (type === TYPE_CODES.directory) {
        if (old?.mode === SUBMODULE) {
          present += 1
          continue
        }
        const childPath = childOf(path, name)
        const within = base?.directories.get(name)
        const hidden = ignored || isIgnored(name, true)
        if (within === undefined && hidden && !facts.added.has(childPath)) continue
        if (within === undefined && !hidden && (await isRepository(childPath))) continue
        children.push({ path: childPath, base: within, ignored: hidden })
        continue
      }
      if (type !== TYPE_CODES.file && type !== TYPE_CODES.link) continue
      const childPath = childOf(path, name)
      if (old !== undefined) {
        present += 1
        const mode = modeOf(glance, i, old.mode)
        const id = await idOf(i, childPath)
        if (mode === old.mode && id === old.id) continue
        changed.push({ path: childPath, old: sideOfBase(objects, old), now: sideOf(childPath, mode, id, type) })
      } else if (!(ignored || isIgnored(name, false)) || facts.added.has(childPath)) {
        const id = await idOf(i, childPath)
        changed.push({ path: childPath, old: null, now: sideOf(childPath, modeOf(glance, i, undefined), id, type) })
      }
    }
    if (base !== undefined) {
      const add = (one: Changed) => changed.push(one)
      const here =
        present < base.files.size || base.directories.size > 0
          ? new Map(names.map((name, i) => [name, types[i]]))
          : undefined
      if (here !== undefined && present < base.files.size) {
        for (const [name, old] of base.files) {
          const type = here.get(name)
          if (
            type === TYPE_CODES.file ||
            type === TYPE_CODES.link ||
            old.mode === SUBMODULE ||
            !isValidGitPath(path, name)
          )
            continue
          changed.push({ path: childOf(path, name), old: sideOfBase(objects, old), now: null })
        }
      }
      for (const [name, old] of base.directories) {
        if (here?.get(name) !== TYPE_CODES.directory) deletions(objects, old, childOf(path, name), add)
      }
    }
    known.changed = changed
    known.children = children
    memory.set(path, known)
    return known
  }

  /** A repository within, whose files are its own. */
  async function isRepository(path: Path): Promise<boolean> {
    return (await backend.stat(childOf(path, '.git'))) !== undefined
  }

  async function contentOf(path: Path, type: number, size: number): Promise<Uint8Array | undefined> {
    try {
      if (type === TYPE_CODES.link) return new TextEncoder().encode(await backend.readLink(path))
      if (size > LARGEST) return undefined
      return (await backend.read(path)).bytes
    } catch {
      // Gone or changed meanwhile, or not ours to read: the diff says that it differs.
      return undefined
    }
  }

  function sideOf(path: Path, mode: number, id: string, type: number): Side {
    return { mode, id, bytes: () => justRead.take(path, id) ?? contentOf(path, type, 0) }
  }
}

/** How many bytes of what was read to be hashed stay at hand until the diff of it is made. */
const JUST_READ_BYTES = 32 * 1024 * 1024

/** Contents of this comparison, each to be taken once: a changed file is read for its id, and need not be for its diff. */
function createJustRead() {
  const contents = new Map<Path, { readonly id: string; readonly bytes: Uint8Array }>()
  let held = 0
  return {
    keep(path: Path, id: string, bytes: Uint8Array): void {
      if (held + bytes.length > JUST_READ_BYTES) return
      held += bytes.length
      contents.set(path, { id, bytes })
    },
    take(path: Path, id: string): Uint8Array | undefined {
      const found = contents.get(path)
      if (found?.id !== id) return undefined
      contents.delete(path)
      held -= found.bytes.length
      return found.bytes
    },
    clear(): void {
      contents.clear()
      held = 0
    },
  }
}

function modeOf(glance: DirectoryStats, i: number, base: number | undefined): number {
  if (glance.types[i] === TYPE_CODES.link) return LINK
  const bits = glance.facts[FACTS * i + 1] as number
  return gitMode(bits < 0 ? undefined : bits, base)
}

function isAsIndexed(glance: DirectoryStats, i: number, entry: IndexEntry, writtenAt: number): boolean {
  const { facts } = glance
  const at = FACTS * i
  const modifiedAt = facts[at + 2] as number
  return (
    modifiedAt === entry.modifiedAt &&
    (facts[at] as number) % 0x1_0000_0000 === entry.size &&
    (facts[at + 3] as number) === entry.changedAt &&
    (facts[at + 4] as number) % 0x1_0000_0000 === entry.inode &&
    // Written in the same tick as the index, a file may have changed after it was noted.
    modifiedAt < writtenAt
  )
}

function sameFacts(a: DirectoryStats, b: DirectoryStats): boolean {
  if (a.names !== b.names && !sameNames(a, b)) return false
  // As many as the names.
  const first = a.facts
  const second = b.facts
  for (let i = 0; i < first.length; i++) if (first[i] !== second[i]) return false
  return true
}

function sameNames(a: DirectoryStats, b: DirectoryStats): boolean {
  if (a.names.length !== b.names.length) return false
  for (let i = 0; i < a.names.length; i++) if (a.names[i] !== b.names[i] || a.types[i] !== b.types[i]) return false
  return true
}

/** The ids that still hold: those of files whose facts are the same. */
function idsFrom(last: Known | undefined, glance: DirectoryStats): (string | undefined)[] {
  const ids: (string | undefined)[] = new Array(glance.names.length)
  if (last === undefined) return ids
  const positions =
    last.glance.names === glance.names ? undefined : new Map(last.glance.names.map((name, i) => [name, i]))
  for (let i = 0; i < ids.length; i++) {
    const at = positions === undefined ? i : positions.get(glance.names[i] as string)
    if (at === undefined || last.ids[at] === undefined || last.glance.types[at] !== glance.types[i]) continue
    let same = true
    for (let k = 0; k < FACTS && same; k++) {
      // Permission bits are no content.
      same = k === 1 || last.glance.facts[FACTS * at + k] === glance.facts[FACTS * i + k]
    }
    if (same) ids[i] = last.ids[at]
  }
  return ids
}
