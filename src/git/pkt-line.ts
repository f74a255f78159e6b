import { ToolError } from '../errors.ts'
import { concatBytes } from '../util/bytes.ts'

/** The line that ends a list, of the protocol of git. */
export const FLUSH = new TextEncoder().encode('0000')

/** Returns a line of the protocol of git: its length in 4 hex digits, and its text. */
export function pktLine(text: string): Uint8Array {
  const bytes = encoder.encode(text)
  return concatBytes([encoder.encode((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/**
 * Splits bytes into lines of the protocol of git. `null` is the line that ends a list.
 *
 * @throws ToolError `BACKEND_ERROR` for anything else, also if the bytes end within a line
 */
export function* pktLines(bytes: Uint8Array): Generator<Uint8Array | null> {
  for (let at = 0; at < bytes.length; ) {
    const digits = decoder.decode(bytes.subarray(at, at + 4))
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
    if (length === 0) yield null
    else if (length < 4 || at + length > bytes.length) throw brokenProtocol()
    else yield bytes.subarray(at + 4, at + length)
    at += Math.max(length, 4)
  }
}

export function brokenProtocol(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot continue with git: the answer of the server is not of its protocol', {
    hint: 'The address may not be that of a repository, or the connection ended early.',
  })
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
