import { ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, Change, CommitOptions, DirectoryNode, Receipt } from '../../storage/backend.ts'
import { directoryNode } from '../../storage/tree.ts'
import { type Draft, directoryStat, draftOf, type TreeReads, treeReads } from '../../storage/tree-commit.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { append, catchUp, compact, type JournalPosition, openJournal } from './journal.ts'
import { isLeaseLost, type Lease } from './lease.ts'
import { bytesIn, encodeCommit, encodeSnapshot, replayRecord, tagsOf, weightOf } from './records.ts'
import type { Slots } from './slots.ts'
import { storageFailure } from './storage-failure.ts'

export interface PackedOptions {
  readonly clock: () => number
  /** An unpredictable number below 2 ** 32. */
  readonly random: () => number
  /** How many bytes of files a workspace may hold. They are all in memory, too. */
  readonly maxBytes: number
  /** So many bytes of the past are never worth a compaction. Default: 4 MiB. */
  readonly slackBytes?: number
  /** Told of the paths of each commit, after it. */
  readonly onCommit?: (changes: readonly Change[]) => void
}

/** A backend over a journal, with its tree in memory. */
export type PackedBackend = Backend & Required<Pick<Backend, 'tree' | 'scan'>>

/**
 * Opens a packed workspace: the journal is replayed into a persistent tree, from which all reads are served. A commit is
 * one record at the journal's end; those that wait at the same time share one write and one flush. Every call first takes
 * the lease, where another has it, and reads what was added since.
 */
export async function openPacked(lease: Lease, options: PackedOptions): Promise<PackedBackend> {
  let root = EMPTY
  let place: JournalPosition | undefined
  let held: Slots | undefined
  let refreshing: Promise<void> | undefined
  let running: Promise<void> | undefined
  let bytes = 0
  let lookAgainAt = 0
  let isClosed = false
  let pausedAt = performance.now()
  const waiting: Job[] = []

  /** Gives back the storage once the commits that are being written are. */
  async function giveUp(): Promise<void> {
    // It may be wanted before we are done with taking it.
    await refreshing?.catch(() => {})
    held = undefined
    await running
  }

  async function refresh(): Promise<void> {
    const slots = await lease.acquire(giveUp)
    let draft = root
    const replay = (payload: Uint8Array, seq: number) => {
      draft = replayRecord(draft, payload, seq)
    }
    let now: JournalPosition | undefined
    if (place !== undefined) now = await catchUp(slots, place, replay)
    if (now === undefined) {
      draft = EMPTY
      now = await openJournal(slots, replay, options.random)
    }
    if (draft !== root || place === undefined) bytes = bytesIn(draft)
    root = draft
    place = now
    held = slots
  }

  /** Makes sure that the tree is the present one. */
  function current(): Promise<void> | undefined {
    if (isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot go on: the backend is closed')
    if (held !== undefined) return undefined
    refreshing ??= refresh()
      .catch((error) => {
        throw storageFailure('Cannot open the workspace', error)
      })
      .finally(() => {
        refreshing = undefined
      })
    return refreshing
  }

  /** Judges waiting commits, each against what those before it lead to, and writes them as one. */
  async function write(jobs: readonly Job[], slots: Slots, from: JournalPosition): Promise<void> {
    const ready: Ready[] = []
    const records: Uint8Array[] = []
    let draft = root
    let total = bytes
    for (const job of jobs) {
      const { changes, how } = job
      try {
        throwIfAborted(how.signal)
        const at = how.at ?? options.clock()
        const made = draftOf(draft, changes, at, tagsOf(from.seq + records.length + 1))
        const record = encodeCommit(changes, made.receipt, draft, at)
        const grown = total + growth(made.receipt)
        if (grown > total && grown > options.maxBytes) throw full(changes, options.maxBytes)
        if (record !== undefined) records.push(record)
        ready.push({ job, made, record })
        draft = made.root
        total = grown
      } catch (error) {
        job.reject(error)
      }
    }
    const flush = ready.some(({ job }) => job.how.durability === 'durable')
    // What changes nothing may still rest on what was not flushed.
    if (records.length > 0 || (flush && from.flushed < from.seq)) {
      const result = await append(slots, from, records, flush)
      if ('error' in result) {
        if (!result.isWhole) forget()
        if (isLeaseLost(result.error)) {
          waiting.unshift(...ready.map(({ job }) => job))
          return
        }
        const [first] = ready
        if (first !== undefined && ready.length === 1) {
          const path = firstPath(first.job.changes)
          first.job.reject(storageFailure(`Cannot change ${quote(path)}`, result.error, path))
          return
        }
        // Together they were too much; one by one, some may be not.
        waiting.unshift(...ready.map(({ job }) => ({ ...job, alone: true as const })))
        return
      }
      place = result.place
      root = draft
      bytes = total
    }
    for (const { job, made, record } of ready) {
      job.resolve(made.receipt)
      if (record !== undefined) options.onCommit?.(job.changes)
    }
    if (place !== undefined && place.end > lookAgainAt) await compactIfWorth(slots, place)
  }

  /** Writes the journal anew where most of it is of the past. */
  async function compactIfWorth(slots: Slots, from: JournalPosition): Promise<void> {
    const weight = weightOf(root)
    lookAgainAt = 2 * weight + (options.slackBytes ?? SLACK_BYTES)
    if (from.end <= lookAgainAt) return
    const result = await compact(slots, from, encodeSnapshot(root), options.random)
    if ('place' in result) {
      place = result.place
      return
    }
    // No room for two, or the lease went: not before the journal has grown as much again.
    lookAgainAt = 2 * from.end
    if (!result.isWhole) forget()
  }

  /** What is in the storage is not known any more: it is read anew before the next step. */
  function forget(): void {
    held = undefined
    place = undefined
  }

  async function drain(): Promise<void> {
    // Not before the caller has the promise.
    await undefined
    while (waiting.length > 0) {
      try {
        await current()
      } catch (error) {
        for (const job of waiting.splice(0)) job.reject(error)
        break
      }
      if (held === undefined || place === undefined) continue
      const now = performance.now()
      if (now - pausedAt > PAUSE_AFTER_MS) {
        pausedAt = now
        await nextTask()
        continue
      }
      const alone = waiting.findIndex((job) => job.alone)
      const jobs = waiting.splice(0, alone === -1 ? waiting.length : Math.max(1, alone))
      running = write(jobs, held, place).finally(() => {
        running = undefined
      })
      await running
    }
    // At once, not when the promise is settled: what comes in between would wait for ever.
    draining = undefined
  }

  let draining: Promise<void> | undefined

  /** A read of the present tree. */
  const reads = treeReads(() => root)
  function fresh<K extends keyof TreeReads>(name: K): TreeReads[K] {
    const read = reads[name] as (...args: unknown[]) => Promise<unknown>
    return (async (...args: unknown[]) => {
      const waits = current()
      if (waits !== undefined) await waits
      return read(...args)
    }) as TreeReads[K]
  }

  await current()
  return {
    capabilities,
    canonical: fresh('canonical'),
    stat: fresh('stat'),
    list: fresh('list'),
    read: fresh('read'),
    readLink: fresh('readLink'),
    scan: fresh('scan'),
    tree: () => root,

    commit(changes, how) {
      return new Promise((resolve, reject) => {
        waiting.push({ changes, how, resolve, reject })
        draining ??= drain()
      })
    },

    async close() {
      if (isClosed) return
      await draining
      isClosed = true
      await lease.close()
    },
  }
}

/**
 * Writing by synchronous handles never leaves the task: without a pause now and then, one who commits in a loop would never
 * hear that another wants the lease, nor that the worker is to end.
 */
const PAUSE_AFTER_MS = 50

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}

interface Job {
  readonly changes: readonly Change[]
  readonly how: CommitOptions
  resolve(receipt: Receipt): void
  reject(error: unknown): void
  readonly alone?: true
}

interface Ready {
  readonly job: Job
  readonly made: Draft
  readonly record: Uint8Array | undefined
}

const capabilities: Capabilities = Object.freeze({
  links: true,
  modes: true,
  times: 'set',
  caseSensitive: true,
  // Whoever else writes here must first be given the lease, and every call takes it back.
  authority: 'sole',
  persistent: true,
  atomic: 'set',
})

const EMPTY: DirectoryNode = directoryNode(directoryStat(0, { next: () => '0.0' }))

const SLACK_BYTES = 4 * 1024 * 1024

function growth({ applied }: Receipt): number {
  let grown = 0
  for (const { before, after } of applied) {
    if (after?.type === 'file') grown += after.size
    if (before?.type === 'file') grown -= before.size
  }
  return grown
}

function full(changes: readonly Change[], maxBytes: number): ToolError {
  const path = firstPath(changes)
  return new ToolError('NO_SPACE', `Cannot change ${quote(path)}: the workspace may hold ${maxBytes} bytes`, {
    path,
    limit: maxBytes,
  })
}

/** What a refusal names; a set may be empty, and still flush what came before it. */
function firstPath(changes: readonly Change[]): string {
  return changes[0]?.path ?? ''
}
