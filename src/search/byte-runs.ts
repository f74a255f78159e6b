import { frequencyOf } from './byte-frequency.ts'
import type { Finder } from './find-bytes.ts'
import { foldCase } from './fold.ts'
import type { Node } from './syntax.ts'

/**
 * Consecutive bytes that every match contains: at least `length` bytes of `alphabet`. For `[A-Z]{12,}` twelve capitals, for
 * `\d{3}-\d{4}` eight digits or hyphens. Such a run is found by testing every `length`-th byte.
 */
export interface ByteRun {
  /** 1 for each byte that may occur in the run. */
  readonly alphabet: Uint8Array
  readonly length: number
  /** Every match starts with a byte of the run. */
  readonly leading: boolean
}

/** Returns the run that is cheapest by `costOf`, or `undefined` when matches may be empty. */
export function requiredRun(root: Node, costOf: (run: ByteRun) => number): ByteRun | undefined {
  let best: ByteRun | undefined
  let lowest = Number.POSITIVE_INFINITY
  offer(runOf(root), true)
  search(root, true)
  return best

  function offer(span: Span, leading: boolean): void {
    if (span.length === 0) return
    const run = { ...span, leading }
    const cost = costOf(run)
    if (cost >= lowest) return
    lowest = cost
    best = run
  }

  /** Tries the parts that are in every match, and sequences of them. */
  function search(node: Node, leading: boolean): void {
    if (node.type === 'repeat' && node.min > 0) {
      offer(runOf(node.node), leading)
      search(node.node, leading)
    }
    if (node.type !== 'concat') return
    // The first parts offer enough runs.
    const parts = node.parts.slice(0, MAX_PARTS)
    const spans = parts.map(runOf)
    let leads = leading
    for (let first = 0; first < spans.length; first++) {
      let span = NOTHING
      for (let last = first; last < spans.length; last++) {
        span = concat(span, spans[last] as Span)
        offer(span, leads)
      }
      search(parts[first] as Node, leads)
      if (!isEmpty(spans[first] as Span)) leads = false
    }
  }
}

/** Returns a finder of such runs. No byte between `from` and its result belongs to a run of that length. */
export function createRunFinder(run: ByteRun): Finder {
  const { alphabet, length } = run
  return { cost: costOfRun(run), find: (bytes, from) => findRun(alphabet, length, bytes, from) }
}

/** Estimated nanoseconds per byte of source code to find a run. */
export function costOfRun({ alphabet, length }: ByteRun): number {
  return 2 / length + 6 * shareOf(alphabet)
}

/** Estimated share of the offsets in source code at which a run begins. Bytes of a kind occur together. */
export function rarityOfRun({ alphabet, length }: ByteRun): number {
  return shareOf(alphabet) ** (length / 2)
}

const MAX_PARTS = 48
/** Longer runs are not noticeably rarer. */
const MAX_LENGTH = 256
const LF = 0x0a
const NOTHING: Span = { alphabet: new Uint8Array(256), length: 0 }

/** A run at an unknown offset in a match. */
type Span = Omit<ByteRun, 'leading'>

/** The hot loop. Tests each byte at most twice: those after the byte that breaks a run may be tested again. */
function findRun(alphabet: Uint8Array, length: number, bytes: Uint8Array, from: number): number {
  const size = bytes.length
  let at = from + length - 1
  while (at < size) {
    if (alphabet[bytes[at] as number] === 0) {
      at += length
      continue
    }
    const start = at - length + 1
    let back = at - 1
    while (back >= start && alphabet[bytes[back] as number] === 1) back--
    if (back < start) return start
    at = back + length
  }
  return -1
}

/** The bytes of which all matches of a node consist, and their minimum number. */
function runOf(node: Node): Span {
  switch (node.type) {
    case 'empty':
    case 'assert':
      return NOTHING
    case 'char': {
      const char = [node.codePoint, node.codePoint]
      return runOfSet(node.ignoreCase ? foldCase(char) : char)
    }
    case 'set':
      return runOfSet(node.set)
    case 'concat':
      return node.parts.map(runOf).reduce(concat, NOTHING)
    case 'alternate': {
      const options = node.options.map(runOf)
      const union = options.reduce(concat, NOTHING)
      return { alphabet: union.alphabet, length: Math.min(...options.map(({ length }) => length)) }
    }
    case 'repeat': {
      if (node.max === 0) return NOTHING
      const { alphabet, length } = runOf(node.node)
      return { alphabet, length: Math.min(MAX_LENGTH, length * node.min) }
    }
  }
}

/** One run followed by another. */
function concat(first: Span, second: Span): Span {
  const alphabet = first.alphabet.map((flag, byte) => flag | (second.alphabet[byte] as number))
  return { alphabet, length: Math.min(MAX_LENGTH, first.length + second.length) }
}

/** Whether the node is an assertion or matches only the empty text. */
function isEmpty({ alphabet }: Span): boolean {
  return alphabet.every((flag) => flag === 0)
}

function runOfSet(set: readonly number[]): Span {
  const alphabet = new Uint8Array(256)
  for (let i = 0; i < set.length; i += 2) {
    alphabet.fill(1, set[i], Math.min(set[i + 1] as number, 0x7f) + 1)
  }
  // A match never spans lines.
  alphabet[LF] = 0
  const isBeyondAscii = (set[set.length - 1] ?? 0) >= 0x80
  if (isBeyondAscii) alphabet.fill(1, 0x80)
  return { alphabet, length: (set[0] ?? 0) >= 0x80 ? 2 : 1 }
}

function shareOf(alphabet: Uint8Array): number {
  let share = 0
  for (let byte = 0; byte < 256; byte++) if (alphabet[byte] === 1) share += frequencyOf(byte)
  return share / 1e6
}
