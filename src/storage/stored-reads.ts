import { ToolError } from '../errors.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import type { Backend, DirectoryEntry, FileRead } from './backend.ts'
import { canonical } from './canonical-path.ts'
import type { StoredEntry } from './plan-commit.ts'
import { rangeOf } from './read-range.ts'
import { damaged, isContentOf } from './stored-entry.ts'
import { type ReadVerb, wrongTypeAt } from './wrong-type.ts'

/** Lookups of a storage that keeps whole {@link StoredEntry}s, and contents under a key of type `C`. */
export interface StoredSource<C> {
  entryAt(path: Path): Promise<StoredEntry<C> | undefined>
  /** The entries of a directory, in any order; none for any other path. */
  entriesIn(directory: Path): Promise<readonly DirectoryEntry[]>
  /** The bytes `[start, end)` of a content; `undefined` if it has been removed. */
  bytesOf(content: C, start: number, end: number): Promise<Uint8Array | undefined>
}

/** Number of times that a file may be replaced while it is read. */
const MAX_TRIES = 20

/** Returns the reads of a backend over such a storage, which other writers may change meanwhile. */
export function storedReads<C>(
  source: StoredSource<C>,
): Required<Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink'>> {
  const stat = async (path: Path) => (await source.entryAt(path))?.stat
  const wrongType = (verb: ReadVerb, path: Path) => wrongTypeAt(verb, path, async (at) => (await stat(at))?.type)

  const readLink = async (path: Path) => {
    const entry = await source.entryAt(path)
    if (entry?.type !== 'link') throw await wrongType('read link', path)
    return entry.target
  }

  return {
    canonical: (path, { noFollow = false } = {}) => canonical({ stat, readLink }, path, { noFollow }),
    stat,
    readLink,

    async list(path) {
      const entries = await source.entriesIn(path)
      if (entries.length === 0 && (await stat(path))?.type !== 'directory') throw await wrongType('list', path)
      return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    async read(path, range): Promise<FileRead> {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const entry = await source.entryAt(path)
        if (entry?.type === 'other') throw damaged(path)
        if (entry?.type !== 'file') throw await wrongType('read', path)
        const { start, end } = rangeOf(path, range, entry.stat, () => entry.sha256)
        const bytes = await source.bytesOf(entry.content, start, end)
        // Without its content, the file was replaced since the lookup.
        if (bytes === undefined) continue
        if (end - start === entry.stat.size && !isContentOf(entry, bytes)) throw damaged(path)
        return { bytes, stat: entry.stat }
      }
      throw new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: its content is missing`, { path })
    },
  }
}

/** Reads a file. Returns `undefined` for a path that is removed, or replaced by another type, meanwhile. */
export async function readIfFile({ read }: Pick<Backend, 'read'>, path: Path): Promise<FileRead | undefined> {
  try {
    return await read(path)
  } catch (error) {
    if (error instanceof ToolError && error.code !== 'BACKEND_ERROR') return undefined
    throw error
  }
}
