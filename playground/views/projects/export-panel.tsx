import { useSignal } from '@preact/signals'
import { copyText } from '../../../src/elements/parts/copy-text.ts'
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
}

/** What an export left out, or why it failed. */
interface Outcome {
  readonly about: string
  readonly leftOut?: readonly string[]
}

/** Exports the open project from the browser. */
export function ExportPanel({ projectSession, showProgress, ...present }: ExportPanelProps) {
  const { backend, info } = projectSession.project
  const name = present.name ?? info.name
  const outcome = useSignal<Outcome | undefined>(undefined)
  const exportAs = async (title: string, make: (task: Task) => Promise<void>) => {
    const stop = new AbortController()
    outcome.value = undefined
    await showProgress(title, stop, async (onProgress) => {
      try {
        await make({ onProgress, signal: stop.signal })
      } catch (error) {
        // The page shows its troubles behind the dialog.
        if (!stop.signal.aborted) outcome.value = { about: error instanceof Error ? error.message : String(error) }
      }
    })
  }
  const onLeftOut = (about: string, leftOut: readonly string[]) => {
    if (leftOut.length > 0) outcome.value = { about, leftOut }
  }
  const exportFile = (file: string, make: (task: Task) => Promise<Blob | string>) =>
    exportAs(`Creating ${file}`, async (task) => download(file, await make(task)))
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
              onLeftOut('The patch is not complete', patch.leftOut)
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
        <ShareButton projectSession={projectSession} name={name} exportAs={exportAs} onLeftOut={onLeftOut} />
      </div>
      {outcome.value !== undefined && <OutcomeNotice {...outcome.value} />}
    </section>
  )
}

function OutcomeNotice({ about, leftOut = [] }: Outcome) {
  if (leftOut.length === 0) {
    return (
      <p class="notice bad" role="alert">
        {about}
      </p>
    )
  }
  return (
    <div class="notice warn" role="status">
      <p>{about}</p>
      <ul>
        {leftOut.slice(0, 100).map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  )
}

interface ShareButtonProps extends Pick<ExportPanelProps, 'projectSession'> {
  readonly name: string
  readonly exportAs: (title: string, make: () => Promise<void>) => Promise<void>
  readonly onLeftOut: (about: string, leftOut: readonly string[]) => void
}

/** Makes a link that contains the project. */
function ShareButton({ projectSession, name, exportAs, onLeftOut }: ShareButtonProps) {
  const link = useSignal<string | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const copied = useSignal('')
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
    copied.value = ''
    onLeftOut('The link is not complete', shared?.leftOut ?? [])
  }
  return (
    <>
      <button type="button" class="button" onClick={() => void exportAs('Creating a link', make)}>
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
              copied.value = await copyText(link.value ?? '', 'Copied')
            }}
          >
            Copy
          </button>
          <span class="muted" role="status">
            {copied.value}
          </span>
        </div>
      )}
      {link.value !== undefined && (
        <p class="muted">The link contains the files. Everyone who has it can read them; no server gets them.</p>
      )}
    </>
  )
}
