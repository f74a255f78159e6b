import type { Objects } from './objects.ts'
import { parseCommit } from './refs.ts'

/** Returns commits with all their ancestors. Ids of other objects, and of those that are absent, are skipped. */
export async function ancestors(
  objects: Objects,
  shallow: ReadonlySet<string>,
  starts: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  const pending = [...starts]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (known.has(id)) continue
    const object = await objects.read(id)
    if (object?.type !== 'commit') continue
    known.add(id)
    if (!shallow.has(id)) pending.push(...parseCommit(object.bytes).parents)
  }
  return known
}
