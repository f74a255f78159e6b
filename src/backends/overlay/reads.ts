import type { LogicalPath, Path } from '../../paths/logical-path.ts'
import { childOf, ROOT } from '../../paths/logical-path.ts'
import type { Backend, DirectoryEntry, Stat } from '../../storage/backend.ts'
import { canonical } from '../../storage/canonical-path.ts'
import { RESERVED } from './changed-paths.ts'
import { type Layers, refuseReserved } from './layers.ts'

/** The reads of an overlay. */
export type LayeredReads = Required<Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan'>>

/** Reads that show the lower backend with the changes on top. */
export function layeredReads(layers: Layers): LayeredReads {
  const { lower, upper, touched, locate, upperTag } = layers

  const reads: LayeredReads = {
    async canonical(path, how) {
      await touched.ready()
      refuseReserved(path)
      if (touched.size() === 0) return lower.canonical(path, how)
      const found = await canonical(reads, lower.capabilities.caseSensitive ? path : respelled(path), how)
      refuseReserved(found)
      // Below knows about names that its storage would alter, and how it spells those that it has.
      return locate(found) === 'lower' ? lower.canonical(found, { noFollow: true }) : found
    },

    async stat(path) {
      await touched.ready()
      const where = locate(path)
      if (where === 'lower') return lower.stat(path)
      if (where === 'upper') return layers.upperStat(path)
      return layers.mergedStat(path, await lower.stat(path), await upper.stat(path))
    },

    async list(path) {
      await touched.ready()
      const where = locate(path)
      if (where === 'lower') return lower.list(path)
      if (where === 'upper') return upper.list(path)
      const below = (await lower.stat(path))?.type === 'directory' ? await lower.list(path) : []
      const above = (await upper.stat(path))?.type === 'directory' ? await upper.list(path) : []
      return mergedEntries(path, below, above)
    },

    async read(path, range) {
      await touched.ready()
      if (locate(path) !== 'upper') return lower.read(path, range)
      const own = range?.tag === undefined ? range : { ...range, tag: upperTag(range.tag) }
      const { bytes, stat } = await upper.read(path, own)
      return { bytes, stat: layers.fromUpper(stat) }
    },

    async readLink(path) {
      await touched.ready()
      return locate(path) === 'upper' ? upper.readLink(path) : lower.readLink(path)
    },

    async scan(paths, visit) {
      await touched.ready()
      let isStopped = false
      for (let start = 0; start < paths.length && !isStopped; ) {
        const where = locate(paths[start] as Path)
        let end = start + 1
        while (end < paths.length && locate(paths[end] as Path) === where) end += 1
        const run = paths.slice(start, end)
        start = end
        if (where === 'both') continue
        const isUpper = where === 'upper'
        await scanOne(isUpper ? upper : lower, run, (path, bytes, stat) => {
          isStopped = !visit(path, bytes, isUpper ? layers.fromUpper(stat) : stat)
          return !isStopped
        })
      }
    },
  }

  function mergedEntries(
    path: Path,
    below: readonly DirectoryEntry[],
    above: readonly DirectoryEntry[],
  ): DirectoryEntry[] {
    const entries = new Map<string, DirectoryEntry>()
    for (const entry of below) if (!touched.has(childOf(path, entry.name))) entries.set(entry.name, entry)
    for (const entry of above) {
      if (path === ROOT && entry.name === RESERVED) continue
      // A directory that is there only to lead to changes shows as what lies below, if that still is one.
      const at = childOf(path, entry.name)
      if (touched.has(at) || (touched.isAbove(at) && entries.get(entry.name)?.type !== 'directory')) {
        entries.set(entry.name, entry)
      }
    }
    return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The names of changed paths as they were stored, where letter case does not count. */
  function respelled(path: LogicalPath): LogicalPath {
    const stored = new Map(touched.paths().map((one) => [fold(one), one]))
    let known = ''
    for (const name of path.split('/')) {
      const next = known === '' ? name : `${known}/${name}`
      known = stored.get(fold(next)) ?? next
    }
    return known as LogicalPath
  }

  return reads
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

async function scanOne(
  backend: Backend,
  paths: readonly Path[],
  visit: (path: Path, bytes: Uint8Array, stat: Stat) => boolean,
): Promise<void> {
  if (backend.scan !== undefined) return backend.scan(paths, visit)
  for (const path of paths) {
    if ((await backend.stat(path))?.type !== 'file') continue
    const { bytes, stat } = await backend.read(path)
    if (!visit(path, bytes, stat)) return
  }
}
