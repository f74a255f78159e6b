import { codedError } from './host.js'
import { inspect } from './inspect.js'

/**
 * @typedef {(...args: unknown[]) => unknown} Callback
 * @typedef {object} Timer
 * @property {number} id
 * @property {number} dueAt by `Date.now()`
 * @property {Callback} run
 * @property {unknown[]} args
 * @property {number} interval in milliseconds; 0 for a timer that runs once
 * @property {boolean} isWeak does not keep the script alive
 */

/** @type {Timer[]} */
let timers = []
let nextId = 1

class Timeout {
  /** @param {number} id */
  constructor(id) {
    this.id = id
  }

  ref() {
    return this
  }

  unref() {
    for (const timer of timers) if (timer.id === this.id) timer.isWeak = true
    return this
  }

  hasRef() {
    return true
  }

  [Symbol.toPrimitive]() {
    return this.id
  }
}

/**
 * @param {Callback} run
 * @param {number} delay
 * @param {unknown[]} args
 * @param {boolean} isRepeated
 */
function start(run, delay, args, isRepeated) {
  if (typeof run !== 'function') {
    const message = `The "callback" argument must be of type function. Received ${inspect(run)}`
    throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', message)
  }
  // As in Node: what is out of range counts as 1.
  const ms = delay >= 1 && delay <= 2147483647 ? Math.floor(delay) : 1
  const timer = { id: nextId++, dueAt: Date.now() + ms, run, args, interval: isRepeated ? ms : 0, isWeak: false }
  timers.push(timer)
  return timer
}

/**
 * @param {Callback} run
 * @param {number} ms
 * @param {unknown[]} args
 */
export function setTimeout(run, ms, ...args) {
  return new Timeout(start(run, ms, args, false).id)
}

/**
 * @param {Callback} run
 * @param {number} ms
 * @param {unknown[]} args
 */
export function setInterval(run, ms, ...args) {
  return new Timeout(start(run, ms, args, true).id)
}

/**
 * @param {Callback} run
 * @param {unknown[]} args
 */
export function setImmediate(run, ...args) {
  const timer = start(run, 1, args, false)
  timer.dueAt = 0
  return new Timeout(timer.id)
}

/** @param {Timeout | number | string | null} [timeout] */
function clear(timeout) {
  if (timeout === undefined || timeout === null) return
  const id = typeof timeout === 'object' ? timeout.id : Number(timeout)
  timers = timers.filter((timer) => timer.id !== id)
}

export { clear as clearImmediate, clear as clearInterval, clear as clearTimeout }

/** @param {() => void} run */
export function queueMicrotask(run) {
  Promise.resolve().then(run)
}

/** Returns the milliseconds until the next timer; -1 if no timer keeps the script alive. */
export function timeToNextTimer() {
  if (timers.every((timer) => timer.isWeak)) return -1
  return Math.max(0, Math.min(...timers.map(({ dueAt }) => dueAt)) - Date.now())
}

/** Runs the first timer that is due, if any. */
export function runDueTimer() {
  const now = Date.now()
  const [due] = timers.filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.dueAt - b.dueAt || a.id - b.id)
  if (due === undefined) return
  if (due.interval > 0) due.dueAt = now + due.interval
  else clear(due.id)
  due.run(...due.args)
}

/** The module `timers`. */
export const timersModule = {
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
}

/** The module `timers/promises`. */
export const timersPromises = {
  /**
   * @param {number} ms
   * @param {unknown} [value]
   */
  setTimeout: (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value)),
  /** @param {unknown} [value] */
  setImmediate: (value) => new Promise((resolve) => setImmediate(resolve, value)),
}
