import { useEffect, useRef, useState } from 'preact/hooks'
import { canSave, type EditorSnapshot } from '../../ui/editor.ts'
import codeStyles from '../code/code.css?inline'
import type { CodeMirror } from '../code/codemirror.ts'
import { scrollable } from '../parts/focusable.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { EditorProperties } from '../properties.ts'
import editorStyles from './editor.css?inline'

export const styles = `${codeStyles}\n${editorStyles}`

/** What shows a text with colours. */
interface Code {
  readonly codeMirror: CodeMirror
  readonly CodeEditor: typeof import('../code/code-editor.tsx').CodeEditor
  readonly DiffEditor: typeof import('../code/diff-editor.tsx').DiffEditor
}

/** Returns null when the packages are not installed. */
async function loadCode(): Promise<Code | null> {
  const [{ loadCodeMirror }, { CodeEditor }, { DiffEditor }] = await Promise.all([
    import('../code/codemirror.ts'),
    import('../code/code-editor.tsx'),
    import('../code/diff-editor.tsx'),
  ])
  const codeMirror = await loadCodeMirror()
  return codeMirror === undefined ? null : { codeMirror, CodeEditor, DiffEditor }
}

/** The open file as a text. Ctrl+S saves it. */
export function View(properties: EditorProperties) {
  const { controller, ownText } = properties
  const snapshot = useSnapshot(controller)
  const { path, isLoading, readOnly, trouble, conflict } = snapshot
  const [code, setCode] = useState<Code | null>()
  useEffect(() => void loadCode().then(setCode), [])
  if (path === undefined) {
    return (
      <slot name="empty">
        <p class="empty">Open a file to read or edit it.</p>
      </slot>
    )
  }
  const text = { properties, snapshot, path }
  return (
    <section
      class="fill"
      aria-label={`Editor of ${path}`}
      aria-busy={isLoading}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
        event.preventDefault()
        void controller.save()
      }}
    >
      <Head controller={controller} snapshot={snapshot} path={path} />
      <p class={trouble === undefined ? 'visually-hidden' : 'notice bad'} role="status">
        {trouble ?? (readOnly && `Cannot be changed: ${readOnly}`)}
      </p>
      {conflict !== undefined && <Conflict {...{ controller, path, snapshot }} theirs={code ? undefined : conflict} />}
      {ownText && conflict === undefined ? (
        <slot name="text" />
      ) : code === undefined || isLoading ? (
        <div class="skeleton" />
      ) : code === null ? (
        <PlainText {...text} />
      ) : (
        <CodeText {...text} code={code} key={path} />
      )}
    </section>
  )
}

interface TextProps {
  readonly properties: EditorProperties
  readonly snapshot: EditorSnapshot
  readonly path: string
}

function PlainText({ properties: { controller }, snapshot: { text, readOnly }, path }: TextProps) {
  return (
    <textarea
      class="field mono text"
      aria-label={`Text of ${path}`}
      readOnly={readOnly !== undefined}
      spellcheck={false}
      wrap="off"
      value={text}
      onInput={({ currentTarget }) => controller.edit(currentTarget.value)}
    />
  )
}

/** The text with colours, or a difference: both texts of a conflict, or a change that the page shows. */
function CodeText({ properties, snapshot, path, code }: TextProps & { readonly code: Code }) {
  const { controller, change, lines, goTo, wraps, find } = properties
  const { text, conflict, isChanged, readOnly } = snapshot
  const { codeMirror, CodeEditor, DiffEditor } = code
  // What the person types is in the field already.
  const inField = useRef({ text, loaded: 1 })
  if (text !== inField.current.text) inField.current = { text, loaded: inField.current.loaded + 1 }
  const edit = (typed: string) => {
    if (controller.snapshot.path !== path) return
    inField.current.text = typed
    controller.edit(typed)
  }
  if (conflict !== undefined) {
    return (
      <>
        <p class="bar muted">
          The left side is the current file{conflict === '' && ' (empty or deleted)'}, the right side is your text.
        </p>
        <div class="fill-rest">
          <DiffEditor
            {...{ codeMirror, path, before: conflict, after: text, inline: false, onEdit: edit }}
            labels={['Current file', 'Your text']}
          />
        </div>
      </>
    )
  }
  if (change !== undefined && !isChanged) {
    return (
      <div class="fill-rest">
        <DiffEditor
          {...{ codeMirror, path, ...change, inline: true }}
          labels={['Before the edit', 'After the edit']}
          key={change.before}
        />
      </div>
    )
  }
  return (
    <div class="fill-rest">
      <CodeEditor
        {...{ codeMirror, path, text, lines, goTo, wraps, find }}
        label={`Text of ${path}`}
        loaded={inField.current.loaded}
        readOnly={readOnly !== undefined}
        onEdit={edit}
        onSave={() => void controller.save()}
      />
    </div>
  )
}

function Head({
  controller,
  snapshot,
  path,
}: EditorProperties & { readonly snapshot: EditorSnapshot; readonly path: string }) {
  const { isChanged, readOnly } = snapshot
  return (
    <div class="bar">
      <span class="mono cut grow" title={path}>
        {path}
      </span>
      <slot name="marks" />
      {readOnly !== undefined && <span class="tag">read only</span>}
      {isChanged && <span class="tag warn">draft, not saved</span>}
      <slot name="actions" />
      <button type="button" class="button quiet" disabled={!isChanged} onClick={() => void controller.discard()}>
        Revert
      </button>
      <button type="button" class="button" disabled={!canSave(snapshot)} onClick={() => void controller.save()}>
        Save
      </button>
      <slot name="menu" />
    </div>
  )
}

/** Asks which text stays, when somebody else has changed the file. */
function Conflict({
  controller,
  path,
  snapshot: { isDeleted, conflictCause, readOnly },
  theirs,
}: EditorProperties & {
  readonly path: string
  readonly snapshot: EditorSnapshot
  /** The text of the file, unless it is shown beside the person's. */
  readonly theirs: string | undefined
}) {
  return (
    <div class="notice warn stack conflict" role="alert">
      <p>
        <strong>
          {path} {conflictCause ?? `has been ${isDeleted ? 'deleted' : 'changed'}`} since you opened it.
        </strong>{' '}
        Nothing is written before you choose.
      </p>
      {theirs !== undefined && (
        <details>
          <summary>Their text</summary>
          <pre class="box" {...scrollable}>
            {theirs}
          </pre>
        </details>
      )}
      <div class="row wrap">
        <button
          type="button"
          class="button primary"
          disabled={readOnly !== undefined}
          onClick={() => {
            controller.resolve('own')
            void controller.save()
          }}
        >
          {isDeleted ? 'Save it as a new file' : 'Save my text'}
        </button>
        <button type="button" class="button" onClick={() => controller.resolve('theirs')}>
          {isDeleted ? 'Drop my text' : 'Take their text'}
        </button>
      </div>
    </div>
  )
}
