import { isWithin, type Path, parentOf } from '../../paths/logical-path.ts'
import type { Backend, Change } from '../../storage/backend.ts'

/** A change made by another tab. */
export interface Changed {
  /** Sorted. Undefined when there are more than 1,000. */
  readonly paths: readonly string[] | undefined
}

/** Opens a channel on which the tabs of one workspace announce their commits. A tab that is alone sends nothing. */
export function openChanges(name: string, onChange: ((changed: Changed) => void) | undefined) {
  const channel =
    typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(`wardspace changes ${name}`)
  const listeners = new Set([onChange])
  let isAlone = true
  if (channel !== undefined) {
    channel.onmessage = ({ data }: { readonly data: 'hello' | 'here' | Changed }) => {
      isAlone = false
      if (data === 'hello') channel.postMessage('here')
      else if (data !== 'here') for (const listener of [...listeners]) listener?.(data)
    }
    channel.postMessage('hello')
  }
  const watch: Backend['watch'] = async (path, onOutsideChange, { recursive = true } = {}) => {
    const shows = (changed: Path) =>
      isWithin(changed, path) && (recursive || changed === path || parentOf(changed) === path)
    const listener = ({ paths }: Changed) => {
      const shown = (paths as readonly Path[] | undefined)?.filter(shows)
      if (shown?.length !== 0) onOutsideChange(shown)
    }
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    /** Reports the commits of other tabs: all changes by others in a storage that only this library writes. */
    ...(channel === undefined ? {} : { watch }),
    announce(changes: readonly Change[]): void {
      if (isAlone) return
      const paths = changes.length > MAX_PATHS ? undefined : changes.map(({ path }) => path as string).sort()
      channel?.postMessage({ paths } satisfies Changed)
    },
    close(): void {
      channel?.close()
    },
  }
}

const MAX_PATHS = 1_000
