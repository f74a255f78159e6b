/** Returns a path or an address without the slashes at its end. The pattern begins where they begin, so it takes linear time. */
export function withoutEndSlashes(text: string): string {
  return text.replace(/(?<!\/)\/+$/, '')
}

/** Returns what a path has before its last name, without slashes at the end: empty for a single name and for `/a`. */
export function parentText(path: string): string {
  const plain = withoutEndSlashes(path)
  return withoutEndSlashes(plain.slice(0, Math.max(0, plain.lastIndexOf('/'))))
}
