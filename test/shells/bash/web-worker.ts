import { vi } from 'vitest'

/** The channel of all stand-ins. The worker's module listens to it as it loads, which is once in a process of several test files. */
let channel: MessageChannel | undefined

/**
 * Stands in for a browser's Web Workers. The worker's code runs in this thread; messages are cloned and asynchronous.
 * `created` lists the addresses of the created workers; `close` restores the globals.
 */
export function standInForWorkers(): { readonly created: string[]; close(): void } {
  const isFirst = channel === undefined
  channel ??= new MessageChannel()
  const { port1: outside, port2: inside } = channel
  const created: string[] = []
  const listeners: ((event: MessageEvent) => void)[] = []
  const worker = {
    postMessage: (message: unknown) => outside.postMessage(message),
    addEventListener(name: string, listener: (event: MessageEvent) => void) {
      if (name === 'message') listeners.push(listener)
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
    if (isFirst && created.length === 1) void import('../../../src/shells/bash/thread.ts')
    return worker
  })
  return {
    created,
    close() {
      vi.unstubAllGlobals()
      for (const listener of listeners) outside.removeEventListener('message', listener as never)
    },
  }
}
