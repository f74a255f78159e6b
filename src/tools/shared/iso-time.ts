/** Formats milliseconds since 1970 as ISO 8601. An invalid time becomes 1970. */
export function isoTime(milliseconds: number): string {
  const time = new Date(milliseconds)
  return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString()
}
