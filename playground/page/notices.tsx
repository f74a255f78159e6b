import { IconButton } from '../../src/elements/parts/icon-button.tsx'
import type { ProjectSession } from '../session/project-session.ts'
import { app, openProject } from './app-state.ts'

/** Errors, warnings and the state of the project in other tabs. */
export function Notices({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const { trouble, warnings, elsewhere } = app
  const unsaved = projectSession?.session.trouble.value
  const isReading = projectSession !== undefined && !projectSession.writable.value
  const id = projectSession?.project.info.id ?? ''
  return (
    <div class="notices">
      {trouble.value !== undefined && (
        <div class="notice bad row" role="alert">
          <span class="grow">{trouble.value.text}</span>
          {trouble.value.tryAgain !== undefined && (
            <button type="button" class="button" onClick={trouble.value.tryAgain}>
              Try again
            </button>
          )}
          <IconButton
            icon="close"
            label="Dismiss"
            onClick={() => {
              trouble.value = undefined
            }}
          />
        </div>
      )}
      {isReading && (
        <div class="notice warn row" role="status">
          <span class="grow">
            {elsewhere.value === 'free'
              ? 'The other tab has released this project.'
              : 'Another tab works on this project. This tab shows it read-only.'}
          </span>
          <button type="button" class="button" onClick={() => void openProject(id, { takeOver: true })}>
            {elsewhere.value === 'free' ? 'Work on it here' : 'Take it over'}
          </button>
        </div>
      )}
      {unsaved !== undefined && !isReading && (
        <div class="notice bad" role="alert">
          Cannot save conversation and history: {unsaved}
        </div>
      )}
      {warnings.value.texts.length > 0 && (
        <div class="notice warn row" role="status">
          <details class="grow">
            <summary>{warnings.value.about}</summary>
            <ul>
              {warnings.value.texts.slice(0, 100).map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          </details>
          <IconButton
            icon="close"
            label="Dismiss"
            onClick={() => {
              warnings.value = { about: '', texts: [] }
            }}
          />
        </div>
      )}
    </div>
  )
}

/** The progress of a long operation, with a button to cancel it. */
export function ProgressNotice() {
  const operation = app.operation.value
  if (operation === undefined) return null
  const { title, progress, stop } = operation
  return (
    <section class="doing" role="status" aria-label="Progress">
      <div class="row">
        <strong class="grow cut">{title}</strong>
        {stop !== undefined && (
          <button type="button" class="button" onClick={() => stop.abort()}>
            Cancel
          </button>
        )}
      </div>
      <progress
        aria-label={title}
        {...(progress?.total === undefined ? {} : { max: progress.total, value: progress.done })}
      />
      <span class="muted">
        {progress === undefined
          ? '\u00a0'
          : `${progress.phase}: ${progress.done}${progress.total === undefined ? '' : ` of ${progress.total}`}`}
      </span>
    </section>
  )
}
