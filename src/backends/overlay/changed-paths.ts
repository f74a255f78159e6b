import { ToolError } from '../../errors.ts'
import { sha256Text } from '../../files/hash/sha256.ts'
import { type Path, parsePath, ROOT } from '../../paths/logical-path.ts'
import type { Backend, Change, Receipt, Version } from '../../storage/backend.ts'
import { versionOf } from '../../storage/versions.ts'
import { concatBytes } from '../../util/bytes.ts'
import { PathStamps } from './path-stamps.ts'

/** Directory of an overlay's notes in a persistent upper backend. */
export const RESERVED = '.wardspace-overlay' as Path

/** The note on a commit to the lower backend that has begun: the versions that it writes. */
const BEGUN = `${RESERVED}/accepting` as Path

/** The lower version of a path when it was first changed. */
export interface Base {
  readonly base: Version
  /** Its tag there, for entries without a sha256. */
  readonly tag?: string
  /** The content of a file of up to {@link MAX_BASE_BYTES}, for merges. */
  readonly content?: Uint8Array
}

/** The largest file whose base an overlay keeps. */
export const MAX_BASE_BYTES = 1024 * 1024

/**
 * The paths that an overlay has changed. A path is added when it first differs from `lower`. From then on, only the upper
 * backend counts for it and its descendants. A directory that stays a directory is never added.
 */
export interface ChangedPaths {
  /** Resolves once the changes of an earlier overlay are loaded. */
  ready(): Promise<void>
  size(): number
  has(path: Path): boolean
  get(path: Path): Base | undefined
  /** Sorted. */
  paths(): Path[]
  /** Whether the path or a directory above it was changed. */
  covers(path: Path): boolean
  /** Whether a descendant of the path was changed. */
  isAbove(path: Path): boolean
  /** A number that changes with every change of a descendant; `undefined` without changes. */
  stamp(path: Path): number | undefined
  /** Returns the changes of the upper backend that record new paths; none if it is not persistent. */
  notes(bases: ReadonlyMap<Path, Base>): Change[]
  /** Adds new paths after a set was committed. */
  add(bases: ReadonlyMap<Path, Base>, set: readonly Change[]): void
  /** Notes what is about to be committed to `lower`, until {@link rebase} or {@link abandon}. */
  begin(changes: readonly Change[]): Promise<void>
  /** Removes the note after a commit to `lower` that did not happen. Never rejects. */
  abandon(): Promise<void>
  /** Sets what is done once with the versions of a commit to `lower` that an earlier overlay began and may not have finished. */
  finishBegun(finish: (versions: ReadonlyMap<Path, Version>) => Promise<void>): void
  /** Makes the states of a commit to `lower` the new bases. */
  rebase(
    receipt: Receipt,
    changes: readonly Change[],
    tagOf: (path: Path) => Promise<string | undefined>,
  ): Promise<void>
  /** Removes all paths, and empties the upper backend. */
  clear(): Promise<void>
  fork(upper: Backend): ChangedPaths
}

/**
 * Loads the changed paths of an upper backend: none, or those of an earlier overlay.
 *
 * @throws TypeError if a backend in memory is not empty
 */
export function openChangedPaths(upper: Backend): ChangedPaths {
  if (!upper.capabilities.persistent) {
    for (const _ of upper.tree?.().entries() ?? []) throw new TypeError('overlay(): the upper backend is not empty')
    return createChangedPaths(upper, new Map())
  }
  const entries = new Map<Path, Base>()
  return createChangedPaths(upper, entries, () => load(upper, entries))
}

function createChangedPaths(
  upper: Backend,
  entries: Map<Path, Base>,
  load?: () => Promise<ReadonlyMap<Path, Version> | undefined>,
): ChangedPaths {
  const stamps = new PathStamps()
  let loading: Promise<void> | undefined
  let finish: ((versions: ReadonlyMap<Path, Version>) => Promise<void>) | undefined
  const begun = new BegunNote(upper)
  const isPersistent = upper.capabilities.persistent

  const addEntry = (path: Path, base: Base): void => {
    entries.set(path, base)
    stamps.change(path)
  }
  for (const path of entries.keys()) stamps.change(path)

  const notes = (bases: ReadonlyMap<Path, Base>): Change[] => {
    if (!isPersistent) return []
    const changes: Change[] = begun.removal('abandoned')
    if (bases.size > 0) changes.push(reservedDirectory)
    for (const [path, base] of bases) {
      const bytes = noteOf(path, base)
      changes.push({ path: notePath(path), expect: 'any', to: { type: 'file', bytes } })
    }
    return changes
  }

  return {
    async ready() {
      if (load === undefined) return
      loading ??= load().then(async (versions) => {
        for (const path of entries.keys()) stamps.change(path)
        if (versions === undefined) return
        begun.state = 'going on'
        await finish?.(versions)
      })
      await loading
    },
    size: () => entries.size,
    has: (path) => entries.has(path),
    get: (path) => entries.get(path),
    paths: () => [...entries.keys()].sort(),
    covers: (path) => stamps.covers(path),
    isAbove: (path) => stamps.of(path) !== undefined,
    stamp: (path) => stamps.of(path),
    notes,
    add(bases, set) {
      if (begun.state === 'abandoned' && set.length > 0) begun.state = 'none'
      for (const { path } of set) stamps.touch(path)
      for (const [path, base] of bases) addEntry(path, base)
    },
    begin: (changes) => begun.begin(changes),
    abandon: () => begun.abandon(),
    finishBegun(given) {
      finish = given
    },
    async rebase({ applied }, changes, tagOf) {
      const bases = new Map<Path, Base>()
      for (const [index, { path, after }] of applied.entries()) {
        if (!entries.has(path)) continue
        const tag = after === null || after.type === 'file' ? undefined : await tagOf(path)
        const to = changes[index]?.to
        const content = to?.type === 'file' ? keptContent(to.bytes) : {}
        bases.set(path, { base: after, ...(tag === undefined ? {} : { tag }), ...content })
      }
      const noteChanges = [...notes(bases), ...begun.removal('going on')]
      if (noteChanges.length > 0) await upper.commit(noteChanges, { durability: 'durable' })
      begun.state = 'none'
      for (const [path, base] of bases) entries.set(path, base)
    },
    async clear() {
      await removeAll(upper)
      entries.clear()
      stamps.clear()
    },
    fork: (forked) => createChangedPaths(forked, new Map(entries)),
  }
}

async function removeAll(backend: Backend): Promise<void> {
  const deletions: Change[] = []
  const waiting: Path[] = [ROOT]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, type } of await backend.list(directory)) {
      const path = (directory === '' ? name : `${directory}/${name}`) as Path
      if (type === 'directory') waiting.push(path)
      deletions.push({ path, expect: 'any', to: null })
    }
  }
  if (deletions.length > 0) await backend.commit(deletions, { durability: 'durable' })
}

/** The note on a commit to `lower`, in a persistent upper backend. */
class BegunNote {
  /** Whether the note is there: of a commit that goes on, or of one that did not happen. */
  state: 'none' | 'going on' | 'abandoned' = 'none'
  readonly #upper: Backend

  constructor(upper: Backend) {
    this.#upper = upper
  }

  async begin(changes: readonly Change[]): Promise<void> {
    if (!this.#upper.capabilities.persistent) return
    const versions = changes.map(({ path, to }) => [path, versionOf(to)])
    const bytes = new TextEncoder().encode(JSON.stringify(versions))
    const note: Change = { path: BEGUN, expect: 'any', to: { type: 'file', bytes } }
    await this.#upper.commit([reservedDirectory, note], { durability: 'durable' })
    this.state = 'going on'
  }

  async abandon(): Promise<void> {
    if (this.state === 'none') return
    this.state = 'abandoned'
    try {
      await this.#upper.commit(this.removal('abandoned'), { durability: 'durable' })
      this.state = 'none'
    } catch {
      // The next change removes it.
    }
  }

  /** Returns the change that removes the note, if it is in this state. */
  removal(state: 'going on' | 'abandoned'): Change[] {
    return this.state === state ? [{ path: BEGUN, expect: 'any', to: null }] : []
  }
}

const reservedDirectory: Change = { path: RESERVED, expect: 'any', to: { type: 'directory' } }

/** Returns a flat name, so that notes are neither too long nor below each other. */
function notePath(path: Path): Path {
  return `${RESERVED}/${sha256Text(path)}` as Path
}

/** Returns the versions of a commit to the lower backend that has begun. */
async function load(upper: Backend, entries: Map<Path, Base>): Promise<ReadonlyMap<Path, Version> | undefined> {
  let begun: ReadonlyMap<Path, Version> | undefined
  const names = await upper.list(ROOT)
  if (names.length === 0) return undefined
  if (!names.some(({ name, type }) => name === RESERVED && type === 'directory')) throw foreign()
  for (const { name } of await upper.list(RESERVED)) {
    const { bytes } = await upper.read(`${RESERVED}/${name}` as Path)
    if (`${RESERVED}/${name}` === BEGUN) {
      begun = parseBegun(bytes)
      continue
    }
    const note = parseNote(bytes)
    if (notePath(note.path) !== `${RESERVED}/${name}`) throw foreign()
    const { path, ...base } = note
    entries.set(path, base)
  }
  return begun
}

function parseBegun(bytes: Uint8Array): ReadonlyMap<Path, Version> {
  try {
    return new Map(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    throw foreign()
  }
}

/** Returns a note: its facts as JSON, and after a newline the content of the base. */
function noteOf(path: Path, { content, ...base }: Base): Uint8Array {
  const facts = new TextEncoder().encode(JSON.stringify({ path, ...base }))
  return content === undefined ? facts : concatBytes([facts, Uint8Array.of(NEWLINE), content])
}

const NEWLINE = 10

/** Returns the content of a base that is kept, as a field. */
export function keptContent(bytes: Uint8Array): { readonly content?: Uint8Array } {
  return bytes.length > MAX_BASE_BYTES ? {} : { content: bytes }
}

function parseNote(bytes: Uint8Array): Base & { readonly path: Path } {
  try {
    const end = bytes.indexOf(NEWLINE)
    const facts = end === -1 ? bytes : bytes.subarray(0, end)
    const { path, base, tag } = JSON.parse(new TextDecoder().decode(facts))
    if (parsePath(path) !== path) throw foreign()
    if (base !== null && !['file', 'directory', 'link'].includes(base.type)) throw foreign()
    if (base?.type === 'file' && !/^[0-9a-f]{64}$/.test(base.sha256)) throw foreign()
    const content = end === -1 ? {} : { content: bytes.subarray(end + 1) }
    return { path: path as Path, base, ...(typeof tag === 'string' ? { tag } : {}), ...content }
  } catch {
    throw foreign()
  }
}

function foreign(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot open the overlay: its upper storage contains other files', {
    hint: 'Report this to the user: the upper storage must be empty, or left by an overlay.',
  })
}
