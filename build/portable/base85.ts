/*
 * Bytes as text: five characters for four bytes. Without quotes, backslashes, `$` and `<`, so that it can stand in every string of a
 * script and of a page.
 */

const ALPHABET = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))
  .filter((char) => !'"\'`\\$<'.includes(char))
  .slice(0, 85)
  .join('')

/** Returns a text for bytes. What is missing to a multiple of four is filled up with zeros. */
export function encodeBase85(bytes: Uint8Array): string {
  const view = new DataView(new ArrayBuffer(Math.ceil(bytes.length / 4) * 4))
  new Uint8Array(view.buffer).set(bytes)
  let text = ''
  for (let at = 0; at < view.byteLength; at += 4) {
    let group = ''
    for (let value = view.getUint32(at), i = 0; i < 5; value = Math.floor(value / 85), i++) {
      group = ALPHABET.charAt(value % 85) + group
    }
    text += group
  }
  return text
}

/** Returns the bytes of a text of {@link encodeBase85}, with the zeros at their end. */
export function decodeBase85(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128)
  for (let value = 0; value < ALPHABET.length; value++) values[ALPHABET.charCodeAt(value)] = value
  const view = new DataView(new ArrayBuffer((text.length / 5) * 4))
  for (let at = 0, target = 0; at < text.length; target += 4) {
    let group = 0
    for (const end = at + 5; at < end; at++) group = group * 85 + (values[text.charCodeAt(at)] ?? 0)
    view.setUint32(target, group)
  }
  return new Uint8Array(view.buffer)
}
