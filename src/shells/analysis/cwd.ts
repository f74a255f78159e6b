import { type LogicalPath, parsePath } from '../../paths/logical-path.ts'

/** The directories where a command may start; `undefined` where there are too many, or it cannot be known. */
export type PossibleCwds = readonly LogicalPath[] | undefined

/** The directories after a command, by whether it succeeded. */
export interface CwdAfter {
  readonly ok: PossibleCwds
  readonly failed: PossibleCwds
}

const MAX_PLACES = 8

export function allCwds(flow: CwdAfter): PossibleCwds {
  return unionCwds(flow.ok, flow.failed)
}

export function unionCwds(a: PossibleCwds, b: PossibleCwds): PossibleCwds {
  if (a === b) return a
  if (a === undefined || b === undefined) return undefined
  const all = [...new Set([...a, ...b])]
  return all.length > MAX_PLACES ? undefined : all
}

/**
 * A path of a line as logical paths, one per place where it may be meant; `'outside'` if one of them is not in the
 * workspace. `root` is the absolute name that the shell shows for the workspace's root, if it has one.
 */
export function resolvePath(
  path: string,
  cwds: PossibleCwds,
  root: string | undefined,
): LogicalPath[] | 'outside' | 'unknown' {
  if (path.startsWith('/')) {
    if (root === undefined || (path !== root && !path.startsWith(`${root}/`))) return 'outside'
    return guarded(path.slice(root.length).replace(/^\/+/, ''), '')
  }
  if (cwds === undefined) return guarded(path, '') === 'outside' ? 'outside' : 'unknown'
  const found: LogicalPath[] = []
  for (const place of cwds) {
    const paths = guarded(path, place)
    if (paths === 'outside') return paths
    found.push(...paths)
  }
  return found
}

function guarded(path: string, place: string): LogicalPath[] | 'outside' {
  try {
    return [parsePath(place === '' ? (path === '' ? '.' : path) : `${place}/${path}`)]
  } catch {
    return 'outside'
  }
}
