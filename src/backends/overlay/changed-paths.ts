import { ToolError } from '../../errors.ts'
import { sha256Text } from '../../files/hash/sha256.ts'
import { ancestorsOf, type Path, parsePath, ROOT } from '../../paths/logical-path.ts'
import type { Backend, Change, Receipt, Version } from '../../storage/backend.ts'

/** Where an overlay notes, in a lasting upper backend, what it replaces. */
export const RESERVED = '.wardspace-overlay' as Path

/** What lay below a path when it was first changed. */
export interface Base {
  readonly base: Version
  /** Its tag there, for what has no sha256. */
  readonly tag?: string
}

/**
 * The paths that an overlay has changed. A path comes in when it becomes something else than what lies below, and from then
 * on the upper backend alone tells what is there and further down; a directory that stays one never comes in.
 */
export interface ChangedPaths {
  /** Resolves once what an earlier overlay left is known. */
  ready(): Promise<void>
  size(): number
  has(path: Path): boolean
  get(path: Path): Base | undefined
  /** Sorted. */
  paths(): Path[]
  /** Whether something below the path was changed. */
  isAbove(path: Path): boolean
  /** A number that changes whenever something below the path does; `undefined` where nothing there has. */
  stamp(path: Path): number | undefined
  /** The changes of the upper backend that note new paths there; none where it does not last. */
  notes(bases: ReadonlyMap<Path, Base>): Change[]
  /** Takes in new paths, and that a set was committed. */
  add(bases: ReadonlyMap<Path, Base>, set: readonly Change[]): void
  /** Takes what was committed below for the new base. */
  rebase(receipt: Receipt, tagOf: (path: Path) => Promise<string | undefined>): Promise<void>
  /** Forgets all, and empties the upper backend. */
  clear(): Promise<void>
  fork(upper: Backend): ChangedPaths
}

/**
 * The touched paths over an upper backend: empty, or as an overlay left them.
 *
 * @throws TypeError where a backend in memory holds something already
 */
export function openChangedPaths(upper: Backend): ChangedPaths {
  if (!upper.capabilities.persistent) {
    for (const _ of upper.tree?.().entries() ?? []) throw new TypeError('overlay(): the upper backend is not empty')
    return touchedOver(upper, new Map())
  }
  const entries = new Map<Path, Base>()
  return touchedOver(upper, entries, () => load(upper, entries))
}

function touchedOver(upper: Backend, entries: Map<Path, Base>, load?: () => Promise<void>): ChangedPaths {
  const above = new Map<Path, number>()
  let stamps = entries.size
  let loading: Promise<void> | undefined
  const isLasting = upper.capabilities.persistent

  const directoriesAbove = (path: Path): Path[] => [ROOT, ...ancestorsOf(path)]
  const markAbove = (path: Path): void => {
    stamps += 1
    for (const directory of directoriesAbove(path)) above.set(directory, stamps)
  }
  for (const path of entries.keys()) markAbove(path)

  const notes = (bases: ReadonlyMap<Path, Base>): Change[] => {
    if (!isLasting || bases.size === 0) return []
    const changes: Change[] = [{ path: RESERVED, expect: 'any', to: { type: 'directory' } }]
    for (const [path, base] of bases) {
      const bytes = new TextEncoder().encode(JSON.stringify({ path, ...base }))
      changes.push({ path: notePath(path), expect: 'any', to: { type: 'file', bytes } })
    }
    return changes
  }

  return {
    async ready() {
      if (load === undefined) return
      loading ??= load().then(() => {
        for (const path of entries.keys()) markAbove(path)
      })
      await loading
    },
    size: () => entries.size,
    has: (path) => entries.has(path),
    get: (path) => entries.get(path),
    paths: () => [...entries.keys()].sort(),
    isAbove: (path) => above.has(path),
    stamp: (path) => above.get(path),
    notes,
    add(bases, set) {
      for (const [path, base] of bases) entries.set(path, base)
      for (const { path } of set) markAbove(path)
      for (const path of bases.keys()) markAbove(path)
    },
    async rebase({ applied }, tagOf) {
      const bases = new Map<Path, Base>()
      for (const { path, after } of applied) {
        if (!entries.has(path)) continue
        const tag = after === null || after.type === 'file' ? undefined : await tagOf(path)
        bases.set(path, { base: after, ...(tag === undefined ? {} : { tag }) })
      }
      const noted = notes(bases)
      if (noted.length > 0) await upper.commit(noted, { durability: 'durable' })
      for (const [path, base] of bases) entries.set(path, base)
    },
    async clear() {
      const gone: Change[] = []
      const waiting: Path[] = [ROOT]
      for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
        for (const { name, type } of await upper.list(directory)) {
          const path = (directory === '' ? name : `${directory}/${name}`) as Path
          if (type === 'directory') waiting.push(path)
          gone.push({ path, expect: 'any', to: null })
        }
      }
      if (gone.length > 0) await upper.commit(gone, { durability: 'durable' })
      entries.clear()
      above.clear()
    },
    fork: (forked) => touchedOver(forked, new Map(entries)),
  }
}

/** A flat name, so that no path is too long or in the way of another. */
function notePath(path: Path): Path {
  return `${RESERVED}/${sha256Text(path)}` as Path
}

async function load(upper: Backend, entries: Map<Path, Base>): Promise<void> {
  const names = await upper.list(ROOT)
  if (names.length === 0) return
  if (!names.some(({ name, type }) => name === RESERVED && type === 'directory')) throw foreign()
  for (const { name } of await upper.list(RESERVED)) {
    const { bytes } = await upper.read(`${RESERVED}/${name}` as Path)
    const note = parseNote(new TextDecoder().decode(bytes))
    if (notePath(note.path) !== `${RESERVED}/${name}`) throw foreign()
    entries.set(note.path, { base: note.base, ...(note.tag === undefined ? {} : { tag: note.tag }) })
  }
}

function parseNote(text: string): Base & { readonly path: Path } {
  try {
    const { path, base, tag } = JSON.parse(text)
    if (parsePath(path) !== path) throw foreign()
    if (base !== null && !['file', 'directory', 'link'].includes(base.type)) throw foreign()
    if (base?.type === 'file' && !/^[0-9a-f]{64}$/.test(base.sha256)) throw foreign()
    return { path: path as Path, base, ...(typeof tag === 'string' ? { tag } : {}) }
  } catch {
    throw foreign()
  }
}

function foreign(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot open the overlay: its upper storage holds something else', {
    hint: 'Tell the person in charge: the upper storage must be empty, or one that an overlay has left.',
  })
}
