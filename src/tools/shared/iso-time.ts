/** A time in ISO 8601, from milliseconds since 1970, whatever a storage gives. */
export function isoTime(milliseconds: number): string {
  const time = new Date(milliseconds)
  return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString()
}
