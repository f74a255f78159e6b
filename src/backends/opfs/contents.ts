import { ToolError } from '../../errors.ts'
import { cachedSha256, sha256 } from '../../files/hash/sha256.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import { noteLostContent } from '../../storage/lost-content.ts'
import type { HashedFile } from '../../storage/tree-nodes.ts'
import { concatBytes } from '../../util/bytes.ts'
import { crc32 } from '../../util/crc32.ts'
import type { Slot, Slots } from './slots.ts'
import { storageFailure } from './storage-failure.ts'

/** Bytes of a journal, of which a content has the first `used` ones. */
export interface Segment {
  readonly at: number
  readonly length: number
  readonly crc: number
  readonly used: number
}

const NO_SEGMENTS: readonly Segment[] = []

/** A file of a packed workspace, whose content is in the journal. */
export class StoredFile implements HashedFile {
  readonly type = 'file'
  readonly stat: Stat
  hash: string | undefined
  bytes: Uint8Array | undefined = undefined
  /** The journal that has the segments. */
  generation = 0
  /** The number that a compaction gave to it. */
  index = -1
  /** Its only segment, if it has no `#parts`. */
  #at = 0
  #crc = 0
  #parts: readonly Segment[] | undefined = NO_SEGMENTS
  readonly #contents: Contents

  constructor(contents: Contents, stat: Stat, hash: string | undefined) {
    this.stat = stat
    this.hash = hash
    this.#contents = contents
  }

  /** The content, in order. Empty until it is written. */
  get segments(): readonly Segment[] {
    return this.#parts ?? [this.#segment]
  }

  set segments(segments: readonly Segment[]) {
    const [first] = segments
    const isOnly = first?.used === this.stat.size && first.length === first.used
    if (isOnly) this.moveTo(first.at, first.crc)
    else this.#parts = segments
  }

  /** Makes one segment the content. Allocates nothing, as it is called for every file at once. */
  moveTo(at: number, crc: number): void {
    this.#at = at
    this.#crc = crc
    this.#parts = undefined
  }

  /** The checksum of the content, if the journal has it. */
  get storedCrc(): number | undefined {
    return this.#parts === undefined ? this.#crc : undefined
  }

  get #segment(): Segment {
    return { at: this.#at, length: this.stat.size, crc: this.#crc, used: this.stat.size }
  }

  async load(): Promise<Uint8Array | undefined> {
    return (await this.#contents.load([this]))[0]
  }
}

/** A journal that is open for reading. */
export interface OpenJournal {
  readonly slots: Slots
  readonly slot: Slot
  readonly generation: number
}

/** Where a record has the content of a file, or what it adds to that of another. */
export interface Place {
  readonly path: Path
  readonly file: StoredFile
  readonly reused?: { readonly file: StoredFile; readonly length: number }
  /** Offset in the record. */
  readonly at: number
  readonly length: number
  readonly crc: number
}

export interface ContentsOptions {
  /** The journal of the tree, while the lease is held. */
  journal(): OpenJournal | undefined
  /** Takes the lease. Returns `undefined` if it is held. */
  current(): Promise<void> | undefined
  /** Returns whether a read failed since the lease was lost, or the journal replaced. */
  isStale(journal: OpenJournal, error: unknown): boolean
  /** The contents that stay in memory without being needed, in bytes. */
  readonly maxBytes: number
}

/** Whether the content of a file of this name must always be in memory, since walks need it at once. */
export function isAlwaysLoaded(name: string): boolean {
  return name === '.gitignore'
}

/** The contents of a packed workspace: those that were used last are in memory, the others are read from the journal. */
export class Contents {
  readonly #options: ContentsOptions
  /** The files whose content may be dropped, the one that was not used for the longest time first. */
  readonly #kept = new Set<StoredFile>()
  #bytes = 0

  constructor(options: ContentsOptions) {
    this.#options = options
  }

  /** Keeps a content until others need its room. */
  keep(file: StoredFile, bytes: Uint8Array): void {
    this.hold(file, bytes)
    this.#kept.add(file)
    this.#bytes += costOf(file)
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.#options.maxBytes || oldest === file) break
      oldest.hash ??= oldest.bytes && cachedSha256(oldest.bytes)
      this.#drop(oldest)
      oldest.bytes = undefined
    }
  }

  /** Keeps a content as long as its node. */
  hold(file: StoredFile, bytes: Uint8Array): void {
    this.#drop(file)
    file.bytes = bytes
  }

  /** Returns the content of a file if it is in memory. It counts as used. */
  present(file: StoredFile): Uint8Array | undefined {
    if (file.bytes !== undefined && this.#kept.delete(file)) this.#kept.add(file)
    return file.bytes
  }

  /** Returns contents in order; `undefined` for a file that is not in the present tree and no longer in the journal. */
  async load(files: readonly StoredFile[]): Promise<readonly (Uint8Array | undefined)[]> {
    for (;;) {
      await this.#options.current()
      const journal = this.#options.journal()
      if (journal === undefined) continue
      try {
        return await this.read(files, journal)
      } catch (error) {
        if (this.#options.isStale(journal, error)) continue
        const [file] = files
        if (isDamage(error) && file !== undefined && files.length === 1) {
          noteLostContent(error, { size: file.stat.size, sha256: await hashOfDamaged(file, journal) })
        }
        throw storageFailure('Cannot read a file', error)
      }
    }
  }

  /** {@link load} from a journal that is open. Rejects if it is closed meanwhile. */
  async read(files: readonly StoredFile[], journal: OpenJournal): Promise<readonly (Uint8Array | undefined)[]> {
    const missing = files.filter((file) => file.bytes === undefined && file.generation === journal.generation)
    const found = new Map<StoredFile, Uint8Array>()
    const contents = await readContents(journal, missing)
    for (const [i, file] of missing.entries()) found.set(file, contents[i] as Uint8Array)
    const all = files.map((file) => this.present(file) ?? found.get(file))
    for (const [file, bytes] of found) if (file.bytes === undefined) this.keep(file, bytes)
    return all
  }

  /**
   * {@link read} for files that are replaced or deleted: of those whose content is damaged, only the version is needed. Without
   * a hash, it is that of the bytes that are there.
   */
  async readReplaced(files: readonly StoredFile[], journal: OpenJournal): Promise<readonly (Uint8Array | undefined)[]> {
    try {
      return await this.read(files, journal)
    } catch (error) {
      if (!isDamage(error)) throw error
    }
    const contents: (Uint8Array | undefined)[] = []
    for (const file of files) {
      try {
        contents.push(...(await this.read([file], journal)))
      } catch (error) {
        if (!isDamage(error)) throw error
        await hashOfDamaged(file, journal)
        contents.push(undefined)
      }
    }
    return contents
  }

  #drop(file: StoredFile): void {
    if (this.#kept.delete(file)) this.#bytes -= costOf(file)
  }
}

/** The memory that a content takes, in bytes: an array has some of its own. */
function costOf({ stat }: StoredFile): number {
  return stat.size + ARRAY_BYTES
}

/** Reads contents into arrays of their sizes. Those that lie close together are read at once. */
export async function readContents(
  journal: OpenJournal,
  files: readonly StoredFile[],
  contents = allocate(files.map(({ stat }) => stat.size)),
): Promise<readonly Uint8Array[]> {
  const places: ContentPart[] = []
  for (const [i, { segments }] of files.entries()) {
    let offset = 0
    for (const segment of segments) {
      places.push({ segment, content: contents[i] as Uint8Array, offset })
      offset += segment.used
    }
    if (offset !== (contents[i] as Uint8Array).length) throw new Error('The segments of a file are not all of it')
  }
  places.sort((a, b) => a.segment.at - b.segment.at)
  const reads: Promise<void>[] = []
  for (let from = 0; from < places.length; ) {
    const start = (places[from] as ContentPart).segment.at
    let end = start
    let to = from
    for (; to < places.length; to++) {
      const { at, length } = (places[to] as ContentPart).segment
      if (to > from && (at - end > MAX_GAP || at + length - start > MAX_READ)) break
      end = Math.max(end, at + length)
    }
    reads.push(readRun(journal, start, end, places.slice(from, to)))
    from = to
  }
  await Promise.all(reads)
  return contents
}

/** Creates arrays. Small ones share buffers, since a buffer takes more memory than they do. */
function allocate(sizes: readonly number[]): readonly Uint8Array[] {
  let smallBytes = sizes.reduce((sum, size) => (size < SMALL_BYTES ? sum + size : sum), 0)
  let pool = new Uint8Array()
  return sizes.map((size) => {
    if (size >= SMALL_BYTES) return new Uint8Array(size)
    if (pool.length < size) pool = new Uint8Array(Math.min(POOL_BYTES, smallBytes))
    const array = pool.subarray(0, size)
    pool = pool.subarray(size)
    smallBytes -= size
    return array
  })
}

/** A segment, and where in a content its bytes belong. */
interface ContentPart {
  readonly segment: Segment
  readonly content: Uint8Array
  readonly offset: number
}

async function readRun(
  { slots, slot }: OpenJournal,
  start: number,
  end: number,
  parts: readonly ContentPart[],
): Promise<void> {
  const bytes = await slots.read(slot, start, end - start)
  for (const { segment, content, offset } of parts) {
    const from = segment.at - start
    const to = from + segment.length
    if (bytes.length < to || crc32(bytes, 0, from, to) !== segment.crc) throw damagedContentError()
    content.set(bytes.subarray(from, from + segment.used), offset)
  }
}

/** Yields a content in parts. */
export async function* partsOf(journal: OpenJournal, file: StoredFile): AsyncGenerator<Uint8Array, void> {
  if (file.bytes !== undefined) {
    yield* splitBytes(file.bytes)
    return
  }
  for (const { at, length, crc, used } of file.segments) {
    let sum = 0
    for (let done = 0; done < length; done += PART_BYTES) {
      const part = await journal.slots.read(journal.slot, at + done, Math.min(PART_BYTES, length - done))
      sum = crc32(part, sum)
      if (done < used) yield part.subarray(0, used - done)
    }
    if (sum !== crc) throw damagedContentError()
  }
}

export function* splitBytes(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES)
}

/** Returns the segments of a content whose record begins at an offset. */
export function segmentsOf(
  { reused, at, length, crc }: Place,
  start: number,
  segmentsAt: (file: StoredFile) => readonly Segment[],
): readonly Segment[] {
  const added = length === 0 ? [] : [{ at: start + at, length, crc, used: length }]
  return reused === undefined ? added : [...prefixOf(segmentsAt(reused.file), reused.length), ...added]
}

/** Returns the segments of the first bytes of a content. */
export function prefixOf(segments: readonly Segment[], length: number): readonly Segment[] {
  const prefix: Segment[] = []
  let rest = length
  for (const segment of segments) {
    if (rest === 0) break
    const used = Math.min(rest, segment.used)
    prefix.push({ ...segment, used })
    rest -= used
  }
  return prefix
}

/** Returns the hash of a damaged content. If it was never computed, it is that of what is left. */
async function hashOfDamaged(file: StoredFile, { slots, slot }: OpenJournal): Promise<string> {
  file.hash ??= sha256(concatBytes(await Promise.all(file.segments.map(({ at, used }) => slots.read(slot, at, used)))))
  return file.hash
}

const damageErrors = new WeakSet<WeakKey>()

const isDamage = (error: unknown): error is ToolError => error instanceof ToolError && damageErrors.has(error)

function damagedContentError(): ToolError {
  const error = new ToolError('BACKEND_ERROR', 'Cannot read a file: the storage is damaged, its content is broken', {
    hint: 'The file can be deleted or replaced. Report this to the user: its content must be restored from a backup.',
  })
  damageErrors.add(error)
  return error
}

const ARRAY_BYTES = 256
const SMALL_BYTES = 2 * 1024
const POOL_BYTES = 16 * 1024
const PART_BYTES = 256 * 1024
const MAX_READ = 1024 * 1024
/** Bytes between two segments that cost less to read than another read. */
const MAX_GAP = 2 * 1024
