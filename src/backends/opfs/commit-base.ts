import { ToolError } from '../../errors.ts'
import { precomputeSha256, sha256Cached } from '../../files/hash/sha256.ts'
import { type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import type { Change, Version } from '../../storage/backend.ts'
import type { checkChangeSet } from '../../storage/change-set.ts'
import { largeBounds } from '../../storage/large-bounds.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import type { Entry, Folder } from './folder.ts'
import { hashBlob } from './stored-streams.ts'

/** An entry before a commit; of a file, with content and hash. */
export type BaseEntry = Entry & {
  /** Absent for a file that is too large for memory. */
  readonly bytes?: Uint8Array
  readonly sha256?: string
}

/** The entries that a change set is checked against. */
export interface CommitBase {
  readonly view: Parameters<typeof checkChangeSet<BaseEntry>>[1]
  at(path: Path): BaseEntry | undefined
  version(path: Path): Version
}

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

/**
 * Reads the entries at the changed paths and at their ancestors.
 *
 * @throws ToolError `INVALID_INPUT` for a link, which this storage does not have.
 */
export async function readCommitBase(folder: Folder, changes: readonly Change[]): Promise<CommitBase> {
  const base = new Map<Path, BaseEntry | undefined>()
  const names = new Map<Path, readonly string[]>()
  const changedPaths = new Set(changes.map(({ path }) => path))
  for (const { path, to } of changes) {
    if (to?.type !== 'link') continue
    throw new ToolError('INVALID_INPUT', `Cannot link ${quote(path)}: this storage has no links`, { path })
  }
  const entries = await folder.lookAtAll([...changedPaths])
  await mapConcurrent(changes, async ({ path, to }) => {
    const entry = entries.get(path)
    base.set(path, entry?.type === 'file' ? await withContent(folder, entry) : entry)
    if (entry?.type === 'directory' && to?.type !== 'directory') {
      const listing = await folder.list(path, 'list')
      names.set(
        path,
        listing.map(({ name }) => name),
      )
    }
    for (
      let above = parentOf(path);
      above !== ROOT && !changedPaths.has(above) && !base.has(above);
      above = parentOf(above)
    ) {
      base.set(above, await folder.look(above))
    }
  })
  return {
    at: (path) => base.get(path),
    version: (path) => versionOfBase(base.get(path)),
    view: {
      at: (path) => base.get(path),
      sha256: (entry) => entry.sha256 as string,
      names: (path) => names.get(path) as readonly string[],
      stages: true,
    },
  }
}

async function withContent(folder: Folder, entry: Entry & { readonly type: 'file' }): Promise<BaseEntry> {
  if (entry.file.size > largeBounds.fileBytes) return { ...entry, sha256: await hashBlob(entry.file) }
  const bytes = await folder.bytes(entry)
  await precomputeSha256([bytes])
  return { ...entry, bytes, sha256: sha256Cached(bytes) }
}

function versionOfBase(entry: BaseEntry | undefined): Version {
  if (entry?.type !== 'file') return entry === undefined ? null : DIRECTORY_VERSION
  return { type: 'file', sha256: entry.sha256 as string, size: entry.bytes?.length ?? entry.file.size }
}
