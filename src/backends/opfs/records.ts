import { cachedSha256 } from '../../files/hash/sha256.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { Change, DirectoryNode, EntryState, Receipt, Stat, TreeNode, Version } from '../../storage/backend.ts'
import { directoryNode, nodeAt, withNodeAt } from '../../storage/tree.ts'
import {
  applyAll,
  DIRECTORY_MODE,
  type HashedFile,
  knownHashOf,
  LINK_MODE,
  modeOf,
  type Tags,
} from '../../storage/tree-commit.ts'
import { samePrefix } from '../../util/bytes.ts'
import { openReader, openWriter, type Reader, type Writer } from './byte-cursor.ts'
import { RECORD_HEADER } from './record-frame.ts'

/**
 * What the records of a journal say: a commit tells the states that its change set led to, a snapshot tells every node
 * of the tree. Both give the same tree, to the tags and times, as the one that they were made from.
 */

/** The tags of what one commit makes: the same in every tab, and after every replay. */
export function tagsOf(seq: number): Tags {
  let count = 0
  return { next: () => `${seq}.${++count}` }
}

/** A set as a record; undefined where it changes nothing. `before` is the tree that it was judged against. */
export function encodeCommit(
  changes: readonly Change[],
  receipt: Receipt,
  before: DirectoryNode,
  at: number,
): Uint8Array | undefined {
  const entries = changes.flatMap((change, i) => {
    const versions = receipt.applied[i]
    if (versions === undefined || versions.before === versions.after) return []
    return [{ change, versions, taken: takenFrom(change, before) }]
  })
  if (entries.length === 0) return undefined
  let room = RECORD_HEADER + 9
  for (const { change, taken } of entries) {
    room += 64 + 3 * change.path.length
    if (change.to?.type === 'link') room += 3 * change.to.target.length
    if (taken !== undefined) room += 3 * taken.path.length
    if (change.to?.type === 'file') room += change.to.bytes.length - (taken?.length ?? 0)
  }
  const record = new Uint8Array(room)
  const writer = openWriter(record, RECORD_HEADER)
  writer.u8(COMMIT)
  writer.f64(at)
  for (const { change, versions, taken } of entries) {
    const { path, to } = change
    const { after } = versions
    if (to === null) {
      writer.u8(ABSENT)
      writer.text(path)
    } else if (to.type === 'directory') {
      writer.u8(DIRECTORY)
      writer.text(path)
    } else if (to.type === 'link') {
      writer.u8(LINK)
      writer.text(path)
      writer.text(to.target)
    } else {
      writer.u8(taken === undefined ? FILE : EXTENDED)
      writer.text(path)
      // What was to be a file is one.
      writer.u16(modeOf(after as Extract<Version, { readonly type: 'file' }>))
      writeHash(writer, cachedSha256(to.bytes))
      if (taken !== undefined) {
        writer.text(taken.path)
        writer.f64(taken.length)
      }
      const own = taken === undefined ? to.bytes : to.bytes.subarray(taken.length)
      writer.f64(own.length)
      writer.bytes(own)
    }
  }
  return record.subarray(0, writer.at)
}

/** The nodes of a tree as records of a few megabytes each, parents first. */
export function* encodeSnapshot(root: DirectoryNode): Iterable<Uint8Array> {
  let waiting: { readonly path: Path; readonly node: TreeNode }[] = []
  let room = 0
  for (const one of everyNode(ROOT, root)) {
    waiting.push(one)
    room += roomOf(one)
    if (room < SNAPSHOT_BYTES) continue
    yield snapshotRecord(waiting, room)
    waiting = []
    room = 0
  }
  if (waiting.length > 0) yield snapshotRecord(waiting, room)
}

/** The tree after a record. Throws where the record is none of ours. */
export function replayRecord(root: DirectoryNode, payload: Uint8Array, seq: number): DirectoryNode {
  const reader = openReader(payload)
  const type = reader.u8()
  if (type === SNAPSHOT) return replaySnapshot(root, reader)
  if (type !== COMMIT) throw new RangeError('The record is of an unknown type')
  const at = reader.f64()
  const changes: Change[] = []
  const hashes: [Path, string | undefined][] = []
  while (!reader.isAtEnd()) {
    const kind = reader.u8()
    const path = reader.text() as Path
    changes.push({ path, expect: 'any', to: readState(kind, path) })
  }
  const after = applyAll(root, changes, at, tagsOf(seq))
  for (const [path, hash] of hashes) {
    const node = nodeAt(after, path)
    if (hash !== undefined && node?.type === 'file') (node as HashedFile).hash = hash
  }
  return after

  function readState(kind: number, path: Path): EntryState {
    if (kind === ABSENT) return null
    if (kind === DIRECTORY) return { type: 'directory' }
    if (kind === LINK) return { type: 'link', target: reader.text() }
    if (kind !== FILE && kind !== EXTENDED) throw new RangeError('The record holds an unknown state')
    const mode = reader.u16()
    hashes.push([path, readHash(reader)])
    const taken = kind === EXTENDED ? { path: reader.text() as Path, length: reader.f64() } : undefined
    const own = reader.bytes(reader.f64())
    if (taken === undefined) return { type: 'file', bytes: own, mode }
    const source = nodeAt(root, taken.path)
    if (source?.type !== 'file' || source.bytes.length < taken.length)
      throw new RangeError('The record extends what is not there')
    if (own.length === 0 && source.bytes.length === taken.length) return { type: 'file', bytes: source.bytes, mode }
    const bytes = new Uint8Array(taken.length + own.length)
    bytes.set(source.bytes.subarray(0, taken.length))
    bytes.set(own, taken.length)
    return { type: 'file', bytes, mode }
  }
}

/** How many bytes a snapshot of the tree would take, about. */
export function weightOf(root: DirectoryNode): number {
  let weight = 0
  for (const one of everyNode(ROOT, root)) weight += roomOf(one)
  return weight
}

/** How many bytes the files of a tree hold. */
export function bytesIn(root: DirectoryNode): number {
  let bytes = 0
  for (const { node } of everyNode(ROOT, root)) bytes += node.stat.size
  return bytes
}

const COMMIT = 1
const SNAPSHOT = 2

const ABSENT = 1
const DIRECTORY = 2
const LINK = 3
const FILE = 4
/** A file that begins with the content of one before the set. */
const EXTENDED = 5

const SNAPSHOT_BYTES = 4 * 1024 * 1024

/** Content that is in the journal already: moved, or extended. Only what is worth it. */
function takenFrom(
  { path, to, from }: Change,
  before: DirectoryNode,
): { readonly path: Path; readonly length: number } | undefined {
  if (to?.type !== 'file') return undefined
  const moved = from === undefined ? undefined : nodeAt(before, from)
  const { length } = to.bytes
  if (from !== undefined && moved?.type === 'file' && moved.bytes.length === length) {
    if (samePrefix(moved.bytes, to.bytes, length)) return { path: from, length }
  }
  const { sharedPrefix = 0 } = to
  if (sharedPrefix < WORTH_BYTES || sharedPrefix > to.bytes.length) return undefined
  const old = nodeAt(before, path)
  if (old?.type !== 'file' || !samePrefix(old.bytes, to.bytes, sharedPrefix)) return undefined
  return { path, length: sharedPrefix }
}

const WORTH_BYTES = 256

function* everyNode(path: Path, node: TreeNode): Iterable<{ readonly path: Path; readonly node: TreeNode }> {
  yield { path, node }
  if (node.type !== 'directory') return
  for (const [name, child] of node.entries()) yield* everyNode(childOf(path, name), child)
}

function roomOf({ path, node }: { readonly path: Path; readonly node: TreeNode }): number {
  const content = node.type === 'file' ? node.bytes.length : node.type === 'link' ? 3 * node.target.length : 0
  return 64 + 3 * path.length + node.stat.tag.length + content
}

function snapshotRecord(nodes: readonly { readonly path: Path; readonly node: TreeNode }[], room: number): Uint8Array {
  const record = new Uint8Array(RECORD_HEADER + 1 + room)
  const writer = openWriter(record, RECORD_HEADER)
  writer.u8(SNAPSHOT)
  for (const { path, node } of nodes) {
    writer.u8(node.type === 'file' ? FILE : node.type === 'link' ? LINK : DIRECTORY)
    writer.text(path)
    writer.text(node.stat.tag)
    writer.f64(node.stat.modifiedAt ?? 0)
    if (node.type === 'link') writer.text(node.target)
    if (node.type !== 'file') continue
    writer.u16(modeOf(node.stat))
    writeHash(writer, knownHashOf(node))
    writer.f64(node.bytes.length)
    writer.bytes(node.bytes)
  }
  return record.subarray(0, writer.at)
}

function replaySnapshot(root: DirectoryNode, reader: Reader): DirectoryNode {
  let draft = root
  while (!reader.isAtEnd()) {
    const kind = reader.u8()
    const path = reader.text() as Path
    const noted = { tag: reader.text(), modifiedAt: reader.f64() }
    const node = readNode(kind, noted, reader)
    if (path === ROOT) draft = node as DirectoryNode
    else draft = withNodeAt(draft, path, node, (parent) => parent.stat)
  }
  return draft
}

function readNode(kind: number, noted: Pick<Stat, 'tag' | 'modifiedAt'>, reader: Reader): TreeNode {
  if (kind === DIRECTORY) return directoryNode({ type: 'directory', size: 0, mode: DIRECTORY_MODE, ...noted })
  if (kind === LINK) {
    return { type: 'link', target: reader.text(), stat: { type: 'link', size: 0, mode: LINK_MODE, ...noted } }
  }
  if (kind !== FILE) throw new RangeError('The record holds an unknown node')
  const mode = reader.u16()
  const hash = readHash(reader)
  const bytes = reader.bytes(reader.f64())
  const file: HashedFile = {
    type: 'file',
    bytes,
    stat: { type: 'file', size: bytes.length, mode, ...noted },
    ...(hash === undefined ? {} : { hash }),
  }
  return file
}

/** Zeros where nobody has worked it out yet. */
function writeHash(writer: Writer, hash: string | undefined): void {
  if (hash === undefined) {
    writer.bytes(NO_HASH)
    return
  }
  for (let i = 0; i < 64; i += 2) writer.u8((digitAt(hash, i) << 4) | digitAt(hash, i + 1))
}

/** Lowercase hex. */
function digitAt(hex: string, at: number): number {
  const code = hex.charCodeAt(at)
  return code < 58 ? code - 48 : code - 87
}

function readHash(reader: Reader): string | undefined {
  let hash = ''
  for (const byte of reader.bytes(32)) hash += HEX[byte]
  return hash === UNKNOWN ? undefined : hash
}

const NO_HASH = new Uint8Array(32)
const UNKNOWN = '0'.repeat(64)

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
