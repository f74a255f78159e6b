import { longer } from './text-lines.ts'

/** The lines of a part of a text: the start of each, and an integer that equal lines share. */
export interface InternedLines {
  /** One more than the number of lines: the last one is the end of the part. */
  readonly starts: Int32Array
  readonly ids: Int32Array
}

export interface LinePair {
  readonly old: InternedLines
  readonly new: InternedLines
  /** Number of ids; every id is smaller. */
  readonly symbols: number
}

/**
 * Numbers the lines of two texts from `from` on, in the order of their first occurrence. Lines are hashed in place, without
 * creating strings, unless they follow each other in both texts. Lines crafted to collide only cost a second pass, with a
 * randomly seeded hash.
 */
export function internLines(oldText: string, oldEnd: number, newText: string, newEnd: number, from: number): LinePair {
  const intern = (hash: Hash, patience: number): LinePair | undefined => {
    const old = new Lines(oldText, from, oldEnd)
    const fresh = new Lines(newText, from, newEnd)
    const interner = new Interner(old, fresh, hash, patience)
    if (!interner.addOld() || !interner.addNew()) return undefined
    return { old: old.interned(), new: fresh.interned(), symbols: interner.symbols }
  }
  return intern(hashLine, 16) ?? (intern(randomHash(), Number.POSITIVE_INFINITY) as LinePair)
}

/** The lines of a part of a text, as far as they are numbered. */
class Lines {
  readonly text: string
  readonly end: number
  count = 0
  starts: Int32Array<ArrayBuffer>
  ids: Int32Array<ArrayBuffer>

  constructor(text: string, from: number, end: number) {
    this.text = text
    this.end = end
    const size = 16 + ((end - from) >>> 4)
    this.starts = new Int32Array(size + 1)
    this.ids = new Int32Array(size)
    this.starts[0] = from
  }

  /** The start of the next line. */
  get next(): number {
    return this.starts[this.count] as number
  }

  add(id: number, end: number): void {
    if (this.count === this.ids.length) {
      this.starts = longer(this.starts)
      this.ids = longer(this.ids)
    }
    this.ids[this.count] = id
    this.count += 1
    this.starts[this.count] = end
  }

  interned(): InternedLines {
    return { starts: this.starts.subarray(0, this.count + 1), ids: this.ids.subarray(0, this.count) }
  }
}

type Hash = (text: string, start: number, end: number) => number

/** Numbers the lines of an old text, and then those of a new one. */
class Interner {
  /** Number of ids. */
  symbols = 0
  readonly #old: Lines
  readonly #fresh: Lines
  readonly #hash: Hash
  readonly #patience: number
  #mask = 255
  #slots = new Int32Array(256)
  // By id: the hash, and the line of the first occurrence.
  #hashes = new Int32Array(128)
  #lines = new Int32Array(128)
  /** Number of ids that occur first in the old text. */
  #oldSymbols = Number.POSITIVE_INFINITY
  #surplus = 0

  constructor(old: Lines, fresh: Lines, hash: Hash, patience: number) {
    this.#old = old
    this.#fresh = fresh
    this.#hash = hash
    this.#patience = patience
  }

  /** Returns false if too many lines collide. */
  addOld(): boolean {
    const old = this.#old
    while (old.next < old.end) {
      this.#addLine(old)
      if (this.#isHostile(old)) return false
    }
    this.#oldSymbols = this.symbols
    return true
  }

  addNew(): boolean {
    const fresh = this.#fresh
    for (let expected = 0; ; ) {
      expected = this.#addRun(expected)
      if (fresh.next === fresh.end) return true
      const id = this.#addLine(fresh)
      if (id < this.#oldSymbols) expected = Math.max(expected, (this.#lines[id] as number) + 1)
      if (this.#isHostile(fresh)) return false
    }
  }

  /** Adds the lines of the new text that are the next ones of the old text as well. Returns the old line after them. */
  #addRun(oldLine: number): number {
    const old = this.#old
    const fresh = this.#fresh
    const oldFrom = old.starts[oldLine] as number
    const newFrom = fresh.next
    const max = Math.min(old.end - oldFrom, fresh.end - newFrom)
    const equal = commonPrefix(old.text, oldFrom, fresh.text, newFrom, max)
    let line = oldLine
    for (; line < old.count; line++) {
      const end = (old.starts[line + 1] as number) - oldFrom
      if (end > equal) break
      // Without a newline at its end, the last line may continue in the new text.
      if (newFrom + end < fresh.end && fresh.text.charCodeAt(newFrom + end - 1) !== NEWLINE) break
      fresh.add(old.ids[line] as number, newFrom + end)
    }
    return line
  }

  #isHostile({ count }: Lines): boolean {
    return this.#surplus > 1024 + this.#patience * (count + this.symbols)
  }

  /** Adds the next line. Returns its id. */
  #addLine(lines: Lines): number {
    const { text, end, next } = lines
    const newline = text.indexOf('\n', next)
    const lineEnd = newline === -1 || newline >= end ? end : newline + 1
    const id = this.#idOf(text, next, lineEnd, lines.count)
    lines.add(id, lineEnd)
    return id
  }

  #idOf(text: string, start: number, end: number, line: number): number {
    const value = this.#hash(text, start, end)
    let slot = value & this.#mask
    for (;;) {
      const id = (this.#slots[slot] as number) - 1
      if (id === -1) break
      if (this.#hashes[id] === value && this.#isLine(id, text, start, end - start)) return id
      this.#surplus += 1
      slot = (slot + 1) & this.#mask
    }
    const id = this.symbols
    if (2 * id + 1 > this.#mask) {
      this.#grow()
      return this.#idOf(text, start, end, line)
    }
    this.#slots[slot] = id + 1
    this.#hashes[id] = value
    this.#lines[id] = line
    this.symbols += 1
    return id
  }

  /** Whether an id is that of a text. */
  #isLine(id: number, text: string, start: number, length: number): boolean {
    const lines = id < this.#oldSymbols ? this.#old : this.#fresh
    const line = this.#lines[id] as number
    const first = lines.starts[line] as number
    if ((lines.starts[line + 1] as number) - first !== length) return false
    return sameUnits(lines.text, first, text, start, length) === length
  }

  #grow(): void {
    this.#mask = 4 * this.#mask + 3
    this.#slots = new Int32Array(this.#mask + 1)
    this.#hashes = longer(this.#hashes, 4)
    this.#lines = longer(this.#lines, 4)
    for (let id = 0; id < this.symbols; id++) {
      let slot = (this.#hashes[id] as number) & this.#mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask
      this.#slots[slot] = id + 1
    }
  }
}

const NEWLINE = 10

/** Units that are compared one by one, before slices are. */
const NEAR = 32

/** The longest slice that is compared at once. */
const MAX_STEP = 65536

/** Counts the units that are equal from two offsets on, up to `max`. Slices are not copied and are compared many bytes at once. */
export function commonPrefix(a: string, aFrom: number, b: string, bFrom: number, max: number): number {
  let equal = sameUnits(a, aFrom, b, bFrom, Math.min(max, NEAR))
  if (equal < NEAR) return equal
  let growing = true
  for (let step = 64; step >= 16 && equal < max; ) {
    const end = Math.min(equal + step, max)
    if (a.slice(aFrom + equal, aFrom + end) === b.slice(bFrom + equal, bFrom + end)) {
      equal = end
      step = growing ? Math.min(4 * step, MAX_STEP) : step >> 1
    } else {
      growing = false
      step >>= 1
    }
  }
  return equal + sameUnits(a, aFrom + equal, b, bFrom + equal, max - equal)
}

function sameUnits(a: string, aFrom: number, b: string, bFrom: number, max: number): number {
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
