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

/** What a path was before a command and is after it. */
export interface Difference {
  readonly path: Path
  readonly before: EntryState
  readonly after: EntryState
  /** The path holds something that no workspace keeps: a socket, a pipe, a device. */
  readonly isOther: boolean
}

/** A tree as it was, with its contents. */
export interface TreeSnapshot {
  /** How the tree differs now. What others have committed meanwhile is no change of the command. */
  differences(committed: ReadonlyMap<Path, EntryState>): Promise<readonly Difference[]>
}

/** Takes shadows of one tree. What has not changed since the last one is not read again. */
export interface Shadows {
  /** @throws ToolError `LIMIT_EXCEEDED` for a tree with more bytes than may be kept */
  take(): Promise<TreeSnapshot>
}

interface Kept {
  readonly type: EntryType
  /** Equal stamps mean equal content, unless `isRacy`. */
  readonly stamp: string
  readonly state: EntryState
}

/** A file may change again within the clock's tick and keep its times: one as young as this is compared by content. */
const RACY_MS = 1000

/** Shadows over a backend on a disk that others write to. At most so many bytes of content are kept. */
export function createSnapshots(backend: Backend, most: number): Shadows {
  const glance = glanceOf(backend)
  let last = new Map<Path, Kept>()
  const glances = new Map<Path, DirectoryStats>()

  async function* entries(): AsyncGenerator<{ path: Path; type: EntryType; stamp: string; changedAt: number }> {
    let level: Path[] = [ROOT]
    while (level.length > 0) {
      const found = await glance(level, (path) => glances.get(path))
      const next: Path[] = []
      for (const [at, directory] of level.entries()) {
        const seen = found[at]
        if (seen === undefined) continue
        glances.set(directory, seen)
        for (const [i, name] of seen.names.entries()) {
          const path = childOf(directory, name)
          const type = types[seen.types[i] as number] as EntryType
          const facts = seen.facts.subarray(i * FACTS, i * FACTS + FACTS)
          if (type === 'directory') next.push(path)
          yield { path, type, stamp: type === 'directory' ? '' : facts.join(' '), changedAt: facts[3] as number }
        }
      }
      level = next
    }
  }

  return {
    async take() {
      const takenAt = Date.now()
      const kept = new Map<Path, Kept>()
      const racy = new Set<Path>()
      let bytes = 0
      for await (const { path, type, stamp, changedAt } of entries()) {
        const known = last.get(path)
        const isRacy = !(changedAt < takenAt - RACY_MS) && type !== 'directory'
        if (isRacy) racy.add(path)
        const isSame = known !== undefined && !isRacy && known.type === type && known.stamp === stamp
        const state = isSame ? known.state : await stateOf(backend, path, type, most - bytes)
        if (state === null && type !== 'other') continue
        if (state?.type === 'file') bytes += state.bytes.length
        if (bytes > most) throw tooLarge(most)
        kept.set(path, { type, stamp, state })
      }
      last = kept
      return {
        async differences(committed) {
          const found: Difference[] = []
          const seen = new Set<Path>()
          async function compare(path: Path, was: Kept | undefined, isOther: boolean): Promise<void> {
            const after = await stateAt(backend, path)
            const before = was?.state ?? null
            const told = committed.get(path)
            const meant = told === undefined ? before : told
            if (!isOther && (sameState(after, before, MODES) || sameState(after, meant, MODES))) return
            found.push({ path, before: meant, after, isOther })
          }
          for await (const { path, type, stamp } of entries()) {
            seen.add(path)
            const was = kept.get(path)
            const isSame = was !== undefined && was.type === type && was.stamp === stamp && !racy.has(path)
            if (!isSame) await compare(path, was, type === 'other' && was?.type !== 'other')
          }
          for (const [path, was] of kept) {
            if (!seen.has(path)) await compare(path, was, false)
          }
          return found
        },
      }
    },
  }
}

function glanceOf({ statDirectories: glance }: Backend): NonNullable<Backend['statDirectories']> {
  if (glance === undefined) throw new TypeError('A shadow is taken of a backend that can be glanced at')
  return glance
}

const MODES = Object.freeze({ modes: true })

const types = Object.keys(TYPE_CODES) as readonly EntryType[]

/** The state of what is there; a file is looked at before it is read, so that a large one never comes into memory. */
async function stateOf(backend: Backend, path: Path, type: EntryType, room: number): Promise<EntryState> {
  if (type === 'directory') return { type }
  if (type === 'file' && ((await backend.stat(path))?.size ?? 0) > room) throw tooLarge(room)
  return stateAt(backend, path)
}

function tooLarge(most: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', 'The workspace holds too much for commands that change it in place', {
    limit: 'shadowBytes',
    value: most,
    hint: 'Raise shadowBytes of the shell, or use a sandbox that keeps writes apart.',
  })
}
