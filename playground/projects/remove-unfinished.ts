import { removePrivate } from './private-storage.ts'
import { lockName } from './project-lock.ts'
import type { Registry } from './registry.ts'

/** Removes projects that a closed tab did not finish to create or to remove. */
export async function removeUnfinished(registry: Registry): Promise<void> {
  for (const id of await registry.unfinished()) {
    await navigator.locks.request(lockName(id), { ifAvailable: true }, async (lock) => {
      if (lock === null || (await registry.get(id)) !== undefined) return
      for (const kind of ['workspace', 'playground'] as const) await removePrivate(kind, id)
      await registry.remove(id)
    })
  }
}
