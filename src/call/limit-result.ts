import type { Artifacts } from '../audit/artifacts.ts'
import { utf8Length } from '../files/text/utf8-length.ts'

/**
 * Limits the size of a result in bytes of JSON. Long strings and arrays are cut. The complete result is stored as an
 * artifact, and a warning names its address.
 */
export function limitResult<R extends { readonly warnings: readonly string[]; readonly artifactUri?: string }>(
  result: R,
  maxBytes: number,
  artifacts: Artifacts,
): R {
  if (weigh(result, maxBytes) <= maxBytes) return result
  const uri = artifacts.put('result.json', JSON.stringify(result, null, 1))
  const cut = Object.fromEntries(
    Object.entries(result).map(([field, value]) => [field, shorten(value, Math.floor(maxBytes / 4))]),
  ) as unknown as R
  const warnings = [...result.warnings, `The result was cut to ${maxBytes} bytes; read the complete result at ${uri}`]
  return { ...cut, warnings, truncated: true, artifactUri: result.artifactUri ?? uri }
}

/** Returns an upper estimate of the bytes of a value as JSON. Stops counting once it is over `max`. */
function weigh(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length * 3 <= max ? value.length + 2 : utf8Length(value) + 2
  if (typeof value !== 'object' || value === null) return 8
  let sum = 2
  if (Array.isArray(value)) {
    for (const item of value) {
      sum += weigh(item, max) + 1
      if (sum > max) break
    }
    return sum
  }
  for (const [field, item] of Object.entries(value)) {
    sum += field.length + 4 + weigh(item, max)
    if (sum > max) break
  }
  return sum
}

/** Returns the beginning of a long string or array, and any other value unchanged. */
function shorten(value: unknown, maxBytes: number): unknown {
  if (weigh(value, maxBytes) <= maxBytes) return value
  if (typeof value === 'string') return `${value.slice(0, Math.floor(maxBytes / 3)).replace(/[\ud800-\udbff]$/, '')}…`
  if (!Array.isArray(value)) return value
  const items: unknown[] = []
  let sum = 0
  for (const item of value) {
    sum += weigh(item, maxBytes) + 1
    if (sum > maxBytes) break
    items.push(item)
  }
  return items
}
