import { watchVisibility } from '../call/commands/program-files.ts'
import { isWithin, type Path, parentOf } from '../paths/logical-path.ts'
import type { FileChange, FileOptions, WorkspaceFiles } from './files.ts'
import type { StepContext } from './run-step.ts'

export type WatchOptions = FileOptions & { readonly recursive?: boolean }

/** Returns the changes below a path that policy lets the run list, until the signal aborts or the workspace is closed. */
export async function watchFiles(
  { workspace, run }: Pick<StepContext, 'workspace' | 'run'>,
  files: Pick<WorkspaceFiles, 'realPath' | 'entries' | 'stat'>,
  path: string,
  { recursive = true, ...options }: WatchOptions,
): Promise<AsyncIterable<FileChange>> {
  const stat = await files.stat(path, options)
  if (stat?.type === 'directory') await files.entries(path, options)
  const start = (await files.realPath(path, options)) as Path
  const { see } = watchVisibility(workspace, run, path)
  const { signal } = options
  let waiting: FileChange[] = []
  let pathCount = 0
  const wakers: (() => void)[] = []
  const wake = () => {
    for (const waker of wakers.splice(0)) waker()
  }
  const add = (changed: readonly string[] | undefined, origin: Pick<FileChange, 'callId' | 'external'>) => {
    const paths = changed?.filter(
      (each) =>
        isWithin(each as Path, start) &&
        (recursive || each === start || parentOf(each as Path) === start) &&
        see(each as Path, 'file'),
    )
    if (paths?.length === 0) return
    waiting.push({ paths, ...origin })
    pathCount += paths?.length ?? 0
    if (pathCount > MAX_PATHS) {
      waiting = [{ paths: undefined }]
      pathCount = 0
    }
    wake()
  }
  const ends = [
    workspace.events.subscribe((event) => {
      if (event.type !== 'changed') return
      const { callId } = event
      add(event.paths, callId === undefined ? EXTERNAL : { callId })
    }),
  ]
  let isStopped = false
  const stop = () => {
    if (isStopped) return
    isStopped = true
    for (const end of ends) end()
    workspace.ends.delete(stop)
    signal?.removeEventListener('abort', stop)
    wake()
  }
  workspace.ends.add(stop)
  signal?.addEventListener('abort', stop)
  try {
    const end = await workspace.backend.watch?.(start, (paths) => add(paths, EXTERNAL), { recursive })
    // What ended meanwhile has not ended this.
    if (isStopped) end?.()
    else if (end !== undefined) ends.push(end)
  } catch (error) {
    stop()
    throw error
  }
  if (signal?.aborted) stop()
  // Not a generator: one that was never started, or that waits, would not end at once.
  const changes: AsyncIterableIterator<FileChange> = {
    [Symbol.asyncIterator]: () => changes,
    async next() {
      for (;;) {
        if (isStopped) return { done: true, value: undefined }
        const change = waiting.shift()
        pathCount -= change?.paths?.length ?? 0
        if (change !== undefined) return { done: false, value: change }
        await new Promise<void>((resolve) => {
          wakers.push(resolve)
        })
      }
    },
    async return() {
      stop()
      return { done: true, value: undefined }
    },
  }
  return changes
}

const EXTERNAL = { external: true } as const
/** With more waiting paths, one change without paths takes the place of all. */
const MAX_PATHS = 10_000
