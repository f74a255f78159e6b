import { useSignal } from '@preact/signals'
import { download } from '../../projects/download.ts'
import { zipOf } from '../../projects/export-zip.ts'
import type { Progress, Task } from '../../projects/types.ts'
import type { ProjectSession } from '../../session/project-session.ts'

export interface ExportPanelProps {
  readonly projectSession: Pick<ProjectSession, 'project' | 'session' | 'look'>
  /** The present name of the project, if it was renamed. */
  readonly name?: string | undefined
  /** Runs a long operation and shows its progress. Returns `undefined` and shows the error if it fails. */
  readonly showProgress: <T>(
    title: string,
    stop: AbortController,
    act: (onProgress: (progress: Progress) => void) => Promise<T>,
  ) => Promise<T | undefined>
  /** Called with what an export left out. */
  readonly onWarnings: (about: string, texts: readonly string[]) => void
}

/** Exports the open project from the browser. */
export function ExportPanel({ projectSession, showProgress, onWarnings, ...present }: ExportPanelProps) {
  const { backend, info } = projectSession.project
  const name = present.name ?? info.name
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
              onWarnings('The patch is not complete', patch.warnings)
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
        <ShareButton projectSession={projectSession} name={name} onWarnings={onWarnings} />
      </div>
    </section>
  )
}

type ShareButtonProps = Pick<ExportPanelProps, 'projectSession' | 'onWarnings'> & { readonly name: string }

/** Makes a link that contains the project. */
function ShareButton({ projectSession, name, onWarnings }: ShareButtonProps) {
  const link = useSignal<string | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const copied = useSignal(false)
  const make = async () => {
    const [{ sharedFiles }, { MAX_LINK, shareLink }] = await Promise.all([
      import('../../session/shared-files.ts'),
      import('../../projects/share-link.ts'),
    ])
    const shared = await sharedFiles(projectSession.project, projectSession.look)
    const made = shared && shareLink(document.baseURI, name, shared.files)
    const fits = made !== undefined && made.length <= MAX_LINK
    link.value = fits ? made : undefined
    trouble.value = fits
      ? undefined
      : 'This project is too large for a link. Share it as a zip: dropped onto this page, it opens.'
    copied.value = false
    if (shared !== undefined && shared.leftOut.length > 0) onWarnings('The link is not complete', shared.leftOut)
  }
  return (
    <>
      <button type="button" class="button" onClick={() => void make()}>
        As a link
      </button>
      {trouble.value !== undefined && <p role="alert">{trouble.value}</p>}
      {link.value !== undefined && (
        <div class="row share-link">
          <input class="field mono grow" aria-label="Link that contains the project" readOnly value={link.value} />
          <button
            type="button"
            class="button"
            onClick={async () => {
              await navigator.clipboard?.writeText(link.value ?? '')
              copied.value = true
            }}
          >
            Copy
          </button>
          <span class="muted" role="status">
            {copied.value ? 'Copied' : ''}
          </span>
        </div>
      )}
      {link.value !== undefined && (
        <p class="muted">The link contains the files. Everyone who has it can read them; no server gets them.</p>
      )}
    </>
  )
}
