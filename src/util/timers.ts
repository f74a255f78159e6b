// Captured at load time: a shell that guards its built-ins against commands may hide timers and channels later.
const { MessageChannel: Channel, setImmediate: startTask, setTimeout: startTimer } = globalThis
/** Ways to run a callback in a new task, the best first. Next's edge runtime defines functions that throw. */
const ways: readonly ((resume: () => void) => unknown)[] = [startTask ?? postTask, postTask, startTimer]

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
  return new Promise((resolve, reject) => {
    let failure: unknown
    for (const start of ways) {
      try {
        start(resolve)
        return
      } catch (error) {
        failure = error
      }
    }
    reject(failure)
  })
}

/** Waits for a random time between the half of `ms` milliseconds and all of them, so that those who wait for each other come apart. */
export function pauseWithJitter(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms * (0.5 + Math.random() / 2)))
}

/** The longest time of a timer, 24 days. The platform ends a longer one at once. */
export const LONGEST_MS = 0x7fffffff

/** Runs a callback after a time that a caller chooses, at most {@link LONGEST_MS}. */
export const runAfter = (ms: number, callback: () => void): ReturnType<typeof setTimeout> =>
  setTimeout(callback, Math.min(ms, LONGEST_MS))

/** Settles as the promise does, or rejects with the error of `onTimeout` after `ms` milliseconds. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = runAfter(ms, () => reject(onTimeout()))
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
