import type { Key } from './types.ts'

/** The person's key: here, in memory, and on request in the session storage of this tab. */
export interface KeyHolder {
  /** Undefined where there is none. */
  readonly key: Key | undefined
  /** Whether it outlives a reload of this tab. */
  readonly isKept: boolean
  /** Takes a key; an empty one takes it away. */
  hold(key: string, options?: { readonly keep?: boolean }): void
}

const NAME = 'wardspace-playground-key'

/**
 * Holds a key in a closure: it can be used, and it is in nothing that is written down. `storage` is the session storage of
 * the tab, which the browser forgets with it.
 */
export function createKeyHolder(storage?: Storage): KeyHolder {
  let held = storage?.getItem(NAME) ?? ''
  let isKept = held !== ''
  const key: Key = () => held
  return {
    get key() {
      return held === '' ? undefined : key
    },
    get isKept() {
      return isKept
    },
    hold(given, { keep = false } = {}) {
      held = given.trim()
      isKept = keep && held !== ''
      if (isKept) storage?.setItem(NAME, held)
      else storage?.removeItem(NAME)
    },
  }
}
