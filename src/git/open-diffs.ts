import type { Backend } from '../storage/backend.ts'
import { memoizeAsync } from '../util/memoize-async.ts'
import type { WorkspaceDiffs } from './workspace-diff.ts'

/**
 * Opens the diffs of a workspace from its present state. Loads the code that compares files when it is first needed.
 */
export function openWorkspaceDiffs(backend: Backend): WorkspaceDiffs {
  const opened = backend.tree?.()
  const load = memoizeAsync(async () => (await import('./workspace-diff.ts')).createWorkspaceDiffs(backend, opened))
  return {
    diff: async (request) => (await load()).diff(request),
    headCommit: async () => (await load()).headCommit(),
    async *history(commits, options) {
      yield* (await load()).history(commits, options)
    },
    changed: async (commit, signal) => (await load()).changed(commit, signal),
    changedFrom: async (tree, signal) => (await load()).changedFrom(tree, signal),
    // With a tree, the base needs no notes.
    beforeCommit: (changes) => (opened === undefined ? load().then((diffs) => diffs.beforeCommit(changes)) : undefined),
  }
}
