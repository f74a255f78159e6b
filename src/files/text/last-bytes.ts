/** Returns the end of a text within `maxBytes` of UTF-8, without half of a surrogate pair. */
export function lastBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  let bytes = 0
  let start = text.length
  while (start > 0) {
    const unit = text.charCodeAt(start - 1)
    // Each half of a surrogate pair counts two of its four bytes.
    const size = unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
    if (bytes + size > maxBytes) break
    bytes += size
    start -= 1
  }
  const first = text.charCodeAt(start)
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start)
}
