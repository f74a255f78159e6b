import { frequencyOf } from './byte-frequency.ts'
import type { Finder } from './find-bytes.ts'
import { foldCase } from './fold.ts'
import type { Node } from './syntax.ts'

/**
 * Every match holds, side by side, at least `length` bytes of which each is in `alphabet`: `[A-Z]{12,}` twelve capitals,
 * `\d{3}-\d{4}` eight digits or hyphens. Such a run is found by looking at every `length`-th byte.
 */
export interface ByteRun {
  /** 1 for each byte that may stand in the run. */
  readonly alphabet: Uint8Array
  readonly length: number
  /** Every match starts with a byte of the run. */
  readonly leading: boolean
}

/** The run that is found at the least cost by `costOf`; `undefined` where matches may be empty. */
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

  /** Looks at the parts that are in every match, and at neighbours among them. */
  function search(node: Node, leading: boolean): void {
    if (node.type === 'repeat' && node.min > 0) {
      offer(runOf(node.node), leading)
      search(node.node, leading)
    }
    if (node.type !== 'concat') return
    // A pattern with more parts has enough to offer in these.
    const parts = node.parts.slice(0, MAX_PARTS)
    const spans = parts.map(runOf)
    let leads = leading
    for (let first = 0; first < spans.length; first++) {
      let span = NOTHING
      for (let last = first; last < spans.length; last++) {
        span = follow(span, spans[last] as Span)
        offer(span, leads)
      }
      search(parts[first] as Node, leads)
      if (!isEmpty(spans[first] as Span)) leads = false
    }
  }
}

/** A finder of such runs: none of the bytes between `from` and the place that it gives belongs to a run that long. */
export function createRunFinder(run: ByteRun): Finder {
  const { alphabet, length } = run
  return { cost: costOfRun(run), find: (bytes, from) => findRun(alphabet, length, bytes, from) }
}

/** About how many nanoseconds a byte of source code it takes to find a run. */
export function costOfRun({ alphabet, length }: ByteRun): number {
  return 2 / length + 6 * shareOf(alphabet)
}

/** The share of the places in source code at which a run begins, about. Bytes of a kind stand together. */
export function rarityOfRun({ alphabet, length }: ByteRun): number {
  return shareOf(alphabet) ** (length / 2)
}

const MAX_PARTS = 48
/** What is longer is no rarer. */
const MAX_LENGTH = 256
const LF = 0x0a
const NOTHING: Span = { alphabet: new Uint8Array(256), length: 0 }

/** A run of which the place in a match is not known. */
type Span = Omit<ByteRun, 'leading'>

/** The hot loop. A byte is looked at twice at most: the bytes after the one that breaks a run may be met again. */
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

/** The bytes of which all matches of a node consist, and how many there are at least. */
function runOf(node: Node): Span {
  switch (node.type) {
    case 'empty':
    case 'assert':
      return NOTHING
    case 'char': {
      const one = [node.codePoint, node.codePoint]
      return runOfSet(node.ignoreCase ? foldCase(one) : one)
    }
    case 'set':
      return runOfSet(node.set)
    case 'concat':
      return node.parts.map(runOf).reduce(follow, NOTHING)
    case 'alternate': {
      const options = node.options.map(runOf)
      const together = options.reduce(follow, NOTHING)
      return { alphabet: together.alphabet, length: Math.min(...options.map(({ length }) => length)) }
    }
    case 'repeat': {
      if (node.max === 0) return NOTHING
      const { alphabet, length } = runOf(node.node)
      return { alphabet, length: Math.min(MAX_LENGTH, length * node.min) }
    }
  }
}

/** One run after the other: whatever stands between their bytes is of both. */
function follow(first: Span, second: Span): Span {
  const alphabet = first.alphabet.map((held, byte) => held | (second.alphabet[byte] as number))
  return { alphabet, length: Math.min(MAX_LENGTH, first.length + second.length) }
}

/** Whether it is of an assertion, or of what matches nothing else. */
function isEmpty({ alphabet }: Span): boolean {
  return alphabet.every((held) => held === 0)
}

function runOfSet(set: readonly number[]): Span {
  const alphabet = new Uint8Array(256)
  for (let i = 0; i < set.length; i += 2) {
    alphabet.fill(1, set[i], Math.min(set[i + 1] as number, 0x7f) + 1)
  }
  // No match goes over the end of a line.
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
