/** Length of the pieces of a secret that may not show. */
export const WINDOW = 12

/** An occurrence of a piece of a secret. */
export interface WindowMatch {
  readonly window: string
  readonly mark: string
  /** End of the piece in the text. */
  readonly end: number
}

/** Multiplier of the rolling hash. Random, so that no file can be made of colliding secrets. */
const BASE = (Math.floor(Math.random() * 0x40000000) * 4 + 5) | 0
/** The weight of the unit that leaves the window. */
let outgoing = 1
for (let i = 0; i < WINDOW; i++) outgoing = Math.imul(outgoing, BASE)
const OUTGOING = outgoing

interface Secret {
  readonly text: string
  readonly mark: string
}

/** Of a table without secrets, as that of most calls. */
const NO_SLOTS = new Int32Array(0)
const MIN_SLOTS = 1024

/**
 * Finds pieces of secrets in a text, of {@link WINDOW} characters at any offset. A hash table with open addressing: about
 * 50 bytes for each character of a secret, one pass over a text. The pass looks at every ninth group of four characters
 * only: each window contains one of these, and in most texts hardly any of them is part of a secret.
 */
export class WindowTable {
  readonly #secrets: Secret[] = []
  readonly #texts = new Set<string>()
  /** For each slot the number of a secret, from 1, and the offset of a window in it; 0 is free. */
  #numbers = NO_SLOTS
  #offsets = NO_SLOTS
  /** A bit for the hash of each group of {@link GROUP} characters in a secret: four times as many bits as slots. */
  #groups = new Uint8Array(0)
  /** At most a quarter of the slots is used, so most lookups end at once. */
  #used = 0

  get isEmpty(): boolean {
    return this.#used === 0
  }

  /** Adds all windows of a secret. */
  add(text: string, mark: string): void {
    if (this.#texts.has(text)) return
    this.#texts.add(text)
    const needed = (this.#used + text.length) * 4
    if (needed > this.#numbers.length) this.#grow(needed)
    this.#secrets.push({ text, mark })
    this.#insert(this.#secrets.length)
  }

  /** Yields each window of a secret in a text, in order. */
  *search(text: string): Generator<WindowMatch, void, undefined> {
    if (this.#used === 0) return
    const mask = this.#numbers.length - 1
    const last = text.length - WINDOW
    for (let first = 0; first <= last; first += STRIDE) {
      const after = first + STRIDE
      // The windows that begin from `first` to `after` have this group in common.
      if (!this.#hasGroup(groupHash(text, after - 1))) continue
      let hash = hashAt(text, first)
      for (let start = first; start < after && start <= last; start++) {
        if (start > first) hash = roll(hash, text, start + WINDOW - 1)
        if (this.#numbers[mix(hash) & mask] === 0) continue
        const window = text.slice(start, start + WINDOW)
        const secret = this.#secrets[(this.#numbers[this.#slotOf(window, hash)] as number) - 1]
        if (secret !== undefined) yield { window, mark: secret.mark, end: start + WINDOW }
      }
    }
  }

  #hasGroup(hash: number): boolean {
    return ((this.#groups[(hash >>> 3) & (this.#groups.length - 1)] as number) & (1 << (hash & 7))) !== 0
  }

  #addGroup(hash: number): void {
    const at = (hash >>> 3) & (this.#groups.length - 1)
    this.#groups[at] = (this.#groups[at] as number) | (1 << (hash & 7))
  }

  /** Returns the slot of a window, or the free slot where it belongs. */
  #slotOf(window: string, hash: number): number {
    const mask = this.#numbers.length - 1
    for (let slot = mix(hash) & mask; ; slot = (slot + 1) & mask) {
      const secret = this.#secrets[(this.#numbers[slot] as number) - 1]
      if (secret === undefined || secret.text.startsWith(window, this.#offsets[slot])) return slot
    }
  }

  #insert(number: number): void {
    const { text } = this.#secrets[number - 1] as Secret
    for (let at = 0; at <= text.length - GROUP; at++) this.#addGroup(groupHash(text, at))
    let hash = 0
    for (let at = 0; at < text.length; at++) {
      hash = roll(hash, text, at)
      const start = at - WINDOW + 1
      if (start < 0) continue
      const slot = this.#slotOf(text.slice(start, at + 1), hash)
      if (this.#numbers[slot] !== 0) continue
      this.#numbers[slot] = number
      this.#offsets[slot] = start
      this.#used += 1
    }
  }

  #grow(needed: number): void {
    const size = Math.max(MIN_SLOTS, 2 ** Math.ceil(Math.log2(needed)))
    this.#numbers = new Int32Array(size)
    this.#offsets = new Int32Array(size)
    this.#groups = new Uint8Array(size / 2)
    this.#used = 0
    for (let number = 1; number <= this.#secrets.length; number++) this.#insert(number)
  }
}

/** Characters of a group, and the distance of two groups one of which is in every window. */
const GROUP = 4
const STRIDE = WINDOW - GROUP + 1

function groupHash(text: string, at: number): number {
  let hash = 0
  for (let i = at; i < at + GROUP; i++) hash = Math.imul(hash, BASE) + text.charCodeAt(i)
  return mix(hash)
}

/** Returns the hash of the window that begins at an offset. */
function hashAt(text: string, start: number): number {
  let hash = 0
  for (let at = start; at < start + WINDOW; at++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0
  return hash
}

/** Returns the hash of the window that ends at an offset, from that of the window before. */
function roll(hash: number, text: string, at: number): number {
  const next = Math.imul(hash, BASE) + text.charCodeAt(at)
  return (at < WINDOW ? next : next - Math.imul(text.charCodeAt(at - WINDOW), OUTGOING)) | 0
}

/** Spreads a hash over its low bits. */
function mix(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 7
}
