import { signal } from '@preact/signals'

const message = signal('')

/** Announces a text to screen readers. */
export function announce(text: string): void {
  // Changes a repeated text, so that it is announced again.
  message.value = message.value === text ? `${text}\u00a0` : text
}

/** The live region that screen readers announce. */
export function Announcements() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {message.value}
    </div>
  )
}
