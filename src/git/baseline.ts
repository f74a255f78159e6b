import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../storage/backend.ts'
import { stateAt } from '../storage/versions.ts'
import { createPacer } from '../util/pacer.ts'
import { type Changed, FILE, gitMode, LINK, type Side } from './changed-path.ts'
import { RACY_MS } from './compare-disk.ts'

/**
 * The states that a workspace had when it was opened, for workspaces without a repository: the first state of every path
 * that was changed through it. Kept in memory, never in the tree.
 */
export interface Baseline {
  /** Notes the states before a change set is committed, for paths that were not noted before. */
  note(changes: readonly Change[]): Promise<void>
  /** Returns the differences from the first states. */
  changed(): Promise<Changed[]>
  /** Whether there was a file at a path that has changed since. */
  readonly holds: (path: string) => boolean
  /** Number of paths whose first state was too large to keep. */
  readonly dropped: number
}

const MAX_FILE_BYTES = 16 * 1024 * 1024
const MAX_TOTAL_BYTES = 256 * 1024 * 1024

export function createBaseline(backend: Backend): Baseline {
  const first = new Map<Path, EntryState>()
  const firstSides = new Map<Path, Side | null>()
  /** The last sides of changed paths, without their content, by the tags of their stats. */
  const last = new Map<Path, { readonly tag: string; readonly side: Omit<Side, 'bytes'> }>()
  let totalBytes = 0
  let dropped = 0

  async function currentState(path: Path): Promise<EntryState> {
    try {
      return await stateAt(backend, path)
    } catch (error) {
      if (error instanceof ToolError && (error.code === 'NOT_FOUND' || error.code === 'NOT_A_DIRECTORY')) return null
      throw error
    }
  }

  function firstSide(path: Path, state: EntryState): Side | null {
    let side = firstSides.get(path)
    if (side === undefined) {
      side = sideOf(state, undefined)
      firstSides.set(path, side)
    }
    return side
  }

  /** Reads a file only if its tag is another one than that of the last time. */
  async function presentSide(path: Path, base: number | undefined): Promise<Side | null> {
    const stat = await backend.stat(path)
    const known = last.get(path)
    if (stat !== undefined && known?.tag === stat.tag) {
      return { ...known.side, bytes: async () => sideOf(await currentState(path), base)?.bytes() }
    }
    const side = sideOf(await currentState(path), base)
    const isSettled = backend.capabilities.times !== 'own' || (stat?.modifiedAt ?? Number.NaN) < Date.now() - RACY_MS
    if (stat !== undefined && side !== null && isSettled) {
      last.set(path, { tag: stat.tag, side: { mode: side.mode, id: side.id } })
    } else last.delete(path)
    return side
  }

  return {
    get dropped() {
      return dropped
    },
    holds: (path) => (first.get(path as Path) ?? null) !== null,
    async note(changes) {
      const pause = createPacer()
      for (const { path } of changes) {
        if (first.has(path)) continue
        await pause()
        const stat = await backend.stat(path)
        if (stat?.type === 'file' && (stat.size > MAX_FILE_BYTES || totalBytes + stat.size > MAX_TOTAL_BYTES)) {
          dropped += 1
          continue
        }
        const state = await currentState(path)
        if (state?.type === 'file') totalBytes += state.bytes.length
        first.set(path, state)
      }
    },
    async changed() {
      const changed: Changed[] = []
      for (const [path, before] of [...first].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const old = firstSide(path, before)
        const now = await presentSide(path, old?.mode)
        if (old === null && now === null) continue
        if (old !== null && now !== null && old.mode === now.mode && old.id === now.id) continue
        changed.push({ path, old, now })
      }
      return changed
    },
  }
}

function sideOf(state: EntryState, base: number | undefined): Side | null {
  if (state === null || state.type === 'directory') return null
  const bytes = state.type === 'link' ? new TextEncoder().encode(state.target) : state.bytes
  const mode = state.type === 'link' ? LINK : gitMode(state.mode, base ?? FILE)
  return { mode, id: objectId('blob', bytes), bytes: () => bytes }
}
