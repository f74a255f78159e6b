/** Returns the length of a text in bytes of UTF-8. A lone surrogate counts as two bytes. */
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
