import { watchVisibility } from '../call/commands/program-files.ts'
import { isWithin, type Path } from '../paths/logical-path.ts'
import type { FileChange, FileOptions, WorkspaceFiles } from './files.ts'
import type { StepContext } from './run-step.ts'

/** Returns the changes below a path that policy lets the run list, until the signal aborts. */
export async function watchFiles(
  { workspace, run }: Pick<StepContext, 'workspace' | 'run'>,
  files: Pick<WorkspaceFiles, 'realPath' | 'entries' | 'stat'>,
  path: string,
  options: FileOptions,
): Promise<AsyncIterable<FileChange>> {
  const stat = await files.stat(path, options)
  if (stat?.type === 'directory') await files.entries(path, options)
  const start = (await files.realPath(path, options)) as Path
  const { see } = watchVisibility(workspace, run, path)
  const { signal } = options
  const changes: FileChange[] = []
  let wake = () => {}
  const unsubscribe = workspace.events.subscribe((event) => {
    if (event.type !== 'changed') return
    const paths = event.paths?.filter((each) => isWithin(each as Path, start) && see(each as Path, 'file'))
    if (paths?.length === 0) return
    changes.push({ paths, ...(event.callId === undefined ? {} : { callId: event.callId }) })
    wake()
  })
  const stop = () => {
    unsubscribe()
    wake()
  }
  signal?.addEventListener('abort', stop)
  async function* yieldChanges() {
    try {
      while (signal?.aborted !== true) {
        const change = changes.shift()
        if (change !== undefined) yield change
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      stop()
      signal?.removeEventListener('abort', stop)
    }
  }
  return yieldChanges()
}
