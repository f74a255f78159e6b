/** @typedef {(...args: unknown[]) => unknown} AnyFunction */

/**
 * Makes a function that records its calls.
 *
 * @param {unknown} [original]
 * @param {AnyFunction} [implementation] what is called in its place
 */
function mockFunction(original, implementation) {
  const isFunction = typeof original === 'function'
  const initial = isFunction ? /** @type {AnyFunction} */ (original) : () => {}
  let run = (isFunction ? implementation : undefined) ?? initial
  /** @type {{ arguments: unknown[], this: unknown, result: unknown, error: unknown }[]} */
  const calls = []
  /**
   * @this {unknown}
   * @param {unknown[]} args
   */
  function mocked(...args) {
    /** @type {typeof calls[number]} */
    const call = { arguments: args, this: this, result: undefined, error: undefined }
    calls.push(call)
    try {
      call.result = run.apply(this, args)
      return call.result
    } catch (error) {
      call.error = error
      throw error
    }
  }
  mocked.mock = {
    calls,
    callCount: () => calls.length,
    resetCalls() {
      calls.length = 0
    },
    mockImplementation(/** @type {AnyFunction} */ replacement) {
      run = replacement
    },
    restore() {
      run = initial
    },
  }
  return mocked
}

/** Makes a `mock` object, which restores the methods that it has replaced. */
export function createMocks() {
  /** @type {ReturnType<typeof mockFunction>[]} */
  let methods = []
  const mocks = {
    fn: mockFunction,
    /**
     * @param {Record<string, unknown>} object
     * @param {string} name
     * @param {AnyFunction} [implementation]
     */
    method(object, name, implementation) {
      const original = object[name]
      const mocked = mockFunction(original, implementation)
      object[name] = mocked
      mocked.mock.restore = () => {
        object[name] = original
      }
      methods.push(mocked)
      return mocked
    },
    restoreAll() {
      for (const { mock } of methods) mock.restore()
      methods = []
    },
    reset() {
      mocks.restoreAll()
    },
  }
  return mocks
}
