import { padLeft } from 'pad-lines'

/** A day as `2026-03-09`. */
export function dayOf(date) {
  const month = padLeft(String(date.getUTCMonth() + 1), 2, '0')
  const day = padLeft(String(date.getUTCDate()), 2, '0')
  return `${date.getUTCFullYear()}-${month}-${day}`
}
