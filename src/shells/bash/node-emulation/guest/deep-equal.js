import { enumerableSymbols } from './inspect.js'
import { isLooselyEqual } from './loose-equality.js'

/**
 * Compares two values by Node's rules of `deepEqual` or `deepStrictEqual`.
 *
 * @param {unknown} a
 * @param {unknown} b
 * @param {boolean} isStrict
 */
export function isDeepEqual(a, b, isStrict) {
  return compare(a, b, { isStrict, ancestors: [] })
}

/**
 * `==`, except that NaN equals NaN.
 *
 * @param {unknown} a
 * @param {unknown} b
 */
export function isEqual(a, b) {
  return isLooselyEqual(a, b) || (Number.isNaN(a) && Number.isNaN(b))
}

/**
 * @typedef {object} Comparison
 * @property {boolean} isStrict
 * @property {(readonly [object, object])[]} ancestors the pairs being compared: a circle counts as equal
 */

/**
 * @param {unknown} a
 * @param {unknown} b
 * @param {Comparison} comparison
 * @returns {boolean}
 */
function compare(a, b, comparison) {
  const { isStrict, ancestors } = comparison
  if (isStrict ? Object.is(a, b) : isEqual(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (ancestors.some(([one, other]) => one === a && other === b)) return true
  ancestors.push([a, b])
  try {
    return compareObjects(a, b, comparison)
  } finally {
    ancestors.pop()
  }
}

/**
 * @param {object} a
 * @param {object} b
 * @param {Comparison} comparison
 */
function compareObjects(a, b, comparison) {
  if (!compareWrapped(a, b)) return false
  if (ArrayBuffer.isView(a)) return ArrayBuffer.isView(b) && compareViews(a, b)
  if (a instanceof Map || b instanceof Map) {
    if (!(a instanceof Map && b instanceof Map) || !compareMaps(a, b, comparison)) return false
  }
  if (a instanceof Set || b instanceof Set) {
    if (!(a instanceof Set && b instanceof Set) || !compareSets(a, b, comparison)) return false
  }
  if (Array.isArray(a) && a.length !== /** @type {unknown[]} */ (b).length) return false
  const keys = comparableKeys(a, comparison.isStrict)
  if (keys.length !== comparableKeys(b, comparison.isStrict).length) return false
  const [one, other] = /** @type {Record<PropertyKey, unknown>[]} */ ([a, b])
  return keys.every((key) => Object.hasOwn(b, key) && compare(one[key], other[key], comparison))
}

/**
 * Compares what dates, patterns, errors and wrapped primitives hold besides properties.
 *
 * @param {object} a
 * @param {object} b
 */
function compareWrapped(a, b) {
  if (a instanceof Date || b instanceof Date) {
    if (!(a instanceof Date && b instanceof Date) || a.getTime() !== b.getTime()) return false
  }
  if (a instanceof RegExp || b instanceof RegExp) {
    if (String(a) !== String(b)) return false
  }
  if (a instanceof Error || b instanceof Error) {
    if (!(a instanceof Error && b instanceof Error) || a.message !== b.message || a.name !== b.name) return false
  }
  if (a instanceof Number || a instanceof String || a instanceof Boolean) {
    if (!Object.is(a.valueOf(), b.valueOf())) return false
  }
  return true
}

/**
 * @param {ArrayBufferView} a
 * @param {ArrayBufferView} b
 */
function compareViews(a, b) {
  if (a.byteLength !== b.byteLength) return false
  const [one, other] = /** @type {Uint8Array[]} */ ([a, b])
  for (let i = 0; i < one.length; i++) if (!Object.is(one[i], other[i])) return false
  return true
}

/**
 * @param {Map<unknown, unknown>} a
 * @param {Map<unknown, unknown>} b
 * @param {Comparison} comparison
 */
function compareMaps(a, b, comparison) {
  if (a.size !== b.size) return false
  for (const [key, value] of a) {
    const isIncluded = b.has(key)
      ? compare(value, b.get(key), comparison)
      : [...b].some((entry) => compare(key, entry[0], comparison) && compare(value, entry[1], comparison))
    if (!isIncluded) return false
  }
  return true
}

/**
 * @param {Set<unknown>} a
 * @param {Set<unknown>} b
 * @param {Comparison} comparison
 */
function compareSets(a, b, comparison) {
  if (a.size !== b.size) return false
  for (const value of a) {
    if (!b.has(value) && ![...b].some((other) => compare(value, other, comparison))) return false
  }
  return true
}

/**
 * @param {object} value
 * @param {boolean} isStrict
 * @returns {PropertyKey[]}
 */
function comparableKeys(value, isStrict) {
  return isStrict ? [...Object.keys(value), ...enumerableSymbols(value)] : Object.keys(value)
}
