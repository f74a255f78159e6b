import { useLayoutEffect, useRef } from 'preact/hooks'
import { baseNameOf } from '../../ui/file-paths.ts'
import type { Files } from '../../ui/files.ts'
import { focusedElement, restoreFocus } from '../parts/focusable.ts'
import { IconButton } from '../parts/icon-button.tsx'

/** What the last action on files did, with Undo, or the question whether to replace a file. */
export function FileNotice({ files }: { readonly files: Files }) {
  const { notice, question } = files.snapshot
  if (question !== undefined) return <ReplaceQuestion files={files} />
  if (notice === undefined) return null
  return (
    <div class={`file-notice ${notice.isRefused ? 'bad' : ''}`} role={notice.isRefused ? 'alert' : 'status'}>
      <span class="grow">{notice.text}</span>
      {notice.callId !== undefined && (
        <button type="button" class="button quiet" onClick={() => void files.undo()}>
          Undo
        </button>
      )}
      <IconButton icon="close" label="Dismiss" onClick={() => files.dismiss()} />
    </div>
  )
}

function ReplaceQuestion({ files }: { readonly files: Files }) {
  const keep = useRef<HTMLButtonElement>(null)
  const card = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const before = focusedElement()
    const element = card.current
    keep.current?.focus()
    return () => restoreFocus(before, element)
  }, [])
  const { question } = files.snapshot
  if (question === undefined) return null
  const { to, type } = question
  const close = () => files.dismiss()
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
          <button type="button" class="button danger" onClick={() => void files.replace()}>
            Replace
          </button>
        )}
      </div>
    </div>
  )
}
