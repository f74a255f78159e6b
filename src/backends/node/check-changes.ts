import type { Stats } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { type Path, parentOf } from '../../paths/logical-path.ts'
import type { Change, EntryType, Version } from '../../storage/backend.ts'
import { checkChangeSet } from '../../storage/change-set.ts'
import { counted } from '../../util/counted.ts'
import { createPacer } from '../../util/pacer.ts'
import { readLinkAt } from './canonical.ts'
import { isMissing } from './errno.ts'
import { listDirectory, namesIn } from './list-directory.ts'
import { hashContent } from './read-content.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { tagOf, typeOf } from './stat.ts'
import type { EntryHandle, TreeAccess } from './tree-access.ts'

/** The entry at the path of a change when the set was checked. */
export interface Present {
  readonly type: EntryType
  readonly stat: { readonly tag: string }
  readonly stats: Stats
  readonly version: Version
  /** Hash of the content of a file, if it was read; else empty. */
  readonly sha256: string
}

/**
 * Checks a set against the disk and returns the entry at each path. Contents are hashed again: cached versions serve reads
 * only. The caller must hold the lock.
 */
export async function checkOnDisk(
  access: TreeAccess,
  changes: readonly Change[],
  modes: boolean,
): Promise<(Present | undefined)[]> {
  const cache = new Map<Path, Present | undefined>()
  const pause = createPacer()
  for (const { path, from } of changes) {
    await pause()
    if (!cache.has(path)) cache.set(path, await retryOnDescriptorLimit(() => presentAt(access, path, modes)))
    if (from !== undefined && !cache.has(from))
      cache.set(from, await retryOnDescriptorLimit(() => presentAt(access, from, modes)))
  }
  // The parent of an existing entry is a directory.
  const above = new Set<Path>()
  for (const [path, present] of cache) if (present !== undefined) above.add(parentOf(path))
  const check = () =>
    checkChangeSet(changes, {
      at(path) {
        if (!cache.has(path)) cache.set(path, above.has(path) ? DIRECTORY : statQuickly(access, path))
        return cache.get(path)
      },
      sha256: (present) => present.sha256,
      names: (path) => namesIn(access, path),
      stages: true,
    })
  return retryOnDescriptorLimit(() => {
    try {
      return check()
    } catch (error) {
      throw withUnlisted(access, error)
    }
  })
}

/** Adds to the refusal to delete a directory how many entries no listing shows, so that no caller can delete or move them. */
function withUnlisted(access: TreeAccess, error: unknown): unknown {
  if (!(error instanceof ToolError) || error.code !== 'DIRECTORY_NOT_EMPTY') return error
  const path = error.details.path as Path
  const unlisted = namesIn(access, path).length - listDirectory(access, path).length
  if (unlisted === 0) return error
  return new ToolError(
    error.code,
    `${error.message}, and ${counted(unlisted, 'entry has a name', 'entries have names')} that a workspace cannot hold`,
    { path, hint: 'Rename or delete these entries with a program outside of the workspace.' },
  )
}

async function presentAt(access: TreeAccess, path: Path, modes: boolean): Promise<Present | undefined> {
  let entry: EntryHandle
  try {
    entry = access.look(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    const present = withStats(entry.stat)
    if (present.type === 'link') return { ...present, version: { type: 'link', target: readLinkAt(access, path) } }
    if (present.type !== 'file') return present
    const { sha256, stats } = await hashContent(path, entry)
    const mode = modes ? { mode: stats.mode & 0o777 } : undefined
    return { ...withStats(stats), sha256, version: { type: 'file', sha256, size: stats.size, ...mode } }
  } finally {
    entry.close()
  }
}

/** A directory that exists and that the set does not change. */
const DIRECTORY: Present = {
  type: 'directory',
  stat: { tag: '' },
  stats: {} as Stats,
  version: { type: 'directory' },
  sha256: '',
}

/** Does not read the content. */
function statQuickly(access: TreeAccess, path: Path): Present | undefined {
  try {
    const entry = access.look(path)
    entry.close()
    return withStats(entry.stat)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function withStats(stats: Stats): Present {
  const type = typeOf(stats)
  return { type, stat: { tag: tagOf(stats) }, stats, version: type === 'directory' ? { type } : null, sha256: '' }
}
