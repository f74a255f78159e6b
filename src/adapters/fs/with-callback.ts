/** A function with a callback as its last argument, which receives an error or `null`, and the results. */
export type CallbackFunction = (...args: readonly unknown[]) => void

/** Makes a function with a callback of one that returns a promise. `toResults` returns what the callback receives. */
export function withCallback<A extends unknown[], R>(
  method: (...args: A) => Promise<R>,
  toResults: (value: R) => readonly unknown[] = (value) => (value === undefined ? [] : [value]),
): CallbackFunction {
  return (...args) => {
    const callback = args.at(-1)
    if (typeof callback !== 'function') {
      const error = new TypeError('The "cb" argument must be of type function. Received undefined')
      throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' })
    }
    // An exception of the callback is the program's own, and no rejection of the method.
    method(...(args.slice(0, -1) as A)).then(
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
