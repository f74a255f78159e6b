/** The characters of Base64url. */
export const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'

/** Returns a table with 1 for each of the ASCII characters. */
export function asciiSet(chars: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const char of chars) set[char.charCodeAt(0)] = 1
  return set
}

/** Whether a set contains a unit. False after the end of a text, where the unit is NaN. */
export function isIn(set: Uint8Array, unit: number): boolean {
  return unit < 128 && set[unit] === 1
}
