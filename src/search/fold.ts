import { type CodePoints, includes, toCodePoints } from './code-points.ts'

/**
 * Returns the set plus every code point that differs from a member only in case, by the Unicode simple case folding of
 * the JavaScript engine. ASCII letters fold only among themselves, as in a regular expression without the `u` flag: `k`
 * does not match the Kelvin sign, and `s` not the long s.
 */
export function foldCase(set: CodePoints): CodePoints {
  const pairs = [...set]
  for (let upper = 0x41; upper <= 0x5a; upper++) {
    const lower = upper + 0x20
    if (includes(set, upper)) pairs.push(lower, lower)
    if (includes(set, lower)) pairs.push(upper, upper)
  }
  if ((set[set.length - 1] ?? 0) >= 0x80) {
    for (const group of groups()) {
      if (group.some((member) => includes(set, member))) for (const member of group) pairs.push(member, member)
    }
  }
  return toCodePoints(pairs)
}

/** All code points beyond ASCII with more than one case, in groups of equal case folding. Built on first use. */
function groups(): readonly (readonly number[])[] {
  cachedGroups ??= buildGroups()
  return cachedGroups
}

let cachedGroups: readonly (readonly number[])[] | undefined

function buildGroups(): number[][] {
  const byKey = new Map<string, number[]>()
  const add = (key: string, codePoint: number): void => {
    const candidates = byKey.get(key)
    if (candidates === undefined) byKey.set(key, [codePoint])
    else candidates.push(codePoint)
  }
  // Equal upper case, folded and raised again, collects candidates; the engine then decides which are equal.
  for (let codePoint = 0x80; codePoint <= LAST_CASED; codePoint++) {
    const char = String.fromCodePoint(codePoint)
    const upper = char.toUpperCase()
    if (upper === char && char.toLowerCase() === char) continue
    add(upper.toLowerCase().toUpperCase(), codePoint)
  }
  const result: number[][] = []
  for (const candidates of byKey.values()) {
    let remaining = candidates
    while (remaining.length > 1) {
      const first = remaining[0] as number
      const sameFold = new RegExp(`^\\u{${first.toString(16)}}$`, 'iu')
      const group = remaining.filter((codePoint) => sameFold.test(String.fromCodePoint(codePoint)))
      result.push(group)
      remaining = remaining.filter((codePoint) => !group.includes(codePoint))
    }
  }
  return result
}

/** Only the first two planes have characters with case. */
const LAST_CASED = 0x1ffff
