import { ancestors } from './ancestors.ts'
import { readEntry } from './commit-log.ts'
import type { Objects } from './objects.ts'
import type { LogEntry } from './provider.ts'
import { parseCommit } from './refs.ts'

/** Returns the commits that lead to `head` and not to `base`, each after its parents. */
export async function commitsBetween(
  objects: Objects,
  shallow: ReadonlySet<string>,
  base: string,
  head: string,
): Promise<readonly LogEntry[]> {
  const known = new Set(await ancestors(objects, shallow, [base]))
  const ordered: string[] = []
  const pending = [{ id: head, isReady: false }]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.isReady) ordered.push(at.id)
    if (at.isReady || known.has(at.id)) continue
    known.add(at.id)
    const { parents } = parseCommit(await objects.need(at.id, 'commit'))
    pending.push({ id: at.id, isReady: true })
    for (const id of shallow.has(at.id) ? [] : parents.toReversed()) pending.push({ id, isReady: false })
  }
  return Promise.all(ordered.map((id) => readEntry(objects, id)))
}

/** Returns a commit that leads to both and is nearest to `head`. `undefined` if their histories have nothing in common. */
export async function mergeBase(
  objects: Objects,
  shallow: ReadonlySet<string>,
  base: string,
  head: string,
): Promise<string | undefined> {
  const ofBase = await ancestors(objects, shallow, [base])
  const candidates = new Set<string>()
  const seen = new Set<string>()
  const pending = [head]
  for (let id = pending.shift(); id !== undefined; id = pending.shift()) {
    if (seen.has(id)) continue
    seen.add(id)
    if (ofBase.has(id)) {
      candidates.add(id)
      continue
    }
    if (!shallow.has(id)) pending.push(...parseCommit(await objects.need(id, 'commit')).parents)
  }
  // A candidate that leads to another one is not the nearest.
  for (const id of candidates) {
    for (const other of candidates) {
      if (other !== id && (await ancestors(objects, shallow, [other])).has(id)) candidates.delete(id)
    }
  }
  return [...candidates][0]
}
