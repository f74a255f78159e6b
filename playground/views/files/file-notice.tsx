import { useLayoutEffect, useRef } from 'preact/hooks'
import { restoreFocus } from '../../../src/elements/parts/focusable.ts'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { baseNameOf, type FileActions } from '../../session/file-actions.ts'

/** What the last action on files did, with Undo, or the question whether to replace a file. */
export function FileNotice({ actions }: { readonly actions: FileActions }) {
  const notice = actions.notice.value
  if (actions.question.value !== undefined) return <ReplaceQuestion actions={actions} />
  if (notice === undefined) return null
  return (
    <div class={`file-notice ${notice.isRefused ? 'bad' : ''}`} role={notice.isRefused ? 'alert' : 'status'}>
      <span class="grow">{notice.text}</span>
      {notice.callId !== undefined && (
        <button type="button" class="button quiet" onClick={() => void actions.undo()}>
          Undo
        </button>
      )}
      <IconButton icon="close" label="Dismiss" onClick={() => actions.dismiss()} />
    </div>
  )
}

function ReplaceQuestion({ actions }: { readonly actions: FileActions }) {
  const keep = useRef<HTMLButtonElement>(null)
  const card = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    const element = card.current
    keep.current?.focus()
    return () => restoreFocus(before, element)
  }, [])
  const question = actions.question.value
  if (question === undefined) return null
  const { to, type } = question
  const close = () => {
    actions.question.value = undefined
  }
  const text =
    type === 'file'
      ? `“${to}” exists already. Replace it? You can undo that.`
      : `“${to}” exists already. A folder does not replace another entry: choose another name.`
  return (
    <div
      ref={card}
      class="file-notice stack"
      role="alertdialog"
      aria-label={`Replace ${baseNameOf(to)}?`}
      aria-describedby="replace-question"
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
      }}
    >
      <span id="replace-question">{text}</span>
      <div class="row wrap">
        <button ref={keep} type="button" class="button" onClick={close}>
          {type === 'file' ? 'Keep it' : 'Close'}
        </button>
        {type === 'file' && (
          <button type="button" class="button danger" onClick={() => void actions.replace()}>
            Replace
          </button>
        )}
      </div>
    </div>
  )
}
