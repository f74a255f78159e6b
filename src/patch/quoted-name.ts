import { encodeName } from '../paths/name-bytes.ts'

/**
 * Returns a name as git writes it in a patch by default: unchanged, or, if it could be misread, in double quotes with C
 * escapes, where every byte outside ASCII becomes an octal escape.
 *
 * @example
 * quoteName('a/é.txt') // '"a/\\303\\251.txt"'
 */
export function quoteName(name: string): string {
  if (isPlain(name)) return name
  let quoted = '"'
  for (const byte of encodeName(name)) {
    const letter = escapes.get(byte)
    if (letter !== undefined) quoted += `\\${letter}`
    else if (byte < 0x20 || byte >= 0x7f) quoted += `\\${byte.toString(8).padStart(3, '0')}`
    else quoted += String.fromCharCode(byte)
  }
  return `${quoted}"`
}

function isPlain(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at)
    if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return false
  }
  return true
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

const escapes: ReadonlyMap<number, string> = new Map([
  [7, 'a'],
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [11, 'v'],
  [12, 'f'],
  [13, 'r'],
  [34, '"'],
  [92, '\\'],
])
