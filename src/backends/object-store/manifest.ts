import { type Path, parentOf, parsePath } from '../../paths/logical-path.ts'
import { emptyRoot, type StoredCommit, type StoredEntry, type StoredTree } from '../../storage/plan-commit.ts'

/** An entry of the tree. The name of a content is part of the keys of its objects. */
export type Entry = StoredEntry<string>

/** The whole tree, stored in the only object that changes. A manifest in memory is immutable. */
export interface Manifest extends StoredTree<string> {
  readonly entries: ReadonlyMap<Path, Entry>
  /** The number of the next tag. */
  readonly next: number
  /** The ids of the last commits, in order: shows a writer that lost the response whether it succeeded. */
  readonly commits: readonly string[]
  /** Contents that the last commit dropped, with their sizes. The next commit deletes them. */
  readonly garbage: readonly Garbage[]
}

export interface Garbage {
  readonly content: string
  readonly size: number
}

/** More than the number of commits that other writers can make before a writer checks the result of its put. */
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

function manifestOf(
  entries: ReadonlyMap<Path, Entry>,
  fields: Pick<Manifest, 'next' | 'commits' | 'garbage'>,
): Manifest {
  let names: Map<Path, string[]> | undefined
  return {
    ...fields,
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

/** An entry as stored: path, type, tag, time, and the fields of its type. */
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

/** Encodes a manifest as JSON. */
export function encodeManifest({ entries, next, commits, garbage }: Manifest): Uint8Array {
  const rows = Array.from(entries, ([path, entry]): Row => {
    const { tag, modifiedAt, mode, size } = entry.stat
    if (entry.type === 'file') return [path, 'file', tag, modifiedAt, mode, size, entry.sha256, entry.content]
    return entry.type === 'link' ? [path, 'link', tag, modifiedAt, entry.target] : [path, 'directory', tag, modifiedAt]
  })
  return new TextEncoder().encode(JSON.stringify({ format: FORMAT, next, commits, garbage, entries: rows }))
}

/**
 * Decodes a manifest.
 *
 * @throws Error for a malformed manifest, and for one that a newer version of this library wrote
 */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const data = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as {
    readonly format: number
    readonly entries: readonly Row[]
  } & Pick<Manifest, 'next' | 'commits' | 'garbage'>
  if (data.format !== FORMAT) throw new Error(`The manifest has format ${data.format}; this version knows ${FORMAT}`)
  if (!Number.isSafeInteger(data.next) || !Array.isArray(data.commits) || !Array.isArray(data.garbage)) {
    throw new Error('The manifest is incomplete')
  }
  const entries = new Map<Path, Entry>()
  for (const row of data.entries) {
    const path = row[0] as Path
    if (path !== '' && parsePath(path) !== path) throw new Error('The manifest contains a path that is not normalized')
    entries.set(path, entryOf(row))
  }
  for (const path of entries.keys()) {
    if (entries.get(parentOf(path))?.type !== 'directory') throw new Error('The manifest contains an incomplete tree')
  }
  return manifestOf(entries, data)
}

function entryOf(row: Row): Entry {
  const [, type, tag, modifiedAt] = row
  const stat = { size: 0, modifiedAt, tag }
  if (type === 'directory') return { type, stat: { type, ...stat, mode: 0o755 } }
  if (type === 'link') return { type, stat: { type, ...stat, mode: 0o777 }, target: row[4] }
  const [, , , , mode, size, sha256, content] = row
  if (type !== 'file' || !Number.isSafeInteger(size))
    throw new Error('The manifest contains an entry of an unknown type')
  return { type, stat: { type, ...stat, mode, size }, sha256, content }
}
