import { ToolError } from '../../errors.ts'
import { precomputeSha256, sha256, sha256Cached } from '../../files/hash/sha256.ts'
import {
  childOf,
  display,
  type LogicalPath,
  nameOf,
  type Path,
  parentOf,
  parsePath,
  quote,
  ROOT,
} from '../../paths/logical-path.ts'
import type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  EntryState,
  Receipt,
  Version,
} from '../../storage/backend.ts'
import { canonical } from '../../storage/canonical-path.ts'
import { applyOrder, checkChangeSet, validateChanges } from '../../storage/change-set.ts'
import { versionOf } from '../../storage/versions.ts'
import { wrongTypeAt } from '../../storage/wrong-type.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import type { Entry, Folder } from './folder.ts'
import type { Lease } from './lease.ts'
import type { RedoStep } from './redo-log.ts'
import { openStaging, type Staging } from './staging.ts'
import { storageFailure } from './storage-failure.ts'

export interface FilesOptions {
  /** Whether names that differ in letter case are two. */
  readonly caseSensitive: boolean
  /** Whether staged files can be moved into place; otherwise they are copied. */
  readonly canMove: boolean
  readonly onCommit?: (changes: readonly Change[]) => void
}

/**
 * A directory of a browser as a backend: each file a file. A set is staged aside, noted in a journal, then put in place,
 * all under a lease that keeps other tabs out, also from reading half of a set. Links and permission bits there are none.
 */
export async function openFiles(
  lease: Lease<FileSystemDirectoryHandle>,
  folder: Folder,
  options: FilesOptions,
): Promise<Backend> {
  let staging: Staging | undefined
  let refreshing: Promise<Staging> | undefined
  let busy = 0
  let whenIdle: (() => void) | undefined
  let isClosed = false
  let turn: Promise<unknown> = Promise.resolve()

  async function giveUp(): Promise<void> {
    // It may be wanted before we are done with taking it.
    await refreshing?.catch(() => {})
    staging = undefined
    if (busy > 0) await new Promise<void>((resolve) => (whenIdle = resolve))
  }

  /** Takes the lease, and finishes what a kill left. */
  async function refresh(): Promise<Staging> {
    const state = await lease.acquire(giveUp)
    folder.forget(ROOT)
    const opened = openStaging(state, folder, options.canMove)
    for (const step of await opened.pending()) await opened.take(step)
    await opened.clear()
    staging = opened
    return opened
  }

  async function held(): Promise<Staging> {
    if (isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot go on: the backend is closed')
    if (staging !== undefined) return staging
    refreshing ??= refresh().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  /** Runs something under the lease. */
  async function under<T>(cannot: string, path: Path, action: (staging: Staging) => Promise<T>): Promise<T> {
    try {
      let mine = await held()
      // It may have gone again while we were waking up.
      while (staging !== mine) mine = await held()
      busy += 1
      try {
        return await action(mine)
      } finally {
        busy -= 1
        if (busy === 0) whenIdle?.()
      }
    } catch (error) {
      throw storageFailure(`Cannot ${cannot} ${quote(display(path))}`, error, path === ROOT ? undefined : path)
    }
  }

  /** Commits exclude each other, and reads wait for them. */
  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = turn.then(action)
    turn = result.catch(() => {})
    return result
  }

  const reading = <T>(verb: string, path: Path, action: () => Promise<T>): Promise<T> =>
    turn.then(() => under(verb, path, action))

  const typeAt = async (path: Path) => (await folder.look(path))?.type

  async function statAt(path: Path) {
    return (await folder.look(path))?.stat
  }

  async function notALink(path: Path): Promise<never> {
    throw await wrongTypeAt('read link', path, typeAt)
  }

  /** A whole file, or undefined where there is none. */
  function wholeAt(path: Path) {
    return reading('read', path, async () => {
      const entry = await folder.look(path)
      if (entry?.type !== 'file') return undefined
      const bytes = await folder.bytes(entry)
      return { bytes, stat: { ...entry.stat, size: bytes.length } }
    })
  }

  async function commit(changes: readonly Change[], how: CommitOptions): Promise<Receipt> {
    throwIfAborted(how.signal)
    validateChanges(changes)
    const first = changes[0]
    if (first === undefined) return { applied: [] }
    return under('change', first.path, async (mine) => {
      const present = await gather(folder, changes)
      checkChangeSet(changes, present.view)
      const real = applyOrder(changes).filter(({ path, to }) => !isNoChange(present.at(path), to))
      const steps: RedoStep[] = []
      try {
        const staged = new Map<Path, RedoStep>()
        await mapConcurrent(real, async ({ path, to }) => {
          if (to?.type !== 'file') return
          await precomputeSha256([to.bytes])
          staged.set(path, await mine.stage(path, to.bytes))
        })
        for (const { path, to } of real) {
          const type = present.at(path)?.type
          if (type !== undefined && (to === null || to.type !== type)) steps.push({ do: `remove ${type}`, path })
          if (to?.type === 'directory') steps.push({ do: 'directory', path })
          if (to?.type === 'file') steps.push(staged.get(path) as RedoStep)
        }
        throwIfAborted(how.signal)
        const [only, ...others] = steps
        const isWhole = only !== undefined && others.length === 0 && mine.isWhole(only, !present.at(only.path))
        if (steps.length > 0 && !isWhole) await mine.writeJournal(steps)
        await takeAll(mine, steps, present)
      } catch (error) {
        if (isBegun(error)) {
          staging = undefined
          throw error
        }
        await mine.clear().catch(() => {
          // What could not be cleared is, when the lease is taken next.
          staging = undefined
        })
        throw error
      }
      // The set is in place. Where its journal stays, taking the steps again changes nothing.
      await mine.clear().catch(() => {
        staging = undefined
      })
      if (steps.length > 0) options.onCommit?.(changes)
      return {
        applied: changes.map(({ path, to }) => {
          const before = present.version(path)
          return { path, before, after: isNoChange(present.at(path), to) ? before : versionAfter(to) }
        }),
      }
    })
  }

  /** Takes the steps; where one fails, what was before is put back. */
  async function takeAll(mine: Staging, steps: readonly RedoStep[], present: Present): Promise<void> {
    const taken: RedoStep[] = []
    const take = async (step: RedoStep) => {
      taken.push(step)
      await mine.take(step)
    }
    try {
      // What is a file need not wait for what is another one.
      let together: RedoStep[] = []
      for (const step of steps) {
        const isApart = step.do === 'directory' || step.do === 'remove directory'
        if (isApart || together[0]?.do !== step.do) {
          await mapConcurrent(together, take)
          together = []
        }
        if (isApart) await take(step)
        else together.push(step)
      }
      await mapConcurrent(together, take)
    } catch (error) {
      await putBack(mine, taken, present).catch(() => {
        throw begun(error)
      })
      throw error
    }
  }

  async function putBack(mine: Staging, taken: readonly RedoStep[], present: Present): Promise<void> {
    for (const { path } of [...taken].reverse()) {
      const before = present.at(path)
      const now = await folder.look(path)
      if (now !== undefined && now.type !== before?.type) await folder.remove(path)
      if (before?.type === 'directory') await folder.makeDirectory(path)
      if (before?.type === 'file') {
        await mine.take(await mine.stage(path, before.bytes as Uint8Array))
      }
    }
  }

  await under('open', ROOT, async () => {})
  return {
    capabilities: capabilitiesWith(options.caseSensitive),

    canonical(path, how) {
      return reading('resolve', path as Path, async () => {
        const spelled = options.caseSensitive ? path : await asStored(folder, path)
        return canonical({ stat: statAt, readLink: notALink }, spelled, how)
      })
    },
    stat: (path) => reading('look at', path, () => statAt(path)),
    list: (path) =>
      reading('list', path, async () => (await folder.list(path, 'list')).filter(({ name }) => isGuarded(name))),
    read(path, range) {
      return reading('read', path, async () => {
        const entry = await folder.look(path)
        if (entry?.type !== 'file') throw await wrongTypeAt('read', path, typeAt)
        const { stat } = entry
        if (range === undefined) {
          const bytes = await folder.bytes(entry)
          return { bytes, stat: { ...stat, size: bytes.length } }
        }
        if (range.tag !== undefined && range.tag !== stat.tag) {
          throw new ToolError('WRITE_CONFLICT', `Cannot read ${quote(path)}: it changed in the meantime`, {
            path,
            currentSha256: sha256(await folder.bytes(entry)),
          })
        }
        const start = Math.max(0, range.start)
        const part = entry.file.slice(start, Math.max(start, range.end))
        return { bytes: new Uint8Array(await part.arrayBuffer()), stat }
      })
    },
    async scan(paths, visit) {
      const ahead: ReturnType<typeof wholeAt>[] = []
      let next = 0
      for (const path of paths) {
        while (next < paths.length && ahead.length < AHEAD) {
          const reads = wholeAt(paths[next++] as Path)
          // Whoever stops early does not wait for it.
          reads.catch(() => {})
          ahead.push(reads)
        }
        const found = await ahead.shift()
        if (found !== undefined && !visit(path, found.bytes, found.stat)) return
      }
    },
    readLink: (path) => reading('read link', path, () => notALink(path)),
    commit: (changes, how) => inTurn(() => commit(changes, how)),
    async close() {
      if (isClosed) return
      await turn
      isClosed = true
      await lease.close()
    },
  }
}

/** How many files a scan reads before they are asked for. */
const AHEAD = 4

function capabilitiesWith(caseSensitive: boolean): Capabilities {
  return Object.freeze({
    links: false,
    modes: false,
    times: 'own',
    caseSensitive,
    authority: 'shared',
    persistent: true,
    atomic: 'set',
  })
}

/** A set that could neither be finished nor be taken back: its journal stays, and the next step finishes it first. */
function begun(error: unknown): ToolError {
  const { code, message } = storageFailure('Cannot finish the change', error)
  return new ToolError(code, message, { hint: BEGUN })
}

function isBegun(error: unknown): boolean {
  return error instanceof ToolError && error.details.hint === BEGUN
}

const BEGUN = 'The change was begun and could not be taken back: it is finished as soon as the storage takes it.'

type Seen = Entry & { readonly bytes?: Uint8Array; readonly sha256?: string }

interface Present {
  readonly view: Parameters<typeof checkChangeSet<Seen>>[1]
  at(path: Path): Seen | undefined
  version(path: Path): Version
}

/** Looks at everything that a set is judged by. */
async function gather(folder: Folder, changes: readonly Change[]): Promise<Present> {
  const seen = new Map<Path, Seen | undefined>()
  const names = new Map<Path, readonly string[]>()
  const touched = new Set(changes.map(({ path }) => path))
  for (const { path, to } of changes) {
    if (to?.type !== 'link') continue
    throw new ToolError('INVALID_INPUT', `Cannot link ${quote(path)}: this storage has no links`, { path })
  }
  const entries = await folder.lookAtAll([...touched])
  await mapConcurrent(changes, async ({ path, to }) => {
    const entry = entries.get(path)
    if (entry?.type === 'file') {
      const bytes = await folder.bytes(entry)
      seen.set(path, { ...entry, bytes, sha256: await versionNow(bytes) })
    } else seen.set(path, entry)
    if (entry?.type === 'directory' && to?.type !== 'directory') {
      names.set(
        path,
        (await folder.list(path, 'list')).map(({ name }) => name),
      )
    }
    for (
      let above = parentOf(path);
      above !== ROOT && !touched.has(above) && !seen.has(above);
      above = parentOf(above)
    ) {
      seen.set(above, await folder.look(above))
    }
  })
  return {
    at: (path) => seen.get(path),
    version: (path) => {
      const one = seen.get(path)
      if (one?.type !== 'file') return one === undefined ? null : DIRECTORY_VERSION
      return { type: 'file', sha256: one.sha256 as string, size: (one.bytes as Uint8Array).length }
    },
    view: {
      at: (path) => seen.get(path),
      sha256: (one) => one.sha256 as string,
      names: (path) => names.get(path) as readonly string[],
    },
  }
}

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

function isNoChange(present: Entry | undefined, to: EntryState): boolean {
  if (to === null) return present === undefined
  return to.type === 'directory' && present?.type === 'directory'
}

async function versionNow(bytes: Uint8Array): Promise<string> {
  await precomputeSha256([bytes])
  return sha256Cached(bytes)
}

/** The storage keeps no permission bits. */
function versionAfter(to: EntryState): Version {
  return versionOf(to?.type === 'file' ? { type: 'file', bytes: to.bytes } : to, sha256Cached)
}

/** The path as the storage spells it, as far as it exists. */
async function asStored(folder: Folder, path: LogicalPath): Promise<LogicalPath> {
  let here = ROOT
  for (const name of path === '' ? [] : path.split('/')) {
    const entry = await folder.look(here)
    const names = entry?.type === 'directory' ? (await folder.list(here, 'list')).map((one) => one.name) : []
    const folded = fold(name)
    here = childOf(here, names.includes(name) ? name : (names.find((one) => fold(one) === folded) ?? name))
  }
  return here
}

function fold(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase()
}

function isGuarded(name: string): boolean {
  try {
    return nameOf(parsePath(name)) === name
  } catch {
    return false
  }
}
