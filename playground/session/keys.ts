import { signal } from '@preact/signals'
import type { Provider } from '../agent/presets.ts'

/** A key of the person. */
interface StoredKey {
  readonly text: string
  /** The origin of the server that it was first used with. It is sent to no other. */
  readonly origin?: string
}

type Keys = Readonly<Partial<Record<Provider, StoredKey>>>

const NAME = 'wardspace-playground-key'

/** The keys by provider. In this variable, and in session storage only if the person asked for it. */
let keys: Keys = readStored()
let isKept = Object.keys(keys).length > 0

/** Counts the changes of keys, after which an agent must open its model again. */
export const keyChanges = signal(0)

/** Whether there is a key for a provider that may be sent to this origin. The key itself is not exposed. */
export function hasKey(provider: Provider, origin: string | undefined): boolean {
  keyChanges.value
  return keyFor(provider, origin) !== ''
}

/** The origin that the key of a provider belongs to, if that is another one than this. */
export function otherOriginOf(provider: Provider, origin: string | undefined): string | undefined {
  keyChanges.value
  const bound = keys[provider]?.origin
  return bound === origin ? undefined : bound
}

/** Returns the key for a request to an origin, to which it then belongs. */
export function takeKey(provider: Provider, origin: string | undefined): string {
  const text = keyFor(provider, origin)
  if (text !== '' && origin !== undefined && keys[provider]?.origin === undefined) {
    keys = { ...keys, [provider]: { text, origin } }
    store()
  }
  return text
}

/** Sets the key of a provider. With `remember` it survives a reload of this tab. An empty key removes it everywhere. */
export function setKey(provider: Provider, text: string, remember: boolean): void {
  const { [provider]: before, ...others } = keys
  if (text === (before?.text ?? '') && remember === isKept) return
  keys = text === '' ? others : { ...others, [provider]: { text } }
  keyChanges.value += 1
  rememberKeys(remember)
}

/** Keeps the present keys over a reload of this tab, or only in memory. */
export function rememberKeys(remember: boolean): void {
  isKept = remember
  store()
}

/** Whether the keys survive a reload of this tab. */
export function areKeysKept(): boolean {
  return isKept
}

function keyFor(provider: Provider, origin: string | undefined): string {
  const { text = '', origin: bound } = keys[provider] ?? {}
  return bound === undefined || bound === origin ? text : ''
}

function store(): void {
  try {
    if (isKept && Object.keys(keys).length > 0) sessionStorage.setItem(NAME, JSON.stringify(keys))
    else sessionStorage.removeItem(NAME)
  } catch {
    // Without session storage, the keys are in memory only.
  }
}

function readStored(): Keys {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? '{}') as Keys
  } catch {
    return {}
  }
}
