import type { FromThread, ToThread } from './thread-protocol.ts'

/** A thread, of whichever kind. */
export interface Thread {
  post(message: ToThread): void
  /** Whether it keeps the process running. */
  hold(isBusy: boolean): void
  /** Ends it, whatever it does. */
  kill(): void
}

export interface ThreadEvents {
  onMessage(message: FromThread): void
  /** It could not start, or has failed. */
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
  globalThis.process?.getBuiltinModule?.('node:worker_threads') as unknown as
    | { readonly Worker: new (url: URL, options: object) => NodeWorker }
    | undefined

/** What kind of threads there are: of the web, as in browsers, of Node, or none. */
export function threadKind(): 'web' | 'node' | undefined {
  if (typeof globalThis.Worker === 'function') return 'web'
  return nodeThreads() === undefined ? undefined : 'node'
}

/** Starts a thread of the web. `make`: makes the Worker, for builds that have to name its file themselves. */
export function startWebThread(make: (() => Worker) | undefined, { onMessage, onEnd }: ThreadEvents): Thread {
  const worker = make?.() ?? new Worker(new URL('./thread.js', import.meta.url), { type: 'module' })
  worker.addEventListener('message', ({ data }) => onMessage(data as FromThread))
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    onEnd()
  })
  return { post: (message) => worker.postMessage(message), hold() {}, kill: () => worker.terminate() }
}

const HEAP_MB = 512
/** Some 30 KB for each call within a call of a script: enough that the engine's own bound ends a recursion first. */
const STACK_MB = 64

/** Starts a thread of Node. */
export function startNodeThread({ onMessage, onEnd }: ThreadEvents): Thread {
  const { Worker: NodeThread } = nodeThreads() ?? {}
  if (NodeThread === undefined) throw new TypeError('There are no threads here')
  const worker = new NodeThread(new URL('./thread.js', import.meta.url), {
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
