import type { HttpClient } from 'isomorphic-git'
import { ToolError } from '../errors.ts'
import { concatBytes } from '../util/bytes.ts'
import { type RefSelection, selectRefs } from './advertised-refs.ts'
import { credentialHeaders } from './credentials.ts'
import type { CredentialsRequest, CredentialsSource } from './provider.ts'

/** How requests reach one server. */
export interface HttpAccess {
  /** The address of the repository. Only its server gets credentials and `headers`. */
  readonly url: URL
  /** The address that requests go to, if a proxy is used. */
  readonly via?: URL | undefined
  readonly operation: CredentialsRequest['operation']
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly credentials?: CredentialsSource | undefined
  readonly signal?: AbortSignal | undefined
  /** Throws if an address is refused. Called for each redirect, too. */
  readonly requireHost?: ((url: URL) => void) | undefined
  /** Whether a redirect to another server is refused. */
  readonly staysHome?: boolean
}

/** Requests to one server. */
export interface HttpRequests {
  /**
   * Sends a request, with credentials if the server demands them, and follows its redirects.
   *
   * @throws ToolError for a refused address, refused credentials, and an answer without success
   */
  send(url: URL, init: { method: string; headers: Record<string, string>; body?: Uint8Array }): Promise<Response>
  /** Removes the credentials from a text of the server. */
  hide(text: string): string
}

/**
 * Opens the requests to one server. Credentials and headers of the caller go to the server itself and to no other one, also
 * after a redirect. The credentials are requested when the server demands them, once.
 */
export function openHttp(access: HttpAccess): HttpRequests {
  const { url: remote, via = remote, operation, headers = {}, credentials, signal, requireHost, staysHome } = access
  let secret: { readonly headers: Record<string, string>; readonly texts: readonly string[] } | undefined
  let isAsked = false

  async function hasCredentials(): Promise<boolean> {
    if (isAsked || credentials === undefined) return false
    isAsked = true
    secret = await credentialHeaders(credentials, { url: remote.href, operation })
    return secret !== undefined
  }

  async function send(start: URL, init: Parameters<HttpRequests['send']>[1]): Promise<Response> {
    let at = start
    for (let hops = 0; hops <= MAX_REDIRECTS; ) {
      requireHost?.(at)
      const isHome = at.origin === via.origin
      const own = isHome ? { ...headers, ...secret?.headers } : {}
      const response = await fetch(at, {
        method: init.method,
        ...(init.body === undefined ? {} : { body: init.body as Uint8Array<ArrayBuffer> }),
        headers: { ...init.headers, ...own },
        redirect: 'manual',
        ...(signal === undefined ? {} : { signal }),
      })
      if (response.ok) return response
      void response.body?.cancel().catch(() => {})
      if (response.status === 401 && isHome && (await hasCredentials())) continue
      if (!isRedirect(response)) throw refusedBy(response.status, isHome, secret !== undefined)
      // A body is meant for the first address only.
      if (init.method !== 'GET') break
      const location = response.headers.get('location')
      if (location === null || !URL.canParse(location, at.href)) {
        // A browser hides the location of a redirect.
        if (requireHost !== undefined || staysHome === true || Object.keys(own).length > 0) break
        return fetch(at, { headers: init.headers, ...(signal === undefined ? {} : { signal }) })
      }
      at = new URL(location, at)
      if (staysHome === true && at.origin !== via.origin) throw redirectedTo(at)
      hops += 1
    }
    throw new ToolError(
      'BACKEND_ERROR',
      'Cannot continue with git: the server redirects elsewhere; use the new address',
    )
  }

  return {
    async send(url, init) {
      if (isCancelled(signal)) throw cancelled()
      try {
        return await send(url, init)
      } catch (error) {
        throw isCancelled(signal) ? cancelled() : error
      }
    },
    hide: (text) => (secret?.texts ?? []).reduce((hidden, each) => hidden.replaceAll(each, '***'), text),
  }
}

/**
 * An HTTP client for isomorphic-git over the platform's `fetch`. The signal also cancels while a body arrives.
 *
 * @param selection what to take of the refs that the server names
 */
export function httpClient(access: HttpAccess, selection: RefSelection): HttpClient {
  const { send } = openHttp(access)
  return {
    async request({ url, method = 'GET', headers = {}, body: sent }) {
      const bytes = sent === undefined ? undefined : await collect(sent)
      const init = { method, headers, ...(bytes === undefined ? {} : { body: bytes }) }
      const response = await send(new URL(url), init).catch((error: unknown) => {
        throw error instanceof ToolError ? error : unreachable(access.url)
      })
      const body = whole(parts(response.body, access.signal))
      return {
        url: response.url,
        method,
        headers: Object.fromEntries(response.headers),
        body: method === 'GET' ? one(await selectRefs(await collect(body), selection)) : body,
        statusCode: response.status,
        statusMessage: response.statusText,
      }
    },
  }
}

function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status)
}

function refusedBy(status: number, isHome: boolean, hadCredentials: boolean): ToolError {
  const answer = `Cannot continue with git: the server answered ${status}`
  if (status === 404) {
    const hint = 'The address may be wrong, or the repository is private. Correct the address, or give credentials.'
    return new ToolError('BACKEND_ERROR', answer, { hint })
  }
  if (status !== 401 && status !== 403) return new ToolError('BACKEND_ERROR', answer)
  const reason = hadCredentials ? 'it refuses the credentials' : 'it demands credentials'
  const hint = !isHome
    ? 'It is the server of a redirect, which gets no credentials. Use its address.'
    : hadCredentials
      ? 'The program that opened the workspace gives the credentials; they are wrong, or do not allow this.'
      : 'The program that opened the workspace can give them: git({ credentials }).'
  return new ToolError('BACKEND_ERROR', `${answer}: ${reason}`, { hint })
}

function redirectedTo({ host }: URL): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot continue with git: the server redirects to ${host}`, {
    hint: 'Nothing is sent to another server. Use its address.',
  })
}

const MAX_REDIRECTS = 3
/** Maximum size of one answer. It is held in memory. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024

function isCancelled(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

async function collect(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return concatBytes(chunks)
}

/** Reads the body of an answer. */
export async function* parts(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal | undefined,
  maxBytes = MAX_RESPONSE_BYTES,
): AsyncIterableIterator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.length
      if (bytes > maxBytes) throw tooMuchSent(maxBytes)
      yield value
    }
  } catch (error) {
    throw isCancelled(signal) ? cancelled() : error
  } finally {
    reader.releaseLock()
  }
}

async function* one(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield bytes
}

/** Reads to the end. An error says that the end is missing. */
async function* whole(body: AsyncIterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw error instanceof ToolError ? error : endedEarly()
  }
}

function unreachable({ host }: URL): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot continue with git: the server ${host} cannot be reached`, {
    hint: 'The address may be wrong, or there is no network. A page reaches only servers that allow its origin; a CORS proxy helps with others.',
  })
}

function endedEarly(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot continue with git: the connection ended before the answer was complete')
}

function tooMuchSent(maxBytes: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot continue with git: the server sent more than ${maxBytes} bytes`, {
    limit: 'bytes of one answer of a git server',
    value: maxBytes,
    hint: 'Fetch a limited history with a depth.',
  })
}

export function cancelled(): ToolError {
  return new ToolError('ABORTED', 'Cannot continue with git: the call was cancelled')
}
