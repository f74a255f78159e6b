import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog: the browser keeps the focus in it, and gives it back. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const back = document.activeElement
    place.current?.showModal()
    const dialog = place.current
    return () => {
      // Who closed it has the focus back already, and may have moved on since.
      const { activeElement } = document
      const isLost = activeElement === document.body || dialog?.contains(activeElement) === true
      if (isLost && back instanceof HTMLElement) back.focus()
    }
  }, [])
  return (
    <dialog ref={place} aria-labelledby={id} onClose={onClose}>
      <div class="dialog-frame">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="button quiet icon" aria-label="Close" onClick={() => place.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        <div class="dialog-body">{children}</div>
      </div>
    </dialog>
  )
}
