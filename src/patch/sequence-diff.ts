/**
 * Marks what has to leave `a` and enter `b` so that the rest is one common subsequence. Elements are small integers
 * below `symbols`. The answer is the shortest one (Myers, in linear space) as long as that is affordable; a box that
 * is not is cut at elements that are unique on both sides, or else where the search had got furthest. Time is
 * near-linear whatever the input.
 */
export function markChanges(
  a: Int32Array,
  b: Int32Array,
  symbols: number,
  changedA: Uint8Array,
  changedB: Uint8Array,
): void {
  const cost = costLimit(a.length + b.length)
  const forward = new Int32Array(2 * cost + 3)
  const backward = new Int32Array(2 * cost + 3)
  const middle = cost + 1
  const anchors = anchorFinder(a, b, symbols)
  // Boxes still to do, five numbers each: the ranges in a and b, and the size up to which anchors are worth a look.
  const boxes: number[] = [0, a.length, 0, b.length, a.length + b.length]
  let splitA = 0
  let splitB = 0

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
    if (aLow === aHigh) {
      changedB.fill(1, bLow, bHigh)
      continue
    }
    if (bLow === bHigh) {
      changedA.fill(1, aLow, aHigh)
      continue
    }
    if (aHigh - aLow === 1 || bHigh - bLow === 1) {
      markAroundOne(aLow, aHigh, bLow, bHigh)
      continue
    }
    const exact = findSplit(aLow, aHigh, bLow, bHigh)
    if (!exact) {
      const size = aHigh - aLow + bHigh - bLow
      if (size <= anchorSize) {
        const found = anchors(aLow, aHigh, bLow, bHigh)
        if (found !== undefined) {
          pushBetween(found, aLow, aHigh, bLow, bHigh)
          continue
        }
        // Not again before the box is half as large, or looking would be quadratic.
        anchorSize = size >> 1
      }
    }
    boxes.push(splitA, aHigh, splitB, bHigh, anchorSize, aLow, splitA, bLow, splitB, anchorSize)
  }

  /** One side is a single element: it is kept where the other side has it. */
  function markAroundOne(aLow: number, aHigh: number, bLow: number, bHigh: number): void {
    changedA.fill(1, aLow, aHigh)
    changedB.fill(1, bLow, bHigh)
    for (let i = aLow; i < aHigh; i++) {
      for (let j = bLow; j < bHigh; j++) {
        if (a[i] !== b[j]) continue
        changedA[i] = 0
        changedB[j] = 0
        return
      }
    }
  }

  function pushBetween(found: Int32Array, aLow: number, aHigh: number, bLow: number, bHigh: number): void {
    let aFrom = aLow
    let bFrom = bLow
    for (let i = 0; i < found.length; i += 2) {
      const x = found[i] as number
      const y = found[i + 1] as number
      // An anchor's direct followers are taken with it by the trimming of the next box.
      if (aFrom < x || bFrom < y) boxes.push(aFrom, x, bFrom, y, x - aFrom + y - bFrom)
      aFrom = x + 1
      bFrom = y + 1
    }
    boxes.push(aFrom, aHigh, bFrom, bHigh, aHigh - aFrom + bHigh - bFrom)
  }

  /**
   * Walks from both corners of the box at once until the two walks meet: a point of a shortest path, put into
   * `splitA` and `splitB`. False where they did not meet within the limit: the point is then the furthest one reached.
   */
  function findSplit(aLow: number, aHigh: number, bLow: number, bHigh: number): boolean {
    const n = aHigh - aLow
    const m = bHigh - bLow
    const delta = n - m
    const odd = (delta & 1) !== 0
    forward[middle] = 0
    backward[middle] = n
    for (let d = 1; d <= cost; d++) {
      // Only diagonals inside the box, with the parity of d.
      const low = d <= m ? -d : -m + ((d - m) & 1)
      const high = d <= n ? d : n - ((d - n) & 1)
      forward[middle - d - 1] = BEFORE
      forward[middle - d] = BEFORE
      forward[middle + d] = BEFORE
      forward[middle + d + 1] = BEFORE
      for (let k = low; k <= high; k += 2) {
        const right = (forward[middle + k - 1] as number) + 1
        const down = forward[middle + k + 1] as number
        let x = right > down || down - k > m ? right : down
        // Then the way down is inside: the neighbours of one diagonal never stand at both edges.
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
          splitA = aLow + x
          splitB = bLow + y
          return true
        }
      }
      const lowBack = d <= n ? -d : -n + ((d - n) & 1)
      const highBack = d <= m ? d : m - ((d - m) & 1)
      backward[middle - d - 1] = BEHIND
      backward[middle - d] = BEHIND
      backward[middle + d] = BEHIND
      backward[middle + d + 1] = BEHIND
      for (let k = lowBack; k <= highBack; k += 2) {
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
          splitA = aLow + x
          splitB = bLow + y
          return true
        }
      }
    }
    furthest(n, m, delta)
    splitA += aLow
    splitB += bLow
    return false
  }

  function furthest(n: number, m: number, delta: number): void {
    let best = -1
    for (let k = -cost; k <= cost; k++) {
      const x = forward[middle + k] as number
      if (x >= 0 && x <= n && x - k >= 0 && x - k <= m && x + x - k > best) {
        best = x + x - k
        splitA = x
        splitB = x - k
      }
      const back = backward[middle + k] as number
      const y = back - k - delta
      if (back >= 0 && back <= n && y >= 0 && y <= m && n - back + m - y > best) {
        best = n - back + m - y
        splitA = back
        splitB = y
      }
    }
  }
}

const BEFORE = -0x40000000
const BEHIND = 0x40000000

/** How many edits one search may look for: less for more elements, so that the whole stays near-linear. */
function costLimit(elements: number): number {
  return Math.max(32, Math.min(256, elements, Math.floor(0x1000000 / (elements + 1))))
}

/**
 * Finds elements that occur once on both sides of a box and stand in the same order there: the longest such run, as
 * pairs of positions. Undefined where they are too few to be trusted with the shape of the answer: a single line that
 * moved must not tear apart everything around it.
 */
function anchorFinder(a: Int32Array, b: Int32Array, symbols: number) {
  let seen: Uint8Array | undefined
  let where: Int32Array | undefined

  return (aLow: number, aHigh: number, bLow: number, bHigh: number): Int32Array | undefined => {
    seen ??= new Uint8Array(symbols)
    where ??= new Int32Array(symbols)
    // Two bits a side: never, once, more often.
    for (let i = aLow; i < aHigh; i++) {
      const symbol = a[i] as number
      const state = seen[symbol] as number
      seen[symbol] = (state & 3) === 0 ? state + 1 : state | 3
    }
    for (let j = bLow; j < bHigh; j++) {
      const symbol = b[j] as number
      const state = seen[symbol] as number
      seen[symbol] = state >> 2 === 0 ? state + 4 : state | 12
      where[symbol] = j
    }
    const xs: number[] = []
    const ys: number[] = []
    for (let i = aLow; i < aHigh; i++) {
      const symbol = a[i] as number
      if (seen[symbol] !== 5) continue
      xs.push(i)
      ys.push(where[symbol] as number)
    }
    for (let i = aLow; i < aHigh; i++) seen[a[i] as number] = 0
    for (let j = bLow; j < bHigh; j++) seen[b[j] as number] = 0
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

/** The positions of a longest strictly increasing subsequence of distinct numbers. */
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
