import { vi } from 'vitest'

/**
 * Stands in for a browser's Web Workers. The worker's code runs in this thread; messages are cloned and asynchronous.
 * `made` lists the addresses of the created workers; `close` restores the globals.
 */
export function standInForWorkers(): { readonly created: string[]; close(): void } {
  const { port1: outside, port2: inside } = new MessageChannel()
  const created: string[] = []
  const worker = {
    postMessage: (message: unknown) => outside.postMessage(message),
    addEventListener(name: string, listener: (event: MessageEvent) => void) {
      outside.addEventListener(name as 'message', listener as never)
      outside.start()
    },
    terminate() {},
  }
  vi.stubGlobal('addEventListener', (name: string, listener: (event: MessageEvent) => void) => {
    inside.addEventListener(name as 'message', listener as never)
    inside.start()
  })
  vi.stubGlobal('postMessage', (message: unknown) => inside.postMessage(message))
  vi.stubGlobal('Worker', function make(url: URL, { type }: { type: string }) {
    created.push(`${type} ${url.pathname.split('/').slice(-3).join('/')}`)
    if (created.length === 1) void import('../../../src/shells/bash/thread.ts')
    return worker
  })
  return {
    created,
    close() {
      vi.unstubAllGlobals()
      outside.close()
    },
  }
}
