import { app, showProgress } from '../../page/app-state.ts'
import { download } from '../../projects/download.ts'
import { zipOf } from '../../projects/export-zip.ts'
import type { Progress, Task } from '../../projects/types.ts'
import type { ProjectSession } from '../../session/project-session.ts'

/** Exports the open project from the browser. */
export function ExportPanel({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { backend, info } = projectSession.project
  const { name } = info
  const exportFile = async (file: string, make: (task: Task) => Promise<Blob | string>) => {
    const stop = new AbortController()
    const content = await showProgress(`Creating ${file}`, stop, (onProgress: (progress: Progress) => void) =>
      make({ onProgress, signal: stop.signal }),
    )
    if (content !== undefined) download(file, content)
  }
  return (
    <section class="stack">
      <h3>Export “{name}”</h3>
      <div class="row wrap">
        <button
          type="button"
          class="button"
          onClick={() => void exportFile(`${name}.zip`, (task) => zipOf(backend, task))}
        >
          As a zip
        </button>
        <button
          type="button"
          class="button"
          onClick={() =>
            void exportFile(`${name}.patch`, async () => {
              const { projectPatch } = await import('../../session/project-patch.ts')
              const patch = await projectPatch(projectSession.project, projectSession.session.workspace.value.history())
              app.warnings.value = { about: 'The patch is not complete', texts: patch.warnings }
              return patch.text
            })
          }
        >
          Changes as a patch
        </button>
        <button
          type="button"
          class="button"
          onClick={() =>
            void exportFile(`${name}-repository.zip`, async (task) => {
              const { repositoryOf } = await import('../../projects/export-repository.ts')
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
