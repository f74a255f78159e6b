import { writeOutput } from './host.js'
import { format, inspect } from './inspect.js'

let indent = ''
/** @type {Map<string, number>} */
const counts = new Map()
/** @type {Map<string, number>} */
const startTimes = new Map()

/** @param {number} fd */
function printTo(fd) {
  return (/** @type {unknown[]} */ ...args) => {
    const text = format(...args)
    writeOutput(fd, `${indent ? text.replace(/^/gm, indent) : text}\n`)
  }
}
const log = printTo(1)
const error = printTo(2)

/** @param {unknown[]} args */
function group(...args) {
  if (args.length > 0) log(...args)
  indent += '  '
}

export const console = {
  log,
  info: log,
  debug: log,
  error,
  warn: error,
  /** @param {unknown[]} args */
  trace(...args) {
    error(`Trace: ${format(...args)}\n${new Error().stack}`)
  },
  /**
   * @param {unknown} value
   * @param {unknown} [options]
   */
  dir(value, options) {
    log(inspect(value, options))
  },
  /** @param {unknown} value */
  table(value) {
    log(value)
  },
  group,
  groupEnd() {
    indent = indent.slice(2)
  },
  /**
   * @param {unknown} condition
   * @param {unknown[]} args
   */
  assert(condition, ...args) {
    if (!condition) error(`Assertion failed${args.length > 0 ? `: ${format(...args)}` : ''}`)
  },
  count(label = 'default') {
    const count = (counts.get(label) ?? 0) + 1
    counts.set(label, count)
    log(`${label}: ${count}`)
  },
  countReset(label = 'default') {
    counts.set(label, 0)
  },
  time(label = 'default') {
    startTimes.set(label, Date.now())
  },
  timeEnd(label = 'default') {
    log(`${label}: ${Date.now() - (startTimes.get(label) ?? Number.NaN)}ms`)
  },
  groupCollapsed: group,
}
