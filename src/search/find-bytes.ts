import { frequencyOf } from './byte-frequency.ts'

/** Finds one text in bytes. */
export interface Finder {
  /** Where it first occurs at or after `from`, or -1. Linear, whatever the text and the bytes. */
  find(bytes: Uint8Array, from: number): number
  /** About how long a search takes, in nanoseconds a byte of source code, hits left out. */
  readonly cost: number
}

/** The cheapest finder of `needle`, which must not be empty. With `ignoreCase`, ASCII letters match in either case. */
export function createFinder(needle: Uint8Array, ignoreCase: boolean): Finder {
  return finderStrategies(needle, ignoreCase).reduce((best, next) => (next.cost < best.cost ? next : best))
}

/** All finders of `needle` that there are on this platform: they find the same. */
export function finderStrategies(needle: Uint8Array, ignoreCase: boolean): Finder[] {
  const fold = ignoreCase && needle.some(isLetter) ? FOLD : undefined
  const anchored = native === undefined ? undefined : anchoredFinder(needle, fold, native.indexOf)
  const all: Finder[] = [wordFinder(needle, fold), { cost: COST_OF_LINEAR, find: linearFinder(needle, fold) }]
  return anchored === undefined ? all : [...all, anchored]
}

/** Where a byte first occurs at or after `from`, or -1. */
export function findByte(bytes: Uint8Array, byte: number, from: number): number {
  return native === undefined ? bytes.indexOf(byte, from) : native.indexOf.call(bytes, byte, from)
}

/** Where a byte last occurs at or before `from`, or -1. */
export function findByteBackwards(bytes: Uint8Array, byte: number, from: number): number {
  return native === undefined ? bytes.lastIndexOf(byte, from) : native.lastIndexOf.call(bytes, byte, from)
}

type IndexOf = (this: Uint8Array, what: Uint8Array | number, from: number) => number

/** A platform's own search, by the names of Node's Buffer. */
interface NativeSearch {
  readonly indexOf: IndexOf
  readonly lastIndexOf: IndexOf
}

/** Node's Buffer searches any bytes with vector instructions. Elsewhere, and in lesser imitations, there is none. */
export function nativeSearch(platform: object): NativeSearch | undefined {
  try {
    const { Buffer } = platform as { Buffer?: { prototype: Partial<NativeSearch> & { latin1Slice?: unknown } } }
    // `latin1Slice` tells Node's own from imitations, whose `indexOf` is slower than a loop of ours.
    if (typeof Buffer?.prototype.latin1Slice !== 'function') return undefined
    const { indexOf, lastIndexOf } = Buffer.prototype
    const sample = Uint8Array.of(1, 0xe9, 3, 0xe9, 3)
    if (indexOf?.call(sample, Uint8Array.of(0xe9, 3), 2) !== 3 || indexOf.call(sample, 3, 3) !== 4) return undefined
    return lastIndexOf?.call(sample, 3, 3) === 2 ? { indexOf, lastIndexOf } : undefined
  } catch {
    return undefined
  }
}

const native = nativeSearch(globalThis)

/** More than that of any search by words. */
const COST_OF_LINEAR = 4

/**
 * Searches natively for a short and rare slice of the needle, and compares the rest around it. The native search takes
 * the first byte of a short text for its anchor, so that a slice that begins with a rare byte is several times faster
 * than the whole.
 */
function anchoredFinder(needle: Uint8Array, fold: Uint8Array | undefined, indexOf: IndexOf): Finder | undefined {
  const length = needle.length
  let offset = -1
  let cost = Number.POSITIVE_INFINITY
  let slice = needle
  for (let start = 0; start < Math.min(length, 256); start++) {
    let end = start
    while (end < length && end < start + MAX_SLICE && !(fold !== undefined && isLetter(needle[end] as number))) end++
    if (end === start) continue
    let rarity = 1
    for (let i = start; i < end; i++) rarity *= (frequencyOf(needle[i] as number) / 1e6) * 5
    const whole = start === 0 && end === length
    const estimate = 0.1 + (frequencyOf(needle[start] as number) / 1e6) * 18 + (whole ? 0 : Math.min(rarity, 0.2) * 70)
    if (estimate < cost) {
      cost = estimate
      offset = start
      slice = needle.slice(start, end)
    }
  }
  if (offset === -1) return undefined
  if (slice.length === length) return { cost, find: wholeFinder(slice, indexOf) }
  const linear = linearFinder(needle, fold)
  return {
    cost,
    find(bytes, from) {
      let work = 0
      for (let at = from + offset; ; at++) {
        at = indexOf.call(bytes, slice, at)
        if (at === -1) return -1
        const start = at - offset
        const equal = equalLength(bytes, start, needle, fold)
        if (equal === length) return start
        work += equal
        if (work > SLACK + WORK_PER_BYTE * (start - from)) return linear(bytes, start)
      }
    },
  }
}

/** Where hits follow each other closely, a look at the next few bytes is cheaper than a call into the platform. */
function wholeFinder(needle: Uint8Array, indexOf: IndexOf): Finder['find'] {
  const length = needle.length
  const first = needle[0]
  let looks = 0
  return (bytes, from) => {
    let at = from
    if (looks > 0) {
      looks -= 1
      const end = Math.min(bytes.length - length + 1, from + NEAR)
      for (; at < end; at++) {
        if (bytes[at] !== first || equalLength(bytes, at, needle, undefined) !== length) continue
        looks = LOOKS
        return at
      }
    }
    const found = indexOf.call(bytes, needle, at)
    if (found !== -1 && found - from < NEAR) looks = LOOKS
    return found
  }
}

/** In bytes. */
const NEAR = 48
/** How many looks in vain before the next hit must be found otherwise. */
const LOOKS = 2
/** The native search is at its best up to this length. */
const MAX_SLICE = 6

/**
 * Compares four bytes at a time, at places divisible by four. Wherever the needle lies, one such word holds two to four
 * bytes of it (what it can hold, for a needle shorter than that), so for each of the four ways to lie there is one
 * comparison a word, and few are met by accident. Setting bit 5 of every byte makes letters of either case equal; what
 * else it makes equal is told apart afterwards.
 */
function wordFinder(needle: Uint8Array, fold: Uint8Array | undefined): Finder {
  const length = needle.length
  const bit5 = fold === undefined ? 0 : 0x20202020
  // In the order of where the needle starts, so that what is found first starts first.
  const probes = [0, 1, 2, 3].map((lead) => probeOf(needle, lead, bit5)).sort((a, b) => a.shift - b.shift)
  const linear = linearFinder(needle, fold)
  let seen: Uint8Array | undefined
  let words: Int32Array = NO_WORDS
  let pad = 0
  return {
    cost: 0.55 + Math.max(...probes.map((probe) => probe.frequency)) * 4,
    find(bytes, from) {
      if (bytes !== seen) {
        pad = (4 - (bytes.byteOffset & 3)) & 3
        words =
          bytes.length < pad
            ? NO_WORDS
            : new Int32Array(bytes.buffer, bytes.byteOffset + pad, (bytes.length - pad) >> 2)
        seen = bytes
      }
      const lastStart = bytes.length - length
      // Where the word to look at is cut off by either end, places are compared one by one.
      let start = from
      for (; start < pad && start <= lastStart; start++) {
        if (equalLength(bytes, start, needle, fold) === length) return start
      }
      let work = 0
      for (let at = (start - pad) >> 2; ; at++) {
        at = nextWord(words, at, bit5, probes)
        if (at === words.length) break
        const word = (words[at] as number) | bit5
        for (let i = 0; i < 4; i++) {
          const { mask, value, shift } = probes[i] as Probe
          const candidate = pad + 4 * at + shift
          if ((word & mask) !== value || candidate < start || candidate > lastStart) continue
          const equal = equalLength(bytes, candidate, needle, fold)
          if (equal === length) return candidate
          work += equal
        }
        if (work > SLACK + WORK_PER_BYTE * (4 * at - from)) return linear(bytes, Math.max(start, pad + 4 * at - 3))
      }
      start = Math.max(start, pad + 4 * (words.length - 1))
      for (; start <= lastStart; start++) {
        if (equalLength(bytes, start, needle, fold) === length) return start
      }
      return -1
    },
  }
}

/**
 * The first word from `at` on in which some probe is met, or their number. The hot loop: a function of its own over
 * locals, which engines compile well.
 */
function nextWord(words: Int32Array, at: number, bit5: number, probes: readonly Probe[]): number {
  const { mask: mask1, value: value1 } = probes[0] as Probe
  const { mask: mask2, value: value2 } = probes[1] as Probe
  const { mask: mask3, value: value3 } = probes[2] as Probe
  const { mask: mask4, value: value4 } = probes[3] as Probe
  const end = words.length
  for (let i = at; i < end; i++) {
    const word = (words[i] as number) | bit5
    if (
      (word & mask1) === value1 ||
      (word & mask2) === value2 ||
      (word & mask3) === value3 ||
      (word & mask4) === value4
    ) {
      return i
    }
  }
  return end
}

const NO_WORDS = new Int32Array(0)

/** What a word must hold for the needle to start `shift` bytes after it. */
interface Probe {
  readonly mask: number
  readonly value: number
  readonly shift: number
  /** The share of words that agree by accident, about. */
  readonly frequency: number
}

/** The probe for a needle that starts at `lead` in its word: into that word or into the next, whichever holds more of it. */
function probeOf(needle: Uint8Array, lead: number, bit5: number): Probe {
  const own = Math.min(4 - lead, needle.length)
  const shift = Math.min(4, needle.length - (4 - lead)) > own ? lead - 4 : lead
  const mask = new Uint8Array(4)
  const value = new Uint8Array(4)
  let frequency = 1
  for (let i = 0; i < 4; i++) {
    const byte = needle[i - shift]
    if (byte === undefined) continue
    mask[i] = 0xff
    value[i] = byte
    frequency *= (frequencyOf(byte) / 1e6) * 4
  }
  // Through the same memory as the texts, so that the byte order of the machine does not matter.
  return { mask: asWord(mask), value: (asWord(value) | bit5) & asWord(mask), shift, frequency }
}

function asWord(bytes: Uint8Array): number {
  return new Int32Array(bytes.buffer)[0] as number
}

/** Comparing may cost this much over the progress made before the search goes on by the way that never looks back. */
const WORK_PER_BYTE = 8
const SLACK = 1024

/** How many bytes agree at a place. */
function equalLength(bytes: Uint8Array, start: number, needle: Uint8Array, fold: Uint8Array | undefined): number {
  const length = needle.length
  let i = 0
  if (fold === undefined) {
    while (i < length && bytes[start + i] === needle[i]) i++
  } else {
    while (i < length && start + i < bytes.length && fold[bytes[start + i] as number] === fold[needle[i] as number]) i++
  }
  return i
}

/** Knuth-Morris-Pratt: slower than the others on ordinary texts, never slower than that. Its table is made when needed. */
function linearFinder(needle: Uint8Array, fold: Uint8Array | undefined): (bytes: Uint8Array, from: number) => number {
  const map = fold ?? IDENTITY
  let failures: Int32Array | undefined
  return (bytes, from) => {
    failures ??= failureTable(needle, map)
    let matched = 0
    for (let at = from; at < bytes.length; at++) {
      const byte = map[bytes[at] as number]
      while (matched > 0 && map[needle[matched] as number] !== byte) matched = failures[matched - 1] as number
      if (map[needle[matched] as number] === byte) matched += 1
      if (matched === needle.length) return at - matched + 1
    }
    return -1
  }
}

function failureTable(needle: Uint8Array, map: Uint8Array): Int32Array {
  const failures = new Int32Array(needle.length)
  let matched = 0
  for (let i = 1; i < needle.length; i++) {
    const byte = map[needle[i] as number]
    while (matched > 0 && map[needle[matched] as number] !== byte) matched = failures[matched - 1] as number
    if (map[needle[matched] as number] === byte) matched += 1
    failures[i] = matched
  }
  return failures
}

const IDENTITY = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte))

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}
