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
 * 50 bytes for each character of a secret, one pass over a text.
 */
export class WindowTable {
  readonly #secrets: Secret[] = []
  readonly #texts = new Set<string>()
  /** For each slot the number of a secret, from 1, and the offset of a window in it; 0 is free. */
  #numbers = NO_SLOTS
  #offsets = NO_SLOTS
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
    let hash = 0
    for (let at = 0; at < text.length; at++) {
      hash = roll(hash, text, at)
      if (at < WINDOW - 1 || this.#numbers[mix(hash) & mask] === 0) continue
      const window = text.slice(at - WINDOW + 1, at + 1)
      const secret = this.#secrets[(this.#numbers[this.#slotOf(window, hash)] as number) - 1]
      if (secret !== undefined) yield { window, mark: secret.mark, end: at + 1 }
    }
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
    this.#used = 0
    for (let number = 1; number <= this.#secrets.length; number++) this.#insert(number)
  }
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
