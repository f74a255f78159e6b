import type { Editor, EditorSnapshot } from '../../ui/editor.ts'
import { scrollable } from '../parts/focusable.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { EditorProperties } from '../properties.ts'
import styles from './editor.css?inline'

export { styles }

/** The open file as a text. Ctrl+S saves it. */
export function View({ controller }: EditorProperties) {
  const snapshot = useSnapshot(controller)
  const { path, text, isLoading, readOnly, trouble, conflict } = snapshot
  if (path === undefined) return <p class="empty">Open a file to read or edit it.</p>
  return (
    <section
      class="fill"
      aria-label={`Editor of ${path}`}
      aria-busy={isLoading}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        void controller.save()
      }}
    >
      <Head controller={controller} snapshot={snapshot} path={path} />
      <p class={trouble === undefined ? 'visually-hidden' : 'notice bad'} role="status">
        {trouble ?? (readOnly && `Cannot be changed: ${readOnly}`)}
      </p>
      {conflict !== undefined && <Conflict controller={controller} theirs={conflict} />}
      <textarea
        class="field mono text"
        aria-label={`Text of ${path}`}
        readOnly={readOnly !== undefined || isLoading}
        spellcheck={false}
        wrap="off"
        value={text}
        onInput={({ currentTarget }) => controller.edit(currentTarget.value)}
      />
    </section>
  )
}

function Head({
  controller,
  snapshot: { isChanged, isSaving, conflict, readOnly },
  path,
}: EditorProperties & { readonly snapshot: EditorSnapshot; readonly path: string }) {
  return (
    <div class="bar">
      <strong class="mono cut grow">{path}</strong>
      {readOnly !== undefined && <span class="tag">read only</span>}
      {isChanged && <span class="tag changed">not saved</span>}
      <button type="button" class="button quiet" disabled={!isChanged} onClick={() => void controller.discard()}>
        Discard
      </button>
      <button
        type="button"
        class="button primary"
        disabled={!isChanged || isSaving || conflict !== undefined}
        onClick={() => void controller.save()}
      >
        Save
      </button>
    </div>
  )
}

/** Asks which text stays, when somebody else has changed the file. */
function Conflict({ controller, theirs }: { readonly controller: Editor; readonly theirs: string }) {
  return (
    <div class="notice warn stack" role="alert">
      <p>Somebody else has changed this file since you began. Nothing is overwritten before you choose.</p>
      <details>
        <summary>Their text</summary>
        <pre class="box" {...scrollable}>
          {theirs}
        </pre>
      </details>
      <div class="row wrap">
        <button type="button" class="button" onClick={() => controller.resolve('own')}>
          Keep my text
        </button>
        <button type="button" class="button" onClick={() => controller.resolve('theirs')}>
          Take their text
        </button>
      </div>
    </div>
  )
}
