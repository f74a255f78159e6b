import { effect, signal } from '@preact/signals'
import { type PendingApproval, questionInWords } from 'wardspace/ui'
import { agentSettings } from '../session/agent-settings.ts'
import { app } from './app-state.ts'

const isHidden = signal(document.hidden)

/**
 * Says in the title of the page how many approvals wait, which is seen in its tab. One that begins to wait in a hidden tab is a
 * notification too, if the person wants that and the browser allows it.
 */
export function showWaiting(): void {
  const { title } = document
  let notification: Notification | undefined
  /** The approvals that the person could see, or was notified of. */
  const seen = new WeakSet<PendingApproval>()
  document.addEventListener('visibilitychange', () => {
    isHidden.value = document.hidden
  })
  effect(() => {
    const pending = app.projectSession.value?.session.approvals.value ?? []
    document.title = pending.length === 0 ? title : `(${pending.length}) Waiting for you · ${title}`
    const unseen = pending.find((one) => !seen.has(one))
    if (pending.length === 0 || !isHidden.value) {
      notification?.close()
      notification = undefined
    } else if (unseen !== undefined && agentSettings.peek().notifies) {
      notification = notify(unseen, title) ?? notification
    }
    for (const one of pending) seen.add(one)
  })
}

function notify({ request }: PendingApproval, title: string): Notification | undefined {
  try {
    // The tag makes one notification of several.
    const options = { body: questionInWords(request), tag: 'wardspace-playground-approval' }
    const notification = new Notification(`The agent waits for you · ${title}`, options)
    notification.addEventListener('click', () => {
      globalThis.focus()
      notification.close()
    })
    return notification
  } catch {
    // Browsers without notifications, and those of phones, that let only service workers show them.
    return undefined
  }
}
