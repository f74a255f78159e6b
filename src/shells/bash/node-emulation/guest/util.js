import { isDeepEqual } from './deep-equal.js'
import { format, inspect } from './inspect.js'
import { TextDecoder, TextEncoder } from './text-coders.js'

/** @typedef {(...args: unknown[]) => unknown} AnyFunction */

/** @satisfies {Record<string, (value: unknown) => boolean>} */
const types = {
  isPromise: (value) => value instanceof Promise,
  isRegExp: (value) => value instanceof RegExp,
  isDate: (value) => value instanceof Date,
  isMap: (value) => value instanceof Map,
  isSet: (value) => value instanceof Set,
  isNativeError: (value) => value instanceof Error,
  isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isUint8Array: (value) => value instanceof Uint8Array,
}

/** The module `util`. */
export const util = {
  inspect,
  format,
  types,
  TextEncoder,
  TextDecoder,
  /**
   * @param {unknown} a
   * @param {unknown} b
   */
  isDeepStrictEqual: (a, b) => isDeepEqual(a, b, true),
  /** @param {AnyFunction} run */
  promisify(run) {
    /**
     * @this {unknown}
     * @param {unknown[]} args
     */
    return function promised(...args) {
      return new Promise((resolve, reject) => {
        const done = (/** @type {unknown} */ error, /** @type {unknown} */ value) =>
          error ? reject(error) : resolve(value)
        run.call(this, ...args, done)
      })
    }
  },
  /** @param {(...args: unknown[]) => Promise<unknown>} run */
  callbackify(run) {
    /**
     * @this {unknown}
     * @param {unknown[]} args
     */
    return function callingBack(...args) {
      const done = /** @type {(error: unknown, value?: unknown) => void} */ (args.pop())
      run.apply(this, args).then((value) => done(null, value), done)
    }
  },
  /**
   * @param {Function} child
   * @param {Function} parent
   */
  inherits(child, parent) {
    Object.setPrototypeOf(child.prototype, parent.prototype)
    Object.setPrototypeOf(child, parent)
  },
  /** @param {AnyFunction} run */
  deprecate: (run) => run,
  /** @param {string} text */
  stripVTControlCharacters: (text) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, ''),
  /**
   * @param {unknown} _
   * @param {string} text
   */
  styleText: (_, text) => text,
}
