/**
 * Returns whether a physical path is a directory or below it. Both paths are absolute, resolved, and spelled as on disk.
 *
 * @param separator path separator of the platform, `/` or `\\`
 */
export function isAtOrBelow(path: string, directory: string, separator: string): boolean {
  return `${path}${separator}`.startsWith(directory.endsWith(separator) ? directory : `${directory}${separator}`)
}
