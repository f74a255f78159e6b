import { cachedSha256 } from '../../files/hash/sha256.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { Change, DirectoryNode, EntryState, Stat, TreeNode, Version } from '../../storage/backend.ts'
import { directoryNode, nodeAt, nodeFinder, TreeEditor } from '../../storage/tree.ts'
import { applyAll, cachedHashOf, type Draft, type FileState, modeOf } from '../../storage/tree-commit.ts'
import { DIRECTORY_MODE, LINK_MODE, type Tags } from '../../storage/tree-nodes.ts'
import { samePrefix } from '../../util/bytes.ts'
import { crc32 } from '../../util/crc32.ts'
import { openWriter, type Reader, type Writer } from './byte-cursor.ts'
import {
  type Contents,
  isAlwaysLoaded,
  type OpenJournal,
  type Place,
  prefixOf,
  readContents,
  type Segment,
  StoredFile,
} from './contents.ts'
import type { PayloadReader } from './payload-reader.ts'
import { RECORD_HEADER } from './record-frame.ts'

// The payloads of journal records. A commit contains the resulting states of its change set, a snapshot every node of the
// tree. Replaying them produces an identical tree, including tags and times.

/** The tags of the entries that a commit creates: the same in every tab and after every replay. */
export function tagsOf(seq: number): Tags {
  let count = 0
  return { next: () => `${seq}.${++count}` }
}

/**
 * Encodes a change set, or returns `undefined` when it changes nothing. `before` is the tree that it was checked against,
 * and the draft has the nodes that it creates.
 */
export function encodeCommit(
  changes: readonly Change[],
  { root, receipt }: Draft,
  before: DirectoryNode,
  at: number,
): EncodedRecord | undefined {
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
  const find = nodeFinder(root)
  const places: Place[] = []
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
      const file = find(path)
      writer.f64(added.length)
      if (file instanceof StoredFile) {
        places.push({ path, file, at: writer.at, length: added.length, crc: crc32(added), ...(reused && { reused }) })
      }
      writer.bytes(added)
    }
  }
  return { head: record.subarray(0, writer.at), places }
}

/** A record, with room for the header at its beginning. */
export interface EncodedRecord {
  readonly head: Uint8Array
  /** A content that is larger than a record should be. It follows the head. */
  readonly large?: StoredFile
  readonly places: readonly Place[]
}

/** Encodes the nodes of a tree as records of a quarter of a megabyte, parents first. */
export async function* encodeSnapshot(root: DirectoryNode, journal: OpenJournal): AsyncGenerator<EncodedRecord, void> {
  let waiting: Entry[] = []
  let room = 0
  for (const entry of everyNode(root)) {
    const { node } = entry
    const large = node instanceof StoredFile && node.stat.size > SNAPSHOT_BYTES ? node : undefined
    waiting.push(entry)
    room += roomOf(entry) + (large === undefined ? node.stat.size : 0)
    if (large === undefined && room < SNAPSHOT_BYTES) continue
    yield await snapshotRecord(waiting, room, large, journal)
    waiting = []
    room = 0
  }
  if (waiting.length > 0) yield await snapshotRecord(waiting, room, undefined, journal)
}

/** What a replay creates files with. */
export interface ReplayContext {
  readonly contents: Contents
  /** The journal that is replayed. */
  readonly generation: number
  /** The tree before, whose nodes are used again. */
  readonly previous: DirectoryNode
  /** Called with the changes of a commit before they are applied. */
  onChanges?(changes: readonly Change[], root: DirectoryNode): Promise<unknown>
}

/** Returns the tree after a record. Rejects with a RangeError for a malformed record. */
export async function replayRecord(
  root: DirectoryNode,
  payload: PayloadReader,
  seq: number,
  context: ReplayContext,
): Promise<DirectoryNode> {
  await payload.ready()
  const type = payload.values.u8()
  if (type === SNAPSHOT) return replaySnapshot(root, payload, context)
  if (type !== COMMIT) throw new RangeError('The record has an unknown type')
  const at = payload.values.f64()
  const changes: Change[] = []
  while (!payload.isAtEnd()) {
    const waiting = payload.ready()
    if (waiting !== undefined) await waiting
    const kind = payload.values.u8()
    const path = payload.values.text() as Path
    const to = readState(kind, path, payload, root)
    changes.push({ path, expect: 'any', to: to instanceof Promise ? await to : to })
  }
  await context.onChanges?.(changes, root)
  return applyAll(root, changes, at, tagsOf(seq), (to, mode, at, tags) => {
    const { path, hash, segments, size } = (to as ReplayedState).stored
    const stat: Stat = { type: 'file', size, mode, modifiedAt: at, tag: tags.next() }
    return storedFile(path, stat, hash, segments, context)
  })
}

/** The state of a file whose content is in the journal. */
interface ReplayedState extends FileState {
  readonly stored: {
    readonly path: Path
    readonly hash: string | undefined
    readonly segments: readonly Segment[]
    readonly size: number
  }
}

function readState(
  kind: number,
  path: Path,
  payload: PayloadReader,
  root: DirectoryNode,
): EntryState | Promise<EntryState> {
  const { values } = payload
  if (kind === ABSENT) return null
  if (kind === DIRECTORY) return { type: 'directory' }
  if (kind === LINK) return { type: 'link', target: values.text() }
  if (kind !== FILE && kind !== EXTENDED) throw new RangeError('The record contains an unknown state')
  const mode = values.u16()
  const hash = readHash(values)
  const reused = kind === EXTENDED ? { path: values.text() as Path, length: values.f64() } : undefined
  const added = payload.content(values.f64())
  const stateOf = (content: Segment): ReplayedState => {
    const segments = content.length === 0 ? [] : [content]
    const size = content.length
    if (reused === undefined) return { type: 'file', bytes: NOTHING, mode, stored: { path, hash, segments, size } }
    const source = nodeAt(root, reused.path)
    if (!(source instanceof StoredFile) || source.stat.size < reused.length) {
      throw new RangeError('The record extends a file that does not exist')
    }
    const all = [...prefixOf(source.segments, reused.length), ...segments]
    const stored = { path, hash, segments: all, size: reused.length + size }
    return { type: 'file', bytes: NOTHING, mode, stored }
  }
  return added instanceof Promise ? added.then(stateOf) : stateOf(added)
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

/** Returns the files of a tree whose content must be in memory and is not. */
export function unloadedFiles(root: DirectoryNode): StoredFile[] {
  const files: StoredFile[] = []
  const waiting = [root]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const [name, node] of directory.entries()) {
      if (node.type === 'directory') waiting.push(node)
      else if (node instanceof StoredFile && node.bytes === undefined && isAlwaysLoaded(name)) files.push(node)
    }
  }
  return files
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
): { readonly path: Path; readonly file: StoredFile; readonly length: number } | undefined {
  if (to?.type !== 'file') return undefined
  const beginsWith = (at: Path, length: number) => {
    const file = nodeAt(before, at)
    if (!(file instanceof StoredFile) || file.bytes === undefined || file.segments.length >= MAX_SEGMENTS)
      return undefined
    return samePrefix(file.bytes, to.bytes, length) ? { path: at, file, length } : undefined
  }
  const { length } = to.bytes
  const moved = from !== undefined && nodeAt(before, from)?.stat.size === length ? beginsWith(from, length) : undefined
  if (moved !== undefined) return moved
  const { sharedPrefix = 0 } = to
  return sharedPrefix < MIN_SHARED_BYTES || sharedPrefix > length ? undefined : beginsWith(path, sharedPrefix)
}

const MIN_SHARED_BYTES = 256
/** A content in more segments is written again. */
const MAX_SEGMENTS = 64

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

/** @param large the last file, if its content follows the head */
async function snapshotRecord(
  nodes: readonly Entry[],
  room: number,
  large: StoredFile | undefined,
  journal: OpenJournal,
): Promise<EncodedRecord> {
  const record = new Uint8Array(RECORD_HEADER + 1 + room)
  const writer = openWriter(record, RECORD_HEADER)
  const missing: StoredFile[] = []
  const targets: Uint8Array[] = []
  const places: (Place & { crc: number })[] = []
  /** Those whose checksum is computed when their content is read. */
  const unchecked: (Place & { crc: number })[] = []
  writer.u8(SNAPSHOT)
  for (const { path, node } of nodes) {
    writer.u8(node.type === 'file' ? FILE : node.type === 'link' ? LINK : DIRECTORY)
    writer.text(path)
    writer.text(node.stat.tag)
    writer.f64(node.stat.modifiedAt ?? 0)
    if (node.type === 'link') writer.text(node.target)
    if (!(node instanceof StoredFile)) continue
    const { size } = node.stat
    writer.u16(modeOf(node.stat))
    writeHash(writer, cachedHashOf(node))
    writer.f64(size)
    const place = { path, file: node, at: writer.at, length: size, crc: node.storedCrc ?? 0 }
    places.push(place)
    if (node === large) continue
    if (node.bytes === undefined) {
      missing.push(node)
      targets.push(writer.room(size))
      if (node.storedCrc === undefined) unchecked.push(place)
    } else {
      // Not the one of the journal: a caller may have changed the array.
      writer.bytes(node.bytes)
      place.crc = crc32(node.bytes)
    }
  }
  await readContents(journal, missing, targets)
  for (const place of unchecked) place.crc = crc32(record, 0, place.at, place.at + place.length)
  return { head: record.subarray(0, writer.at), places, ...(large && { large }) }
}

async function replaySnapshot(
  root: DirectoryNode,
  payload: PayloadReader,
  context: ReplayContext,
): Promise<DirectoryNode> {
  let draft = new TreeEditor(root)
  while (!payload.isAtEnd()) {
    const waiting = payload.ready()
    if (waiting !== undefined) await waiting
    const kind = payload.values.u8()
    const path = payload.values.text() as Path
    const facts = { tag: payload.values.text(), modifiedAt: payload.values.f64() }
    const reading = readNode(kind, path, facts, payload, context)
    const node = reading instanceof Promise ? await reading : reading
    if (path === ROOT) draft = new TreeEditor(node as DirectoryNode)
    else draft.set(path, node, (parent) => parent.stat)
  }
  return draft.finish()
}

function readNode(
  kind: number,
  path: Path,
  facts: Required<Pick<Stat, 'tag' | 'modifiedAt'>>,
  payload: PayloadReader,
  context: ReplayContext,
): TreeNode | Promise<TreeNode> {
  const { values } = payload
  const { tag, modifiedAt } = facts
  if (kind === DIRECTORY) return directoryNode({ type: 'directory', size: 0, mode: DIRECTORY_MODE, modifiedAt, tag })
  if (kind === LINK) {
    return { type: 'link', target: values.text(), stat: { type: 'link', size: 0, mode: LINK_MODE, modifiedAt, tag } }
  }
  if (kind !== FILE) throw new RangeError('The record contains an unknown node')
  const mode = values.u16()
  const hash = readHash(values)
  const content = payload.content(values.f64())
  const fileOf = (segment: Segment): StoredFile => {
    const stat: Stat = { type: 'file', size: segment.length, mode, modifiedAt, tag }
    return storedFile(path, stat, hash, segment.length === 0 ? [] : [segment], context)
  }
  return content instanceof Promise ? content.then(fileOf) : fileOf(content)
}

function isSameVersion(old: StoredFile, { tag, size, modifiedAt }: Stat, hash: string | undefined): boolean {
  if (old.hash !== undefined && hash !== undefined && old.hash !== hash) return false
  return old.stat.tag === tag && old.stat.size === size && old.stat.modifiedAt === modifiedAt
}

/** Returns the node of a file: the one that the tree before had of the same version, or a new one. */
function storedFile(
  path: Path,
  stat: Stat,
  hash: string | undefined,
  segments: readonly Segment[],
  { contents, generation, previous }: ReplayContext,
): StoredFile {
  const old = nodeAt(previous, path)
  const file = old instanceof StoredFile && isSameVersion(old, stat, hash) ? old : new StoredFile(contents, stat, hash)
  file.segments = segments
  file.generation = generation
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
