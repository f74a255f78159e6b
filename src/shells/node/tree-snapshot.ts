import { ToolError } from '../../errors.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import {
  type Backend,
  type DirectoryStats,
  type EntryState,
  type EntryType,
  FACTS,
  TYPE_CODES,
} from '../../storage/backend.ts'
import { sameState, stateAt } from '../../storage/versions.ts'

/** The state of a path before and after a command. */
export interface Difference {
  readonly path: Path
  readonly before: EntryState
  readonly after: EntryState
  /** The path is a socket, a pipe or a device, which a workspace cannot keep. */
  readonly isOther: boolean
}

/** A tree with its contents, at one moment. */
export interface TreeSnapshot {
  /** Compares the tree with its current state. Changes that other calls committed meanwhile do not count. */
  differences(committed: ReadonlyMap<Path, EntryState>): Promise<readonly Difference[]>
}

/** Takes snapshots of one tree. Entries that have not changed since the last snapshot are not read again. */
export interface SnapshotTaker {
  /** @throws ToolError `LIMIT_EXCEEDED` if the tree has more bytes than may be kept */
  take(): Promise<TreeSnapshot>
}

interface SnapshotEntry {
  readonly type: EntryType
  /** Equal stamps mean equal content, except for racy entries. */
  readonly stamp: string
  readonly state: EntryState
}

interface ScannedEntry {
  readonly path: Path
  readonly type: EntryType
  readonly stamp: string
  readonly changedAt: number
}

/** A file that changes twice within one tick of the clock keeps its times, so a file this young is compared by content. */
const RACY_MS = 1000

const MODES = Object.freeze({ modes: true })

const types = Object.keys(TYPE_CODES) as readonly EntryType[]

/** Takes snapshots over a backend on a disk that others write to. Keeps at most `maxBytes` of content. */
export function createSnapshots(backend: Backend, maxBytes: number): SnapshotTaker {
  const scan = createScanner(backend)
  let previous = new Map<Path, SnapshotEntry>()
  return {
    async take() {
      const takenAt = Date.now()
      const entries = new Map<Path, SnapshotEntry>()
      const racy = new Set<Path>()
      let bytes = 0
      for await (const { path, type, stamp, changedAt } of scan()) {
        const old = previous.get(path)
        const isRacy = !(changedAt < takenAt - RACY_MS) && type !== 'directory'
        if (isRacy) racy.add(path)
        const isUnchanged = old !== undefined && !isRacy && old.type === type && old.stamp === stamp
        const state = isUnchanged ? old.state : await readState(backend, path, type, maxBytes - bytes, maxBytes)
        if (state === null && type !== 'other') continue
        if (state?.type === 'file') bytes += state.bytes.length
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        entries.set(path, { type, stamp, state })
      }
      previous = entries
      return { differences: (committed) => compareTree(backend, scan(), { entries, racy }, committed) }
    },
  }
}

/** Returns a function that lists all entries of a tree with their stamps, level by level. */
function createScanner({ statDirectories }: Backend): () => AsyncGenerator<ScannedEntry> {
  if (statDirectories === undefined) throw new TypeError('A snapshot needs a backend with statDirectories')
  const cached = new Map<Path, DirectoryStats>()
  return async function* scan() {
    let level: Path[] = [ROOT]
    while (level.length > 0) {
      const stats = await statDirectories(level, (path) => cached.get(path))
      const next: Path[] = []
      for (const [at, directory] of level.entries()) {
        const directoryStats = stats[at]
        if (directoryStats === undefined) continue
        cached.set(directory, directoryStats)
        for (const [i, name] of directoryStats.names.entries()) {
          const path = childOf(directory, name)
          const type = types[directoryStats.types[i] as number] as EntryType
          const facts = directoryStats.facts.subarray(i * FACTS, i * FACTS + FACTS)
          if (type === 'directory') next.push(path)
          yield { path, type, stamp: type === 'directory' ? '' : facts.join(' '), changedAt: facts[3] as number }
        }
      }
      level = next
    }
  }
}

async function compareTree(
  backend: Backend,
  current: AsyncIterable<ScannedEntry>,
  snapshot: { readonly entries: ReadonlyMap<Path, SnapshotEntry>; readonly racy: ReadonlySet<Path> },
  committed: ReadonlyMap<Path, EntryState>,
): Promise<readonly Difference[]> {
  const differences: Difference[] = []
  const scanned = new Set<Path>()
  async function compare(path: Path, old: SnapshotEntry | undefined, isOther: boolean): Promise<void> {
    const after = await stateAt(backend, path)
    const original = old?.state ?? null
    const commit = committed.get(path)
    const before = commit === undefined ? original : commit
    if (!isOther && (sameState(after, original, MODES) || sameState(after, before, MODES))) return
    differences.push({ path, before, after, isOther })
  }
  for await (const { path, type, stamp } of current) {
    scanned.add(path)
    const old = snapshot.entries.get(path)
    const isUnchanged = old !== undefined && old.type === type && old.stamp === stamp && !snapshot.racy.has(path)
    if (!isUnchanged) await compare(path, old, type === 'other' && old?.type !== 'other')
  }
  for (const [path, old] of snapshot.entries) {
    if (!scanned.has(path)) await compare(path, old, false)
  }
  return differences
}

/** Reads the state of an entry. Checks the size of a file first, so that a large one is not loaded into memory. */
async function readState(
  backend: Backend,
  path: Path,
  type: EntryType,
  remaining: number,
  maxBytes: number,
): Promise<EntryState> {
  if (type === 'directory') return { type }
  if (type === 'file' && ((await backend.stat(path))?.size ?? 0) > remaining) throw tooLarge(maxBytes)
  return stateAt(backend, path)
}

function tooLarge(maxBytes: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', 'The workspace is too large for commands that change it in place', {
    limit: 'shadowBytes',
    value: maxBytes,
    hint: 'Raise shadowBytes of the shell, or use a sandbox that writes to a separate layer.',
  })
}
