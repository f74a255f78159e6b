import type { LogicalPath, Path } from '../../paths/logical-path.ts'
import { childOf, ROOT } from '../../paths/logical-path.ts'
import type { Backend, DirectoryEntry, ScanVisit } from '../../storage/backend.ts'
import { canonical } from '../../storage/canonical-path.ts'
import { type ChangedPaths, RESERVED } from './changed-paths.ts'
import { type Layers, refuseReserved } from './layers.ts'

/** The reads of an overlay. */
export type LayeredReads = Required<Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan'>>

/** Creates reads that show the lower backend with the changes on top. */
export function layeredReads(layers: Layers): LayeredReads {
  const { lower, upper, touched, locate, upperTag } = layers

  const reads: LayeredReads = {
    async canonical(path, options) {
      await touched.ready()
      refuseReserved(path)
      if (touched.size() === 0) return lower.canonical(path, options)
      const resolved = await canonical(
        reads,
        lower.capabilities.caseSensitive ? path : respelled(touched, path),
        options,
      )
      refuseReserved(resolved)
      // The lower storage refuses names that it would alter, and knows how it spells existing ones.
      return locate(resolved) === 'lower' ? lower.canonical(resolved, { noFollow: true }) : resolved
    },

    async stat(path) {
      await touched.ready()
      const layer = locate(path)
      if (layer === 'lower') return lower.stat(path)
      if (layer === 'upper') return layers.upperStat(path)
      return layers.mergedStat(path, await lower.stat(path), await upper.stat(path))
    },

    async list(path) {
      await touched.ready()
      const layer = locate(path)
      if (layer === 'lower') return lower.list(path)
      if (layer === 'upper') return upper.list(path)
      const below = (await lower.stat(path))?.type === 'directory' ? await lower.list(path) : []
      const above = (await upper.stat(path))?.type === 'directory' ? await upper.list(path) : []
      return mergedEntries(touched, path, below, above)
    },

    async read(path, range) {
      await touched.ready()
      if (locate(path) !== 'upper') return lower.read(path, range)
      const upperRange = range?.tag === undefined ? range : { ...range, tag: upperTag(range.tag) }
      const { bytes, stat } = await upper.read(path, upperRange)
      return { bytes, stat: layers.fromUpper(stat) }
    },

    async readLink(path) {
      await touched.ready()
      return locate(path) === 'upper' ? upper.readLink(path) : lower.readLink(path)
    },

    async scan(paths, visit, maxBytes) {
      await touched.ready()
      let isStopped = false
      for (let start = 0; start < paths.length && !isStopped; ) {
        const layer = locate(paths[start] as Path)
        let end = start + 1
        while (end < paths.length && locate(paths[end] as Path) === layer) end += 1
        const run = paths.slice(start, end)
        start = end
        if (layer === 'both') continue
        const isUpper = layer === 'upper'
        const visitUntilStopped: ScanVisit = (path, bytes, stat) => {
          isStopped = !visit(path, bytes, isUpper ? layers.fromUpper(stat) : stat)
          return !isStopped
        }
        await scanOne(isUpper ? upper : lower, run, visitUntilStopped, maxBytes)
      }
    },
  }

  return reads
}

/** The entries of a directory that exists in both layers. */
function mergedEntries(
  touched: ChangedPaths,
  path: Path,
  below: readonly DirectoryEntry[],
  above: readonly DirectoryEntry[],
): DirectoryEntry[] {
  const entries = new Map<string, DirectoryEntry>()
  for (const entry of below) if (!touched.has(childOf(path, entry.name))) entries.set(entry.name, entry)
  for (const entry of above) {
    if (path === ROOT && entry.name === RESERVED) continue
    // A directory that only leads to changes shows as the lower entry, if that is still a directory.
    const child = childOf(path, entry.name)
    if (touched.has(child) || (touched.isAbove(child) && entries.get(entry.name)?.type !== 'directory')) {
      entries.set(entry.name, entry)
    }
  }
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Spells the names of changed paths as they were stored, for storages that ignore letter case. */
function respelled(touched: ChangedPaths, path: LogicalPath): LogicalPath {
  const stored = new Map(touched.paths().map((changed) => [fold(changed), changed]))
  let result = ''
  for (const name of path.split('/')) {
    const next = result === '' ? name : `${result}/${name}`
    result = stored.get(fold(next)) ?? next
  }
  return result as LogicalPath
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

async function scanOne(
  backend: Backend,
  paths: readonly Path[],
  visit: ScanVisit,
  maxBytes: number | undefined,
): Promise<void> {
  if (backend.scan !== undefined) return backend.scan(paths, visit, maxBytes)
  for (const path of paths) {
    if ((await backend.stat(path))?.type !== 'file') continue
    const { bytes, stat } = await backend.read(path)
    if (!visit(path, bytes, stat)) return
  }
}
