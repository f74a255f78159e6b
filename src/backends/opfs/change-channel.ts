import type { Change } from '../../storage/backend.ts'

/** What another tab has changed. */
export interface Changed {
  /** Sorted; undefined where they are too many to be named. */
  readonly paths: readonly string[] | undefined
}

/** A channel on which the tabs of one workspace tell each other what they committed. Silent as long as one is alone. */
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
    tell(changes: readonly Change[]): void {
      if (isAlone) return
      const paths = changes.length > MOST_NAMED ? undefined : changes.map(({ path }) => path as string).sort()
      channel?.postMessage({ paths } satisfies Changed)
    },
    close(): void {
      channel?.close()
    },
  }
}

const MOST_NAMED = 1_000
