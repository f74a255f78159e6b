import { namesOfPrivate, removePrivate } from './private-storage.ts'
import { lockName } from './project-lock.ts'
import type { Registry } from './registry.ts'

/** How an id of a project looks; the storage may hold workspaces of somebody else on this origin. */
export const ID = /^p[a-z0-9]{15}$/

/** Takes away what a tab left behind that was closed while it made a project: nobody knows it, and nobody holds it. */
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
