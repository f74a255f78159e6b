import { namesOfPrivate, removePrivate } from './private-storage.ts'
import { lockName } from './project-lock.ts'
import type { Registry } from './registry.ts'

/** The form of project ids. The storage may contain workspaces of other programs on this origin. */
export const ID = /^p[a-z0-9]{15}$/

/** Removes projects that a tab did not finish creating before it was closed: neither registered nor locked. */
export async function removeUnfinished(registry: Registry): Promise<void> {
  for (const kind of ['workspace', 'playground'] as const) {
    for (const id of await namesOfPrivate(kind)) {
      if (!ID.test(id)) continue
      await navigator.locks.request(lockName(id), { ifAvailable: true }, async (lock) => {
        if (lock !== null && (await registry.get(id)) === undefined) await removePrivate(kind, id)
      })
    }
  }
}
