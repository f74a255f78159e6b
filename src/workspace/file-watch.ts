import { watchVisibility } from '../call/commands/program-files.ts'
import { isWithin, type Path, parentOf } from '../paths/logical-path.ts'
import type { FileChange, FileOptions, WorkspaceFiles } from './files.ts'
import type { StepContext } from './run-step.ts'

export type WatchOptions = FileOptions & { readonly recursive?: boolean }

/** Returns the changes below a path that policy lets the run list, until the signal aborts. */
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
  const changes = new WaitingChanges((changed) => {
    if (!isWithin(changed, start) || !see(changed, 'file')) return false
    return recursive || changed === start || parentOf(changed) === start
  })
  const unsubscribe = workspace.events.subscribe((event) => {
    if (event.type !== 'changed') return
    const { callId } = event
    changes.add(event.paths as readonly Path[] | undefined, callId === undefined ? { external: true } : { callId })
  })
  let endOutside = () => {}
  const stop = () => {
    unsubscribe()
    endOutside()
    changes.wake()
  }
  signal?.addEventListener('abort', stop)
  try {
    const onChange = (paths: readonly Path[] | undefined) => changes.add(paths, { external: true })
    endOutside = (await workspace.backend.watch?.(start, onChange, { recursive })) ?? endOutside
    if (signal?.aborted === true) stop()
  } catch (error) {
    stop()
    throw error
  }
  async function* yieldChanges() {
    try {
      while (signal?.aborted !== true) {
        const change = changes.take()
        if (change !== undefined) yield change
        else await changes.added()
      }
    } finally {
      stop()
      signal?.removeEventListener('abort', stop)
    }
  }
  return yieldChanges()
}

/** The changes that nobody has taken yet. */
class WaitingChanges {
  readonly #shows: (path: Path) => boolean
  #changes: FileChange[] = []
  #pathCount = 0
  wake = () => {}

  constructor(shows: (path: Path) => boolean) {
    this.#shows = shows
  }

  add(changed: readonly Path[] | undefined, origin: Pick<FileChange, 'callId' | 'external'>): void {
    const paths = changed?.filter(this.#shows)
    if (paths?.length === 0) return
    this.#pathCount += paths?.length ?? 1
    if (this.#pathCount > MAX_PATHS) {
      this.#changes = [{ paths: undefined }]
      this.#pathCount = 1
    } else this.#changes.push({ paths, ...origin })
    this.wake()
  }

  take(): FileChange | undefined {
    const change = this.#changes.shift()
    this.#pathCount -= change?.paths?.length ?? (change === undefined ? 0 : 1)
    return change
  }

  added(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve
    })
  }
}

const MAX_PATHS = 10_000
