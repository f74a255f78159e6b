import { useLayoutEffect, useRef } from 'preact/hooks'
import { baseNameOf } from '../../ui/file-paths.ts'
import { focusedElement, restoreFocus } from '../parts/focusable.ts'
import { IconButton } from '../parts/icon-button.tsx'
import type { FileCommandParts } from './files-menu.ts'

type FileNoticeProps = Pick<FileCommandParts, 'files' | 'canChange'>

/** What the last action on files did, with Undo, or the question whether to replace a file. */
export function FileNotice(parts: FileNoticeProps) {
  const { files, canChange } = parts
  const { notice, question } = files.snapshot
  if (question !== undefined) return <ReplaceQuestion {...parts} />
  if (notice === undefined) return null
  return (
    <div class={`file-notice ${notice.isRefused ? 'bad' : ''}`} role={notice.isRefused ? 'alert' : 'status'}>
      <span class="grow">{notice.text}</span>
      {notice.callId !== undefined && (
        <button type="button" class="button quiet" disabled={!canChange} onClick={() => void files.undo()}>
          Undo
        </button>
      )}
      <IconButton icon="close" label="Dismiss" onClick={() => files.dismiss()} />
    </div>
  )
}

function ReplaceQuestion({ files, canChange }: FileNoticeProps) {
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
          <button type="button" class="button danger" disabled={!canChange} onClick={() => void files.replace()}>
            Replace
          </button>
        )}
      </div>
    </div>
  )
}
