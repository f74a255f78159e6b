import { inspect } from './inspect.js'

/**
 * @typedef {(...args: never[]) => unknown} Listener
 * @typedef {{ run: Listener, isOnce: boolean }} Registration
 */

/**
 * The listeners of each emitter. Not a private field: an object may inherit from EventEmitter without its constructor, by
 * `util.inherits`.
 *
 * @type {WeakMap<object, Map<PropertyKey, Registration[]>>}
 */
const tables = new WeakMap()

/**
 * @param {object} emitter
 * @param {PropertyKey} name
 * @returns {Registration[]}
 */
function registrations(emitter, name) {
  const table = tables.get(emitter) ?? new Map()
  tables.set(emitter, table)
  const list = table.get(name) ?? []
  table.set(name, list)
  return list
}

export class EventEmitter {
  /**
   * @param {PropertyKey} name
   * @param {Listener} run
   */
  on(name, run) {
    registrations(this, name).push({ run, isOnce: false })
    return this
  }

  /**
   * @param {PropertyKey} name
   * @param {Listener} run
   */
  addListener(name, run) {
    return this.on(name, run)
  }

  /**
   * @param {PropertyKey} name
   * @param {Listener} run
   */
  prependListener(name, run) {
    registrations(this, name).unshift({ run, isOnce: false })
    return this
  }

  /**
   * @param {PropertyKey} name
   * @param {Listener} run
   */
  once(name, run) {
    registrations(this, name).push({ run, isOnce: true })
    return this
  }

  /**
   * @param {PropertyKey} name
   * @param {Listener} run
   */
  off(name, run) {
    const list = registrations(this, name)
    const index = list.findLastIndex((registration) => registration.run === run)
    if (index !== -1) list.splice(index, 1)
    return this
  }

  /**
   * @param {PropertyKey} name
   * @param {Listener} run
   */
  removeListener(name, run) {
    return this.off(name, run)
  }

  /** @param {PropertyKey} [name] */
  removeAllListeners(name) {
    if (name === undefined) tables.delete(this)
    else registrations(this, name).length = 0
    return this
  }

  /**
   * @param {PropertyKey} name
   * @param {unknown[]} args
   */
  emit(name, ...args) {
    const list = [...registrations(this, name)]
    if (list.length === 0) {
      if (name !== 'error') return false
      throw args[0] instanceof Error ? args[0] : new Error(`Unhandled error. (${inspect(args[0])})`)
    }
    for (const { run, isOnce } of list) {
      if (isOnce) this.off(name, run)
      run.apply(this, /** @type {never[]} */ (args))
    }
    return true
  }

  /** @param {PropertyKey} name */
  listenerCount(name) {
    return registrations(this, name).length
  }

  /** @param {PropertyKey} name */
  listeners(name) {
    return registrations(this, name).map(({ run }) => run)
  }

  eventNames() {
    return [...(tables.get(this) ?? [])].filter(([, list]) => list.length > 0).map(([name]) => name)
  }

  setMaxListeners() {
    return this
  }

  getMaxListeners() {
    return 10
  }

  static EventEmitter = EventEmitter

  /**
   * @param {EventEmitter} emitter
   * @param {PropertyKey} name
   */
  static once = (emitter, name) =>
    new Promise((resolve, reject) => {
      emitter.once(name, (...args) => resolve(args))
      if (name !== 'error') emitter.once('error', reject)
    })
}
