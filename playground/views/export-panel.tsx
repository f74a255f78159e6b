import { download } from '../projects/download.ts'
import { patchOf } from '../projects/export-patch.ts'
import { zipOf } from '../projects/export-zip.ts'
import type { Progress, Task } from '../projects/types.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { during } from './app-state.ts'

/** The open project, out of the browser. */
export function ExportPanel({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { backend, info } = projectSession.project
  const { name } = info
  const take = async (file: string, make: (task: Task) => Promise<Blob | string>) => {
    const stop = new AbortController()
    const made = await during(`Making ${file}`, stop, (onProgress: (progress: Progress) => void) =>
      make({ onProgress, signal: stop.signal }),
    )
    if (made !== undefined) download(file, made)
  }
  return (
    <section class="stack">
      <h3>Take “{name}” along</h3>
      <div class="row wrap">
        <button type="button" class="button" onClick={() => void take(`${name}.zip`, (task) => zipOf(backend, task))}>
          As a zip
        </button>
        <button
          type="button"
          class="button"
          onClick={() =>
            void take(`${name}.patch`, async () => (await patchOf(projectSession.session.workspace.value.call)).text)
          }
        >
          Its changes as a patch
        </button>
        <button
          type="button"
          class="button"
          onClick={() =>
            void take(`${name}-repository.zip`, async (task) => {
              const { repositoryOf } = await import('../projects/export-repository.ts')
              return repositoryOf(backend, { name }, task)
            })
          }
        >
          As a git repository
        </button>
      </div>
    </section>
  )
}
