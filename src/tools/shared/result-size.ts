import { utf8Length } from '../../files/text/utf8-length.ts'

/** Returns the bytes of a value in JSON, roughly from above and without escapes. Counting stops once over `maxBytes`. */
export function resultSize(value: unknown, maxBytes = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length * 3 <= maxBytes ? value.length + 2 : utf8Length(value) + 2
  if (typeof value !== 'object' || value === null) return 8
  let sum = 2
  if (Array.isArray(value)) {
    for (const item of value) {
      sum += resultSize(item, maxBytes) + 1
      if (sum > maxBytes) break
    }
    return sum
  }
  for (const field of Object.keys(value)) {
    sum += field.length + 4 + resultSize((value as Record<string, unknown>)[field], maxBytes)
    if (sum > maxBytes) break
  }
  return sum
}

/** Returns the room in bytes for the long fields of a result, beside its other fields and its warnings. */
export function roomInResult(projectionBytes: number): number {
  return projectionBytes - Math.min(8192, Math.ceil(projectionBytes / 4))
}
