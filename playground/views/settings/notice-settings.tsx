import { type Signal, useSignal } from '@preact/signals'
import type { AgentSettings } from '../../session/agent-settings.ts'

/** Lets the person be notified of approvals while the page is hidden. */
export function NoticeSettings({ settings }: { readonly settings: Signal<AgentSettings> }) {
  const isRefused = useSignal(false)
  const choose = async (isWanted: boolean) => {
    const isAllowed = isWanted && (await globalThis.Notification?.requestPermission()) === 'granted'
    isRefused.value = isWanted && !isAllowed
    settings.value = { ...settings.value, notifies: isAllowed }
  }
  return (
    <section class="stack">
      <h3>Notices</h3>
      <label class="row">
        <input
          type="checkbox"
          checked={settings.value.notifies}
          onChange={({ currentTarget }) => {
            // It is checked when the browser has agreed.
            const { checked } = currentTarget
            currentTarget.checked = settings.value.notifies
            void choose(checked)
          }}
        />
        Notify me when an approval begins to wait while this tab is hidden
      </label>
      <p role="status" class={isRefused.value ? 'notice warn' : 'visually-hidden'}>
        {isRefused.value &&
          'The browser does not let this page notify you. Allow it in the settings of the site first.'}
      </p>
      <p class="muted">The title of the tab says in any case how many approvals wait.</p>
    </section>
  )
}
