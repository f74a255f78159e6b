import { ToolError } from '../errors.ts'
import { sha1Portable } from '../files/hash/sha1.ts'
import { childOf, type LogicalPath, type Path, ROOT } from '../paths/logical-path.ts'
import { concatBytes } from '../util/bytes.ts'
import { ancestors } from './ancestors.ts'
import { SUBMODULE } from './changed-path.ts'
import { deflate } from './inflate.ts'
import type { Objects } from './objects.ts'
import type { ObjectType } from './pack.ts'
import { writeId } from './pack-index.ts'
import { parseCommit } from './refs.ts'
import { DIRECTORY_MODE, EMPTY_TREE, parseTree } from './trees.ts'

/** The commits that a server lacks. */
export interface MissingCommits {
  /** In the order in which they were found, beginning with the newest. */
  readonly commits: readonly string[]
  /** Commits that the server has and that are parents of missing ones. */
  readonly boundary: readonly string[]
  /** Whether the history ends within them, because the repository is shallow. */
  readonly isCut: boolean
}

/**
 * Finds the commits that lead to a commit and that a server lacks.
 *
 * @param has commits of the server. Those that the repository does not have are skipped
 */
export async function missingCommits(
  objects: Objects,
  shallow: ReadonlySet<string>,
  start: string,
  has: Iterable<string>,
): Promise<MissingCommits> {
  const known = await ancestors(objects, shallow, has)
  const commits: string[] = []
  const boundary = new Set<string>()
  const queued = new Set([start])
  const pending = [start]
  let isCut = false
  for (let id = pending.shift(); id !== undefined; id = pending.shift()) {
    if (known.has(id)) {
      boundary.add(id)
      continue
    }
    commits.push(id)
    isCut ||= shallow.has(id)
    for (const parent of shallow.has(id) ? [] : parseCommit(await objects.need(id, 'commit')).parents) {
      if (queued.has(parent)) continue
      queued.add(parent)
      pending.push(parent)
    }
  }
  return { commits, boundary: [...boundary], isCut }
}

/** An object to send. */
interface SentObject {
  readonly id: string
  readonly type: ObjectType
}

/** The objects of a push, and the paths under which it sends contents. */
export interface SentObjects {
  readonly objects: readonly SentObject[]
  readonly paths: ReadonlySet<LogicalPath>
}

/** Lists the objects of missing commits that the commits of their boundary do not have. */
export async function objectsToSend(objects: Objects, { commits, boundary }: MissingCommits): Promise<SentObjects> {
  const known = new Set<string>()
  for (const commit of boundary) await addTree(objects, await treeOf(objects, commit), known)
  const sent: SentObject[] = []
  const seen = new Set<string>()
  const paths = new Set<LogicalPath>()
  const add = (id: string, type: ObjectType) => {
    if (!seen.has(id)) sent.push({ id, type })
    seen.add(id)
  }
  const visited = new Set<string>()
  for (const commit of commits) {
    add(commit, 'commit')
    const waiting = [{ tree: await treeOf(objects, commit), directory: ROOT as Path }]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const key = `${at.tree} ${at.directory}`
      if (known.has(at.tree) || visited.has(key)) continue
      visited.add(key)
      add(at.tree, 'tree')
      for (const { name, mode, id } of await entriesOf(objects, at.tree)) {
        const path = childOf(at.directory, name)
        if (mode === DIRECTORY_MODE) waiting.push({ tree: id, directory: path })
        else if (mode !== SUBMODULE && !known.has(id)) {
          add(id, 'blob')
          paths.add(path)
        }
      }
    }
  }
  return { objects: sent, paths }
}

async function addTree(objects: Objects, root: string, known: Set<string>): Promise<void> {
  const waiting = [root]
  for (let tree = waiting.pop(); tree !== undefined; tree = waiting.pop()) {
    if (known.has(tree)) continue
    known.add(tree)
    for (const { mode, id } of await entriesOf(objects, tree)) {
      if (mode === DIRECTORY_MODE) waiting.push(id)
      else known.add(id)
    }
  }
}

async function entriesOf(objects: Objects, tree: string) {
  return tree === EMPTY_TREE.id ? [] : parseTree(await objects.need(tree, 'tree'))
}

async function treeOf(objects: Objects, commit: string): Promise<string> {
  return parseCommit(await objects.need(commit, 'commit')).tree
}

/** A pack is held in memory, and so is the request that sends it. */
const MAX_PACK_BYTES = 256 * 1024 * 1024

const typeNumbers: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }

/**
 * Returns a pack of objects, without deltas.
 *
 * @throws ToolError `LIMIT_EXCEEDED` for more than 256 MiB
 */
export async function packOf(objects: Objects, sent: readonly SentObject[], signal?: AbortSignal): Promise<Uint8Array> {
  const header = new Uint8Array(12)
  header.set(new TextEncoder().encode('PACK'))
  const view = new DataView(header.buffer)
  view.setUint32(4, 2)
  view.setUint32(8, sent.length)
  const chunks: Uint8Array[] = [header]
  let size = 32
  for (const { id, type } of sent) {
    signal?.throwIfAborted()
    const bytes = id === EMPTY_TREE.id ? new Uint8Array() : await objects.need(id, type)
    const data = new Uint8Array(await deflate(bytes))
    const start = entryHeader(typeNumbers[type], bytes.length)
    size += start.length + data.length
    if (size > MAX_PACK_BYTES) {
      throw new ToolError('LIMIT_EXCEEDED', `Cannot push: the commits have more than ${MAX_PACK_BYTES} bytes`, {
        ...{ limit: 'bytes of one push', value: MAX_PACK_BYTES, hint: 'Push the history in several steps.' },
      })
    }
    chunks.push(start, data)
  }
  const body = concatBytes(chunks)
  const pack = new Uint8Array(body.length + 20)
  pack.set(body)
  writeId(pack, body.length, sha1Portable(body))
  return pack
}

/** The type and the size of an object, 7 bits per byte after the first 4. */
function entryHeader(type: number, size: number): Uint8Array {
  const bytes = [(type << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) as number) | 128
    bytes.push(rest & 127)
  }
  return Uint8Array.from(bytes)
}
