import type { EditorSnapshot } from '../../ui/editor.ts'
import { scrollable } from '../parts/focusable.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { EditorProperties } from '../properties.ts'
import styles from './editor.css?inline'

export { styles }

/** The open file as a text. Ctrl+S saves it. */
export function View({ controller, ownText = false }: EditorProperties) {
  const snapshot = useSnapshot(controller)
  const { path, text, isLoading, readOnly, trouble, conflict } = snapshot
  if (path === undefined) {
    return (
      <slot name="empty">
        <p class="empty">Open a file to read or edit it.</p>
      </slot>
    )
  }
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
      {conflict !== undefined && (
        <Conflict controller={controller} path={path} theirs={ownText ? undefined : conflict} />
      )}
      {ownText ? (
        <slot name="text" />
      ) : (
        <textarea
          class="field mono text"
          aria-label={`Text of ${path}`}
          readOnly={readOnly !== undefined || isLoading}
          spellcheck={false}
          wrap="off"
          value={text}
          onInput={({ currentTarget }) => controller.edit(currentTarget.value)}
        />
      )}
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
      <button
        type="button"
        class="button"
        disabled={!isChanged || isSaving || conflict !== undefined}
        onClick={() => void controller.save()}
      >
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
  theirs,
}: EditorProperties & {
  readonly path: string
  /** The text of the file, unless the page shows it. */
  readonly theirs: string | undefined
}) {
  return (
    <div class="notice warn stack conflict" role="alert">
      <p>
        <strong>{path} has changed since you opened it.</strong> Nothing is written before you choose.
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
          onClick={() => {
            controller.resolve('own')
            void controller.save()
          }}
        >
          Save my text
        </button>
        <button type="button" class="button" onClick={() => controller.resolve('theirs')}>
          Take their text
        </button>
      </div>
    </div>
  )
}
