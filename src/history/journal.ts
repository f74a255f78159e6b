import type { Path } from '../paths/logical-path.ts'
import type { EntryState, Receipt, Version } from '../storage/backend.ts'
import { sameVersion } from '../storage/versions.ts'

/** What one call did to one path. */
export interface JournalChange {
  readonly path: Path
  /** What the path was, as read before the commit. */
  readonly before: EntryState
  /** What it was when the commit took place: another version only if someone came in between. */
  readonly was: Version
  /** What the call made of it. */
  readonly became: Version
}

/** What one call did. */
export interface JournalEntry {
  readonly callId: string
  readonly runId: string
  readonly tool: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** `undefined` where what it replaced is not kept, or no longer. */
  readonly changes: readonly JournalChange[] | undefined
}

/** A state to come back to. */
export interface Checkpoint {
  readonly id: string
  readonly label: string | undefined
  /** Milliseconds since 1970. */
  readonly at: number
  readonly runId: string
  /** Its place in the history: the calls before it. */
  readonly mark: number
}

/**
 * A workspace's undo history as data: what its calls did, with the earlier contents, and its checkpoints. Given to another
 * workspace over the same files, in another process too, it goes on there. Who can write it can say what an undo brings
 * back, which is judged like any change: keep it where the agent cannot reach it.
 */
export interface WorkspaceHistory {
  readonly version: 1
  /** Calls before the first entry, which are forgotten. */
  readonly first: number
  /** Oldest first. */
  readonly entries: readonly JournalEntry[]
  readonly checkpoints: readonly Checkpoint[]
}

/** The undo history of a workspace: every call that changed something, with what is needed to take it back. */
export interface Journal {
  /** Bytes of earlier content that one call may bring in; more cannot be taken back. */
  readonly maxBytes: number
  /** Notes the present place in the history. */
  checkpoint(of: Pick<Checkpoint, 'label' | 'at' | 'runId'>): Checkpoint
  /** Oldest first. */
  checkpoints(): readonly Checkpoint[]
  /** Takes in a call that was carried out. Without `before`, it is known and cannot be taken back. */
  add(
    call: Pick<JournalEntry, 'callId' | 'runId' | 'tool' | 'at'>,
    before: readonly EntryState[] | undefined,
    receipt: Receipt,
  ): void
  /** The latest call of that id that changed something. */
  find(callId: string): JournalEntry | undefined
  /** The calls after a place, oldest first; `undefined` where some of them are forgotten. */
  since(mark: number): readonly JournalEntry[] | undefined
  /** All of it. Contents are shared, not copied. */
  history(): WorkspaceHistory
}

/** What an entry costs beside the bytes of files. */
const BYTES_PER_CHANGE = 256
/** Entries that are remembered after what they replaced was dropped, so that their undo can say why it is refused. */
const MAX_EMPTY = 10_000

/**
 * A journal in memory, which ends with the process, also over backends that last, unless its history is given to the next
 * one. It keeps at most `maxBytes` of earlier content: the oldest calls are dropped first.
 *
 * @throws TypeError for what is no history
 */
export function createJournal(maxBytes: number, earlier?: WorkspaceHistory): Journal {
  interface Kept extends JournalEntry {
    readonly bytes: number
  }
  if (earlier !== undefined) requireHistory(earlier)
  /** From place `first` on. */
  let entries: Kept[] = (earlier?.entries ?? []).map((entry) => ({ ...entry, bytes: weightOfAll(entry.changes) }))
  let first = earlier?.first ?? 0
  /** Entries of `entries` that were emptied; always the oldest. */
  let emptied = entries.findIndex(({ changes }) => changes !== undefined)
  if (emptied === -1) emptied = entries.length
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  const checkpoints: Checkpoint[] = [...(earlier?.checkpoints ?? [])]

  function shrink(): void {
    for (; bytes > maxBytes && emptied < entries.length; emptied++) {
      const entry = entries[emptied] as Kept
      bytes -= entry.bytes
      entries[emptied] = { ...entry, changes: undefined, bytes: 0 }
    }
    if (emptied > MAX_EMPTY) {
      const gone = emptied >> 1
      entries = entries.slice(gone)
      emptied -= gone
      first += gone
    }
  }

  shrink()
  return {
    maxBytes,
    checkpoint(of) {
      const checkpoint = { ...of, id: `checkpoint-${checkpoints.length + 1}`, mark: first + entries.length }
      checkpoints.push(checkpoint)
      return checkpoint
    },
    checkpoints: () => [...checkpoints],
    add(call, before, { applied }) {
      const changes = before && changesOf(before, applied)
      if (changes?.length === 0) return
      const weight = weightOfAll(changes)
      entries.push({ ...call, changes, bytes: weight })
      bytes += weight
      shrink()
    },
    find: (callId) => entries.findLast((entry) => entry.callId === callId),
    since: (mark) => (mark < first ? undefined : entries.slice(mark - first)),
    history: () => ({
      version: 1,
      first,
      entries: entries.map(({ bytes: _, ...entry }) => entry),
      checkpoints: [...checkpoints],
    }),
  }
}

function changesOf(before: readonly EntryState[], applied: Receipt['applied']): JournalChange[] {
  return applied.flatMap(({ path, before: was, after: became }, i) =>
    sameVersion(was, became) ? [] : [{ path, before: before[i] ?? null, was, became }],
  )
}

function weightOfAll(changes: JournalEntry['changes']): number {
  return changes?.reduce((sum, change) => sum + weightOf(change.before), 0) ?? 0
}

function weightOf(state: EntryState): number {
  return BYTES_PER_CHANGE + (state?.type === 'file' ? state.bytes.length : 0)
}

/** What another process has kept may have lost its bytes on the way, as JSON does. */
function requireHistory(history: WorkspaceHistory): void {
  const { version, first, entries, checkpoints } = history
  const isWhole =
    version === 1 &&
    Number.isSafeInteger(first) &&
    first >= 0 &&
    Array.isArray(checkpoints) &&
    Array.isArray(entries) &&
    entries.every(
      ({ changes }: JournalEntry) =>
        changes === undefined ||
        changes.every(({ before }) => before?.type !== 'file' || before.bytes instanceof Uint8Array),
    )
  if (!isWhole) throw new TypeError('The option history is none that workspace.history() gave')
}
