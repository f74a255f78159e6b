import { signal } from '@preact/signals'

const message = signal('')

/** Says something to whoever does not see the screen. */
export function announce(text: string): void {
  // The same words twice are said twice.
  message.value = message.value === text ? `${text}\u00a0` : text
}

/** Where it is said. */
export function Announcements() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {message.value}
    </div>
  )
}
