import type { Change } from '../../storage/backend.ts'

/** A change made by another tab. */
export interface Changed {
  /** Sorted. Undefined when there are more than 1,000. */
  readonly paths: readonly string[] | undefined
}

/** Opens a channel on which the tabs of one workspace announce their commits. A tab that is alone sends nothing. */
export function openChanges(name: string, onChange: ((changed: Changed) => void) | undefined) {
  const channel =
    typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(`wardspace changes ${name}`)
  let isAlone = true
  if (channel !== undefined) {
    channel.onmessage = ({ data }: { readonly data: 'hello' | 'here' | Changed }) => {
      isAlone = false
      if (data === 'hello') channel.postMessage('here')
      else if (data !== 'here') onChange?.(data)
    }
    channel.postMessage('hello')
  }
  return {
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
