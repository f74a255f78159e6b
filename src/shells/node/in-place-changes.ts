import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { isWithin, type Path } from '../../paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../../storage/backend.ts'
import { applyChanges } from '../shared/apply-changes.ts'
import type { CommandFiles, CommitSubscription } from '../types.ts'
import type { Difference, Shadows, TreeSnapshot } from './tree-snapshot.ts'

/** A directory that commands change in place. */
export interface Place {
  /** Its physical path. */
  readonly root: string
  readonly backend: Backend
  readonly shadows: Shadows
}

/** What one command has done by itself, until it is either done through the gate or dropped. */
export interface Effects {
  /** Does through the gate what the command changed. The workspace is as it was before, until that is committed. */
  accept(files: CommandFiles): Promise<void>
  /** The workspace is as it was before. */
  drop(): Promise<void>
}

/** Keeps what is there, before a command begins. @throws ToolError */
export async function trackInPlaceChanges(place: Place, onCommit: CommitSubscription | undefined): Promise<Effects> {
  const committed = new Map<Path, EntryState>()
  const stop = onCommit?.((changes) => {
    for (const { path, to } of changes) committed.set(path, to)
  })
  let shadow: TreeSnapshot
  try {
    shadow = await place.shadows.take()
  } catch (error) {
    stop?.()
    throw error
  }

  async function takeBack(): Promise<readonly Difference[]> {
    try {
      const differences = await shadow.differences(committed)
      await putBack(place, differences)
      return differences
    } finally {
      stop?.()
    }
  }

  return {
    async accept(files) {
      const differences = await takeBack()
      for (const { path, isOther } of differences) {
        if (isOther) files.refuse('file:write:create', path, notKept(path))
      }
      await applyChanges(
        files,
        differences.filter(({ before, after }) => before !== null || after !== null),
      )
    },
    async drop() {
      await takeBack()
    },
  }
}

async function putBack({ root, backend }: Place, differences: readonly Difference[]): Promise<void> {
  const removed: Path[] = []
  for (const { path, before, after, isOther } of differences) {
    if (removed.some((above) => isWithin(path, above))) continue
    // A new directory may hold names that a backend does not see.
    const isNew = before?.type !== 'directory' && after?.type === 'directory'
    if (!isOther && !isNew) continue
    await rm(join(root, path), { recursive: true, force: true }).catch((error: unknown) => {
      throw notPutBack(path, error)
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
    throw notPutBack(first.path, error)
  })
}

function notKept(path: Path): ToolError {
  return new ToolError('PATH_REJECTED', `Cannot keep ${JSON.stringify(path)}: it is no file, directory or link`, {
    path,
  })
}

function notPutBack(path: Path, error: unknown): ToolError {
  const why = error instanceof ToolError ? error.message : 'the system refused it'
  return new ToolError('BACKEND_ERROR', `What the command changed could not be put back: ${why}`, { path })
}
