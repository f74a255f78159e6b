import { ToolError } from '../errors.ts'
import { createVisibility, type Visibility } from '../guard/visibility.ts'
import { type LogicalPath, nameOf, type Path, parentOf, parsePath } from '../paths/logical-path.ts'
import type { DialectCall } from '../policy/dialect-call.ts'
import type { Backend } from '../storage/backend.ts'
import { editDistance } from '../util/nearest-name.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Names of the directory to compare. */
const MAX_NAMES = 2000
const MAX_SUGGESTIONS = 5

/** Adds the visible paths with the most similar names to a `NOT_FOUND` of a path. */
export async function addPathSuggestions(
  workspace: WorkspaceState,
  run: RunState,
  tool: string,
  dialectCall: DialectCall | undefined,
  error: ToolError,
  path: string,
): Promise<ToolError> {
  const missing = parsePath(path)
  const visibility = createVisibility(workspace.policy, policyCall(run, tool, {}, dialectCall), 'list', { rules: [] })
  const suggestions = await suggestPaths(workspace.backend, missing, visibility)
  if (suggestions.length === 0) return error
  return new ToolError('NOT_FOUND', error.message, {
    ...error.details,
    suggestions,
    hint: `Did you mean ${suggestions.map((path) => `"${path}"`).join(' or ')}? Or list the directory.`,
  })
}

/**
 * Returns the visible paths in the directory of a missing one with the most similar names. Paths that policy hides are
 * never suggested. Never throws: if the backend fails, the list is empty.
 */
async function suggestPaths(backend: Backend, missing: LogicalPath, visibility: Visibility): Promise<string[]> {
  try {
    const parent = await backend.canonical(parentOf(missing))
    if ((await backend.stat(parent))?.type !== 'directory' || !visibility.enter(parent)) return []
    const missingName = nameOf(missing).toLowerCase()
    const matches: { path: string; distance: number }[] = []
    for (const { name, type } of (await backend.list(parent)).slice(0, MAX_NAMES)) {
      const path = (parent === '' ? name : `${parent}/${name}`) as Path
      // A name of which every character differs is not similar.
      const maxDistance = Math.min(missingName.length - 1, Math.max(2, Math.ceil(missingName.length / 3)))
      const distance = editDistance(missingName, name.toLowerCase(), maxDistance)
      if (distance !== undefined && visibility.see(path, type)) matches.push({ path, distance })
    }
    matches.sort((a, b) => a.distance - b.distance || (a.path < b.path ? -1 : 1))
    return matches.slice(0, MAX_SUGGESTIONS).map(({ path }) => path)
  } catch {
    return []
  }
}
