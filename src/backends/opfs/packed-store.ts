import { ToolError } from '../../errors.ts'
import { nameOf, type Path, quote } from '../../paths/logical-path.ts'
import type { Change, CommitOptions, DirectoryNode, Receipt, Stat } from '../../storage/backend.ts'
import { directoryNode, nodeAt } from '../../storage/tree.ts'
import { type CreateFile, type Draft, draftOf } from '../../storage/tree-commit.ts'
import { directoryStat } from '../../storage/tree-nodes.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { counted } from '../../util/counted.ts'
import { Compaction } from './compaction.ts'
import { Contents, isAlwaysLoaded, type OpenJournal, StoredFile, segmentsOf } from './contents.ts'
import { append, catchUp, type JournalPosition, openJournal, type Replay } from './journal.ts'
import { isLeaseLost, type Lease } from './lease.ts'
import { type EncodedRecord, encodeCommit, replayRecord, sizeOf, tagsOf, unloadedFiles } from './records.ts'
import type { Slots } from './slots.ts'
import { storageFailure } from './storage-failure.ts'

export interface PackedOptions {
  readonly clock: () => number
  /** Returns an unpredictable number below 2 ** 32. */
  readonly random: () => number
  /** Maximum bytes of all files. */
  readonly maxBytes: number
  /** The journal is not compacted for less than this many bytes of history. Default: 4 MiB. */
  readonly slackBytes?: number
  /** A compaction handles at least as many bytes after each commit. Default: 512 KiB. */
  readonly stepBytes?: number
  /** Contents that stay in memory without being needed, in bytes. Default: 32 MiB. */
  readonly keptBytes?: number
  /** Called with the changes of each commit, after it. */
  readonly onCommit?: (changes: readonly Change[]) => void
}

/** A commit that waits to be written. */
export interface CommitJob {
  readonly changes: readonly Change[]
  readonly options: CommitOptions
  resolve(receipt: Receipt): void
  reject(error: unknown): void
  /** Must not share a write with other commits. */
  readonly alone?: true
}

/** A commit that passed its checks. `record` is undefined if it changes nothing. */
interface CheckedJob {
  readonly job: CommitJob
  readonly draft: Draft
  readonly record: EncodedRecord | undefined
}

/** Commits that are checked in order, each against the result of those before it. */
interface Batch {
  readonly jobs: readonly CheckedJob[]
  /** Those that fail their checks, perhaps only against the result of others, so that they are rejected after these. */
  readonly refused: readonly { readonly job: CommitJob; readonly error: unknown }[]
  readonly records: readonly EncodedRecord[]
  readonly root: DirectoryNode
  readonly bytes: number
}

const EMPTY: DirectoryNode = directoryNode(directoryStat(0, { next: () => '0.0' }))
const SLACK_BYTES = 4 * 1024 * 1024
const STEP_BYTES = 512 * 1024
const KEPT_BYTES = 32 * 1024 * 1024
/** Replaced contents that a commit loads for trees from before it, in bytes. */
const REPLACED_BYTES = 32 * 1024 * 1024

/** The journal of a packed workspace and the tree that it describes, valid while the lease is held. */
export class PackedStore {
  root = EMPTY
  readonly contents: Contents
  private readonly lease: Lease
  private readonly options: PackedOptions
  /** Undefined if the journal must be opened again. */
  private position: JournalPosition | undefined
  /** Defined while the lease is held. */
  private slots: Slots | undefined
  private refreshing: Promise<void> | undefined
  private writing: Promise<unknown> | undefined
  /** Bytes of all files. */
  private bytes = 0
  /** Size of the journal from which a compaction is considered. */
  private compactFrom = 0
  /** Defined while one goes on. It belongs to the slots and ends with the lease. */
  private compaction: Compaction | undefined
  private isClosed = false

  constructor(lease: Lease, options: PackedOptions) {
    this.lease = lease
    this.options = options
    this.contents = new Contents({
      journal: () => this.journal(),
      current: () => this.current(),
      isStale: (journal, error) => this.isStale(journal, error),
      maxBytes: options.keptBytes ?? KEPT_BYTES,
    })
  }

  /** Takes the lease and catches up with other tabs. Returns `undefined` if the tree is current already. */
  current(): Promise<void> | undefined {
    if (this.isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot continue: the backend is closed')
    if (this.slots !== undefined) return undefined
    this.refreshing ??= this.refresh()
      .catch((error) => {
        throw storageFailure('Cannot open the workspace', error)
      })
      .finally(() => {
        this.refreshing = undefined
      })
    return this.refreshing
  }

  /** Whether the lease is held and the journal is open. */
  get isReady(): boolean {
    return this.slots !== undefined && this.position !== undefined
  }

  /** Writes commits with one write and at most one flush, and settles them. Returns those that must be tried again. */
  async write(jobs: readonly CommitJob[]): Promise<readonly CommitJob[]> {
    const { slots, position } = this
    if (slots === undefined || position === undefined) return jobs
    const writing = this.writeBatch(jobs, slots, position)
    this.writing = writing
    try {
      return await writing
    } finally {
      this.writing = undefined
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.lease.close()
  }

  /** Releases the storage as soon as the current write has ended. */
  private async giveUp(): Promise<void> {
    // The lease may be wanted before it is completely acquired.
    await this.refreshing?.catch(() => {})
    this.slots = undefined
    // What is being read is read again.
    await this.writing
  }

  private journal(): OpenJournal | undefined {
    const { slots, position } = this
    return slots && position && journalAt(slots, position)
  }

  private isStale(journal: OpenJournal, error: unknown): boolean {
    if (isLeaseLost(error) && this.slots === journal.slots) this.invalidate()
    return this.slots !== journal.slots || this.position?.generation !== journal.generation
  }

  private async refresh(): Promise<void> {
    const slots = await this.lease.acquire(() => this.giveUp())
    const { position: from, root: previous, contents } = this
    let root = this.root
    let position: JournalPosition | undefined
    if (from !== undefined) {
      const open = journalAt(slots, from)
      const onChanges = (changes: readonly Change[], before: DirectoryNode) => this.holdReplaced(changes, before, open)
      position = await catchUp(slots, from, async (payload, seq, generation) => {
        root = await replayRecord(root, payload, seq, { contents, generation, previous, onChanges })
      })
    }
    if (position === undefined) {
      root = EMPTY
      const replay: Replay = async (payload, seq, generation) => {
        root = await replayRecord(root, payload, seq, { contents, generation, previous })
      }
      position = await openJournal(slots, replay, this.options.random)
    }
    if (root !== previous || from === undefined) {
      this.bytes = sizeOf(root).bytes
      const files = unloadedFiles(root)
      const loaded = await contents.read(files, { slots, ...position })
      for (const [i, file] of files.entries()) contents.hold(file, loaded[i] as Uint8Array)
    }
    this.root = root
    this.position = position
    this.slots = slots
    this.compaction = undefined
  }

  /**
   * Loads contents that changes replace or move: a commit checks and reuses them, and trees from before it still have them.
   * Returns the files and their paths, for `letGo`.
   */
  private async holdReplaced(
    changes: readonly Change[],
    root: DirectoryNode,
    journal: OpenJournal,
  ): Promise<ReadonlyMap<StoredFile, Path>> {
    const files = new Map<StoredFile, Path>()
    let room = REPLACED_BYTES
    for (const change of changes) {
      for (const at of [change?.path, change?.from]) {
        const file = typeof at === 'string' ? nodeAt(root, at) : undefined
        if (!(file instanceof StoredFile) || files.has(file)) continue
        if (file.bytes === undefined) room -= file.stat.size
        // Without a hash, the version of the file is computed from its content.
        if (file.bytes !== undefined || file.hash === undefined || room >= 0) files.set(file, at as Path)
      }
    }
    const contents = await this.contents.readReplaced([...files.keys()], journal)
    for (const [i, file] of [...files.keys()].entries()) {
      const bytes = contents[i]
      if (bytes !== undefined) this.contents.hold(file, bytes)
    }
    return files
  }

  /** What is still in the tree need not stay in memory. */
  private letGo(held: ReadonlyMap<StoredFile, Path>): void {
    for (const [file, path] of held) {
      if (nodeAt(this.root, path) === file) this.release(file, path)
    }
  }

  /** Keeps a content in memory only while there is room, unless walks need it. */
  private release(file: StoredFile, path: Path): void {
    if (file.bytes !== undefined && !isAlwaysLoaded(nameOf(path))) this.contents.keep(file, file.bytes)
  }

  private async writeBatch(
    jobs: readonly CommitJob[],
    slots: Slots,
    from: JournalPosition,
  ): Promise<readonly CommitJob[]> {
    const journal = journalAt(slots, from)
    let held: ReadonlyMap<StoredFile, Path>
    try {
      // Malformed changes are rejected later.
      const changes = jobs.flatMap((job) => (Array.isArray(job.changes) ? job.changes : []))
      held = await this.holdReplaced(changes, this.root, journal)
    } catch (error) {
      if (this.isStale(journal, error)) return jobs
      // A content that cannot be read concerns one of them only.
      if (jobs.length > 1) return jobs.map((job) => ({ ...job, alone: true as const }))
      for (const job of jobs) job.reject(storageFailure('Cannot read a file', error))
      return []
    }
    const again = await this.appendBatch(this.check(jobs, from), slots, from)
    this.letGo(held)
    return again
  }

  private async appendBatch(batch: Batch, slots: Slots, from: JournalPosition): Promise<readonly CommitJob[]> {
    const flush = batch.jobs.some(({ job }) => job.options.durability === 'durable')
    // A commit that changes nothing may still depend on records that are not flushed.
    let appended = 0
    if (batch.records.length > 0 || (flush && from.flushed < from.seq)) {
      const copies =
        this.compaction === undefined ? [] : batch.records.map((record) => ({ ...record, head: record.head.slice() }))
      const starts = startsOf(batch.records, from.end)
      const heads = batch.records.map(({ head }) => head)
      const result = await append(slots, from, heads, flush)
      if ('error' in result) {
        if (!result.isWhole) this.invalidate()
        return [...failBatch(batch.jobs, result.error), ...batch.refused.map(({ job }) => job)]
      }
      appended = result.position.end - from.end
      this.compaction?.follow(copies)
      this.position = result.position
      this.root = batch.root
      this.bytes = batch.bytes
      for (const [i, { places }] of batch.records.entries()) {
        for (const place of places) {
          const { file, path } = place
          file.segments = segmentsOf(place, starts[i] as number, ({ segments }) => segments)
          file.generation = from.generation
          if (nodeAt(this.root, path) === file) this.release(file, path)
        }
      }
    }
    for (const { job, draft, record } of batch.jobs) {
      job.resolve(draft.receipt)
      if (record !== undefined) this.options.onCommit?.(job.changes)
    }
    for (const { job, error } of batch.refused) job.reject(error)
    await this.advanceCompaction(slots, appended)
    return []
  }

  private readonly createFile: CreateFile = ({ bytes }, mode, at, tags) => {
    const stat: Stat = { type: 'file', size: bytes.length, mode, modifiedAt: at, tag: tags.next() }
    const file = new StoredFile(this.contents, stat, undefined)
    file.bytes = bytes
    return file
  }

  /** Checks commits in order. */
  private check(jobs: readonly CommitJob[], from: JournalPosition): Batch {
    const { clock, maxBytes } = this.options
    const checked: CheckedJob[] = []
    const refused: { job: CommitJob; error: unknown }[] = []
    const records: EncodedRecord[] = []
    let { root, bytes } = this
    for (const job of jobs) {
      const { changes, options } = job
      try {
        throwIfAborted(options.signal)
        const at = options.at ?? clock()
        const draft = draftOf(root, changes, at, tagsOf(from.seq + records.length + 1), this.createFile)
        const record = encodeCommit(changes, draft, root, at)
        const total = bytes + growth(draft.receipt)
        if (total > bytes && total > maxBytes) throw tooLargeError(changes, maxBytes)
        if (record !== undefined) records.push(record)
        checked.push({ job, draft, record })
        root = draft.root
        bytes = total
      } catch (error) {
        refused.push({ job, error })
      }
    }
    return { jobs: checked, refused, records, root, bytes }
  }

  /** Goes on with a compaction, which writes twice as fast as commits, so that it ends. */
  private async advanceCompaction(slots: Slots, appended: number): Promise<void> {
    const { position } = this
    if (position === undefined) return
    this.compaction ??= this.compactionIfWorth(slots, position)
    const result = await this.compaction?.advance(Math.max(this.options.stepBytes ?? STEP_BYTES, 2 * appended))
    if (result === undefined) return
    if (!('error' in result)) {
      if (result.isDone) this.compaction = undefined
      return
    }
    this.compaction = undefined
    // There is no space for both slots, or the lease was lost: tries again when the journal has doubled.
    this.compactFrom = 2 * position.end
    if (!result.isWhole) this.invalidate()
  }

  /** Starts to replace the journal by a snapshot if most of it is history. */
  private compactionIfWorth(slots: Slots, from: JournalPosition): Compaction | undefined {
    if (from.end <= this.compactFrom) return undefined
    this.compactFrom = 2 * sizeOf(this.root).snapshot + (this.options.slackBytes ?? SLACK_BYTES)
    if (from.end <= this.compactFrom) return undefined
    return new Compaction(slots, from, this.root, this.options.random(), (position) => {
      this.position = position
    })
  }

  /** The content of the storage is unknown: opens the journal again before the next step. */
  private invalidate(): void {
    this.slots = undefined
    this.position = undefined
  }
}

/** Handles a failed write: rejects the commit, or returns the commits to try again. */
function failBatch(jobs: readonly CheckedJob[], error: unknown): readonly CommitJob[] {
  if (isLeaseLost(error)) return jobs.map(({ job }) => job)
  const [first] = jobs
  if (first !== undefined && jobs.length === 1) {
    const path = firstPath(first.job.changes)
    first.job.reject(storageFailure(`Cannot change ${quote(path)}`, error, path))
    return []
  }
  // The batch may be too large where single commits are not.
  return jobs.map(({ job }) => ({ ...job, alone: true as const }))
}

function journalAt(slots: Slots, { slot, generation }: JournalPosition): OpenJournal {
  return { slots, slot, generation }
}

/** Returns the offsets at which records begin that are written one after another. */
function startsOf(records: readonly EncodedRecord[], start: number): readonly number[] {
  let at = start
  return records.map(({ head }) => {
    at += head.length
    return at - head.length
  })
}

function growth({ applied }: Receipt): number {
  let bytes = 0
  for (const { before, after } of applied) {
    if (after?.type === 'file') bytes += after.size
    if (before?.type === 'file') bytes -= before.size
  }
  return bytes
}

function tooLargeError(changes: readonly Change[], maxBytes: number): ToolError {
  const path = firstPath(changes)
  return new ToolError(
    'NO_SPACE',
    `Cannot change ${quote(path)}: the workspace may hold ${counted(maxBytes, 'byte')}`,
    {
      path,
      limit: maxBytes,
    },
  )
}

/** The path that an error names. Empty for an empty change set, which may still flush earlier ones. */
function firstPath(changes: readonly Change[]): string {
  return changes[0]?.path ?? ''
}
