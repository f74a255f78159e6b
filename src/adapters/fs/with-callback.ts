import { argumentError } from './errors.ts'

/** A function with a callback as its last argument, which receives an error or `null`, and the results. */
export type CallbackFunction = (...args: readonly unknown[]) => void

/** How a function with a callback differs from the one that returns a promise. */
interface CallbackOptions<A, R> {
  /** Checks the arguments at once, and returns those that the function takes. */
  readonly check?: (args: readonly unknown[]) => A
  /** Returns what the callback receives. */
  readonly toResults?: (value: R) => readonly unknown[]
}

/**
 * Makes a function with a callback of one that returns a promise. Wrong arguments are thrown at once, as Node does it.
 *
 * @throws TypeError from the function that is made, if there is no callback
 */
export function withCallback<A extends readonly unknown[], R>(
  method: (...args: A) => Promise<R>,
  options: CallbackOptions<A, R> = {},
): CallbackFunction {
  const { check = (args) => args as A, toResults = (value) => (value === undefined ? [] : [value]) } = options
  return (...args) => {
    const callback = args.at(-1)
    if (typeof callback !== 'function') throw argumentError('cb', 'of type function', undefined)
    // An exception of the callback is the program's own, and no rejection of the method.
    method(...check(args.slice(0, -1))).then(
      (value) => queueMicrotask(() => callback(null, ...toResults(value))),
      (error) => queueMicrotask(() => callback(error)),
    )
  }
}

/** Makes a function that returns a promise, or takes a callback. */
export function optionalCallback<R>(
  method: () => Promise<R>,
): (callback?: (error: unknown, value?: R) => void) => Promise<R> {
  return async (callback) => {
    const result = method()
    if (callback !== undefined) withCallback(() => result)(callback)
    return result
  }
}
