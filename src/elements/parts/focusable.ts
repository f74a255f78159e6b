/** Attributes of a scrollable element, so that the keyboard can scroll it. */
export const scrollable = { tabIndex: 0 } as const

/** Returns the focused element, within shadow roots too. */
export function focusedElement(): Element | null {
  let { activeElement } = document
  while (activeElement?.shadowRoot?.activeElement) activeElement = activeElement.shadowRoot.activeElement
  return activeElement
}

/** Focuses an element again, unless the focus has gone elsewhere than to an element that is being removed. */
export function restoreFocus(before: Element | null, removed: Element | null): void {
  const activeElement = focusedElement()
  const isLost = activeElement === null || activeElement === document.body || removed?.contains(activeElement) === true
  if (isLost && before instanceof HTMLElement) before.focus()
}

/** Whether keys that are pressed there enter text. */
export function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea')
}

/** Focuses the field of a form that has opened, with the whole form in view. */
export function showForm(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  field?.focus()
  field?.form?.scrollIntoView({ block: 'nearest' })
}
