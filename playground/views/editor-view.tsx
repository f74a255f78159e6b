import { useSignal } from '@preact/signals'
import { MAX_BYTES, type OpenFile } from '../session/open-files.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { textOf } from '../session/text.ts'
import { Icon } from '../ui/icon.tsx'
import { lazyView } from '../ui/lazy-view.tsx'
import { page, showChange } from './page-state.ts'

const CodeEditor = lazyView(async () => (await import('./code-editor.tsx')).default)
const DiffEditor = lazyView(async () => (await import('./diff-editor.tsx')).default)

/** The open files, with one of them in the editor. */
export function EditorView({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { all, active } = projectSession.files
  const open = all.value.filter(({ isOpen }) => isOpen)
  const file = open.find(({ path }) => path === active.value)
  if (file === undefined) return <NoFile projectSession={projectSession} />
  return (
    <div class="fill">
      <ul class="file-tabs" aria-label="Open files">
        {open.map(({ path, draft, theirs }) => (
          <li key={path} class={path === file.path ? 'active' : ''}>
            <button
              type="button"
              class="name"
              aria-current={path === file.path}
              title={path}
              onClick={() => {
                active.value = path
              }}
            >
              {path.slice(path.lastIndexOf('/') + 1)}
              {theirs !== undefined ? (
                <span class="tag bad">conflict</span>
              ) : draft !== undefined ? (
                <span class="unsaved" role="img" aria-label="not saved" />
              ) : null}
            </button>
            <button
              type="button"
              class="close"
              aria-label={`Close ${path}`}
              onClick={() => projectSession.files.close(path)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <FileBar projectSession={projectSession} file={file} />
      <div class="fill-rest">
        {file.theirs === undefined ? (
          <FileText projectSession={projectSession} file={file} key={file.path} />
        ) : (
          <Conflict projectSession={projectSession} file={file} key={file.path} />
        )}
      </div>
    </div>
  )
}

/** Shown while no file is open: lists the drafts whose tabs were closed. */
function NoFile({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { all } = projectSession.files
  return (
    <div class="empty">
      {all.value.length > 0 && (
        <section class="stack" aria-label="Drafts">
          <p>{all.value.length === 1 ? 'One draft is' : `${all.value.length} drafts are`} not saved yet:</p>
          {all.value.map(({ path }) => (
            <button key={path} type="button" class="button" onClick={() => void projectSession.files.open(path)}>
              <span class="mono">{path}</span>
            </button>
          ))}
        </section>
      )}
      <p>Choose a file on the left, or let the agent work.</p>
      <p>
        <kbd>Ctrl</kbd> <kbd>P</kbd> finds files and text, <kbd>F1</kbd> lists all keys.
      </p>
    </div>
  )
}

function FileBar({ projectSession, file }: { readonly projectSession: ProjectSession; readonly file: OpenFile }) {
  const isDirty = file.draft !== undefined
  return (
    <div class="bar">
      <span class="mono cut grow" title={file.path}>
        {file.path}
      </span>
      {file.trouble !== undefined && (
        <span class="tag bad cut" role="alert" title={file.trouble}>
          {file.trouble}
        </span>
      )}
      {isDirty && <span class="tag warn">draft, not saved</span>}
      {projectSession.changed.value.has(file.path) && (
        <button type="button" class="button quiet" onClick={() => showChange(file.path)}>
          Show changes
        </button>
      )}
      <button
        type="button"
        class="button quiet"
        disabled={!isDirty}
        onClick={() => void projectSession.files.revert(file.path)}
      >
        Revert
      </button>
      <button
        type="button"
        class="button"
        disabled={!isDirty}
        onClick={() => void projectSession.files.save(file.path)}
      >
        Save
      </button>
    </div>
  )
}

function FileText({ projectSession, file }: { readonly projectSession: ProjectSession; readonly file: OpenFile }) {
  const revealed = useSignal<string | undefined>(undefined)
  const lock = useSignal<string | undefined>(undefined)
  const isRequested = useSignal(false)
  if (!isRequested.value) {
    isRequested.value = true
    void projectSession.session.workspace.value.explain('read_file', { path: file.path }).then((read) => {
      if (!read.ok) lock.value = read.message
      else if (read.verdict.decision === 'deny') lock.value = read.verdict.reason
      else lock.value = ''
    })
  }
  if (lock.value === undefined) return <div class="skeleton" />
  if (lock.value !== '' && revealed.value === undefined && file.draft === undefined) {
    return (
      <div class="empty">
        <Icon name="lock" />
        <p>{lock.value}. No tool and no command of the agent can read it.</p>
        <button
          type="button"
          class="button"
          onClick={async () => {
            const { bytes } = await projectSession.project.backend.read(file.path as never)
            revealed.value = textOf(bytes)?.text ?? 'This file is not text.'
          }}
        >
          Show the content
        </button>
      </div>
    )
  }
  if (file.base === undefined && revealed.value === undefined && file.draft === undefined) {
    return (
      <div class="empty">
        <p>
          {file.sha256 === undefined
            ? 'This file no longer exists.'
            : `This file is not UTF-8 text, or it is larger than ${MAX_BYTES / 1024 / 1024} MiB.`}
        </p>
      </div>
    )
  }
  const goTo = page.goTo.value
  return (
    <CodeEditor
      path={file.path}
      label={`Text of ${file.path}`}
      text={revealed.value ?? file.draft ?? file.base?.text ?? ''}
      lineEnd={file.base?.lineEnd ?? '\n'}
      loaded={file.loaded}
      readOnly={revealed.value !== undefined || !projectSession.writable.value}
      onEdit={(text) => projectSession.files.edit(file.path, text)}
      onSave={() => void projectSession.files.save(file.path)}
      goTo={goTo?.path === file.path ? goTo : undefined}
    />
  )
}

/** Resolves a file that changed while it was edited: shows both versions and saves the right side. */
function Conflict({ projectSession, file }: { readonly projectSession: ProjectSession; readonly file: OpenFile }) {
  const mine = file.draft ?? ''
  const result = useSignal(mine)
  const theirs = file.theirs?.text?.text
  const settle = (text: string) => void projectSession.files.settle(file.path, text)
  return (
    <div class="fill">
      <div class="notice warn conflict" role="alert">
        <p>
          <strong>{file.path} has changed since you opened it.</strong> The left side shows the current file
          {file.theirs?.sha256 === undefined ? ' (empty, since it was deleted)' : ''}, the right side your text. Nothing
          is written before you choose.
        </p>
        <div class="row wrap">
          <button type="button" class="button primary" onClick={() => settle(result.value)}>
            Save the right side
          </button>
          <button type="button" class="button" onClick={() => void projectSession.files.revert(file.path)}>
            Discard my text
          </button>
        </div>
      </div>
      <div class="fill-rest">
        <DiffEditor
          path={file.path}
          before={theirs ?? ''}
          after={mine}
          inline={false}
          labels={['Current file', 'Your text']}
          onEdit={(text) => {
            result.value = text
            projectSession.files.edit(file.path, text)
          }}
        />
      </div>
    </div>
  )
}
