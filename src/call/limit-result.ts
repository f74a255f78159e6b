import type { Artifacts } from '../audit/artifacts.ts'
import { boundContent } from '../tools/shared/bound-content.ts'
import { lastLines } from '../tools/shared/command-output.ts'
import { resultSize } from '../tools/shared/result-size.ts'
import { truncatePatchText } from '../tools/shared/truncate-patch.ts'
import { counted } from '../util/counted.ts'

/**
 * Bounds what a model sees of a result, in bytes of JSON, as far as strings and arrays make it long. The bound is shared by
 * need: short fields stay whole, and long ones get equal parts of what remains. Texts are cut at lines, diffs at hunks, and
 * the output of a command keeps its end. What is cut is stored whole as an artifact, and the result says so.
 */
export function limitResult<R extends { readonly warnings: readonly string[]; readonly artifactUri?: string }>(
  result: R,
  maxBytes: number,
  artifacts: Artifacts,
): R {
  if (resultSize(result, maxBytes) <= maxBytes) return result
  const uri = artifacts.put('result.json', JSON.stringify(result, null, 1))
  const warning = `The result was cut to ${counted(maxBytes, 'byte')}; read the complete result at ${uri}`
  const room = maxBytes - resultSize(warning) - uri.length - OWN_FIELDS_BYTES
  const cut = shortenFields(result, room, maxBytes)
  return {
    ...cut,
    warnings: [...cut.warnings, warning],
    truncated: true,
    artifactUri: result.artifactUri ?? uri,
  }
}

/** Bytes of the names of `truncated` and `artifactUri`, and of a value. */
const OWN_FIELDS_BYTES = 48

/** Shorter texts stay whole: paths, versions, addresses. */
const SHORT_TEXT_BYTES = 200

/** Number of long fields up to which each gets its part of the bound, even if fields that cannot be cut take all of it. */
const MIN_PARTS = 4

/** Shortens the long fields of an object to `maxBytes`. `bound` is that of the whole result, for the parts of {@link MIN_PARTS}. */
function shortenFields<T extends object>(object: T, maxBytes: number, bound = maxBytes): T {
  const entries = Object.entries(object)
  const sizes: number[] = []
  let remaining = maxBytes - 2
  for (const [field, value] of entries) {
    remaining -= field.length + 4
    if (canShorten(value)) sizes.push(resultSize(value))
    else remaining -= resultSize(value)
  }
  if (sizes.length === 0) return object
  const share = Math.floor(Math.max(fairShare(sizes, remaining), bound / Math.max(MIN_PARTS, sizes.length)))
  return Object.fromEntries(
    entries.map(([field, value]) => [field, canShorten(value) ? shorten(value, share, field) : value]),
  ) as T
}

/** Whether a value is or contains a list or a long text. */
function canShorten(value: unknown): boolean {
  if (typeof value === 'string') return resultSize(value) > SHORT_TEXT_BYTES
  return Array.isArray(value) || (typeof value === 'object' && value !== null && Object.values(value).some(canShorten))
}

/** Returns the largest size that every field may have so that all fit; small ones leave their part to the others. */
function fairShare(sizes: readonly number[], maxBytes: number): number {
  let remaining = maxBytes
  const ascending = [...sizes].sort((a, b) => a - b)
  for (const [index, size] of ascending.entries()) {
    const share = remaining / (ascending.length - index)
    if (size > share) return share
    remaining -= size
  }
  return Number.POSITIVE_INFINITY
}

/** Shortens a long value. What cannot be cut stays as it is. */
function shorten(value: unknown, maxBytes: number, field = ''): unknown {
  if (resultSize(value, maxBytes) <= maxBytes) return value
  if (typeof value === 'string') return shortenText(value, maxBytes, field)
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value)) return shortenFields(value, maxBytes)
  const items: unknown[] = []
  let sum = 2
  for (const item of value) {
    sum += resultSize(item, maxBytes) + 1
    if (sum > maxBytes) break
    items.push(item)
  }
  // A first item that is too long by itself is shown in part.
  if (items.length === 0) {
    const first = shorten(value[0], maxBytes - 3)
    if (resultSize(first, maxBytes) <= maxBytes) items.push(first)
  }
  return items
}

const ELLIPSIS_BYTES = 6

function shortenText(text: string, maxBytes: number, field: string): string {
  const bytes = Math.max(0, Math.floor(maxBytes) - ELLIPSIS_BYTES)
  if (field === 'diff') return truncatePatchText(text, bytes)
  if (field === 'stdout' || field === 'stderr') return lastLines(text, bytes)
  return `${boundContent(text, bytes)}…`
}
