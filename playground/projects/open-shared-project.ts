import { type Backend, ToolError } from 'wardspace'
import { directoryByteStore } from './byte-store.ts'
import { withHandover } from './handover.ts'
import { openStoredProject } from './open-stored-project.ts'
import { isPresent, privateDirectory } from './private-storage.ts'
import { acquireProjectLock, type ProjectLock } from './project-lock.ts'
import type { Elsewhere, OpenProject, ProjectInfo } from './types.ts'

/** Opens a project that other tabs may open too. Only one of the tabs writes. */
export async function openSharedProject(
  info: ProjectInfo,
  options: { readonly takeOver?: boolean },
): Promise<OpenProject> {
  const listeners = new Set<(event: Elsewhere) => void>()
  const emit = (event: Elsewhere): void => {
    for (const listener of listeners) listener(event)
  }
  const writing = new Set<Promise<unknown>>()
  let lock: ProjectLock | undefined
  const mayWrite = (): boolean => lock?.writable === true
  /** Set while listeners save their state because another tab takes the project over. */
  let isLeaving = false
  const directory = await privateDirectory(info.id, 'kept')
  /** Throws if the browser has removed the storage of the page. */
  const check = async (): Promise<void> => {
    if (await isPresent(directory)) return
    emit({ kind: 'lost' })
    const hint = '“Store them again” above the page keeps the files.'
    throw new ToolError('BACKEND_ERROR', 'Cannot use the storage of this project: the browser has removed it', { hint })
  }
  const checkShown = (): void => {
    if (document.visibilityState === 'visible' && mayWrite()) void check().catch(() => {})
  }
  document.addEventListener('visibilitychange', checkShown)
  const kept = withHandover(
    directoryByteStore(directory, () => isLeaving || mayWrite(), check),
    info.id,
  )
  lock = await acquireProjectLock(info.id, options, {
    async onLost() {
      isLeaving = true
      emit({ kind: 'taken' })
      isLeaving = false
      await Promise.allSettled([kept.settled(), ...writing])
    },
    onFree: () => emit({ kind: 'free' }),
  })
  const projectLock = lock
  try {
    const stored = await openStoredProject(info.storage, info.id, (paths) => emit({ kind: 'changed', paths }))
    const backend: Backend = {
      ...stored,
      commit(changes, options) {
        if (!mayWrite()) {
          const message = `Cannot change "${changes[0]?.path ?? ''}": another tab has the project`
          return Promise.reject(new ToolError('READ_ONLY', message))
        }
        // The files of a picked folder are elsewhere.
        const isSafe = info.storage === 'opfs' ? check() : Promise.resolve()
        const committed = isSafe.then(() => stored.commit(changes, options))
        writing.add(committed)
        const done = (): void => void writing.delete(committed)
        committed.then(done, done)
        return committed
      },
    }
    return {
      info,
      backend,
      kept,
      get writable() {
        return mayWrite()
      },
      onElsewhere(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      async close() {
        document.removeEventListener('visibilitychange', checkShown)
        await kept.settled()
        await stored.close()
        await projectLock.release()
      },
    }
  } catch (error) {
    await projectLock.release()
    throw error
  }
}
