import type { HttpClient } from 'isomorphic-git'
import { ToolError } from '../errors.ts'

/** HTTP over the platform's `fetch`, cancelled by the signal also while a body arrives. */
export function httpClient(signal: AbortSignal | undefined): HttpClient {
  return {
    async request({ url, method = 'GET', headers = {}, body }) {
      if (isCancelled(signal)) throw cancelled()
      try {
        const response = await fetch(url, {
          method,
          headers,
          ...(body === undefined ? {} : { body: (await joined(body)) as Uint8Array<ArrayBuffer> }),
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
}

function isCancelled(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

async function joined(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

async function* parts(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    throw isCancelled(signal) ? cancelled() : error
  } finally {
    reader.releaseLock()
  }
}

export function cancelled(): ToolError {
  return new ToolError('ABORTED', 'Cannot go on with git: the call was cancelled')
}
