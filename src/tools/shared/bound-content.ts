/**
 * Returns the leading whole lines within `maxBytes` of UTF-8. A longer first line is cut at a code point, and not within its
 * line end.
 */
export function boundContent(content: string, maxBytes: number): string {
  if (content.length * 3 <= maxBytes) return content
  let bytes = 0
  let lineEnd = 0
  for (let i = 0; i < content.length; i++) {
    const unit = content.charCodeAt(i)
    const high = unit >= 0xd800 && unit <= 0xdbff
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : high ? 4 : 3
    if (bytes > maxBytes) {
      const isLineEnd = unit === 0x0a && i > 1 && content.charCodeAt(i - 1) === 0x0d
      return content.slice(0, lineEnd > 0 ? lineEnd : isLineEnd ? i - 1 : i)
    }
    if (high) i += 1
    if (unit === 0x0a) lineEnd = i + 1
  }
  return content
}
