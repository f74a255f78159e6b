/**
 * Returns the offsets of `needle` in a text, ascending, at most `limit`. Linear in both, also for repetitive texts: uses
 * Knuth–Morris–Pratt if the engine's own search could take more than `maxSteps` comparisons.
 */
export function occurrences(
  text: string,
  needle: string,
  options: { readonly overlapping: boolean; readonly limit?: number; readonly maxSteps?: number },
): number[] {
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  if (needle === '' || needle.length > text.length) return []
  if (text.length * needle.length > (options.maxSteps ?? MAX_STEPS))
    return byPrefixes(text, needle, options.overlapping, limit)
  const step = options.overlapping ? 1 : needle.length
  const offsets: number[] = []
  for (let at = text.indexOf(needle); at !== -1 && offsets.length < limit; at = text.indexOf(needle, at + step)) {
    offsets.push(at)
  }
  return offsets
}

/** Comparisons that the engine's own search may take at worst, about 0.1 s. */
const MAX_STEPS = 2 ** 27

function byPrefixes(text: string, needle: string, overlapping: boolean, limit: number): number[] {
  // For each length of a matched prefix, the length of its longest proper suffix that is also a prefix.
  const shorter = new Int32Array(needle.length + 1)
  for (let i = 1, matched = 0; i < needle.length; i++) {
    const unit = needle.charCodeAt(i)
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = shorter[matched] as number
    if (needle.charCodeAt(matched) === unit) matched += 1
    shorter[i + 1] = matched
  }
  const offsets: number[] = []
  for (let i = 0, matched = 0; i < text.length && offsets.length < limit; i++) {
    const unit = text.charCodeAt(i)
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = shorter[matched] as number
    if (needle.charCodeAt(matched) === unit) matched += 1
    if (matched < needle.length) continue
    offsets.push(i + 1 - needle.length)
    matched = overlapping ? (shorter[matched] as number) : 0
  }
  return offsets
}
