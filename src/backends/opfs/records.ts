import { cachedSha256 } from '../../files/hash/sha256.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { Change, DirectoryNode, EntryState, Receipt, Stat, TreeNode, Version } from '../../storage/backend.ts'
import { directoryNode, nodeAt, TreeEditor } from '../../storage/tree.ts'
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

/** A record of a snapshot. A content that is larger than a record should be follows the rest of it. */
export interface SnapshotRecord {
  /** With room for the header at its beginning. */
  readonly head: Uint8Array
  readonly content: Uint8Array | undefined
}

/** Encodes the nodes of a tree as records of a quarter of a megabyte, parents first. */
export function* encodeSnapshot(root: DirectoryNode): Iterable<SnapshotRecord> {
  let waiting: Entry[] = []
  let room = 0
  const recordOf = (content?: Uint8Array): SnapshotRecord => {
    const head = snapshotRecord(waiting, room, content)
    waiting = []
    room = 0
    return { head, content }
  }
  for (const entry of everyNode(root)) {
    const content = entry.node.type === 'file' ? entry.node.bytes : NOTHING
    waiting.push(entry)
    room += roomOf(entry)
    if (content.length > SNAPSHOT_BYTES) yield recordOf(content)
    else {
      room += content.length
      if (room >= SNAPSHOT_BYTES) yield recordOf()
    }
  }
  if (waiting.length > 0) yield recordOf()
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

/** The bytes of all files of a tree, and the approximate size of its snapshot in bytes. */
export function sizeOf(root: DirectoryNode, pathLength = 0): { readonly bytes: number; readonly snapshot: number } {
  let bytes = 0
  let snapshot = NODE_BYTES + pathLength
  for (const [name, node] of root.entries()) {
    const length = pathLength + 1 + name.length
    const below =
      node.type === 'directory'
        ? sizeOf(node, length)
        : { bytes: node.stat.size, snapshot: NODE_BYTES + length + node.stat.size }
    bytes += below.bytes
    snapshot += below.snapshot
  }
  return { bytes, snapshot }
}

const COMMIT = 1
const SNAPSHOT = 2

const ABSENT = 1
const DIRECTORY = 2
const LINK = 3
const FILE = 4
/** A file that begins with content of a file from before the change set. */
const EXTENDED = 5

const SNAPSHOT_BYTES = 256 * 1024

/** At least what a snapshot has of a node besides its path, tag and content. */
const NODE_BYTES = 64

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

interface Entry {
  readonly path: Path
  readonly node: TreeNode
}

/** Yields a node and everything below it: a directory, its entries in their order, then those of its directories. */
function* everyNode(root: DirectoryNode): Iterable<Entry> {
  yield { path: ROOT, node: root }
  const waiting: { readonly path: Path; readonly node: DirectoryNode }[] = [{ path: ROOT, node: root }]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const [name, node] of at.node.entries()) {
      const path = childOf(at.path, name)
      yield { path, node }
      if (node.type === 'directory') waiting.push({ path, node })
    }
  }
}

/** The bytes that a record needs for a node at most, besides its content. */
function roomOf({ path, node }: Entry): number {
  const target = node.type === 'link' ? 3 * node.target.length : 0
  return NODE_BYTES + 3 * path.length + node.stat.tag.length + target
}

/** @param following the content of the last file, if it is not part of what is returned */
function snapshotRecord(nodes: readonly Entry[], room: number, following: Uint8Array | undefined): Uint8Array {
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
    if (node.bytes !== following) writer.bytes(node.bytes)
  }
  return record.subarray(0, writer.at)
}

function replaySnapshot(root: DirectoryNode, reader: Reader): DirectoryNode {
  let draft = new TreeEditor(root)
  while (!reader.isAtEnd()) {
    const kind = reader.u8()
    const path = reader.text() as Path
    const facts = { tag: reader.text(), modifiedAt: reader.f64() }
    const node = readNode(kind, facts, reader)
    if (path === ROOT) draft = new TreeEditor(node as DirectoryNode)
    else draft.set(path, node, (parent) => parent.stat)
  }
  return draft.finish()
}

function readNode(kind: number, facts: Required<Pick<Stat, 'tag' | 'modifiedAt'>>, reader: Reader): TreeNode {
  if (kind === DIRECTORY) return directoryNode({ type: 'directory', size: 0, mode: DIRECTORY_MODE, ...facts })
  if (kind === LINK) {
    return { type: 'link', target: reader.text(), stat: { type: 'link', size: 0, mode: LINK_MODE, ...facts } }
  }
  if (kind !== FILE) throw new RangeError('The record contains an unknown node')
  const mode = reader.u16()
  const hash = readHash(reader)
  const bytes = reader.bytes(reader.f64())
  const { tag, modifiedAt } = facts
  const file: HashedFile = { type: 'file', bytes, stat: { type: 'file', size: bytes.length, mode, modifiedAt, tag } }
  if (hash !== undefined) file.hash = hash
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
  const hash = reader.bytes(32)
  if (hash.every((byte) => byte === 0)) return undefined
  // A text that is made of parts takes ten times the memory.
  const digits = new Array<number>(64)
  for (let i = 0; i < 32; i++) {
    const byte = hash[i] as number
    digits[2 * i] = DIGITS.charCodeAt(byte >> 4)
    digits[2 * i + 1] = DIGITS.charCodeAt(byte & 15)
  }
  return String.fromCharCode.apply(null, digits)
}

const NO_HASH = new Uint8Array(32)
const NOTHING = new Uint8Array()
const DIGITS = '0123456789abcdef'
