import { concatBytes } from './bytes.ts'

/** Returns the body of a response. Ends the transfer when the signal aborts, and after `max` bytes: returns `undefined`. */
export async function readBody(
  response: Response,
  max: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const stop = () => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const parts: Uint8Array[] = []
    let length = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return concatBytes(parts)
      length += value.length
      if (length > max) {
        stop()
        return undefined
      }
      parts.push(value)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
