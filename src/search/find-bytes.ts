import { frequencyOf } from './byte-frequency.ts'

/** Finds one text in bytes. */
export interface Finder {
  /** The offset of the first occurrence at or after `from`, or -1. Takes linear time for every text. */
  find(bytes: Uint8Array, from: number): number
  /** Estimated time of a search without hits, in nanoseconds per byte of source code. */
  readonly cost: number
}

/** Returns the cheapest finder of `needle`, which must not be empty. With `ignoreCase`, ASCII letters match in either case. */
export function createFinder(needle: Uint8Array, ignoreCase: boolean): Finder {
  return finderStrategies(needle, ignoreCase).reduce((best, next) => (next.cost < best.cost ? next : best))
}

/** All finders of `needle` on this platform. Their results are equal, their costs differ. */
export function finderStrategies(needle: Uint8Array, ignoreCase: boolean): Finder[] {
  const fold = ignoreCase && needle.some(isLetter) ? FOLD : undefined
  const anchored = native === undefined ? undefined : anchoredFinder(needle, fold, native.indexOf)
  const portable: Finder[] = [wordFinder(needle, fold), { cost: COST_OF_LINEAR, find: linearFinder(needle, fold) }]
  return anchored === undefined ? portable : [...portable, anchored]
}

/** The offset of the first occurrence of a byte at or after `from`, or -1. */
export function findByte(bytes: Uint8Array, byte: number, from: number): number {
  return native === undefined ? bytes.indexOf(byte, from) : native.indexOf.call(bytes, byte, from)
}

/** The offset of the last occurrence of a byte at or before `from`, or -1. */
export function findByteBackwards(bytes: Uint8Array, byte: number, from: number): number {
  return native === undefined ? bytes.lastIndexOf(byte, from) : native.lastIndexOf.call(bytes, byte, from)
}

type IndexOf = (this: Uint8Array, needle: Uint8Array | number, from: number) => number

/** The native search of a platform, with the names of Node's Buffer. */
interface NativeSearch {
  readonly indexOf: IndexOf
  readonly lastIndexOf: IndexOf
}

/** The search of Node's Buffer, which uses vector instructions; `undefined` on other platforms and in polyfills. */
export function nativeSearch(platform: object): NativeSearch | undefined {
  try {
    const { Buffer } = platform as { Buffer?: { prototype: Partial<NativeSearch> & { latin1Slice?: unknown } } }
    // Only Node's own Buffer has `latin1Slice`. The `indexOf` of polyfills is slower than the loops below.
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

/** More than the cost of any word finder. */
const COST_OF_LINEAR = 4

/**
 * Searches natively for a short and rare slice of the needle, and compares the bytes around it. The native search looks for
 * the first byte of a short text, so a slice that begins with a rare byte is several times faster than the whole needle.
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
    const isWhole = start === 0 && end === length
    const estimate =
      0.1 + (frequencyOf(needle[start] as number) / 1e6) * 18 + (isWhole ? 0 : Math.min(rarity, 0.2) * 70)
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

/** When hits are close to each other, testing the next few bytes is cheaper than a native call. */
function wholeFinder(needle: Uint8Array, indexOf: IndexOf): Finder['find'] {
  const length = needle.length
  const first = needle[0]
  let attempts = 0
  return (bytes, from) => {
    let at = from
    if (attempts > 0) {
      attempts -= 1
      const end = Math.min(bytes.length - length + 1, from + NEAR)
      for (; at < end; at++) {
        if (bytes[at] !== first || equalLength(bytes, at, needle, undefined) !== length) continue
        attempts = MAX_ATTEMPTS
        return at
      }
    }
    const offset = indexOf.call(bytes, needle, at)
    if (offset !== -1 && offset - from < NEAR) attempts = MAX_ATTEMPTS
    return offset
  }
}

/** In bytes. */
const NEAR = 48
/** Failed attempts before the native search is used again. */
const MAX_ATTEMPTS = 2
/** The native search is fastest up to this length. */
const MAX_SLICE = 6

/**
 * Compares aligned words of four bytes. For each of the four alignments of the needle, some word contains two to four of
 * its bytes (fewer for a shorter needle), so four comparisons per word find every candidate, and few are false. Setting
 * bit 5 of every byte makes both cases of a letter equal; a later check separates the other bytes that it makes equal.
 */
function wordFinder(needle: Uint8Array, fold: Uint8Array | undefined): Finder {
  const length = needle.length
  const bit5 = fold === undefined ? 0 : 0x20202020
  // In the order in which the needle starts, so that the first match starts first.
  const probes = [0, 1, 2, 3].map((lead) => probeOf(needle, lead, bit5)).sort((a, b) => a.shift - b.shift)
  const linear = linearFinder(needle, fold)
  let viewed: Uint8Array | undefined
  let words: Int32Array = NO_WORDS
  let pad = 0
  return {
    cost: 0.55 + Math.max(...probes.map((probe) => probe.frequency)) * 4,
    find(bytes, from) {
      if (bytes !== viewed) {
        pad = (4 - (bytes.byteOffset & 3)) & 3
        words =
          bytes.length < pad
            ? NO_WORDS
            : new Int32Array(bytes.buffer, bytes.byteOffset + pad, (bytes.length - pad) >> 2)
        viewed = bytes
      }
      const lastStart = bytes.length - length
      // Before the first whole word, and after the last one, offsets are compared one by one.
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
 * The index of the first word from `at` on that agrees with a probe, or the number of words. The hot loop: a function over
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

/** The bytes that a word must have for the needle to start `shift` bytes after it. */
interface Probe {
  readonly mask: number
  readonly value: number
  readonly shift: number
  /** Estimated share of the words that agree by chance. */
  readonly frequency: number
}

/** The probe for a needle that starts at `lead` in a word: tests that word or the next, whichever has more of its bytes. */
function probeOf(needle: Uint8Array, lead: number, bit5: number): Probe {
  const inFirst = Math.min(4 - lead, needle.length)
  const shift = Math.min(4, needle.length - (4 - lead)) > inFirst ? lead - 4 : lead
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
  // Read through memory like the texts, so the byte order of the machine does not matter.
  return { mask: asWord(mask), value: (asWord(value) | bit5) & asWord(mask), shift, frequency }
}

function asWord(bytes: Uint8Array): number {
  return new Int32Array(bytes.buffer)[0] as number
}

/** Limits of the work of comparisons, relative to the progress; beyond them, the linear finder continues. */
const WORK_PER_BYTE = 8
const SLACK = 1024

/** The number of needle bytes that agree at an offset. */
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

/** Knuth-Morris-Pratt: slower than the others on ordinary texts, but never slower than linear. Builds its table on first use. */
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
