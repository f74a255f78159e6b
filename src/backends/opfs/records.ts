import { cachedSha256 } from '../../files/hash/sha256.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { Change, DirectoryNode, EntryState, Receipt, Stat, TreeNode, Version } from '../../storage/backend.ts'
import { directoryNode, nodeAt, withNodeAt } from '../../storage/tree.ts'
import { applyAll, cachedHashOf, modeOf } from '../../storage/tree-commit.ts'
import { DIRECTORY_MODE, type HashedFile, LINK_MODE, type Tags } from '../../storage/tree-nodes.ts'
import { samePrefix } from '../../util/bytes.ts'
import { openReader, openWriter, type Reader, type Writer } from './byte-cursor.ts'
import { RECORD_HEADER } from './record-frame.ts'

// The payloads of journal records. A commit contains the resulting states of its change set, a snapshot every node of the
// tree. Replaying them produces an identical tree, including tags and times.

/** The tags of the entries that a commit creates: the same in every tab and after every replay. */
export function tagsOf(seq: number): Tags {
  let count = 0
  return { next: () => `${seq}.${++count}` }
}

/** Encodes a change set, or `undefined` when it changes nothing. `before` is the tree that it was checked against. */
export function encodeCommit(
  changes: readonly Change[],
  receipt: Receipt,
  before: DirectoryNode,
  at: number,
): Uint8Array | undefined {
  const entries = changes.flatMap((change, i) => {
    const versions = receipt.applied[i]
    if (versions === undefined || versions.before === versions.after) return []
    return [{ change, versions, reused: reusedContent(change, before) }]
  })
  if (entries.length === 0) return undefined
  let room = RECORD_HEADER + 9
  for (const { change, reused } of entries) {
    room += 64 + 3 * change.path.length
    if (change.to?.type === 'link') room += 3 * change.to.target.length
    if (reused !== undefined) room += 3 * reused.path.length
    if (change.to?.type === 'file') room += change.to.bytes.length - (reused?.length ?? 0)
  }
  const record = new Uint8Array(room)
  const writer = openWriter(record, RECORD_HEADER)
  writer.u8(COMMIT)
  writer.f64(at)
  for (const { change, versions, reused } of entries) {
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
      writer.u8(reused === undefined ? FILE : EXTENDED)
      writer.text(path)
      // The version of a changed file is that of a file.
      writer.u16(modeOf(after as Extract<Version, { readonly type: 'file' }>))
      writeHash(writer, cachedSha256(to.bytes))
      if (reused !== undefined) {
        writer.text(reused.path)
        writer.f64(reused.length)
      }
      const added = reused === undefined ? to.bytes : to.bytes.subarray(reused.length)
      writer.f64(added.length)
      writer.bytes(added)
    }
  }
  return record.subarray(0, writer.at)
}

/** Encodes the nodes of a tree as records of about a megabyte each, parents first. */
export function* encodeSnapshot(root: DirectoryNode): Iterable<Uint8Array> {
  let waiting: { readonly path: Path; readonly node: TreeNode }[] = []
  let room = 0
  for (const entry of everyNode(root)) {
    waiting.push(entry)
    room += roomOf(entry)
    if (room < SNAPSHOT_BYTES) continue
    yield snapshotRecord(waiting, room)
    waiting = []
    room = 0
  }
  if (waiting.length > 0) yield snapshotRecord(waiting, room)
}

/** Returns the tree after a record. Throws a RangeError for a malformed record. */
export function replayRecord(root: DirectoryNode, payload: Uint8Array, seq: number): DirectoryNode {
  const reader = openReader(payload)
  const type = reader.u8()
  if (type === SNAPSHOT) return replaySnapshot(root, reader)
  if (type !== COMMIT) throw new RangeError('The record has an unknown type')
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
    if (kind !== FILE && kind !== EXTENDED) throw new RangeError('The record contains an unknown state')
    const mode = reader.u16()
    hashes.push([path, readHash(reader)])
    const reused = kind === EXTENDED ? { path: reader.text() as Path, length: reader.f64() } : undefined
    const added = reader.bytes(reader.f64())
    if (reused === undefined) return { type: 'file', bytes: added, mode }
    const source = nodeAt(root, reused.path)
    if (source?.type !== 'file' || source.bytes.length < reused.length) {
      throw new RangeError('The record extends a file that does not exist')
    }
    if (added.length === 0 && source.bytes.length === reused.length) return { type: 'file', bytes: source.bytes, mode }
    const bytes = new Uint8Array(reused.length + added.length)
    bytes.set(source.bytes.subarray(0, reused.length))
    bytes.set(added, reused.length)
    return { type: 'file', bytes, mode }
  }
}

/** Approximate size of a snapshot of the tree, in bytes. */
export function weightOf(root: DirectoryNode): number {
  let weight = 0
  for (const entry of everyNode(root)) weight += roomOf(entry)
  return weight
}

/** Total size of the files of a tree, in bytes. */
export function bytesIn(root: DirectoryNode): number {
  let bytes = 0
  for (const { node } of everyNode(root)) bytes += node.stat.size
  return bytes
}

const COMMIT = 1
const SNAPSHOT = 2

const ABSENT = 1
const DIRECTORY = 2
const LINK = 3
const FILE = 4
/** A file that begins with content of a file from before the change set. */
const EXTENDED = 5

const SNAPSHOT_BYTES = 1024 * 1024

/** The content of a moved or extended file that the journal already contains, if it is long enough to be worth a reference. */
function reusedContent(
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
  if (sharedPrefix < MIN_SHARED_BYTES || sharedPrefix > to.bytes.length) return undefined
  const old = nodeAt(before, path)
  if (old?.type !== 'file' || !samePrefix(old.bytes, to.bytes, sharedPrefix)) return undefined
  return { path, length: sharedPrefix }
}

const MIN_SHARED_BYTES = 256

/** Yields a node and everything below it, directories before what is in them. */
function* everyNode(root: TreeNode): Iterable<{ readonly path: Path; readonly node: TreeNode }> {
  const waiting = [{ path: ROOT, node: root }]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    yield at
    if (at.node.type !== 'directory') continue
    for (const [name, node] of at.node.entries()) waiting.push({ path: childOf(at.path, name), node })
  }
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
    writeHash(writer, cachedHashOf(node))
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
    const facts = { tag: reader.text(), modifiedAt: reader.f64() }
    const node = readNode(kind, facts, reader)
    if (path === ROOT) draft = node as DirectoryNode
    else draft = withNodeAt(draft, path, node, (parent) => parent.stat)
  }
  return draft
}

function readNode(kind: number, facts: Pick<Stat, 'tag' | 'modifiedAt'>, reader: Reader): TreeNode {
  if (kind === DIRECTORY) return directoryNode({ type: 'directory', size: 0, mode: DIRECTORY_MODE, ...facts })
  if (kind === LINK) {
    return { type: 'link', target: reader.text(), stat: { type: 'link', size: 0, mode: LINK_MODE, ...facts } }
  }
  if (kind !== FILE) throw new RangeError('The record contains an unknown node')
  const mode = reader.u16()
  const hash = readHash(reader)
  const bytes = reader.bytes(reader.f64())
  const file: HashedFile = {
    type: 'file',
    bytes,
    stat: { type: 'file', size: bytes.length, mode, ...facts },
    ...(hash === undefined ? {} : { hash }),
  }
  return file
}

/** Writes zeros for a hash that is not computed yet. */
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
