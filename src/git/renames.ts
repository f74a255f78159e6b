import type { Changed, Side } from './changed-path.ts'
import { LINK } from './changed-path.ts'

/** A change, or two that are one: a file that went from one path to another. */
export interface Paired extends Changed {
  readonly from?: Changed['path']
}

/** So many files of each kind at most are compared by content; beyond, only equal ones are paired. As git's own limit. */
const MAX_CANDIDATES = 1000
const MAX_PAIRS = 200_000
const MAX_BYTES = 64 * 1024 * 1024
const LARGEST = 4 * 1024 * 1024

/**
 * Pairs what vanished with what appeared: equal contents first, the same name preferred; then contents of which at least
 * half is the same, the most similar first. The cost is bounded: with very many files only equal contents are paired.
 */
export async function findRenames(changed: readonly Changed[]): Promise<readonly Paired[]> {
  const gone = changed.filter(({ old, now }) => now === null && old !== null && old.mode !== LINK)
  const fresh = changed.filter(({ old, now }) => old === null && now !== null && now.mode !== LINK)
  if (gone.length === 0 || fresh.length === 0) return changed
  const pairs = new Map<Changed, Changed>()
  const used = new Set<Changed>()
  const pair = (to: Changed, from: Changed) => {
    pairs.set(to, from)
    used.add(from)
  }

  const byId = new Map<string, Changed[]>()
  for (const one of gone) {
    const id = (one.old as Side).id
    if (id === '' || id === EMPTY_BLOB) continue
    byId.set(id, [...(byId.get(id) ?? []), one])
  }
  for (const to of fresh) {
    const same = byId.get((to.now as Side).id)?.filter((from) => !used.has(from))
    const best = same?.find((from) => nameOf(from.path) === nameOf(to.path)) ?? same?.[0]
    if (best !== undefined) pair(to, best)
  }

  const from = gone.filter((one) => !used.has(one))
  const to = fresh.filter((one) => !pairs.has(one))
  if (from.length <= MAX_CANDIDATES && to.length <= MAX_CANDIDATES && from.length * to.length <= MAX_PAIRS) {
    for (const [a, b] of await similarPairs(from, to)) {
      if (!used.has(a) && !pairs.has(b)) pair(b, a)
    }
  }
  if (pairs.size === 0) return changed
  const result: Paired[] = []
  for (const one of changed) {
    if (used.has(one)) continue
    const source = pairs.get(one)
    result.push(source === undefined ? one : { path: one.path, old: source.old, now: one.now, from: source.path })
  }
  return result
}

const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The most similar first; then by name, so that the order is always the same. */
async function similarPairs(
  gone: readonly Changed[],
  fresh: readonly Changed[],
): Promise<(readonly [Changed, Changed])[]> {
  let budget = MAX_BYTES
  const weigh = async (one: Changed, side: Side): Promise<Weighed | undefined> => {
    const bytes = await side.bytes()
    if (bytes === undefined || bytes.length === 0 || bytes.length > LARGEST) return undefined
    budget -= bytes.length
    return budget < 0 ? undefined : { one, size: bytes.length, chunks: chunksOf(bytes) }
  }
  const old: Weighed[] = []
  const now: Weighed[] = []
  for (const one of gone) {
    const weighed = await weigh(one, one.old as Side)
    if (weighed !== undefined) old.push(weighed)
  }
  for (const one of fresh) {
    const weighed = await weigh(one, one.now as Side)
    if (weighed !== undefined) now.push(weighed)
  }
  const found: { from: Changed; to: Changed; score: number }[] = []
  for (const from of old) {
    for (const to of now) {
      const larger = Math.max(from.size, to.size)
      if (Math.min(from.size, to.size) * 2 < larger) continue
      const score = shared(from, to) / larger
      if (score >= 0.5) found.push({ from: from.one, to: to.one, score })
    }
  }
  found.sort(
    (a, b) =>
      b.score - a.score ||
      Number(nameOf(b.from.path) === nameOf(b.to.path)) - Number(nameOf(a.from.path) === nameOf(a.to.path)) ||
      (a.to.path < b.to.path ? -1 : a.to.path > b.to.path ? 1 : a.from.path < b.from.path ? -1 : 1),
  )
  return found.map(({ from, to }) => [from, to] as const)
}

interface Weighed {
  readonly one: Changed
  readonly size: number
  /** Bytes by the hash of the line, or of 64 bytes of a longer one. */
  readonly chunks: ReadonlyMap<number, number>
}

function chunksOf(bytes: Uint8Array): Map<number, number> {
  const chunks = new Map<number, number>()
  let hash = 0
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    hash = (Math.imul(hash, 31) + byte) | 0
    length += 1
    if (byte === 10 || length === 64 || i === bytes.length - 1) {
      const key = Math.imul(hash, 64) + length
      chunks.set(key, (chunks.get(key) ?? 0) + length)
      hash = 0
      length = 0
    }
  }
  return chunks
}

function shared(a: Weighed, b: Weighed): number {
  const [small, large] = a.chunks.size < b.chunks.size ? [a.chunks, b.chunks] : [b.chunks, a.chunks]
  let sum = 0
  for (const [key, bytes] of small) {
    const other = large.get(key)
    if (other !== undefined) sum += Math.min(bytes, other)
  }
  return sum
}
