import { vi } from 'vitest'

/**
 * Web Workers as a browser has them, whose other side runs in this thread: messages are cloned and come later, as ever.
 * Gives the addresses of those that were made; `close` puts the globals back.
 */
export function standInForWorkers(): { readonly made: string[]; close(): void } {
  const { port1: outside, port2: inside } = new MessageChannel()
  const made: string[] = []
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
    made.push(`${type} ${url.pathname.split('/').slice(-3).join('/')}`)
    if (made.length === 1) void import('../../../src/shells/bash/thread.ts')
    return worker
  })
  return {
    made,
    close() {
      vi.unstubAllGlobals()
      outside.close()
    },
  }
}
