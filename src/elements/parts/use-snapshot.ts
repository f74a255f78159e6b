import { useLayoutEffect, useState } from 'preact/hooks'
import type { Controller } from '../../ui/controller.ts'

/** Returns the present state of a controller, and renders again when it changes. */
export function useSnapshot<Snapshot>(controller: Controller<Snapshot>): Snapshot {
  const [, setSnapshot] = useState(controller.snapshot)
  useLayoutEffect(() => controller.subscribe((snapshot) => setSnapshot(() => snapshot)), [controller])
  return controller.snapshot
}
