import { Buffer } from './buffer.js'
import { EventEmitter } from './events.js'
import { facts, requestExit, writeOutput } from './host.js'
import { setImmediate } from './timers.js'
import { performance } from './web-globals.js'

/** @param {number} fd */
function outputStream(fd) {
  /**
   * @param {string | Uint8Array} data
   * @param {unknown} [encoding]
   * @param {unknown} [done]
   */
  function write(data, encoding, done) {
    writeOutput(fd, typeof data === 'string' ? data : Buffer.from(data).toString())
    const callback = typeof encoding === 'function' ? encoding : done
    if (typeof callback === 'function') setImmediate(/** @type {() => void} */ (callback))
    return true
  }
  const stream = Object.assign(new EventEmitter(), {
    fd,
    isTTY: false,
    writable: true,
    columns: 80,
    write,
    /** @param {string | Uint8Array} [data] */
    end(data) {
      if (data !== undefined) stream.write(data)
    },
  })
  return stream
}

/** Standard input. The event loop waits for it while something listens. */
class InputStream extends EventEmitter {
  fd = 0
  isTTY = facts.isTerminal
  readable = true
  #isText = false
  #isFlowing = false
  /** What `read` has not returned yet. @type {(string | Uint8Array)[]} */
  #chunks = []

  setEncoding = () => {
    this.#isText = true
    return this
  }
  setRawMode = () => this
  resume = () => {
    this.#isFlowing = true
    return this
  }
  pause = () => {
    this.#isFlowing = false
    return this
  }
  ref = this.resume
  unref = this.pause
  read = () => this.#chunks.shift() ?? null

  get isWanted() {
    return this.#isFlowing && this.readable
  }

  /**
   * Reading starts with the first listener.
   *
   * @param {PropertyKey} name
   * @param {import('./events.js').Listener} run
   */
  on = (name, run) => {
    super.on(name, run)
    return name === 'data' || name === 'end' || name === 'readable' ? this.resume() : this
  }
  once = (/** @type {PropertyKey} */ name, /** @type {import('./events.js').Listener} */ run) => {
    super.once(name, run)
    return name === 'data' || name === 'end' || name === 'readable' ? this.resume() : this
  }

  /** @param {string | null} input one character per byte; `null` at the end */
  enter(input) {
    if (input === null) {
      this.readable = false
      this.emit('readable')
      this.emit('end')
      this.emit('close')
      return
    }
    const bytes = Buffer.from(input, 'latin1')
    const chunk = this.#isText ? bytes.toString() : bytes
    if (this.listenerCount('readable') > 0) this.#chunks.push(chunk)
    this.emit('data', chunk)
    this.emit('readable')
  }

  async *[Symbol.asyncIterator]() {
    /** @type {unknown[]} */
    const chunks = []
    let wake = () => {}
    const add = (/** @type {unknown} */ chunk) => {
      chunks.push(chunk)
      wake()
    }
    const end = () => wake()
    this.on('data', add)
    this.on('end', end)
    try {
      while (chunks.length > 0 || this.readable) {
        if (chunks.length > 0) yield chunks.shift()
        else await new Promise((resolve) => (wake = () => resolve(undefined)))
      }
    } finally {
      this.off('data', add)
      this.off('end', end)
      this.pause()
    }
  }
}

/** @param {readonly [number, number]} [since] */
function hrtime(since) {
  const ms = Date.now()
  const seconds = Math.floor(ms / 1000)
  const nanoseconds = (ms % 1000) * 1e6
  if (!since) return [seconds, nanoseconds]
  const borrow = nanoseconds < since[1] ? 1 : 0
  return [seconds - since[0] - borrow, (nanoseconds - since[1] + 1e9) % 1e9]
}
hrtime.bigint = () => BigInt(Date.now()) * 1000000n

let workingDirectory = facts.cwd
let isExiting = false

/** @param {string} directory an absolute path of a directory */
export function setWorkingDirectory(directory) {
  workingDirectory = directory
}

/** Node's `process`. `main.js` adds `chdir`. */
export const process = Object.assign(new EventEmitter(), {
  argv: facts.argv,
  argv0: 'node',
  execArgv: [],
  execPath: '/usr/bin/node',
  title: 'node',
  pid: 1,
  ppid: 0,
  arch: 'x64',
  platform: 'linux',
  version: 'v20.19.0',
  versions: { node: '20.19.0' },
  release: { name: 'node' },
  env: facts.env,
  /** @type {number | undefined} */
  exitCode: undefined,
  stdin: new InputStream(),
  stdout: outputStream(1),
  stderr: outputStream(2),
  cwd: () => workingDirectory,
  /**
   * @param {number} [code]
   * @returns {never}
   */
  exit(code) {
    if (code !== undefined) process.exitCode = code
    if (!isExiting) {
      isExiting = true
      process.emit('exit', process.exitCode || 0)
    }
    return exitNow(Number(process.exitCode || 0))
  },
  abort: () => exitNow(134),
  /**
   * @param {(...args: unknown[]) => void} run
   * @param {unknown[]} args
   */
  nextTick(run, ...args) {
    Promise.resolve().then(() => run(...args))
  },
  hrtime,
  uptime: () => performance.now() / 1000,
  memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
  umask: () => 0o22,
  getuid: () => 1000,
  getgid: () => 1000,
  /** @param {string | { name?: string, message?: string }} warning */
  emitWarning(warning) {
    const { name, message } = typeof warning === 'string' ? { name: undefined, message: warning } : warning
    process.stderr.write(`(node) ${name || 'Warning'}: ${message || warning}\n`)
  },
})

/**
 * @param {number} code
 * @returns {never}
 */
function exitNow(code) {
  requestExit(code)
  // The engine's interrupt handler ends the loop.
  for (;;);
}
