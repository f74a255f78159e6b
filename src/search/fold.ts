import { type CodePoints, includes, toCodePoints } from './code-points.ts'

/**
 * The set with everything added that differs from a member only in case, by Unicode simple case folding, as the
 * JavaScript engine knows it. ASCII letters fold among themselves only: `k` is not the Kelvin sign and `s` not the long
 * s, as in a regular expression without the `u` flag.
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

/** All code points beyond ASCII that have another form, in groups of equal case folding. Built when first needed. */
function groups(): readonly (readonly number[])[] {
  known ??= buildGroups()
  return known
}

let known: readonly (readonly number[])[] | undefined

function buildGroups(): number[][] {
  const byKey = new Map<string, number[]>()
  const add = (key: string, codePoint: number): void => {
    const candidates = byKey.get(key)
    if (candidates === undefined) byKey.set(key, [codePoint])
    else candidates.push(codePoint)
  }
  // Upper case, full and folded again, brings together all that could be equal; the engine then says what really is.
  for (let codePoint = 0x80; codePoint <= LAST_CASED; codePoint++) {
    const char = String.fromCodePoint(codePoint)
    const upper = char.toUpperCase()
    if (upper === char && char.toLowerCase() === char) continue
    add(upper.toLowerCase().toUpperCase(), codePoint)
  }
  const found: number[][] = []
  for (const candidates of byKey.values()) {
    let rest = candidates
    while (rest.length > 1) {
      const first = rest[0] as number
      const same = new RegExp(`^\\u{${first.toString(16)}}$`, 'iu')
      const group = rest.filter((codePoint) => same.test(String.fromCodePoint(codePoint)))
      found.push(group)
      rest = rest.filter((codePoint) => !group.includes(codePoint))
    }
  }
  return found
}

/** Case exists in the first two planes only. */
const LAST_CASED = 0x1ffff
