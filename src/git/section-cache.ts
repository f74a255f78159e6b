import type { LogicalPath } from '../paths/logical-path.ts'
import { createLruCache } from '../util/lru-cache.ts'
import type { Side } from './changed-path.ts'
import { createTextCache, type DiffSection, sectionOf } from './diff-section.ts'
import type { Paired } from './renames.ts'

const MAX_BYTES = 16 * 1024 * 1024

/** A section and the versions that it was made from. */
interface CachedSection {
  readonly from: LogicalPath | undefined
  readonly old: string
  readonly now: string
  readonly section: DiffSection
  readonly withBinary: boolean
}

/** Caches the last section of each path. A section is reused while both of its sides are unchanged. */
export function createSectionCache() {
  const cache = createLruCache<LogicalPath, CachedSection>(MAX_BYTES, ({ section }) => 200 + section.text.length)
  const texts = createTextCache()
  const numbers = new WeakMap<object, number>()
  let nodes = 0

  /** Identifies the content of a side. An immutable node is identified by a number, which needs no hash. */
  function keyOf(side: Side | null): string {
    if (side?.node === undefined) return `${side?.mode} ${side?.id}`
    let number = numbers.get(side.node)
    if (number === undefined) {
      number = nodes++
      numbers.set(side.node, number)
    }
    return `${side.mode} #${number}`
  }

  function store(path: LogicalPath, entry: CachedSection): DiffSection {
    cache.put(path, entry)
    return entry.section
  }

  return {
    /** Returns the section of a change, from the cache if possible. */
    async sectionFor(change: Paired, withBinary: (path: LogicalPath) => boolean): Promise<DiffSection> {
      const { path, from } = change
      // A file that is too large has no id by which its versions could be distinguished.
      if (isUnknown(change.old) || isUnknown(change.now)) return sectionOf(change, withBinary, texts)
      const old = keyOf(change.old)
      const now = keyOf(change.now)
      const last = cache.get(path)
      if (last?.old === old && last.now === now && last.from === from) {
        if (!last.section.binary || last.withBinary === withBinary(path)) return store(path, last)
      }
      const section = await sectionOf(change, withBinary, texts)
      return store(path, { from, old, now, section, withBinary: section.binary && withBinary(path) })
    },
  }
}

function isUnknown(side: Side | null): boolean {
  return side !== null && side.node === undefined && side.id === ''
}
