const withoutSlashes = (path: string): string => path.replace(/(?<!\/)\/+$/, '')

/** Returns what a path has before its last name, without slashes at the end: empty for a single name and for `/a`. */
export function parentText(path: string): string {
  const plain = withoutSlashes(path)
  return withoutSlashes(plain.slice(0, Math.max(0, plain.lastIndexOf('/'))))
}
