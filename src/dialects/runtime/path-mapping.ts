import { isWithin, type LogicalPath, parsePath } from '../../paths/logical-path.ts'

/** Names of a dialect for directories of the workspace: `{ '/workspace': '' }` is the root. */
export type VirtualRoots = Readonly<Record<string, string>>

/** Where a dialect's paths lie. It maps prefixes and nothing else: every path still passes the guard. */
export interface PathMapping {
  /** The virtual roots, as they were given. */
  readonly roots: readonly string[]
  /** A path of the dialect as a tool of the workspace takes it. What lies below no root stays as it is. */
  inward(path: string): string
  /** A logical path, or the address of a stored result, in the dialect's spelling. */
  outward(path: string): string
}

/**
 * The place of a dialect with virtual roots; without any, its paths are logical ones. A path that climbs out of its root is
 * left to the guard, which refuses it.
 *
 * @throws TypeError for a root that is no absolute path, or names no directory of the workspace
 * @example
 * const place = createPathMapping({ '/workspace': '' })
 * console.log(place.inward('/workspace/src/a.ts')) // src/a.ts
 */
export function createPathMapping(roots: VirtualRoots = {}): PathMapping {
  const mapped = Object.entries(roots).map(([virtual, directory]) => ({
    virtual,
    prefix: virtual === '/' ? '/' : `${virtual}/`,
    logical: directoryOf(virtual, directory),
  }))
  const byPrefix = [...mapped].sort((a, b) => b.prefix.length - a.prefix.length)
  const byDirectory = [...mapped].sort((a, b) => b.logical.length - a.logical.length)
  return {
    roots: Object.keys(roots),
    inward(path) {
      for (const { virtual, prefix, logical } of byPrefix) {
        if (path === virtual) return logical === '' ? '.' : logical
        if (path.startsWith(prefix)) return below(logical, path.slice(prefix.length).replace(/^\/+/, ''))
      }
      return path
    },
    outward(path) {
      // The address of a stored result, which no path can look like.
      if (path.startsWith('artifact://')) return path
      const inside = (path === '.' ? '' : path) as LogicalPath
      for (const { virtual, prefix, logical } of byDirectory) {
        if (inside === logical) return virtual
        if (isWithin(inside, logical)) return prefix + (logical === '' ? inside : inside.slice(logical.length + 1))
      }
      return inside === '' ? '.' : inside
    },
  }
}

function below(directory: LogicalPath, rest: string): string {
  if (rest === '') return directory === '' ? '.' : directory
  if (directory === '') return rest
  try {
    return `${directory}/${parsePath(rest)}`
  } catch {
    return rest
  }
}

function directoryOf(virtual: string, directory: string): LogicalPath {
  if (!virtual.startsWith('/') || (virtual !== '/' && (virtual.endsWith('/') || !isPlain(virtual.slice(1))))) {
    throw new TypeError(`The virtual root ${JSON.stringify(virtual)} is no absolute path such as "/workspace"`)
  }
  try {
    return parsePath(directory === '' ? '.' : directory)
  } catch {
    throw new TypeError(`The virtual root ${JSON.stringify(virtual)} leads to no directory of the workspace`)
  }
}

/** Whether a path is spelled as the guard would spell it. */
function isPlain(path: string): boolean {
  try {
    return parsePath(path) === path
  } catch {
    return false
  }
}
