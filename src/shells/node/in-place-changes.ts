import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { isWithin, type Path, quote } from '../../paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../../storage/backend.ts'
import { applyChanges } from '../shared/apply-changes.ts'
import type { CommandFiles, CommitSubscription } from '../types.ts'
import type { Difference, SnapshotTaker, TreeSnapshot } from './tree-snapshot.ts'

/** The directory of a workspace on the disk. */
export interface WorkspaceDirectory {
  /** Physical path. */
  readonly root: string
  readonly backend: Backend
  readonly snapshots: SnapshotTaker
}

/** The changes that one command made to the directory, until they are accepted or dropped. */
export interface CommandEffects {
  /** Re-applies the changes through the policy gate. The workspace stays unchanged until they are committed. */
  accept(files: CommandFiles): Promise<void>
  /** Reverts the changes. */
  drop(): Promise<void>
}

/** Takes a snapshot of the directory before a command starts. @throws ToolError */
export async function trackInPlaceChanges(
  workspace: WorkspaceDirectory,
  onCommit: CommitSubscription | undefined,
): Promise<CommandEffects> {
  const committed = new Map<Path, EntryState>()
  const unsubscribe = onCommit?.((changes) => {
    for (const { path, to } of changes) committed.set(path, to)
  })
  let snapshot: TreeSnapshot
  try {
    snapshot = await workspace.snapshots.take()
  } catch (error) {
    unsubscribe?.()
    throw error
  }

  async function revertAll(): Promise<readonly Difference[]> {
    try {
      const differences = await snapshot.differences(committed)
      await revert(workspace, differences)
      return differences
    } finally {
      unsubscribe?.()
    }
  }

  return {
    async accept(files) {
      const differences = await revertAll()
      const others = differences.filter(({ isOther }) => isOther).map(({ path }) => path)
      for (const path of others) files.refuse('file:write:create', path, specialFileError(path))
      await applyChanges(
        files,
        differences.filter(({ before, after }) => before !== null || after !== null),
      )
    },
    async drop() {
      await revertAll()
    },
  }
}

async function revert({ root, backend }: WorkspaceDirectory, differences: readonly Difference[]): Promise<void> {
  const removed: Path[] = []
  for (const { path, before, after, isOther } of differences) {
    if (removed.some((above) => isWithin(path, above))) continue
    // A new directory may contain names that a backend cannot see.
    const isNewDirectory = before?.type !== 'directory' && after?.type === 'directory'
    if (!isOther && !isNewDirectory) continue
    await rm(join(root, path), { recursive: true, force: true }).catch((error: unknown) => {
      throw revertError(path, error)
    })
    removed.push(path)
  }
  const changes: Change[] = []
  for (const { path, before } of differences) {
    const stat = await backend.stat(path)
    if (stat === undefined && before === null) continue
    changes.push({ path, expect: stat === undefined ? 'absent' : { tag: stat.tag }, to: before })
  }
  const [first] = changes
  if (first === undefined) return
  await backend.commit(changes, { durability: 'relaxed' }).catch((error: unknown) => {
    throw revertError(first.path, error)
  })
}

function specialFileError(path: Path): ToolError {
  return new ToolError('PATH_REJECTED', `Cannot keep ${quote(path)}: it is not a file, directory or link`, { path })
}

function revertError(path: Path, error: unknown): ToolError {
  const reason = error instanceof ToolError ? error.message : 'the system refused it'
  return new ToolError('BACKEND_ERROR', `The changes of the command could not be reverted: ${reason}`, { path })
}
