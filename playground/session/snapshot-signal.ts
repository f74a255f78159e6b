import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Controller } from 'wardspace/ui'

/** Returns the state of a controller as a signal. The controller must not outlive the session that uses it. */
export function snapshotSignal<Snapshot>(controller: Controller<Snapshot>): ReadonlySignal<Snapshot> {
  const state = signal(controller.snapshot)
  controller.subscribe((snapshot) => {
    state.value = snapshot
  })
  return computed(() => state.value)
}
