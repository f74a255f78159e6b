import { EventEmitter } from './events.js'
import { process } from './process.js'

/**
 * @typedef {EventEmitter & { pause?: () => unknown, resume?: () => unknown }} Input
 * @typedef {{ write(text: string): unknown }} Output
 * @typedef {{ input?: Input, output?: Output, prompt?: string }} Options
 */

/** Reads an input line by line. */
class Interface extends EventEmitter {
  #rest = ''
  /** Lines for which nothing has asked yet. @type {string[]} */
  #lines = []
  /** @type {((line: string) => void) | undefined} */
  #answer
  #isClosed = false
  #prompt

  /**
   * @param {Input | Options} first
   * @param {Output} [second]
   */
  constructor(first, second) {
    super()
    const { input, output, prompt = '> ' } = first instanceof EventEmitter ? { input: first, output: second } : first
    this.input = input ?? process.stdin
    this.output = output
    this.#prompt = prompt
    this.input.on('data', (/** @type {unknown} */ chunk) => this.#take(`${this.#rest}${chunk}`))
    this.input.on('end', () => {
      const rest = this.#rest
      this.#rest = ''
      if (rest !== '') this.#pass(rest)
      this.close()
    })
  }

  /** @param {string} text */
  #take(text) {
    const lines = text.split(/\r?\n/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (!this.#isClosed) this.#pass(line)
  }

  /** @param {string} line */
  #pass(line) {
    const answer = this.#answer
    this.#answer = undefined
    if (answer !== undefined) answer(line)
    else if (!this.emit('line', line)) this.#lines.push(line)
  }

  /**
   * @param {string} query
   * @param {unknown} options
   * @param {(answer: string) => void} [done]
   */
  question(query, options, done = /** @type {(answer: string) => void} */ (options)) {
    if (this.#isClosed) throw new Error('readline was closed')
    this.output?.write(query)
    const line = this.#lines.shift()
    if (line !== undefined) done(line)
    else {
      this.#answer = done
      this.resume()
    }
  }

  prompt() {
    this.output?.write(this.#prompt)
    this.resume()
  }

  /** @param {string} prompt */
  setPrompt(prompt) {
    this.#prompt = prompt
  }

  getPrompt() {
    return this.#prompt
  }

  /** @param {string} text */
  write(text) {
    this.#take(`${this.#rest}${text}`)
  }

  pause() {
    this.input.pause?.()
    return this
  }

  resume() {
    this.input.resume?.()
    return this
  }

  close() {
    if (this.#isClosed) return
    this.#isClosed = true
    this.pause()
    this.emit('close')
  }

  async *[Symbol.asyncIterator]() {
    let wake = () => {}
    this.on('line', (/** @type {string} */ line) => {
      this.#lines.push(line)
      wake()
    })
    this.on('close', () => wake())
    while (this.#lines.length > 0 || !this.#isClosed) {
      if (this.#lines.length > 0) yield this.#lines.shift()
      else await new Promise((resolve) => (wake = () => resolve(undefined)))
    }
  }
}

class PromiseInterface extends Interface {
  /**
   * @param {string} query
   * @param {unknown} [_options]
   * @returns {Promise<string>}
   */
  question = (query, _options) =>
    new Promise((resolve) => Interface.prototype.question.call(this, query, undefined, resolve))
}

/** The module `readline/promises`. */
export const readlinePromises = {
  Interface: PromiseInterface,
  createInterface: (/** @type {Input | Options} */ first, /** @type {Output} */ second) =>
    new PromiseInterface(first, second),
}

/** The module `readline`. */
export const readline = {
  Interface,
  createInterface: (/** @type {Input | Options} */ first, /** @type {Output} */ second) => new Interface(first, second),
  promises: readlinePromises,
}
