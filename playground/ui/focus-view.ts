/** Milliseconds to wait for the element of a view that is loading. */
const MAX_WAIT = 10_000
/** Milliseconds after which a focused element is looked at again: while a view loads, it may be replaced. */
const SETTLING = 50

let lastRequest = 0

/**
 * Focuses an element, or one inside its shadow root, as soon as its view is shown, which may have to load first. Replaces
 * an earlier request, and ends when the person focuses something else or presses a key: a view that has nothing to focus
 * may get it much later.
 */
export function focusView(selector: string, inside?: string): void {
  lastRequest += 1
  const request = lastRequest
  const before = document.activeElement
  const end = Date.now() + MAX_WAIT
  let focused: HTMLElement | undefined
  const attempt = (): void => {
    const { activeElement, body } = document
    const hasMoved = activeElement !== before && activeElement !== body
    if (request !== lastRequest || hasMoved || focused?.isConnected === true) return
    const host = document.querySelector<HTMLElement>(selector)
    const element = inside === undefined ? host : host?.shadowRoot?.querySelector<HTMLElement>(inside)
    // An element gives the focus to its first control, once its view has loaded.
    element?.focus()
    if (element?.matches(':focus, :focus-within') === true) focused = element
    if (Date.now() < end) setTimeout(attempt, focused === undefined ? 0 : SETTLING)
  }
  // By then a view whose code has loaded is rendered, and the next key press has not arrived.
  queueMicrotask(attempt)
}

/** Ends a request that waits for its view. */
export function endFocusing(): void {
  lastRequest += 1
}
