import { type Path, parentOf, parsePath } from '../../paths/logical-path.ts'
import { emptyRoot, type StoredCommit, type StoredEntry, type StoredTree } from '../../storage/plan-commit.ts'

/** An entry of the tree; a content's name is part of the keys of its objects. */
export type Entry = StoredEntry<string>

/**
 * The whole tree at one moment, as the one object that ever changes holds it. Immutable, like all objects that it names.
 */
export interface Manifest extends StoredTree<string> {
  readonly entries: ReadonlyMap<Path, Entry>
  /** Where the numbers of tags go on. */
  readonly next: number
  /** The commits that led here, the latest last: tells a writer whose answer was lost whether it had won. */
  readonly commits: readonly string[]
  /** Contents that the latest commit dropped, with their sizes: the next one deletes them. */
  readonly garbage: readonly Garbage[]
}

export interface Garbage {
  readonly content: string
  readonly size: number
}

/** As many as writers could come in between a put and the look whether it happened. */
const REMEMBERED_COMMITS = 64
const FORMAT = 1

export const emptyManifest: Manifest = manifestOf(new Map([['' as Path, emptyRoot]]), {
  next: 1,
  commits: [],
  garbage: [],
})

/** The manifest after a commit. */
export function manifestAfter(
  before: Manifest,
  { steps, dropped }: StoredCommit<string>,
  commit: string,
  next: number,
): Manifest {
  const entries = new Map(before.entries)
  for (const [path, entry] of steps) {
    if (entry === undefined) entries.delete(path)
    else entries.set(path, entry)
  }
  return manifestOf(entries, {
    next,
    commits: [...before.commits, commit].slice(-REMEMBERED_COMMITS),
    garbage: dropped,
  })
}

function manifestOf(entries: ReadonlyMap<Path, Entry>, rest: Pick<Manifest, 'next' | 'commits' | 'garbage'>): Manifest {
  let names: Map<Path, string[]> | undefined
  return {
    ...rest,
    entries,
    at: (path) => entries.get(path),
    names(directory) {
      names ??= namesByDirectory(entries)
      return names.get(directory) ?? []
    },
  }
}

/** The names in each directory, sorted by UTF-16 units. */
function namesByDirectory(entries: ReadonlyMap<Path, Entry>): Map<Path, string[]> {
  const names = new Map<Path, string[]>()
  for (const path of entries.keys()) {
    if (path === '') continue
    const directory = parentOf(path)
    const name = path.slice(directory === '' ? 0 : directory.length + 1)
    const list = names.get(directory)
    if (list === undefined) names.set(directory, [name])
    else list.push(name)
  }
  for (const list of names.values()) list.sort((a, b) => (a < b ? -1 : 1))
  return names
}

/** One entry as stored: path, type, tag, time, and what else its type has. */
type Row =
  | readonly [path: string, type: 'directory', tag: string, at: number]
  | readonly [path: string, type: 'link', tag: string, at: number, target: string]
  | readonly [
      path: string,
      type: 'file',
      tag: string,
      at: number,
      mode: number,
      size: number,
      sha256: string,
      content: string,
    ]

/** The bytes of a manifest. */
export function encodeManifest({ entries, next, commits, garbage }: Manifest): Uint8Array {
  const rows = Array.from(entries, ([path, entry]): Row => {
    const { tag, modifiedAt, mode, size } = entry.stat
    if (entry.type === 'file') return [path, 'file', tag, modifiedAt, mode, size, entry.sha256, entry.content]
    return entry.type === 'link' ? [path, 'link', tag, modifiedAt, entry.target] : [path, 'directory', tag, modifiedAt]
  })
  return new TextEncoder().encode(JSON.stringify({ format: FORMAT, next, commits, garbage, entries: rows }))
}

/**
 * The manifest that some bytes are.
 *
 * @throws Error for what is none, and for one that a later version of this library wrote
 */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const data = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as {
    readonly format: number
    readonly entries: readonly Row[]
  } & Pick<Manifest, 'next' | 'commits' | 'garbage'>
  if (data.format !== FORMAT) throw new Error(`The manifest has format ${data.format}; this version knows ${FORMAT}`)
  if (!Number.isSafeInteger(data.next) || !Array.isArray(data.commits) || !Array.isArray(data.garbage)) {
    throw new Error('The manifest is not whole')
  }
  const entries = new Map<Path, Entry>()
  for (const row of data.entries) {
    const path = row[0] as Path
    if (path !== '' && parsePath(path) !== path) throw new Error('The manifest holds a path that is not normalised')
    entries.set(path, entryOf(row))
  }
  for (const path of entries.keys()) {
    if (entries.get(parentOf(path))?.type !== 'directory') throw new Error('The manifest holds no whole tree')
  }
  return manifestOf(entries, data)
}

function entryOf(row: Row): Entry {
  const [, type, tag, modifiedAt] = row
  const stat = { size: 0, modifiedAt, tag }
  if (type === 'directory') return { type, stat: { type, ...stat, mode: 0o755 } }
  if (type === 'link') return { type, stat: { type, ...stat, mode: 0o777 }, target: row[4] }
  const [, , , , mode, size, sha256, content] = row
  if (type !== 'file' || !Number.isSafeInteger(size)) throw new Error('The manifest holds an entry of no known type')
  return { type, stat: { type, ...stat, mode, size }, sha256, content }
}
