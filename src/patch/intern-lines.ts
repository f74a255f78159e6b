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
 * creating strings. Lines crafted to collide only cost a second pass, with a randomly seeded hash.
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
  // By id: hash, offset of the first occurrence, and length. Ids below `newSymbols` occur first in the old text.
  const hashes: number[] = []
  const offsets: number[] = []
  const lengths: number[] = []
  let newSymbols = Number.POSITIVE_INFINITY
  let surplus = 0

  const old = internText(oldText, oldEnd)
  newSymbols = hashes.length
  const fresh = old && internText(newText, newEnd)
  return old && fresh && { old, new: fresh, symbols: hashes.length }

  function internText(text: string, end: number): InternedLines | undefined {
    const starts: number[] = []
    const ids: number[] = []
    let start = from
    while (start < end) {
      const newline = text.indexOf('\n', start)
      const next = newline === -1 || newline >= end ? end : newline + 1
      const id = idOf(text, start, next)
      starts.push(start)
      ids.push(id)
      start = next
      if (surplus > 1024 + patience * (ids.length + hashes.length)) return undefined
    }
    starts.push(end)
    return { starts, ids }
  }

  function idOf(text: string, start: number, end: number): number {
    const value = hash(text, start, end)
    const length = end - start
    let slot = value & mask
    for (;;) {
      const id = (slots[slot] as number) - 1
      if (id === -1) break
      if (hashes[id] === value && lengths[id] === length) {
        if (same(id < newSymbols ? oldText : newText, offsets[id] as number, text, start, length)) return id
      }
      surplus += 1
      slot = (slot + 1) & mask
    }
    const id = hashes.length
    slots[slot] = id + 1
    hashes.push(value)
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

function same(a: string, aStart: number, b: string, bStart: number, length: number): boolean {
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(aStart + i) !== b.charCodeAt(bStart + i)) return false
  }
  return true
}
