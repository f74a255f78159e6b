/**
 * The offsets at which a text occurs in another, ascending, at most `most`. Linear in both, also where a text repeats
 * itself (Knuth–Morris–Pratt where the engine's own search could take more than `mostSteps` comparisons).
 */
export function occurrences(
  text: string,
  wanted: string,
  options: { readonly overlapping: boolean; readonly most?: number; readonly mostSteps?: number },
): number[] {
  const most = options.most ?? Number.POSITIVE_INFINITY
  if (wanted === '' || wanted.length > text.length) return []
  if (text.length * wanted.length > (options.mostSteps ?? MOST_STEPS))
    return byPrefixes(text, wanted, options.overlapping, most)
  const step = options.overlapping ? 1 : wanted.length
  const found: number[] = []
  for (let at = text.indexOf(wanted); at !== -1 && found.length < most; at = text.indexOf(wanted, at + step)) {
    found.push(at)
  }
  return found
}

/** Comparisons that the engine's own search may take at worst: some 0.1 s. */
const MOST_STEPS = 2 ** 27

function byPrefixes(text: string, wanted: string, overlapping: boolean, most: number): number[] {
  // For each length of a matched beginning: the longest shorter one that it ends with.
  const shorter = new Int32Array(wanted.length + 1)
  for (let i = 1, matched = 0; i < wanted.length; i++) {
    const unit = wanted.charCodeAt(i)
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = shorter[matched] as number
    if (wanted.charCodeAt(matched) === unit) matched += 1
    shorter[i + 1] = matched
  }
  const found: number[] = []
  for (let i = 0, matched = 0; i < text.length && found.length < most; i++) {
    const unit = text.charCodeAt(i)
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = shorter[matched] as number
    if (wanted.charCodeAt(matched) === unit) matched += 1
    if (matched < wanted.length) continue
    found.push(i + 1 - wanted.length)
    matched = overlapping ? (shorter[matched] as number) : 0
  }
  return found
}
