import type { Path } from '../paths/logical-path.ts'
import type { EntryState, Receipt, Version } from '../storage/backend.ts'
import { sameVersion } from '../storage/versions.ts'
import { isUint8Array } from '../util/bytes.ts'

/** The change of one path by one call. */
export interface JournalChange {
  readonly path: Path
  /** The state of the path, read before the commit. */
  readonly before: EntryState
  /** The version at the commit. It differs from `before` only if another writer came in between. */
  readonly was: Version
  /** The version after the commit. */
  readonly became: Version
}

/** The changes of one call. */
export interface JournalEntry {
  readonly callId: string
  readonly runId: string
  readonly tool: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** `undefined` if the replaced content was not kept, or is no longer kept. */
  readonly changes: readonly JournalChange[] | undefined
}

/** A state to return to. */
export interface Checkpoint {
  readonly id: string
  readonly label: string | undefined
  /** Milliseconds since 1970. */
  readonly at: number
  readonly runId: string
  /** Its position in the history: the number of calls before it. */
  readonly mark: number
}

/**
 * The undo history of a workspace as data: the changes of its calls, with the earlier contents, and its checkpoints. Another
 * workspace over the same files, also in another process, can continue it. Write access to it determines what an undo
 * restores (policy applies to that, as to any change), so store it where the agent cannot reach it.
 */
export interface WorkspaceHistory {
  readonly version: 1
  /** Number of dropped calls before the first entry. */
  readonly first: number
  /** Oldest first. */
  readonly entries: readonly JournalEntry[]
  readonly checkpoints: readonly Checkpoint[]
  /** The labels of written content, by path. */
  readonly labels?: readonly (readonly [Path, string])[]
  /** The labels of names, by the path of the entry that has the name. */
  readonly nameLabels?: readonly (readonly [Path, string])[]
  /** Number of refusals that told a run what a secret contains. */
  readonly secretRefusals?: number
}

/** The undo history of a workspace: every call that changed something, with the data to revert it. */
export interface Journal {
  /** Maximum bytes of replaced content per call. A larger call cannot be reverted. */
  readonly maxBytes: number
  /** Creates a checkpoint at the current position. */
  checkpoint(of: Pick<Checkpoint, 'label' | 'at' | 'runId'>): Checkpoint
  /** Oldest first. */
  checkpoints(): readonly Checkpoint[]
  /** Adds a completed call. Without `before`, it cannot be reverted. */
  add(
    call: Pick<JournalEntry, 'callId' | 'runId' | 'tool' | 'at'>,
    before: readonly EntryState[] | undefined,
    receipt: Receipt,
  ): void
  /** Returns the latest call of that id that changed something. */
  find(callId: string): JournalEntry | undefined
  /** Returns the calls after a position, oldest first, or `undefined` when some of them were dropped. */
  since(mark: number): readonly JournalEntry[] | undefined
  /** Returns the whole history. Contents are shared, not copied. */
  history(): WorkspaceHistory
}

/** Bytes that each change adds to the size of the journal, besides the bytes of its file. */
const BYTES_PER_CHANGE = 256
/** Maximum number of entries kept without contents, so that their undo can state why it is refused. */
const MAX_EMPTY = 10_000

/**
 * Creates a journal in memory. It ends with the process, also for persistent backends, unless `history()` is passed to the
 * next one as `earlier`. It keeps at most `maxBytes` of replaced content; the contents of the oldest calls are dropped first.
 *
 * @throws TypeError for an invalid history
 */
export function createJournal(maxBytes: number, earlier?: WorkspaceHistory): Journal {
  interface WeighedEntry extends JournalEntry {
    readonly bytes: number
  }
  if (earlier !== undefined) requireHistory(earlier)
  /** The first one is at position `first`. */
  let entries: WeighedEntry[] = (earlier?.entries ?? []).map((entry) => ({
    ...entry,
    bytes: weightOfAll(entry.changes),
  }))
  let first = earlier?.first ?? 0
  /** Number of entries whose contents were dropped. They are always the oldest entries. */
  let emptied = entries.findIndex(({ changes }) => changes !== undefined)
  if (emptied === -1) emptied = entries.length
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  const checkpoints: Checkpoint[] = [...(earlier?.checkpoints ?? [])]

  function shrink(): void {
    for (; bytes > maxBytes && emptied < entries.length; emptied++) {
      const entry = entries[emptied] as WeighedEntry
      bytes -= entry.bytes
      entries[emptied] = { ...entry, changes: undefined, bytes: 0 }
    }
    if (emptied > MAX_EMPTY) {
      const dropped = emptied >> 1
      entries = entries.slice(dropped)
      emptied -= dropped
      first += dropped
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
      const { callId, runId, tool, at } = call
      entries.push({ callId, runId, tool, at, changes, bytes: weight })
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

function isLabelList(labels: unknown): boolean {
  return (
    Array.isArray(labels) &&
    labels.every((entry) => Array.isArray(entry) && entry.every((text) => typeof text === 'string'))
  )
}

/** Checks a history from another process, which may have lost its bytes, as with JSON. */
function requireHistory(history: WorkspaceHistory): void {
  const {
    version,
    first,
    entries,
    checkpoints,
    labels = [],
    nameLabels = [],
    secretRefusals = 0,
  } = Object(history) as WorkspaceHistory
  const isValid =
    version === 1 &&
    Number.isSafeInteger(first) &&
    first >= 0 &&
    Number.isSafeInteger(secretRefusals) &&
    secretRefusals >= 0 &&
    Array.isArray(checkpoints) &&
    [labels, nameLabels].every(isLabelList) &&
    Array.isArray(entries) &&
    entries.every((entry) => {
      const { changes = [] } = Object(entry) as JournalEntry
      return changes.every((change) => change?.before?.type !== 'file' || isUint8Array(change.before.bytes))
    })
  if (isValid) return
  throw new TypeError(
    'The option history is not a result of workspace.history(): store one by structured clone, not as JSON',
  )
}
