import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { restoreFocus, scrollable } from '../../src/elements/parts/focusable.ts'
import { IconButton } from '../../src/elements/parts/icon-button.tsx'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  /** Whether it has nothing to press, so that its text itself takes the keys that scroll. */
  readonly isText?: boolean
  readonly children: ComponentChildren
}

/** A modal dialog. It keeps the focus inside and restores it on close. */
export function Dialog({ title, onClose, isText = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const previous = document.activeElement
    element.current?.showModal()
    const dialog = element.current
    // The browser has usually restored the focus already, and the person may have moved it since.
    return () => restoreFocus(previous, dialog)
  }, [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <div class="dialog-frame">
        <header>
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={() => element.current?.close()} />
        </header>
        <div class="dialog-body" {...(isText ? scrollable : {})}>
          {children}
        </div>
      </div>
    </dialog>
  )
}
