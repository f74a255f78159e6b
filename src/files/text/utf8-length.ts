/** Bytes that a text takes as UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    bytes += 1
    // The two units of a surrogate pair take four bytes together.
    if (unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff)) bytes += 1
  }
  return bytes
}
