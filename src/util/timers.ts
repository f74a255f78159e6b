// Captured at load time: a shell that guards its built-ins against commands may hide timers later.
const schedule: (resume: () => void) => unknown = globalThis.setImmediate ?? globalThis.setTimeout

/** Lets timers, signals and other callers run. Costs almost nothing where `setImmediate` exists. */
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
