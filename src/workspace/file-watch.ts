import { watchVisibility } from '../call/watch-visibility.ts'
import { ToolError } from '../errors.ts'
import { isWithin, type Path, parentOf, parsePath } from '../paths/logical-path.ts'
import { nameLabelOf } from '../policy/name-labels.ts'
import { throwIfAborted } from '../util/abort.ts'
import type { FileChange, FileOptions, WorkspaceFiles } from './files.ts'
import type { StepContext } from './run-step.ts'

export type WatchOptions = FileOptions & { readonly recursive?: boolean }

/** Returns the changes below a path that policy lets the run list, until the signal aborts or the workspace is closed. */
export async function watchFiles(
  { workspace, run }: Pick<StepContext, 'workspace' | 'run'>,
  files: Pick<WorkspaceFiles, 'realPath' | 'entries' | 'stat' | 'list'>,
  path: string,
  { recursive = true, ...options }: WatchOptions,
): Promise<AsyncIterable<FileChange>> {
  throwIfAborted(options.signal, 'files.watch was cancelled')
  const start = await startOf(workspace, files, path, options)
  const { see } = watchVisibility(workspace, run, path)
  const { signal } = options
  const changes = new WaitingChanges(() => stop())
  const add = (changed: readonly string[] | undefined, origin: Pick<FileChange, 'callId' | 'external'>) => {
    const paths = changed?.filter(
      (each) =>
        isWithin(each as Path, start) &&
        (recursive || each === start || parentOf(each as Path) === start) &&
        see(each as Path, 'file'),
    )
    if (paths?.length === 0) return
    for (const each of paths ?? []) {
      const name = nameLabelOf(each, workspace.nameLabels)
      if (name !== undefined) run.taint.raise({ ...name, callId: origin.callId ?? run.id, tool: 'list_directory' })
    }
    changes.add({ paths, ...origin })
  }
  const ends = [
    workspace.events.subscribe((event) => {
      if (event.type !== 'changed') return
      const { callId } = event
      add(event.paths, callId === undefined ? EXTERNAL : { callId })
    }),
  ]
  const stop = () => {
    for (const end of ends.splice(0)) end()
    workspace.ends.delete(stop)
    signal?.removeEventListener('abort', stop)
    changes.end()
  }
  workspace.ends.add(stop)
  signal?.addEventListener('abort', stop)
  try {
    const end = await workspace.backend.watch?.(start, (paths) => add(paths, EXTERNAL), { recursive })
    if (end !== undefined) ends.push(end)
  } catch (error) {
    stop()
    throw error
  }
  // It may have ended before the backend had opened its watch.
  if (changes.isEnded || signal?.aborted) stop()
  return changes
}

/**
 * Returns the real path of what is watched.
 *
 * @throws ToolError if the run may see neither that nor anything in it
 */
async function startOf(
  { backend }: StepContext['workspace'],
  files: Parameters<typeof watchFiles>[1],
  path: string,
  options: FileOptions,
): Promise<Path> {
  try {
    const stat = await files.stat(path, options)
    if (stat?.type === 'directory') await files.entries(path, options)
    return (await files.realPath(path, options)) as Path
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'POLICY_DENIED') throw error
    // A directory that leads to allowed files is listed, though it is not allowed itself.
    await files.list(path)
    return backend.canonical(parsePath(path))
  }
}

const EXTERNAL = { external: true } as const
/** With more waiting paths, one change without paths takes the place of all. */
const MAX_PATHS = 10_000

/** Changes that wait for a reader. Not a generator: one that was never started, or that waits, would not end at once. */
class WaitingChanges implements AsyncIterableIterator<FileChange> {
  readonly #stop: () => void
  #waiting: FileChange[] = []
  #pathCount = 0
  readonly #wakers: (() => void)[] = []
  #isEnded = false

  /** @param stop called when the reader leaves */
  constructor(stop: () => void) {
    this.#stop = stop
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  add(change: FileChange): void {
    this.#waiting.push(change)
    this.#pathCount += change.paths?.length ?? 0
    if (this.#pathCount > MAX_PATHS) {
      this.#waiting = [{ paths: undefined }]
      this.#pathCount = 0
    }
    this.#wake()
  }

  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  async next(): Promise<IteratorResult<FileChange>> {
    for (;;) {
      if (this.#isEnded) return { done: true, value: undefined }
      const change = this.#waiting.shift()
      if (change !== undefined) {
        this.#pathCount -= change.paths?.length ?? 0
        return { done: false, value: change }
      }
      await new Promise<void>((resolve) => {
        this.#wakers.push(resolve)
      })
    }
  }

  async return(): Promise<IteratorResult<FileChange>> {
    this.#stop()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #wake(): void {
    for (const waker of this.#wakers.splice(0)) waker()
  }
}
