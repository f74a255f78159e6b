import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../storage/backend.ts'
import { stateAt } from '../storage/versions.ts'
import { type Changed, FILE, gitMode, LINK, type Side } from './changed-path.ts'

/**
 * What a workspace held when it was opened, where no repository tells: the first state of every path that was changed
 * through it. Held in memory, never in the tree.
 */
export interface Baseline {
  /** Notes what stands at the paths of a set that is about to be committed, those that it knows left out. */
  note(changes: readonly Change[]): Promise<void>
  /** What differs now from the first states. */
  changed(): Promise<Changed[]>
  /** Paths whose first state found no room. */
  readonly dropped: number
}

const LARGEST = 16 * 1024 * 1024
const ALL = 256 * 1024 * 1024

export function createBaseline(backend: Backend): Baseline {
  const first = new Map<Path, EntryState>()
  let held = 0
  let dropped = 0

  async function present(path: Path): Promise<EntryState> {
    try {
      return await stateAt(backend, path)
    } catch (error) {
      if (error instanceof ToolError && (error.code === 'NOT_FOUND' || error.code === 'NOT_A_DIRECTORY')) return null
      throw error
    }
  }

  return {
    get dropped() {
      return dropped
    },
    async note(changes) {
      for (const { path } of changes) {
        if (first.has(path)) continue
        const stat = await backend.stat(path)
        if (stat?.type === 'file' && (stat.size > LARGEST || held + stat.size > ALL)) {
          dropped += 1
          continue
        }
        const state = await present(path)
        if (state?.type === 'file') held += state.bytes.length
        first.set(path, state)
      }
    },
    async changed() {
      const changed: Changed[] = []
      for (const [path, before] of [...first].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const after = await present(path)
        const old = sideOf(before, undefined)
        const now = sideOf(after, old?.mode)
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
