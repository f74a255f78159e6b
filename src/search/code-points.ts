/**
 * A set of Unicode code points: flat pairs `lo, hi` (both inclusive), sorted, neither adjacent nor overlapping. Immutable.
 */
export type CodePoints = readonly number[]

export const MAX_CODE_POINT = 0x10ffff

/** The union of ranges, given as flat pairs in any order, which may overlap. */
export function toCodePoints(pairs: readonly number[]): CodePoints {
  const ranges: [number, number][] = []
  for (let i = 0; i < pairs.length; i += 2) ranges.push([pairs[i] as number, pairs[i + 1] as number])
  ranges.sort((a, b) => a[0] - b[0])
  const merged: number[] = []
  for (const [lo, hi] of ranges) {
    const last = merged.length - 1
    if (last > 0 && lo <= (merged[last] as number) + 1) merged[last] = Math.max(merged[last] as number, hi)
    else merged.push(lo, hi)
  }
  return merged
}

/** The complement of a set. */
export function negate(set: CodePoints): CodePoints {
  const outside: number[] = []
  let next = 0
  for (let i = 0; i < set.length; i += 2) {
    if ((set[i] as number) > next) outside.push(next, (set[i] as number) - 1)
    next = (set[i + 1] as number) + 1
  }
  if (next <= MAX_CODE_POINT) outside.push(next, MAX_CODE_POINT)
  return outside
}

/** The members of the first set that are not in the second. */
export function subtract(from: CodePoints, removed: CodePoints): CodePoints {
  return negate(toCodePoints([...negate(from), ...removed]))
}

export function includes(set: CodePoints, codePoint: number): boolean {
  let low = 0
  let high = set.length >> 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((set[2 * middle + 1] as number) < codePoint) low = middle + 1
    else high = middle
  }
  return 2 * low < set.length && (set[2 * low] as number) <= codePoint
}

/** The number of code points in a set. */
export function countOf(set: CodePoints): number {
  let count = 0
  for (let i = 0; i < set.length; i += 2) count += (set[i + 1] as number) - (set[i] as number) + 1
  return count
}

/**
 * The code points with a Unicode property of the JavaScript engine: `L`, `Lu`, `Alphabetic`, `Script=Greek`. The name of a
 * script alone is accepted, as in RE2. Returns `undefined` for an unknown name. Building a set takes milliseconds, so the
 * last ones are cached.
 */
export function propertySet(name: string): CodePoints | undefined {
  if (!/^\w+(?:=\w+)?$/.test(name)) return undefined
  const cached = properties.get(name)
  if (cached !== undefined) return cached
  const runs = propertyRuns(name) ?? propertyRuns(`Script=${name}`)
  if (runs === undefined) return undefined
  const set = rangesOf(runs)
  if (properties.size >= MAX_PROPERTIES) properties.clear()
  properties.set(name, set)
  return set
}

const MAX_PROPERTIES = 16
const properties = new Map<string, CodePoints>()

function propertyRuns(name: string): RegExp | undefined {
  try {
    return new RegExp(`\\p{${name}}+`, 'gu')
  } catch {
    return undefined
  }
}

/** Lets the engine match runs in texts of consecutive code points, which is far faster than testing each code point. */
function rangesOf(runs: RegExp): CodePoints {
  const pairs: number[] = []
  const units = new Uint16Array(STRETCH * 2)
  for (let first = 0; first <= MAX_CODE_POINT; first += STRETCH) {
    const plane = first >> 16
    if (plane === 0) {
      for (let i = 0; i < STRETCH; i++) units[i] = first + i
      collect(units.subarray(0, STRETCH), first, 1)
    } else if (ASSIGNED_PLANES.includes(plane) || (first & 0xffff) + STRETCH > 0xffff) {
      for (let i = 0; i < STRETCH; i++) {
        units[2 * i] = 0xd800 + ((first + i - 0x10000) >> 10)
        units[2 * i + 1] = 0xdc00 + ((first + i) & 0x3ff)
      }
      collect(units, first, 2)
    } else {
      runs.lastIndex = 0
      if (runs.test(String.fromCodePoint(first))) pairs.push(first, first + STRETCH - 1)
    }
  }
  // UTF-8 text has no lone surrogates.
  return subtract(toCodePoints(pairs), [0xd800, 0xdfff])

  function collect(stretch: Uint16Array, first: number, unitsEach: number): void {
    // Spreading would use an iterator and be many times slower.
    const text = String.fromCharCode.apply(null, stretch as unknown as number[])
    runs.lastIndex = 0
    for (let match = runs.exec(text); match !== null; match = runs.exec(text)) {
      const lo = first + match.index / unitsEach
      pairs.push(lo, lo + match[0].length / unitsEach - 1)
    }
  }
}

const STRETCH = 0x1000
/** In the other planes all code points have the same properties, except for the last two of each. */
const ASSIGNED_PLANES = [1, 2, 3, 14]
