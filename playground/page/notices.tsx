import type { Signal } from '@preact/signals'
import { IconButton } from '../../src/elements/parts/icon-button.tsx'
import type { ProjectSession } from '../session/project-session.ts'
import { app, openProject, storeAgain, type Trouble } from './app-state.ts'

/** Errors, warnings and the state of the project in other tabs. */
export function Notices({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const { trouble, notice, warnings, elsewhere } = app
  const unsaved = projectSession?.trouble.value
  const isLost = elsewhere.value === 'lost'
  const isReading = projectSession !== undefined && !projectSession.writable.value
  const id = projectSession?.project.info.id ?? ''
  return (
    <div class="notices">
      <Dismissable of={trouble} kind="bad" role="alert" />
      <Dismissable of={notice} kind="warn" role="status" />
      {projectSession !== undefined && <Dismissable of={projectSession.files.notice} kind="warn" role="status" />}
      {isReading && (
        <div class="notice warn row" role="status">
          <span class="grow">
            {elsewhere.value === 'free'
              ? 'No other tab works on this project any more.'
              : elsewhere.value === 'taken'
                ? 'Another tab has taken this project over. If the agent worked here, it was stopped. This tab only shows the project.'
                : 'Another tab works on this project, and this one only shows it. If you take it over, the other tab saves its work, stops its agent and only shows the project.'}
          </span>
          <button type="button" class="button" onClick={() => void openProject(id, { takeOver: true })}>
            {elsewhere.value === 'free' ? 'Work on it here' : 'Take it over'}
          </button>
        </div>
      )}
      {isLost && projectSession !== undefined && <Loss projectSession={projectSession} />}
      {unsaved !== undefined && !isReading && !isLost && (
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

interface DismissableProps {
  readonly of: Signal<Trouble | undefined>
  readonly kind: 'bad' | 'warn'
  readonly role: 'alert' | 'status'
}

/** An error or a notice that stays until the person dismisses it or acts. */
function Dismissable({ of, kind, role }: DismissableProps) {
  const { value } = of
  if (value === undefined) return null
  return (
    <div class={`notice ${kind} row`} role={role}>
      <span class="grow">{value.text}</span>
      {value.action !== undefined && (
        <button type="button" class="button" onClick={value.action.act}>
          {value.action.label}
        </button>
      )}
      <IconButton
        icon="close"
        label="Dismiss"
        onClick={() => {
          value.onDismiss?.()
          of.value = undefined
        }}
      />
    </div>
  )
}

/** The browser has removed the storage while the project is open. */
function Loss({ projectSession }: { readonly projectSession: ProjectSession }) {
  const isHere = projectSession.project.info.storage === 'opfs'
  return (
    <div class="notice bad row" role="alert">
      <span class="grow">
        {isHere
          ? 'The browser has removed the stored files of this project. Only this tab still has them, with the open conversation and the history: store them again before you close it.'
          : 'The browser has removed the stored conversation and history of this project. The files in your folder are not affected.'}
      </span>
      {isHere && (
        <button type="button" class="button" onClick={() => void storeAgain(projectSession)}>
          Store them again
        </button>
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
