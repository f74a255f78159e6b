import { ToolError } from '../../errors.ts'
import { anySignal } from '../../util/abort.ts'
import { checkArgument, isFunction, must } from '../../util/check-options.ts'
import { counted } from '../../util/counted.ts'
import { readBody } from '../../util/read-body.ts'
import { pause } from '../object-store/retry.ts'

/** Sends a request, as the global `fetch` does. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The check of an option `fetch`. */
export const isFetch = isFunction

const MAX_TRIES = 3
/** A failure of a server or gateway that can be over with the next request. */
const PASSING: ReadonlySet<number> = new Set([500, 502, 503, 504])

/**
 * Sends a GET request, up to three times if the server fails or cannot be reached. Messages name the host only: addresses
 * and headers can hold credentials.
 *
 * @throws ToolError `BACKEND_ERROR`
 */
export async function get(
  fetch: Fetch | undefined,
  url: URL,
  init: RequestInit & { signal: AbortSignal },
): Promise<Response> {
  const send = fetch ?? ((address: string, options: RequestInit) => globalThis.fetch(address, options))
  for (let tries = 1; ; tries++) {
    // Requests that share a signal would each leave listeners on it.
    const response = await send(url.href, { ...init, signal: anySignal(init.signal) }).catch(() => undefined)
    if (response !== undefined && (!PASSING.has(response.status) || tries === MAX_TRIES)) return response
    if (init.signal.aborted || tries === MAX_TRIES) throw failed(url, 'cannot be reached')
    if (response !== undefined) await discard(response)
    await pause(tries)
  }
}

/** Ends the transfer of a response whose body nobody reads. */
export async function discard(response: Response): Promise<void> {
  if (!response.bodyUsed) await response.body?.cancel()
}

/** Returns the body of a response. Ends the transfer after `max` bytes. */
export async function bodyOf(response: Response, url: URL, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readBody(response, max).catch(() => {
    throw failed(url, 'ended its answer early')
  })
  if (bytes === undefined) throw failed(url, `sent more than ${counted(max, 'byte')}`)
  return bytes
}

/** The error for an unexpected answer of a server. */
export function failed({ host }: URL, what: string, hint?: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot load from ${host}: it ${what}`, hint === undefined ? {} : { hint })
}

/**
 * Returns the address that an argument names. In a page, it can be relative to the page.
 *
 * @throws TypeError for anything but an address with `http:` or `https:`, and for one with a user name or a password, which
 * `fetch` does not take
 */
export function addressOf(owner: string, name: string, value: string | URL): URL {
  let address: URL | undefined
  try {
    address = new URL(value, globalThis.location?.href)
  } catch {
    // Refused below.
  }
  checkArgument(owner, name, address ?? value, isHttp)
  return checkArgument(owner, name, address as URL, isAnonymous)
}

const isHttp = must(
  'an address with http: or https:',
  (address) => address instanceof URL && /^https?:$/.test(address.protocol),
)

const isAnonymous = must(
  'an address without a user name and password: pass a fetch that sends them',
  (address) => address instanceof URL && address.username === '' && address.password === '',
)

/** @throws ToolError for a response without a result */
export async function requireStatus(response: Response, url: URL, ...expected: readonly number[]): Promise<void> {
  const { status } = response
  if (expected.includes(status)) return
  await discard(response)
  throw failed(url, status === 404 ? 'has no such file' : `answered with status ${status}`)
}
