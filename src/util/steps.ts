/** A long computation that pauses after each step of some milliseconds. */
export type Steps<T> = Generator<void, T, undefined>

/** Runs a computation without pauses. */
export function runAtOnce<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** Runs a computation and calls `pause` after each step, so that the event loop can turn. */
export async function runInTurns<T>(steps: Steps<T>, pause: () => Promise<void> | undefined): Promise<T> {
  let step = steps.next()
  while (step.done !== true) {
    await pause()
    step = steps.next()
  }
  return step.value
}
