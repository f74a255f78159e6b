import { closeSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import { parentOf } from '../../paths/logical-path.ts'
import type { Change, CommitOptions, Receipt } from '../../storage/backend.ts'
import { validateChanges } from '../../storage/change-set.ts'
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
import { fsyncAsync, syncDirectories } from './staging.ts'
import { openState, type StateDirectory, type Temp } from './state-directory.ts'
import type { Task } from './tasks.ts'
import { refuseTempNames } from './temp-names.ts'

/** The side of a backend that changes things: state directory, lock, queue, recovery. */
export interface Writer {
  /** Done once what a killed process left has been dealt with. To be awaited before the first read. */
  ready(): Promise<void>
  commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt>
  close(): Promise<void>
}

export interface WriterOptions {
  readonly statePath: string
  readonly lockTimeoutMs: number
  readonly modes: boolean
}

export function openWriter({ ground }: Root, { statePath, lockTimeoutMs, modes }: WriterOptions): Writer {
  let opened: Promise<{ state: StateDirectory; lock: Lock }> | undefined
  let recovered: Promise<void> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let closed = false
  const strays: Temp[] = []
  /** What was written without syncing, and must last before anything that is said to last. */
  const unsynced = new Set<Path>()

  async function open() {
    const state = await retryOnDescriptorLimit(() => openState(statePath))
    try {
      return { state, lock: await retryOnDescriptorLimit(() => openLock(state, lockTimeoutMs)) }
    } catch (error) {
      state.close()
      throw error
    }
  }

  /** One after the other, in the order of the calls; the state directory is made by the first that needs it. */
  function inTurn<T>(action: (state: StateDirectory, lock: Lock) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = last.then(async () => {
      throwIfAborted(signal)
      opened ??= open()
      let both: { state: StateDirectory; lock: Lock }
      try {
        both = await opened
      } catch (error) {
        opened = undefined
        throw stateFailure(error)
      }
      const { state, lock } = both
      return lock.hold(async (orphaned) => {
        // Also what we ourselves could not take back or remove before.
        if (orphaned || state.hasJournal() || strays.length > 0) await recover(ground, state, lock, strays)
        return action(state, lock)
      }, signal)
    })
    last = turn.catch(() => {})
    return turn
  }

  async function recoverLeftovers(): Promise<void> {
    try {
      if (!(await hasLeftovers(statePath))) return
      await inTurn((state, lock) => recover(ground, state, lock, strays))
    } catch (error) {
      // Who may only read can do nothing about it.
      if (!(error instanceof ToolError)) throw storageError('open', '' as Path, error)
    }
  }

  async function flush(): Promise<void> {
    if (unsynced.size === 0) return
    const paths = [...unsynced]
    const directories = new Set<Path>()
    for (let i = 0; i < paths.length; i += 8) {
      await Promise.all(paths.slice(i, i + 8).map((path) => syncFile(path)))
    }
    for (const path of paths) directories.add(parentOf(path))
    const pins = openPins(ground)
    try {
      for (const directory of directories) {
        try {
          await syncDirectories(pins, [directory])
        } catch (error) {
          // What is no longer there is not ours to bring to disk.
          if (!isNoLongerThere(error)) throw error
        }
      }
    } finally {
      pins.close()
    }
    for (const path of paths) unsynced.delete(path)
  }

  async function syncFile(path: Path): Promise<void> {
    let fd: number
    try {
      fd = await retryOnDescriptorLimit(() => {
        const look = ground.look(path)
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

  async function commitNow(
    state: StateDirectory,
    changes: readonly Change[],
    options: CommitOptions,
  ): Promise<Receipt> {
    const present = await checkOnDisk(ground, changes, modes)
    throwIfAborted(options.signal)
    const durable = options.durability === 'durable'
    const tasks: Task[] = changes.map((change, i) => ({ change, present: present[i] })).filter(hasEffect)
    if (durable) await flush()
    const how = { ground, state, durable, signal: options.signal, modes, strays }
    const after = await applyTasks(how, tasks)
    if (!durable) for (const { change } of tasks) unsynced.add(change.path)
    const afterOf = new Map(tasks.map(({ change }, i) => [change.path, after[i] ?? null]))
    return {
      applied: changes.map(({ path }, i) => {
        const before = present[i]?.version ?? null
        const changed = afterOf.get(path)
        return { path, before, after: changed === undefined ? before : changed }
      }),
    }
  }

  return {
    ready() {
      recovered ??= recoverLeftovers()
      return recovered
    },

    async commit(changes, options) {
      if (closed) throw new ToolError('BACKEND_ERROR', 'Cannot commit: the backend is closed')
      throwIfAborted(options.signal)
      validateChanges(changes)
      for (const { path, from } of changes) {
        refuseTempNames(path)
        if (from !== undefined) refuseTempNames(from)
      }
      const [first] = changes
      if (first === undefined) return { applied: [] }
      try {
        return await inTurn((state) => commitNow(state, changes, options), options.signal)
      } catch (error) {
        throw storageError('change', first.path, error)
      }
    },

    async close() {
      closed = true
      await last
      if (opened === undefined) return
      const { state, lock } = await opened
      opened = undefined
      try {
        await flush()
      } finally {
        // Whoever comes next shall find what is still to be removed, as after a kill.
        await lock.close(strays.length > 0 ? 'leaving traces' : 'whole')
        state.close()
      }
    },
  }
}

/** A change of something into what it is already is none. */
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
      hint: 'Tell the person in charge to give a stateDir that can be written.',
    },
  )
}
