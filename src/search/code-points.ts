/**
 * A set of Unicode code points: flat pairs `lo, hi` (both inclusive), sorted, neither touching nor overlapping.
 * Sets are values: nothing changes one after it was made.
 */
export type CodePoints = readonly number[]

export const MAX_CODE_POINT = 0x10ffff

/** The set that holds each pair of `pairs`, which may be in any order and may overlap. */
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

/** Every code point that is not in the set. */
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

/** What is in the first set and not in the second. */
export function subtract(from: CodePoints, what: CodePoints): CodePoints {
  return negate(toCodePoints([...negate(from), ...what]))
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

/** How many code points the set holds. */
export function countOf(set: CodePoints): number {
  let count = 0
  for (let i = 0; i < set.length; i += 2) count += (set[i + 1] as number) - (set[i] as number) + 1
  return count
}

/**
 * The code points with a Unicode property, as the JavaScript engine knows it: `L`, `Lu`, `Alphabetic`, `Script=Greek`;
 * a script may be named alone, as in RE2. `undefined` for a name that the engine does not know. Building a set takes some
 * milliseconds, so each is kept.
 */
export function propertySet(name: string): CodePoints | undefined {
  if (!/^\w+(?:=\w+)?$/.test(name)) return undefined
  const known = properties.get(name)
  if (known !== undefined) return known
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

/** Lets the engine match runs over stretches of all code points in order: far faster than asking for each. */
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
  // A lone surrogate is no character of any text that is searched.
  return subtract(toCodePoints(pairs), [0xd800, 0xdfff])

  function collect(stretch: Uint16Array, first: number, unitsEach: number): void {
    // Spreading would go through an iterator, many times slower.
    const text = String.fromCharCode.apply(null, stretch as unknown as number[])
    runs.lastIndex = 0
    for (let match = runs.exec(text); match !== null; match = runs.exec(text)) {
      const lo = first + match.index / unitsEach
      pairs.push(lo, lo + match[0].length / unitsEach - 1)
    }
  }
}

const STRETCH = 0x1000
/** In the other planes all are alike, but for the last two of each. */
const ASSIGNED_PLANES = [1, 2, 3, 14]
