import { ToolError } from '../../errors.ts'
import { sha256Async } from '../../files/hash/sha256.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Backend, FileRead } from '../../storage/backend.ts'
import { canonical } from '../../storage/canonical-path.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { type ReadVerb, wrongTypeAt } from '../../storage/wrong-type.ts'
import { type FileEntry, pieceOf } from './nodes.ts'
import { PART_BYTES, type Piece } from './objects.ts'
import type { LoadedRoot } from './root.ts'
import { onTree, pinTree, type Space, type TreeSource } from './space.ts'
import { entriesIn, entryAt } from './tree.ts'

type Reads = Required<Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan'>>

/** Returns the reads of a backend. Each one sees the tree that the source has at its start. */
export function createReads(space: Space, source: TreeSource): Reads {
  const { nodes } = space
  const read = <T>(action: (tree: LoadedRoot) => Promise<T>) => onTree(source, action)

  const linkTarget = async (tree: LoadedRoot, path: Path): Promise<string> => {
    const entry = await entryAt(nodes, tree, path)
    if (entry?.type !== 'link') throw await wrongTypeIn(space, tree, 'read link', path)
    return entry.target
  }

  return {
    canonical: (path, { noFollow = false } = {}) =>
      read(async (tree) => {
        const stat = async (at: Path) => (await entryAt(nodes, tree, at))?.stat
        return canonical({ stat, readLink: (at) => linkTarget(tree, at) }, path, { noFollow })
      }),

    stat: (path) => read(async (tree) => (await entryAt(nodes, tree, path))?.stat),

    list: (path) =>
      read(async (tree) => {
        const type = (await entryAt(nodes, tree, path))?.type
        if (type !== 'directory') throw await wrongTypeIn(space, tree, 'list', path)
        return entriesIn(nodes, tree, path)
      }),

    read: (path, range) => readFile(space, source, path, range),
    readLink: (path) => read((tree) => linkTarget(tree, path)),
    scan: (paths, visit, maxBytes = Number.POSITIVE_INFINITY) => scan(space, source, paths, visit, maxBytes),
  }
}

function wrongTypeIn({ nodes }: Space, tree: LoadedRoot, verb: ReadVerb, path: Path): Promise<ToolError> {
  return wrongTypeAt(verb, path, async (at) => (await entryAt(nodes, tree, at))?.type)
}

/** Reads a file. If its content is gone because the file was replaced meanwhile, reads the new content. */
function readFile(
  space: Space,
  source: TreeSource,
  path: Path,
  range?: Parameters<Backend['read']>[1],
): Promise<FileRead> {
  const readIn = async (tree: LoadedRoot): Promise<FileRead> => {
    const entry = await entryAt(space.nodes, tree, path)
    if (entry?.type !== 'file') throw await wrongTypeIn(space, tree, 'read', path)
    const { stat } = entry
    const { start, end } = rangeOf(path, range, stat, () => entry.sha256)
    const bytes = await space.contents.read(pieceOf(entry), start, end)
    if (bytes.length === stat.size) await requireHash(space, path, entry, bytes)
    return { bytes, stat }
  }
  const missingError = () =>
    new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: its content is missing in the store`, { path })
  return onTree(source, readIn, missingError)
}

/** Contents in memory whose hash is that of their file. */
const checked = new WeakSet<Uint8Array>()

/** @throws ToolError if a whole content is not the one that was written. One that stays in memory is hashed once. */
async function requireHash({ contents }: Space, path: Path, entry: FileEntry, bytes: Uint8Array): Promise<void> {
  const kept = contents.cached(pieceOf(entry).location) ?? bytes
  if (checked.has(kept)) return
  if ((await sha256Async(kept)) !== entry.sha256) {
    throw new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: its content in the store is damaged`, { path })
  }
  checked.add(kept)
}

/** Bytes that a scan requests together, and the number of paths that it looks at for that. */
const WINDOW_BYTES = 16 * 1024 * 1024
const WINDOW_PATHS = 4096

/** Reads small files with few requests, ahead of the visits. The content of a file over `maxBytes` is not requested. */
async function scan(
  space: Space,
  current: TreeSource,
  paths: Parameters<Reads['scan']>[0],
  visit: Parameters<Reads['scan']>[1],
  maxBytes: number,
): Promise<void> {
  const { contents, nodes } = space
  const source = pinTree(current)
  const fileAt = async (path: Path): Promise<FileEntry | undefined> => {
    const entry = await onTree(source, (tree) => entryAt(nodes, tree, path, true))
    return entry?.type === 'file' ? entry : undefined
  }
  const isAhead = ({ size }: Piece) => size > 0 && size <= Math.min(maxBytes, PART_BYTES)
  let aheadEnd = 0

  const readAhead = async (start: number) => {
    const pieces: Piece[] = []
    let bytes = 0
    for (aheadEnd = start; aheadEnd < paths.length && aheadEnd < start + WINDOW_PATHS; aheadEnd++) {
      const entry = await fileAt(paths[aheadEnd] as Path)
      if (entry === undefined || !isAhead(pieceOf(entry))) continue
      bytes += entry.stat.size
      if (bytes > WINDOW_BYTES) break
      pieces.push(pieceOf(entry))
    }
    await contents.prefetch(pieces)
  }

  for (const [index, path] of paths.entries()) {
    const entry = await fileAt(path)
    if (entry === undefined) continue
    const piece = pieceOf(entry)
    if (index >= aheadEnd && isAhead(piece) && contents.cached(piece.location) === undefined) await readAhead(index)
    const bytes = piece.size > maxBytes ? new Uint8Array() : contents.cached(piece.location)
    const file = bytes === undefined ? await readIfPresent(space, source, path) : { bytes, stat: entry.stat }
    if (bytes !== undefined && bytes.length > 0) await requireHash(space, path, entry, bytes)
    if (file !== undefined && !visit(path, file.bytes, file.stat)) return
  }
}

/** Reads a file. Returns `undefined` for a path that is removed, or replaced by another type, meanwhile. */
async function readIfPresent(space: Space, source: TreeSource, path: Path): Promise<FileRead | undefined> {
  try {
    return await readFile(space, source, path)
  } catch (error) {
    if (error instanceof ToolError && error.code !== 'BACKEND_ERROR') return undefined
    throw error
  }
}
