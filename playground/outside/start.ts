import type { FromOutside, ToOutside } from './messages.ts'

/**
 * Sends a request to the worker that may reach other origins, which the page itself may not. Each request of the person
 * starts a worker, which is terminated when the request ends.
 */
export async function* askOutside(request: ToOutside, signal?: AbortSignal): AsyncGenerator<FromOutside> {
  signal?.throwIfAborted()
  const worker = new Worker(new URL('./outside-worker.ts', import.meta.url), { type: 'module', name: 'outside' })
  const arrived: FromOutside[] = []
  let wake = (): void => {}
  const put = (message: FromOutside): void => {
    arrived.push(message)
    wake()
  }
  worker.onmessage = ({ data }) => put(data)
  worker.onerror = (event) => {
    event.preventDefault()
    put({ kind: 'failed', message: 'The worker that reaches other servers could not be started' })
  }
  const onAbort = (): void => wake()
  signal?.addEventListener('abort', onAbort)
  try {
    worker.postMessage(request)
    for (;;) {
      signal?.throwIfAborted()
      const next = arrived.shift()
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      if (next.kind === 'failed') throw new TypeError(next.message)
      yield next
      if (next.kind === 'end') return
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    worker.terminate()
  }
}
