import { ToolError } from '../errors.ts'
import type { Visibility } from '../guard/visibility.ts'
import { createVisibility } from '../guard/visibility.ts'
import { type LogicalPath, nameOf, type Path, parentOf, parsePath } from '../paths/logical-path.ts'
import type { Backend } from '../storage/backend.ts'
import { editDistance } from '../util/nearest-name.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

const MOST_NAMES = 2000
const MOST_SUGGESTIONS = 5

/** Adds the nearest existing names to a NOT_FOUND. Anything else stays as it is. */
export async function addPathSuggestions(
  workspace: WorkspaceState,
  run: RunState,
  tool: string,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ToolError) || error.code !== 'NOT_FOUND' || error.details.path === undefined) return error
  const missing = parsePath(error.details.path)
  const sight = createVisibility(workspace.policy, policyCall(run, tool, {}), 'list', { rules: [] })
  const suggestions = await suggestPaths(workspace.backend, missing, sight)
  if (suggestions.length === 0) return error
  return new ToolError('NOT_FOUND', error.message, {
    ...error.details,
    suggestions,
    hint: `Did you mean ${suggestions.map((path) => `"${path}"`).join(' or ')}? Or list the directory.`,
  })
}

/**
 * The visible paths beside a missing one whose names come nearest to it. What policy hides is never suggested.
 * Never fails: a backend that cannot answer suggests nothing.
 */
async function suggestPaths(backend: Backend, missing: LogicalPath, sight: Visibility): Promise<string[]> {
  try {
    const parent = await backend.canonical(parentOf(missing))
    if ((await backend.stat(parent))?.type !== 'directory' || !sight.enter(parent)) return []
    const wanted = nameOf(missing).toLowerCase()
    const near: { path: string; distance: number }[] = []
    for (const { name, type } of (await backend.list(parent)).slice(0, MOST_NAMES)) {
      const path = (parent === '' ? name : `${parent}/${name}`) as Path
      const distance = editDistance(wanted, name.toLowerCase(), Math.max(2, Math.ceil(wanted.length / 3)))
      if (distance !== undefined && sight.see(path, type)) near.push({ path, distance })
    }
    near.sort((a, b) => a.distance - b.distance || (a.path < b.path ? -1 : 1))
    return near.slice(0, MOST_SUGGESTIONS).map(({ path }) => path)
  } catch {
    return []
  }
}
