import type { PatchedFile } from '../patch/line-diff.ts'
import type { LogicalPath } from '../paths/logical-path.ts'
import { createLruCache } from '../util/lru-cache.ts'
import type { Side } from './changed-path.ts'
import { createTextCache, type DiffSection, sectionOf } from './diff-section.ts'
import type { Paired } from './renames.ts'

const MAX_BYTES = 16 * 1024 * 1024

/** A section and the versions that it was made from. */
interface CachedSection {
  readonly number: number
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
  /** The numbers of the sections of changes, which comparisons of trees return again. */
  const numbersOfSections = new WeakMap<Paired, number>()
  let made = 0

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

  const isFor = ({ section, withBinary }: CachedSection, path: LogicalPath, show: (path: LogicalPath) => boolean) =>
    !section.binary || withBinary === show(path)

  async function makeSection(
    change: Paired,
    withBinary: (path: LogicalPath) => boolean,
    patched?: PatchedFile,
  ): Promise<DiffSection> {
    const { path, from } = change
    // A file that is too large has no id by which its versions could be distinguished.
    if (isUnknown(change.old) || isUnknown(change.now)) return sectionOf(change, withBinary, texts)
    const old = keyOf(change.old)
    const now = keyOf(change.now)
    let entry = cache.get(path)
    if (entry?.old !== old || entry.now !== now || entry.from !== from || !isFor(entry, path, withBinary)) {
      const section = await sectionOf(change, withBinary, texts, patched)
      entry = { number: made++, from, old, now, section, withBinary: section.binary && withBinary(path) }
    }
    cache.put(path, entry)
    numbersOfSections.set(change, entry.number)
    return entry.section
  }

  return {
    /** Returns the section of a change, at once if the same change was shown last. */
    sectionFor(
      change: Paired,
      withBinary: (path: LogicalPath) => boolean,
      patched?: PatchedFile,
    ): DiffSection | Promise<DiffSection> {
      const entry = cache.get(change.path)
      return entry !== undefined &&
        numbersOfSections.get(change) === entry.number &&
        isFor(entry, change.path, withBinary)
        ? entry.section
        : makeSection(change, withBinary, patched)
    },
  }
}

function isUnknown(side: Side | null): boolean {
  return side !== null && side.node === undefined && side.id === ''
}
