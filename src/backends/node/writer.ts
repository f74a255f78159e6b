import { closeSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { type Path, parentOf, ROOT } from '../../paths/logical-path.ts'
import type { Change, CommitOptions, ContentSink, Receipt, StoredContent } from '../../storage/backend.ts'
import { conflict, validateChanges } from '../../storage/change-set.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { applyTasks } from './apply.ts'
import { checkOnDisk, type Present } from './check-changes.ts'
import { isNoLongerThere } from './errno.ts'
import { openPins } from './journal-steps.ts'
import { hasLeftovers } from './leftovers.ts'
import { type Lock, openLock } from './lock.ts'
import { recover } from './recovery.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import type { Root } from './root.ts'
import { StagedContents, unknownContent } from './staged-content.ts'
import { fsyncAsync, syncDirectories } from './staging.ts'
import { openState, type StateDirectory, type Temp } from './state-directory.ts'
import type { Task } from './tasks.ts'
import { refuseTempNames } from './temp-names.ts'
import type { TreeAccess } from './tree-access.ts'

/** The writing part of the backend: state directory, lock, queue and recovery. */
export interface Writer {
  /** Resolves once what a killed process left has been dealt with. Await it before the first read. */
  ready(): Promise<void>
  commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt>
  stage(path: Path): Promise<ContentSink>
  /** Runs an action while no commit is under way. */
  inTurn(action: () => Promise<void>): Promise<unknown>
  close(): Promise<void>
}

export interface WriterOptions {
  readonly statePath: string
  readonly lockTimeoutMs: number
  readonly modes: boolean
  /** Called after each commit, also a failed one, before the next action in turn. */
  readonly onCommitted?: ((paths: readonly Path[]) => Promise<void>) | undefined
}

export function openWriter({ access }: Root, options: WriterOptions): Writer {
  return new DiskWriter(access, options)
}

interface OpenState {
  readonly state: StateDirectory
  readonly lock: Lock
}

class DiskWriter implements Writer {
  readonly #access: TreeAccess
  readonly #options: WriterOptions
  #opened: Promise<OpenState> | undefined
  #recovered: Promise<void> | undefined
  #lastTurn: Promise<unknown> = Promise.resolve()
  #isClosed = false
  /** Temporary files that could not be removed. */
  readonly #strays: Temp[] = []
  readonly #contents = new StagedContents()
  /** Paths written by relaxed commits. They are synced before the next durable commit. */
  readonly #unsynced = new Set<Path>()

  constructor(access: TreeAccess, options: WriterOptions) {
    this.#access = access
    this.#options = options
  }

  ready(): Promise<void> {
    this.#recovered ??= this.#recoverLeftovers()
    return this.#recovered
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt> {
    if (this.#isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot commit: the backend is closed')
    throwIfAborted(options.signal)
    validateChanges(changes, true)
    for (const { path, from } of changes) {
      refuseTempNames(path)
      if (from !== undefined) refuseTempNames(from)
    }
    this.#requireContents(changes)
    const [first] = changes
    if (first === undefined) return { applied: [] }
    try {
      return await this.#inTurn(async (state) => {
        try {
          return await this.#commitNow(state, changes, options)
        } finally {
          await this.#options.onCommitted?.(changes.map(({ path }) => path))
        }
      }, options.signal)
    } catch (error) {
      throw storageError('change', first.path, error)
    }
  }

  async stage(path: Path): Promise<ContentSink> {
    if (this.#isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot write: the backend is closed')
    refuseTempNames(path)
    try {
      return await this.#inTurn((state) => this.#contents.open(this.#access, state, path))
    } catch (error) {
      throw storageError('write', path, error)
    }
  }

  readonly inTurn = (action: () => Promise<void>): Promise<unknown> => {
    this.#lastTurn = this.#lastTurn.then(action).catch(() => {})
    return this.#lastTurn
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#lastTurn
    this.#contents.discardAll()
    if (this.#opened === undefined) return
    const { state, lock } = await this.#opened
    this.#opened = undefined
    try {
      await this.#flush()
    } finally {
      // With strays left, the next process must find the same traces as after a kill, and remove them.
      await lock.close(this.#strays.length > 0 ? 'leaving traces' : 'whole')
      state.close()
    }
  }

  /** Refuses a content that is neither staged here nor that of a file which the set moves. */
  #requireContents(changes: readonly Change[]): void {
    const used = new Set<unknown>()
    let deleted: ReadonlySet<Path> | undefined
    for (const { path, to, from } of changes) {
      if (to?.type !== 'file' || to.content === undefined) continue
      deleted ??= new Set(changes.filter((change) => change.to === null).map((change) => change.path))
      const isKnown = this.#contents.has(to.content) || (from !== undefined && deleted.has(from))
      if (!isKnown || used.has(to.content)) throw unknownContent(path)
      used.add(to.content)
    }
  }

  async #open(): Promise<OpenState> {
    const { statePath, lockTimeoutMs } = this.#options
    const state = await retryOnDescriptorLimit(() => openState(statePath))
    try {
      return { state, lock: await retryOnDescriptorLimit(() => openLock(state, lockTimeoutMs)) }
    } catch (error) {
      state.close()
      throw error
    }
  }

  /** Runs actions one at a time under the lock, in the order of the calls. The first one creates the state directory. */
  #inTurn<T>(action: (state: StateDirectory, lock: Lock) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.#lastTurn.then(async () => {
      throwIfAborted(signal)
      this.#opened ??= this.#open()
      let opened: OpenState
      try {
        opened = await this.#opened
      } catch (error) {
        this.#opened = undefined
        throw stateFailure(error)
      }
      const { state, lock } = opened
      return lock.hold(async (isOrphaned) => {
        // Strays and journals of this process are recovered as well.
        if (isOrphaned || state.hasJournal() || this.#strays.length > 0) await this.#recover(state, lock)
        return action(state, lock)
      }, signal)
    })
    this.#lastTurn = turn.catch(() => {})
    return turn
  }

  #recover(state: StateDirectory, lock: Lock): Promise<void> {
    return recover(this.#access, state, lock, this.#strays)
  }

  async #recoverLeftovers(): Promise<void> {
    try {
      if (!(await hasLeftovers(this.#options.statePath))) return
      await this.#inTurn((state, lock) => this.#recover(state, lock))
    } catch (error) {
      // A process that may only read cannot recover: it reads the tree as it is.
      if (!(error instanceof ToolError)) throw storageError('open', ROOT, error)
    }
  }

  async #commitNow(state: StateDirectory, changes: readonly Change[], options: CommitOptions): Promise<Receipt> {
    const access = this.#access
    const { modes } = this.#options
    const present = await checkOnDisk(access, changes, modes)
    requireMoved(changes, present, (content) => this.#contents.has(content))
    throwIfAborted(options.signal)
    const durable = options.durability === 'durable'
    const tasks: Task[] = changes.map((change, i) => ({ change, present: present[i] })).filter(hasEffect)
    if (durable) await this.#flush()
    const after = await applyTasks(
      { access, state, durable, signal: options.signal, modes, contents: this.#contents, strays: this.#strays },
      tasks,
    )
    if (!durable) for (const { change } of tasks) this.#unsynced.add(change.path)
    const afterOf = new Map(tasks.map(({ change }, i) => [change.path, after[i] ?? null]))
    return {
      applied: changes.map(({ path }, i) => {
        const before = present[i]?.version ?? null
        const changed = afterOf.get(path)
        return { path, before, after: changed === undefined ? before : changed }
      }),
    }
  }

  async #flush(): Promise<void> {
    if (this.#unsynced.size === 0) return
    const paths = [...this.#unsynced]
    await syncPaths(this.#access, paths)
    for (const path of paths) this.#unsynced.delete(path)
  }
}

/** Refuses the move of a file that no longer has the content which the set names. */
function requireMoved(
  changes: readonly Change[],
  present: readonly (Present | undefined)[],
  isStaged: (content: StoredContent) => boolean,
): void {
  for (const { to, from } of changes) {
    if (to?.type !== 'file' || to.content === undefined || from === undefined || isStaged(to.content)) continue
    const source = present[changes.findIndex((change) => change.path === from)]?.version
    const sha256 = source?.type === 'file' ? source.sha256 : null
    if (sha256 !== to.content.sha256) throw conflict(from, sha256)
  }
}

/** Syncs files and then their directories. Skips what no longer exists. */
async function syncPaths(access: TreeAccess, paths: readonly Path[]): Promise<void> {
  for (let i = 0; i < paths.length; i += 8) {
    await Promise.all(paths.slice(i, i + 8).map((path) => syncFile(access, path)))
  }
  const pins = openPins(access)
  try {
    for (const directory of new Set(paths.map(parentOf))) {
      try {
        await syncDirectories(pins, [directory])
      } catch (error) {
        if (!isNoLongerThere(error)) throw error
      }
    }
  } finally {
    pins.close()
  }
}

async function syncFile(access: TreeAccess, path: Path): Promise<void> {
  let fd: number
  try {
    fd = await retryOnDescriptorLimit(() => {
      const look = access.look(path)
      try {
        return look.stat.isFile() ? look.open() : -1
      } finally {
        look.close()
      }
    })
  } catch (error) {
    if (isNoLongerThere(error)) return
    throw storageError('write', path, error)
  }
  if (fd === -1) return
  try {
    await fsyncAsync(fd)
  } catch (error) {
    throw storageError('write', path, error)
  } finally {
    closeSync(fd)
  }
}

/** False for a change without effect: removing an absent path, or creating a directory that exists. */
function hasEffect({ change: { to }, present }: { change: Change; present: Present | undefined }): boolean {
  if (to === null) return present !== undefined
  return !(to.type === 'directory' && present?.type === 'directory')
}

function stateFailure(error: unknown): ToolError {
  if (error instanceof ToolError) return error
  return new ToolError(
    'BACKEND_ERROR',
    `Cannot commit: the state directory cannot be used (${errnoOf(error) ?? 'unknown'})`,
    {
      hint: 'Ask the user to set a stateDir that can be written.',
    },
  )
}
