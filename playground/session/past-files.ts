import type { WorkspaceHistory } from 'wardspace'
import { type ChangedFile, changedFiles } from './changes.ts'

/** How the files at a point of the history differ from the present ones. */
export interface PastFiles {
  /** The files that have changed since then, with what has happened to them. */
  readonly files: readonly ChangedFile[]
  /** The changes since then, which hold the contents of that time. */
  readonly since: WorkspaceHistory
  /** Whether the contents of that time are all kept. */
  readonly isComplete: boolean
}

/** Compares the files at a point with the present ones, or returns undefined for a point that no longer exists. */
export function pastFiles(history: WorkspaceHistory, point: string): PastFiles | undefined {
  const checkpoint = history.checkpoints.find(({ id }) => id === point)
  if (checkpoint === undefined || checkpoint.mark < history.first) return undefined
  const since = { ...history, entries: history.entries.slice(checkpoint.mark - history.first) }
  return {
    since,
    files: changedFiles(since),
    isComplete: since.entries.every(({ changes }) => changes !== undefined),
  }
}
