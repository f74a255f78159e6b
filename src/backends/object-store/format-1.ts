import { type Path, parentOf, parsePath } from '../../paths/logical-path.ts'
import { directoryEntry, type Entry, fileEntry, keyOf, linkEntry } from './nodes.ts'
import { ownNames } from './objects.ts'
import type { Root } from './tree.ts'

/*
 * The manifest of format 1, which contains the whole tree. The first commit writes the tree as nodes.
 */

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

export interface Manifest {
  readonly format: 1
  readonly next: number
  readonly commits: readonly string[]
  readonly garbage: readonly { readonly content: string; readonly size: number }[]
  readonly entries: readonly Row[]
}

/**
 * Returns the root that a manifest describes, with the whole tree as one leaf.
 *
 * @throws Error for a malformed manifest
 */
export function rootOfManifest({ next, commits, garbage, entries: rows }: Manifest): Root {
  const entries = new Map<Path, Entry>()
  for (const row of rows) {
    const path = row[0] as Path
    if (path !== '' && parsePath(path) !== path) throw new Error('The manifest contains a path that is not normalized')
    entries.set(path, entryOf(row))
  }
  for (const path of entries.keys()) {
    if (entries.get(parentOf(path))?.type !== 'directory') throw new Error('The manifest contains an incomplete tree')
  }
  const root = entries.get('' as Path) as Entry
  entries.delete('' as Path)
  const sorted = Array.from(entries, ([path, entry]) => [keyOf(path), entry] as const)
  sorted.sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    next,
    commits,
    garbage: garbage.flatMap(({ content, size }) => ownNames({ location: content, size }).map((n) => `contents/${n}`)),
    root,
    top: { keys: sorted.map(([key]) => key), entries: sorted.map(([, entry]) => entry) },
  }
}

function entryOf(row: Row): Entry {
  const [, type, tag, at] = row
  if (type === 'directory') return directoryEntry(tag, at)
  if (type === 'link') return linkEntry(tag, at, row[4])
  const [, , , , mode, size, sha256, content] = row
  if (type !== 'file' || !Number.isSafeInteger(size))
    throw new Error('The manifest contains an entry of an unknown type')
  return fileEntry(tag, at, { mode, size, sha256, content })
}
