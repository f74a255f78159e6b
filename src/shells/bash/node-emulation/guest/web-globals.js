import { Buffer, bytesOf } from './buffer.js'
import { inspect } from './inspect.js'

const startTime = Date.now()

export const performance = {
  now: () => Date.now() - startTime,
  timeOrigin: startTime,
  mark() {},
  measure() {},
}

/** @param {unknown} text */
export function atob(text) {
  return Buffer.from(String(text), 'base64').toString('latin1')
}

/** @param {unknown} text */
export function btoa(text) {
  return Buffer.from(String(text), 'latin1').toString('base64')
}

/** @param {unknown} value */
export function structuredClone(value) {
  return clone(value, new Map())
}

/**
 * @param {unknown} value
 * @param {Map<object, object>} copies by their originals, for circles
 * @returns {unknown}
 */
function clone(value, copies) {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new Error(`${inspect(value)} could not be cloned.`)
  }
  if (typeof value !== 'object' || value === null) return value
  const copied = copies.get(value)
  if (copied !== undefined) return copied
  if (value instanceof Date) return new Date(value)
  if (value instanceof RegExp) return new RegExp(value.source, value.flags)
  if (value instanceof ArrayBuffer) return value.slice(0)
  if (ArrayBuffer.isView(value)) {
    const View = /** @type {new (bytes: ArrayBuffer) => object} */ (value.constructor)
    return new View(bytesOf(value))
  }
  if (value instanceof Error) {
    const Kind = /** @type {new (message: string) => Error} */ (value.constructor)
    return Object.assign(new Kind(value.message), { stack: value.stack })
  }
  return cloneContainer(value, copies)
}

/**
 * @param {object} value
 * @param {Map<object, object>} copies
 */
function cloneContainer(value, copies) {
  if (value instanceof Map) {
    const copy = new Map()
    copies.set(value, copy)
    for (const [key, inner] of value) copy.set(clone(key, copies), clone(inner, copies))
    return copy
  }
  if (value instanceof Set) {
    const copy = new Set()
    copies.set(value, copy)
    for (const inner of value) copy.add(clone(inner, copies))
    return copy
  }
  if (Array.isArray(value)) {
    /** @type {unknown[]} */
    const copy = []
    copies.set(value, copy)
    value.forEach((inner, i) => {
      copy[i] = clone(inner, copies)
    })
    return copy
  }
  const copy = {}
  copies.set(value, copy)
  for (const [key, inner] of Object.entries(value)) Object.assign(copy, { [key]: clone(inner, copies) })
  return copy
}
