import type { Changed, Side } from './changed-path.ts'
import { LINK } from './changed-path.ts'

/** A change, or the deletion and addition of a renamed file in one. */
export interface Paired extends Changed {
  readonly from?: Changed['path']
}

/** Maximum number of deleted and of added files to compare by content, as in git. Beyond, only equal files are paired. */
const MAX_CANDIDATES = 1000
const MAX_PAIRS = 200_000
const MAX_BYTES = 64 * 1024 * 1024
const MAX_FILE_BYTES = 4 * 1024 * 1024

/**
 * Pairs deleted with added files: equal contents first, preferring the same name; then contents that share at least half,
 * the most similar first. The cost is bounded: with very many files, only equal contents are paired.
 */
export async function findRenames(changed: readonly Changed[]): Promise<readonly Paired[]> {
  const deleted = changed.filter(({ old, now }) => now === null && old !== null && old.mode !== LINK)
  const added = changed.filter(({ old, now }) => old === null && now !== null && now.mode !== LINK)
  if (deleted.length === 0 || added.length === 0) return changed
  const pairs = new Map<Changed, Changed>()
  const paired = new Set<Changed>()
  const pair = (to: Changed, from: Changed) => {
    pairs.set(to, from)
    paired.add(from)
  }

  const byId = new Map<string, Changed[]>()
  for (const change of deleted) {
    const id = (change.old as Side).id
    if (id === '' || id === EMPTY_BLOB) continue
    byId.set(id, [...(byId.get(id) ?? []), change])
  }
  for (const to of added) {
    const same = byId.get((to.now as Side).id)?.filter((from) => !paired.has(from))
    const best = same?.find((from) => nameOf(from.path) === nameOf(to.path)) ?? same?.[0]
    if (best !== undefined) pair(to, best)
  }

  const from = deleted.filter((change) => !paired.has(change))
  const to = added.filter((change) => !pairs.has(change))
  if (from.length <= MAX_CANDIDATES && to.length <= MAX_CANDIDATES && from.length * to.length <= MAX_PAIRS) {
    for (const [a, b] of await similarPairs(from, to)) {
      if (!paired.has(a) && !pairs.has(b)) pair(b, a)
    }
  }
  if (pairs.size === 0) return changed
  const result: Paired[] = []
  for (const change of changed) {
    if (paired.has(change)) continue
    const source = pairs.get(change)
    const { path, now } = change
    result.push(source === undefined ? change : { path, old: source.old, now, from: source.path })
  }
  return result
}

const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns similar files as pairs, the most similar first; then by name, so that the order is stable. */
async function similarPairs(
  deleted: readonly Changed[],
  added: readonly Changed[],
): Promise<(readonly [Changed, Changed])[]> {
  let budget = MAX_BYTES
  const fingerprint = async (change: Changed, side: Side): Promise<Fingerprint | undefined> => {
    const bytes = await side.bytes()
    if (bytes === undefined || bytes.length === 0 || bytes.length > MAX_FILE_BYTES) return undefined
    budget -= bytes.length
    return budget < 0 ? undefined : { change, size: bytes.length, chunks: chunksOf(bytes) }
  }
  const old: Fingerprint[] = []
  const now: Fingerprint[] = []
  for (const change of deleted) {
    const print = await fingerprint(change, change.old as Side)
    if (print !== undefined) old.push(print)
  }
  for (const change of added) {
    const print = await fingerprint(change, change.now as Side)
    if (print !== undefined) now.push(print)
  }
  const pairs: { from: Changed; to: Changed; score: number }[] = []
  for (const from of old) {
    for (const to of now) {
      const larger = Math.max(from.size, to.size)
      if (Math.min(from.size, to.size) * 2 < larger) continue
      const score = sharedBytes(from, to) / larger
      if (score >= 0.5) pairs.push({ from: from.change, to: to.change, score })
    }
  }
  pairs.sort(
    (a, b) =>
      b.score - a.score ||
      Number(nameOf(b.from.path) === nameOf(b.to.path)) - Number(nameOf(a.from.path) === nameOf(a.to.path)) ||
      (a.to.path < b.to.path ? -1 : a.to.path > b.to.path ? 1 : a.from.path < b.from.path ? -1 : 1),
  )
  return pairs.map(({ from, to }) => [from, to] as const)
}

/** The content of a file, for the comparison with others. */
interface Fingerprint {
  readonly change: Changed
  /** In bytes. */
  readonly size: number
  /** Number of bytes by the hash of a line, or of 64 bytes of a longer line, as in git. */
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

function sharedBytes(a: Fingerprint, b: Fingerprint): number {
  const [small, large] = a.chunks.size < b.chunks.size ? [a.chunks, b.chunks] : [b.chunks, a.chunks]
  let sum = 0
  for (const [key, bytes] of small) {
    const other = large.get(key)
    if (other !== undefined) sum += Math.min(bytes, other)
  }
  return sum
}
