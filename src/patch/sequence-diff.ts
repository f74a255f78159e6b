/**
 * Marks the elements that have to leave `a` and enter `b`, so that the remaining elements are one common subsequence.
 * Elements are small integers below `symbols`. The result is the shortest one (Myers, "An O(ND) Difference Algorithm",
 * in linear space) as long as that is affordable. A box over that limit is split at elements that are unique on both
 * sides, or else at the furthest point of the search. Time is near-linear for any input.
 */
export function markChanges(
  a: Int32Array,
  b: Int32Array,
  symbols: number,
  changedA: Uint8Array,
  changedB: Uint8Array,
): void {
  const search = createSearch(a, b)
  const anchors = anchorFinder(a, b, symbols)
  // The open boxes, five numbers each: the ranges in a and b, and the size up to which anchors are looked for.
  const boxes: number[] = [0, a.length, 0, b.length, a.length + b.length]
  while (boxes.length > 0) {
    let anchorSize = boxes.pop() as number
    let bHigh = boxes.pop() as number
    let bLow = boxes.pop() as number
    let aHigh = boxes.pop() as number
    let aLow = boxes.pop() as number
    while (aLow < aHigh && bLow < bHigh && a[aLow] === b[bLow]) {
      aLow += 1
      bLow += 1
    }
    while (aLow < aHigh && bLow < bHigh && a[aHigh - 1] === b[bHigh - 1]) {
      aHigh -= 1
      bHigh -= 1
    }
    if (aLow === aHigh || bLow === bHigh) {
      changedA.fill(1, aLow, aHigh)
      changedB.fill(1, bLow, bHigh)
      continue
    }
    if (!findSplit(search, aLow, aHigh, bLow, bHigh)) {
      const size = aHigh - aLow + bHigh - bLow
      if (size <= anchorSize) {
        const pairs = anchors(aLow, aHigh, bLow, bHigh)
        if (pairs !== undefined) {
          pushBetween(boxes, pairs, aLow, aHigh, bLow, bHigh)
          continue
        }
        // Anchors are not looked for again before the box is half as large. Otherwise the cost would be quadratic.
        anchorSize = size >> 1
      }
    }
    const { splitA, splitB } = search
    boxes.push(splitA, aHigh, splitB, bHigh, anchorSize, aLow, splitA, bLow, splitB, anchorSize)
  }
}

/** Adds the boxes between anchors. `pairs` holds their positions in a and b. */
function pushBetween(
  boxes: number[],
  pairs: Int32Array,
  aLow: number,
  aHigh: number,
  bLow: number,
  bHigh: number,
): void {
  let aFrom = aLow
  let bFrom = bLow
  for (let i = 0; i < pairs.length; i += 2) {
    const x = pairs[i] as number
    const y = pairs[i + 1] as number
    // The elements right after an anchor are matched when the next box is trimmed.
    if (aFrom < x || bFrom < y) boxes.push(aFrom, x, bFrom, y, x - aFrom + y - bFrom)
    aFrom = x + 1
    bFrom = y + 1
  }
  boxes.push(aFrom, aHigh, bFrom, bHigh, aHigh - aFrom + bHigh - bFrom)
}

/** The search for the middle of a shortest path. Its arrays serve all boxes of one comparison. */
interface Search {
  readonly a: Int32Array
  readonly b: Int32Array
  /** The maximum number of edits that one search looks for. */
  readonly cost: number
  /** Index of diagonal 0 in `forward` and `backward`. */
  readonly middle: number
  /** For each diagonal, the furthest x that each walk has reached, relative to the box. */
  readonly forward: Int32Array
  readonly backward: Int32Array
  /** The point where {@link findSplit} divides the box. */
  splitA: number
  splitB: number
}

function createSearch(a: Int32Array, b: Int32Array): Search {
  const cost = costLimit(a.length + b.length)
  const forward = new Int32Array(2 * cost + 3)
  const backward = new Int32Array(2 * cost + 3)
  return { a, b, cost, middle: cost + 1, forward, backward, splitA: 0, splitB: 0 }
}

/**
 * Walks from both corners of the box at once until the two walks meet: a point of a shortest path, stored in `splitA` and
 * `splitB`. Returns false if they do not meet within the cost limit: the point is then the furthest one reached.
 */
function findSplit(search: Search, aLow: number, aHigh: number, bLow: number, bHigh: number): boolean {
  const n = aHigh - aLow
  const m = bHigh - bLow
  search.forward[search.middle] = 0
  search.backward[search.middle] = n
  for (let d = 1; d <= search.cost; d++) {
    if (stepForward(search, d, aLow, n, bLow, m) || stepBackward(search, d, aLow, n, bLow, m)) return true
  }
  splitAtFurthest(search, n, m)
  search.splitA += aLow
  search.splitB += bLow
  return false
}

/** Extends the walk from the first corner by one edit. Returns true when it meets the other walk. */
function stepForward(search: Search, d: number, aLow: number, n: number, bLow: number, m: number): boolean {
  const { a, b, middle, forward, backward } = search
  const delta = n - m
  const odd = (delta & 1) !== 0
  // Only diagonals inside the box, with the parity of d.
  const low = d <= m ? -d : -m + ((d - m) & 1)
  const high = d <= n ? d : n - ((d - n) & 1)
  forward[middle - d - 1] = BEFORE
  forward[middle - d] = BEFORE
  forward[middle + d] = BEFORE
  forward[middle + d + 1] = BEFORE
  for (let k = high; k >= low; k -= 2) {
    const right = (forward[middle + k - 1] as number) + 1
    const down = forward[middle + k + 1] as number
    let x = right > down || down - k > m ? right : down
    // Then the step down stays inside: the neighbours of a diagonal are never at both edges.
    if (x > n) x = down
    if (x < 0) {
      forward[middle + k] = BEFORE
      continue
    }
    let y = x - k
    while (x < n && y < m && a[aLow + x] === b[bLow + y]) {
      x += 1
      y += 1
    }
    forward[middle + k] = x
    const back = k - delta
    if (odd && back > -d && back < d && (backward[middle + back] as number) <= x) {
      search.splitA = aLow + x
      search.splitB = bLow + y
      return true
    }
  }
  return false
}

/** Extends the walk from the last corner by one edit. Returns true when it meets the other walk. */
function stepBackward(search: Search, d: number, aLow: number, n: number, bLow: number, m: number): boolean {
  const { a, b, middle, forward, backward } = search
  const delta = n - m
  const odd = (delta & 1) !== 0
  const low = d <= n ? -d : -n + ((d - n) & 1)
  const high = d <= m ? d : m - ((d - m) & 1)
  backward[middle - d - 1] = BEHIND
  backward[middle - d] = BEHIND
  backward[middle + d] = BEHIND
  backward[middle + d + 1] = BEHIND
  for (let k = high; k >= low; k -= 2) {
    const diagonal = k + delta
    const left = (backward[middle + k + 1] as number) - 1
    const up = backward[middle + k - 1] as number
    let x = left < up || up - diagonal < 0 ? left : up
    if (x < 0) x = up
    if (x > n) {
      backward[middle + k] = BEHIND
      continue
    }
    let y = x - diagonal
    while (x > 0 && y > 0 && a[aLow + x - 1] === b[bLow + y - 1]) {
      x -= 1
      y -= 1
    }
    backward[middle + k] = x
    if (!odd && diagonal >= -d && diagonal <= d && (forward[middle + diagonal] as number) >= x) {
      search.splitA = aLow + x
      search.splitB = bLow + y
      return true
    }
  }
  return false
}

/** Splits at the point inside the box where either walk has got furthest. */
function splitAtFurthest(search: Search, n: number, m: number): void {
  const { cost, middle, forward, backward } = search
  const delta = n - m
  let best = -1
  for (let k = -cost; k <= cost; k++) {
    const x = forward[middle + k] as number
    if (x >= 0 && x <= n && x - k >= 0 && x - k <= m && x + x - k > best) {
      best = x + x - k
      search.splitA = x
      search.splitB = x - k
    }
    const back = backward[middle + k] as number
    const y = back - k - delta
    if (back >= 0 && back <= n && y >= 0 && y <= m && n - back + m - y > best) {
      best = n - back + m - y
      search.splitA = back
      search.splitB = y
    }
  }
}

const BEFORE = -0x40000000
const BEHIND = 0x40000000

/** The number of edits up to which the result is always the shortest. */
export const SURE_EDITS = 32

/** Returns the maximum number of edits per search. It is lower for more elements, so that the total stays near-linear. */
function costLimit(elements: number): number {
  return Math.max(SURE_EDITS, Math.min(256, elements, Math.floor(0x1000000 / (elements + 1))))
}

/**
 * Finds elements that occur once on both sides of a box, in the same order: the longest such run, as pairs of positions.
 * Returns `undefined` if there are too few to rely on: a single moved line must not break up everything around it.
 */
function anchorFinder(a: Int32Array, b: Int32Array, symbols: number) {
  let counts: Uint8Array | undefined
  let positions: Int32Array | undefined

  return (aLow: number, aHigh: number, bLow: number, bHigh: number): Int32Array | undefined => {
    counts ??= new Uint8Array(symbols)
    positions ??= new Int32Array(symbols)
    // Two bits per side: 0 never, 1 once, 3 more often.
    for (let i = aLow; i < aHigh; i++) {
      const symbol = a[i] as number
      const state = counts[symbol] as number
      counts[symbol] = (state & 3) === 0 ? state + 1 : state | 3
    }
    for (let j = bLow; j < bHigh; j++) {
      const symbol = b[j] as number
      const state = counts[symbol] as number
      counts[symbol] = state >> 2 === 0 ? state + 4 : state | 12
      positions[symbol] = j
    }
    const xs: number[] = []
    const ys: number[] = []
    for (let i = aLow; i < aHigh; i++) {
      const symbol = a[i] as number
      if (counts[symbol] !== 5) continue
      xs.push(i)
      ys.push(positions[symbol] as number)
    }
    for (let i = aLow; i < aHigh; i++) counts[a[i] as number] = 0
    for (let j = bLow; j < bHigh; j++) counts[b[j] as number] = 0
    const run = longestIncreasing(ys)
    const smaller = Math.min(aHigh - aLow, bHigh - bLow)
    const dominant = 2 * xs.length >= smaller
    const inOrder = 2 * run.length >= xs.length && 32 * run.length >= smaller
    if (run.length === 0 || !(dominant || inOrder)) return undefined
    const pairs = new Int32Array(2 * run.length)
    for (let i = 0; i < run.length; i++) {
      const index = run[i] as number
      pairs[2 * i] = xs[index] as number
      pairs[2 * i + 1] = ys[index] as number
    }
    return pairs
  }
}

/** Returns the positions of a longest strictly increasing subsequence of distinct numbers. */
function longestIncreasing(values: readonly number[]): number[] {
  const tails: number[] = []
  const previous = new Int32Array(values.length)
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    let low = 0
    let high = tails.length
    while (low < high) {
      const mid = (low + high) >> 1
      if ((values[tails[mid] as number] as number) < value) low = mid + 1
      else high = mid
    }
    previous[i] = low === 0 ? -1 : (tails[low - 1] as number)
    tails[low] = i
  }
  const run = new Array<number>(tails.length)
  let at = tails.length === 0 ? -1 : (tails[tails.length - 1] as number)
  for (let i = tails.length - 1; i >= 0; i--) {
    run[i] = at
    at = previous[at] as number
  }
  return run
}
