import type { Artifacts } from '../audit/artifacts.ts'
import { utf8Length } from '../files/text/utf8-length.ts'

/**
 * Bounds what a model sees of a result, in bytes of JSON, as far as strings and arrays make it long. What is cut is
 * stored whole as an artifact, and the result says so.
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
  const warnings = [...result.warnings, `The result was cut to ${maxBytes} bytes; read the whole of it at ${uri}`]
  return { ...cut, warnings, truncated: true, artifactUri: result.artifactUri ?? uri }
}

/** Bytes that a value takes in JSON, roughly from above; counting stops once over `most`. */
function weigh(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length * 3 <= most ? value.length + 2 : utf8Length(value) + 2
  if (typeof value !== 'object' || value === null) return 8
  let sum = 2
  if (Array.isArray(value)) {
    for (const item of value) {
      sum += weigh(item, most) + 1
      if (sum > most) break
    }
    return sum
  }
  for (const [field, item] of Object.entries(value)) {
    sum += field.length + 4 + weigh(item, most)
    if (sum > most) break
  }
  return sum
}

/** The beginning of a long string or array. */
function shorten(value: unknown, maxBytes: number): unknown {
  if (weigh(value, maxBytes) <= maxBytes) return value
  if (typeof value === 'string') return `${value.slice(0, Math.floor(maxBytes / 3)).replace(/[\ud800-\udbff]$/, '')}…`
  if (!Array.isArray(value)) return value
  const kept: unknown[] = []
  let sum = 0
  for (const item of value) {
    sum += weigh(item, maxBytes) + 1
    if (sum > maxBytes) break
    kept.push(item)
  }
  return kept
}
