import type { Stats } from 'node:fs'
import { type Path, parentOf } from '../../paths/logical-path.ts'
import type { Change, EntryType, Version } from '../../storage/backend.ts'
import { checkChangeSet } from '../../storage/change-set.ts'
import { readLinkAt } from './canonical.ts'
import { isMissing } from './errno.ts'
import { namesIn } from './list-directory.ts'
import { hashContent } from './read-content.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { tagOf, typeOf } from './stat.ts'
import type { EntryHandle, TreeAccess } from './tree-access.ts'

/** What was at a change's path when the set was judged. */
export interface Present {
  readonly type: EntryType
  readonly stat: { readonly tag: string }
  readonly stats: Stats
  readonly version: Version
  /** Of a file's content, where that was read. */
  readonly sha256: string
}

/**
 * Judges a set against the disk, content hashed anew: what a cache says about a version counts for reads only. Call it under
 * the lock. Returns what is at each path.
 */
export async function checkOnDisk(
  ground: TreeAccess,
  changes: readonly Change[],
  modes: boolean,
): Promise<(Present | undefined)[]> {
  const seen = new Map<Path, Present | undefined>()
  for (const { path, from } of changes) {
    if (!seen.has(path)) seen.set(path, await retryOnDescriptorLimit(() => presentAt(ground, path, modes)))
    if (from !== undefined && !seen.has(from))
      seen.set(from, await retryOnDescriptorLimit(() => presentAt(ground, from, modes)))
  }
  // What was found has a directory above it.
  const above = new Set<Path>()
  for (const [path, present] of seen) if (present !== undefined) above.add(parentOf(path))
  return retryOnDescriptorLimit(() =>
    checkChangeSet(changes, {
      at(path) {
        if (!seen.has(path)) seen.set(path, above.has(path) ? DIRECTORY : lookQuickly(ground, path))
        return seen.get(path)
      },
      sha256: (present) => present.sha256,
      names: (path) => namesIn(ground, path),
    }),
  )
}

async function presentAt(ground: TreeAccess, path: Path, modes: boolean): Promise<Present | undefined> {
  let look: EntryHandle
  try {
    look = ground.look(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    const present = withStats(look.stat)
    if (present.type === 'link') return { ...present, version: { type: 'link', target: readLinkAt(ground, path) } }
    if (present.type !== 'file') return present
    const { sha256, stats } = await hashContent(path, look)
    const mode = modes ? { mode: stats.mode & 0o777 } : undefined
    return { ...withStats(stats), sha256, version: { type: 'file', sha256, size: stats.size, ...mode } }
  } finally {
    look.close()
  }
}

/** A directory that is known to be there; the set does not change it. */
const DIRECTORY: Present = {
  type: 'directory',
  stat: { tag: '' },
  stats: {} as Stats,
  version: { type: 'directory' },
  sha256: '',
}

/** Without the content. */
function lookQuickly(ground: TreeAccess, path: Path): Present | undefined {
  try {
    const seen = ground.look(path)
    seen.close()
    return withStats(seen.stat)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function withStats(stats: Stats): Present {
  const type = typeOf(stats)
  return { type, stat: { tag: tagOf(stats) }, stats, version: type === 'directory' ? { type } : null, sha256: '' }
}
