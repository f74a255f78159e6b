import type { HttpClient } from 'isomorphic-git'
import { ToolError } from '../errors.ts'
import { concatBytes } from '../util/bytes.ts'

/**
 * An HTTP client for isomorphic-git over the platform's `fetch`. The signal also cancels while a body arrives. If hosts are
 * restricted, each redirect is checked before it is followed.
 */
export function httpClient(signal: AbortSignal | undefined, requireHost?: (url: URL) => void): HttpClient {
  return {
    async request({ url, method = 'GET', headers = {}, body }) {
      if (isCancelled(signal)) throw cancelled()
      try {
        const response = await request(url, {
          method,
          headers,
          ...(body === undefined ? {} : { body: concatBytes(await all(body)) }),
          ...(signal === undefined ? {} : { signal }),
        })
        return {
          url: response.url,
          method,
          headers: Object.fromEntries(response.headers),
          body: parts(response.body, signal),
          statusCode: response.status,
          statusMessage: response.statusText,
        }
      } catch (error) {
        throw isCancelled(signal) ? cancelled() : error
      }
    },
  }

  async function request(url: string, init: RequestInit): Promise<Response> {
    if (requireHost === undefined) return fetch(url, init)
    let at = new URL(url)
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      requireHost(at)
      const response = await fetch(at, { ...init, redirect: 'manual' })
      const location = response.headers.get('location')
      const isRedirect = response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(response.status)
      if (!isRedirect) return response
      // A browser hides the location of a redirect. A body is meant for the first address only.
      if (location === null || init.method !== 'GET') break
      at = new URL(location, at)
    }
    throw new ToolError(
      'BACKEND_ERROR',
      'Cannot continue with git: the server redirects elsewhere; use the new address',
    )
  }
}

const MAX_REDIRECTS = 3
/** Maximum size of one answer. isomorphic-git holds it in memory. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024

function isCancelled(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

async function all(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return chunks
}

async function* parts(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.length
      if (bytes > MAX_RESPONSE_BYTES) throw tooMuchSent()
      yield value
    }
  } catch (error) {
    throw isCancelled(signal) ? cancelled() : error
  } finally {
    reader.releaseLock()
  }
}

function tooMuchSent(): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot fetch: the server sent more than ${MAX_RESPONSE_BYTES} bytes`, {
    limit: 'bytes of one answer of a git server',
    value: MAX_RESPONSE_BYTES,
    hint: 'Fetch a limited history with a depth.',
  })
}

export function cancelled(): ToolError {
  return new ToolError('ABORTED', 'Cannot continue with git: the call was cancelled')
}
