/** The lines of a part of a text: the start of each, and an integer that equal lines share. */
export interface InternedLines {
  /** One more than the number of lines: the last one is the end of the part. */
  readonly starts: readonly number[]
  readonly ids: readonly number[]
}

export interface LinePair {
  readonly old: InternedLines
  readonly new: InternedLines
  /** Number of ids; every id is smaller. */
  readonly symbols: number
}

/**
 * Numbers the lines of two texts from `from` on, in the order of their first occurrence. Lines are hashed in place, without
 * creating strings, unless they follow each other in both texts. Lines crafted to collide only cost a second pass, with a randomly seeded hash.
 */
export function internLines(oldText: string, oldEnd: number, newText: string, newEnd: number, from: number): LinePair {
  return (
    internWith(oldText, oldEnd, newText, newEnd, from, hashLine) ??
    (internWith(oldText, oldEnd, newText, newEnd, from, randomHash(), Number.POSITIVE_INFINITY) as LinePair)
  )
}

type Hash = (text: string, start: number, end: number) => number

function internWith(
  oldText: string,
  oldEnd: number,
  newText: string,
  newEnd: number,
  from: number,
  hash: Hash,
  patience = 16,
): LinePair | undefined {
  let mask = 255
  let slots = new Int32Array(mask + 1)
  // By id: hash, line and offset of the first occurrence, and length. Ids below `newSymbols` occur first in the old text.
  const hashes: number[] = []
  const lines: number[] = []
  const offsets: number[] = []
  const lengths: number[] = []
  let newSymbols = Number.POSITIVE_INFINITY
  let surplus = 0

  const old = internText(oldText, oldEnd)
  newSymbols = hashes.length
  const fresh = old && internText(newText, newEnd, old)
  return old && fresh && { old, new: fresh, symbols: hashes.length }

  function internText(text: string, end: number, other?: InternedLines): InternedLines | undefined {
    const starts = [from]
    const ids: number[] = []
    let expected = 0
    for (let start = from; start < end; ) {
      if (other !== undefined) {
        expected = addRun(oldText, other, expected, text, end, starts, ids)
        start = starts[ids.length] as number
        if (start === end) break
      }
      const newline = text.indexOf('\n', start)
      const next = newline === -1 || newline >= end ? end : newline + 1
      const id = idOf(text, start, next, ids.length)
      if (id < newSymbols) expected = Math.max(expected, (lines[id] as number) + 1)
      ids.push(id)
      starts.push(next)
      start = next
      if (surplus > 1024 + patience * (ids.length + hashes.length)) return undefined
    }
    return { starts, ids }
  }

  function idOf(text: string, start: number, end: number, line: number): number {
    const value = hash(text, start, end)
    const length = end - start
    let slot = value & mask
    for (;;) {
      const id = (slots[slot] as number) - 1
      if (id === -1) break
      if (hashes[id] === value && lengths[id] === length) {
        if (sameUnits(id < newSymbols ? oldText : newText, offsets[id] as number, text, start, length) === length)
          return id
      }
      surplus += 1
      slot = (slot + 1) & mask
    }
    const id = hashes.length
    slots[slot] = id + 1
    hashes.push(value)
    lines.push(line)
    offsets.push(start)
    lengths.push(length)
    if (2 * hashes.length > mask) grow()
    return id
  }

  function grow(): void {
    mask = 4 * mask + 3
    slots = new Int32Array(mask + 1)
    for (let id = 0; id < hashes.length; id++) {
      let slot = (hashes[id] as number) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = id + 1
    }
  }
}

/** Adds the lines from the last start on that are also the lines of the old text from one on. Returns the old line after them. */
function addRun(
  oldText: string,
  old: InternedLines,
  oldLine: number,
  text: string,
  end: number,
  starts: number[],
  ids: number[],
): number {
  const from = starts[ids.length] as number
  const oldFrom = old.starts[oldLine] as number
  const max = Math.min((old.starts[old.ids.length] as number) - oldFrom, end - from)
  const equal = commonPrefix(oldText, oldFrom, text, from, max)
  let line = oldLine
  for (; line < old.ids.length; line++) {
    const length = (old.starts[line + 1] as number) - oldFrom
    // Without a newline at its end, the last line may continue in this text.
    if (length > equal || (from + length < end && text.charCodeAt(from + length - 1) !== NEWLINE)) break
    ids.push(old.ids[line] as number)
    starts.push(from + length)
  }
  return line
}

const NEWLINE = 10
/** Units that are compared before slices are. */
const NEAR = 32
const MAX_STEP = 65536

/** Counts the equal units from two offsets on, up to `max`. */
export function commonPrefix(a: string, aFrom: number, b: string, bFrom: number, max: number): number {
  const near = sameUnits(a, aFrom, b, bFrom, Math.min(max, NEAR))
  if (near < NEAR) return near
  return commonUnits(max, (from, to) => a.slice(aFrom + from, aFrom + to) === b.slice(bFrom + from, bFrom + to))
}

/** Counts the units, up to `max`, of which every part is equal. Slices are not copied and are compared many bytes at once. */
export function commonUnits(max: number, isEqual: (from: number, to: number) => boolean): number {
  let equal = 0
  let growing = true
  for (let step = 512; step >= 1 && equal < max; ) {
    const end = Math.min(equal + step, max)
    if (isEqual(equal, end)) {
      equal = end
      step = growing ? Math.min(2 * step, MAX_STEP) : step >> 1
    } else {
      growing = false
      step >>= 1
    }
  }
  return equal
}

/** Counts the equal units from two offsets on, up to `max`, one by one. */
export function sameUnits(a: string, aFrom: number, b: string, bFrom: number, max: number): number {
  let equal = 0
  while (equal < max && a.charCodeAt(aFrom + equal) === b.charCodeAt(bFrom + equal)) equal += 1
  return equal
}

function hashLine(text: string, start: number, end: number): number {
  let hash = end - start
  let i = start
  for (; i + 1 < end; i += 2) {
    hash = Math.imul(hash ^ (text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)), 0x01000193)
    hash ^= hash >>> 15
  }
  return finish(i < end ? hash ^ text.charCodeAt(i) : hash)
}

/** A polynomial over a prime field at a random point, so that lines cannot be crafted to collide. */
function randomHash(): Hash {
  const prime = 0x7fffffff
  const point = 0x10000 + Math.floor(Math.random() * 0xe0000)
  return (text, start, end) => {
    let hash = end - start
    // Below 2^31 * 2^20 + 2^16, so a double is exact.
    for (let i = start; i < end; i++) hash = (hash * point + text.charCodeAt(i)) % prime
    return finish(hash)
  }
}

/** Mixes every bit of the hash into the low bits, which select the slot. */
function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return mixed ^ (mixed >>> 13)
}
