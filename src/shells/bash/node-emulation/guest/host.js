/** @import { Facts, HostError, HostFunctions, HostText, Operations } from './host-functions.d.ts' */

// Taken once: a script that replaces the globals does not change what the modules here call.
const host = { .../** @type {HostFunctions} */ (/** @type {unknown} */ (globalThis)) }

/** @type {Facts} */
export const facts = JSON.parse(host.__facts)

/**
 * Makes an error with a code, as Node's own errors have.
 *
 * @template {Error} E
 * @param {new (message: string) => E} Kind
 * @param {string} code
 * @param {string} message
 */
export function codedError(Kind, code, message) {
  return Object.assign(new Kind(message), { code })
}

/**
 * Makes an error of a file operation from what the host reports.
 *
 * @param {HostError} report
 */
export function systemError({ message, code, syscall, path }) {
  const error = new Error(message)
  if (code) Object.assign(error, { code, errno: -1 })
  if (syscall) Object.assign(error, { syscall })
  if (path) Object.assign(error, { path })
  return error
}

/**
 * Calls a file operation of the host.
 *
 * @template {keyof Operations} Name
 * @param {Name} operation
 * @param {Operations[Name][0]} args
 * @returns {Operations[Name][1]}
 * @throws an error with a system's code (`ENOENT`)
 */
export function callHost(operation, args) {
  const answer = host.__host(operation, JSON.stringify(args))
  if (typeof answer !== 'string') return answer
  const { value, error } = JSON.parse(answer)
  if (error) throw systemError(error)
  return value
}

/**
 * @param {string} path
 * @param {ArrayBuffer} bytes
 * @param {boolean} isAppended
 * @throws an error with a system's code
 */
export function writeFile(path, bytes, isAppended) {
  const { error } = JSON.parse(host.__write(path, bytes, isAppended))
  if (error) throw systemError(error)
}

/**
 * Writes to standard output (1) or standard error (2).
 *
 * @param {number} fd
 * @param {string} text
 */
export function writeOutput(fd, text) {
  host.__out(fd, toHostText(text))
}

/**
 * @param {string} text
 * @param {string} encoding one that `encodingOf` returns
 */
export function encode(text, encoding) {
  return host.__encode(toHostText(text), encoding)
}

/**
 * @param {ArrayBuffer} bytes
 * @param {string} encoding one that `encodingOf` returns
 */
export function decode(bytes, encoding) {
  return fromHostText(host.__decode(bytes, encoding))
}

/** Returns the rest of the standard input, and waits for it. */
export function readInput() {
  const parts = []
  for (let part = host.__input(); part !== undefined; part = host.__input()) parts.push(part)
  return parts
}

export const { __sha256: sha256, __exit: requestExit, __tests: reportTests, __compile: compile } = host

/**
 * @param {string} text
 * @returns {HostText}
 */
function toHostText(text) {
  if (!text.includes('\0')) return text
  const units = new Uint16Array(text.length)
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i)
  return units.buffer
}

/** @param {HostText} received */
function fromHostText(received) {
  if (typeof received === 'string') return received
  const units = new Uint16Array(received)
  let text = ''
  for (let i = 0; i < units.length; i += 8192) text += String.fromCharCode(...units.subarray(i, i + 8192))
  return text
}
