import type { Thread, ThreadEvents } from './start-thread.ts'
import type { FromThread } from './thread-protocol.ts'

/**
 * Starts a Web Worker. `make` creates it in builds that have to name its file themselves. The module of the worker must not
 * import this one: bundlers would build the worker for itself again.
 */
export function startWebThread(make: (() => Worker) | undefined, { onMessage, onEnd }: ThreadEvents): Thread {
  const worker = make?.() ?? new Worker(new URL('./thread.js', import.meta.url), { type: 'module' })
  worker.addEventListener('message', ({ data }) => onMessage(data as FromThread))
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    onEnd()
  })
  return { post: (message) => worker.postMessage(message), hold() {}, kill: () => worker.terminate() }
}
