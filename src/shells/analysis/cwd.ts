import { type LogicalPath, parsePath } from '../../paths/logical-path.ts'

/** The directories in which a command may start, or `undefined` when there are too many or they are unknown. */
export type PossibleCwds = readonly LogicalPath[] | undefined

/** The possible directories after a command, on success and on failure. */
export interface CwdAfter {
  readonly ok: PossibleCwds
  readonly failed: PossibleCwds
}

const MAX_CWDS = 8

export function allCwds(after: CwdAfter): PossibleCwds {
  return unionCwds(after.ok, after.failed)
}

export function unionCwds(a: PossibleCwds, b: PossibleCwds): PossibleCwds {
  if (a === b) return a
  if (a === undefined || b === undefined) return undefined
  const all = [...new Set([...a, ...b])]
  return all.length > MAX_CWDS ? undefined : all
}

/**
 * Resolves a path of a line to logical paths, one per possible directory. Returns `'outside'` if one of them is not in the
 * workspace. `root` is the absolute path under which the shell shows the root of the workspace, if any.
 */
export function resolvePath(
  path: string,
  cwds: PossibleCwds,
  root: string | undefined,
): LogicalPath[] | 'outside' | 'unknown' {
  if (path.startsWith('/')) {
    if (root === undefined || (path !== root && !path.startsWith(`${root}/`))) return 'outside'
    return parseInside(path.slice(root.length).replace(/^\/+/, ''), '')
  }
  if (cwds === undefined) return parseInside(path, '') === 'outside' ? 'outside' : 'unknown'
  const resolved: LogicalPath[] = []
  for (const cwd of cwds) {
    const paths = parseInside(path, cwd)
    if (paths === 'outside') return paths
    resolved.push(...paths)
  }
  return resolved
}

function parseInside(path: string, cwd: string): LogicalPath[] | 'outside' {
  try {
    return [parsePath(cwd === '' ? (path === '' ? '.' : path) : `${cwd}/${path}`)]
  } catch {
    return 'outside'
  }
}
