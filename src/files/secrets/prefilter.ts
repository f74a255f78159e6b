import { indexOfByte, latin1 } from '../../util/native-bytes.ts'
import { asciiSet, findInRun, findUrlPasswords, IN_TOKEN, mayHoldToken, type Secret } from './find.ts'
import { SHORTEST_TOKEN } from './formats.ts'

/**
 * Whether some bytes of UTF-8 hold a secret other than a private key. Those never go over the end of a line: what is
 * true of a line here is true of it in its text. A look at two bytes per nanosecond or so: text is made only of what is
 * close to a secret.
 */
export function lineHasSecret(bytes: Uint8Array, start: number, end: number): boolean {
  let text: string | undefined
  const found: Secret[] = []
  let from = start
  for (let last = start + SHORTEST_TOKEN - 1; last < end; last = from + SHORTEST_TOKEN - 1) {
    let at = last
    while (at >= from && IN_TOKEN[bytes[at] as number] === 1) at -= 1
    if (at >= from) {
      from = at + 1
      continue
    }
    let stop = last + 1
    while (stop < end && IN_TOKEN[bytes[stop] as number] === 1) stop += 1
    if (mayHoldToken(bytes, from, stop)) {
      text ??= latin1(bytes, start, end)
      findInRun(text, from - start, stop - start, found)
      if (found.length > 0) return true
    }
    from = stop + 1
  }
  if (mayHoldUrlPassword(bytes, start, end)) findUrlPasswords(text ?? latin1(bytes, start, end), found)
  return found.length > 0
}

/** Whether a text may hold a PEM block of a private key, which is over many lines. */
export function mayHoldPrivateKey(bytes: Uint8Array): boolean {
  // V is rare, and a look for one byte is the fastest that there is.
  for (let at = indexOfByte(bytes, V); at !== -1; at = indexOfByte(bytes, V, at + 1)) {
    if (bytes[at - 3] === P && bytes[at + 5] === K && latin1(bytes, at - 3, at + 8) === 'PRIVATE KEY') return true
  }
  return false
}

const P = 0x50
const V = 0x56
const K = 0x4b
const AT = 0x40
const SLASH = 0x2f
const COLON = 0x3a

/** Whether some `@` has `://` before it, with nothing between them that neither a name nor a password can hold. */
export function mayHoldUrlPassword(bytes: Uint8Array, start: number, end: number): boolean {
  let last = start - 1
  for (let at = nextAt(bytes, start, end); at !== -1; at = nextAt(bytes, at + 1, end)) {
    let from = at - 1
    while (from > last && IN_ADDRESS[bytes[from] as number] === 1) from -= 1
    if (from >= start + 2 && bytes[from] === SLASH && bytes[from - 1] === SLASH && bytes[from - 2] === COLON)
      return true
    last = at
  }
  return false
}

/** Where the next `@` in a range is, or -1. In a short range, a call into the platform costs more than a look. */
function nextAt(bytes: Uint8Array, from: number, end: number): number {
  const near = Math.min(end, from + 64)
  for (let at = from; at < near; at++) if (bytes[at] === AT) return at
  if (near === end) return -1
  const found = indexOfByte(bytes, AT, near)
  return found < end ? found : -1
}

/** Printable ASCII, a slash and an `@` left out. */
const IN_ADDRESS = asciiSet(
  Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i))
    .join('')
    .replace(/[/@]/g, ''),
)
