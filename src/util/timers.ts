// Captured at load time: a shell that guards its built-ins against commands may hide timers and channels later.
const { MessageChannel: Channel, setTimeout: startTimer } = globalThis
const schedule: (resume: () => void) => unknown =
  globalThis.setImmediate ?? (Channel === undefined ? startTimer : postTask)

/** Runs a callback in a new task. Browsers delay repeated timers by several milliseconds, but not messages. */
function postTask(resume: () => void): void {
  const { port1, port2 } = new Channel()
  port1.onmessage = () => {
    port1.close()
    resume()
  }
  port2.postMessage(undefined)
}

/** Lets timers, signals and other callers run. Costs almost nothing. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resume) => {
    schedule(resume)
  })
}

/** Settles as the promise does, or rejects with the error of `onTimeout` after `ms` milliseconds. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
