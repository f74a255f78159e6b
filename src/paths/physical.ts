/**
 * Whether a place on a disk is another one or lies somewhere in it. Both are absolute, resolved, and as the disk spells them.
 *
 * @param separator between the names of such a path, `/` or `\\`
 */
export function isAtOrBelow(place: string, around: string, separator: string): boolean {
  return `${place}${separator}`.startsWith(around.endsWith(separator) ? around : `${around}${separator}`)
}
