import { nodeModule } from '../../util/node-module.ts'
import type { FromThread, ToThread } from './thread-protocol.ts'

/** A Web Worker or a worker of Node. */
export interface Thread {
  post(message: ToThread): void
  /** Whether it keeps the process running. */
  hold(isBusy: boolean): void
  /** Ends it immediately, even during a command. */
  kill(): void
}

export interface ThreadEvents {
  onMessage(message: FromThread): void
  /** Called when the thread could not start or has failed. */
  onEnd(): void
}

interface NodeWorker {
  on(name: string, listener: (value: never) => void): void
  postMessage(message: unknown): void
  ref(): void
  unref(): void
  terminate(): Promise<unknown>
}

const nodeThreads = () =>
  nodeModule('worker_threads') as { readonly Worker: new (url: URL, options: object) => NodeWorker } | undefined

/** Returns the kind of threads of this platform: Web Workers, Node's workers, or none. */
export function threadKind(): 'web' | 'node' | undefined {
  if (typeof globalThis.Worker === 'function') return 'web'
  return nodeThreads() === undefined ? undefined : 'node'
}

/**
 * Returns the file that workers and processes of Node run. The variable keeps bundlers from copying the file without its imports:
 * a server that was bundled runs the installed one.
 */
export function threadFile(): URL {
  const { url } = import.meta
  return new URL('./thread.js', url)
}

/** Returns whether that file exists: a bundle of one file and the sources have none. */
export function hasThreadFile(): boolean {
  const fs = nodeModule('fs') as { existsSync(path: URL): boolean } | undefined
  try {
    return fs?.existsSync(threadFile()) === true
  } catch {
    // The platform has no URL of this module.
    return false
  }
}

const HEAP_MB = 512
/** A nested call of a script takes some 30 KB: with this, the engine's own limit ends a recursion first. */
const STACK_MB = 64

/** Starts a worker of Node. */
export function startNodeThread({ onMessage, onEnd }: ThreadEvents): Thread {
  const { Worker: NodeThread } = nodeThreads() ?? {}
  if (NodeThread === undefined) throw new TypeError('This platform has no threads')
  const worker = new NodeThread(threadFile(), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
  })
  worker.on('message', (message: FromThread) => onMessage(message))
  worker.on('error', () => onEnd())
  worker.on('exit', () => onEnd())
  return {
    post: (message) => worker.postMessage(message),
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    kill: () => void worker.terminate(),
  }
}
