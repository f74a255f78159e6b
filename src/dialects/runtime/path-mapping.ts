import { isWithin, type LogicalPath, parsePath } from '../../paths/logical-path.ts'
import { hasPlainPrototype, refuseSurplus } from '../../util/check-options.ts'

/** Maps names of the dialect to directories of the workspace: `{ '/workspace': '' }` is its root. */
export type VirtualRoots = Readonly<Record<string, string>>

/** Translates paths of a dialect. It maps only prefixes: the guard still checks every path. */
export interface PathMapping {
  /** Names of the virtual roots, as they were passed. */
  readonly roots: readonly string[]
  /** Translates a path of the dialect for the workspace. A path below no root stays unchanged. */
  inward(path: string): string
  /**
   * Translates a logical path for the dialect. Other texts, such as the address of a stored result (`artifact://…`) or a
   * refused path, stay unchanged.
   */
  outward(path: string): string
  /** Translates a logical path to the one that commands see. Absent: `outward` does. */
  shellPath?(path: string): string
  /** The paths that the current call has translated, by their translation. */
  readonly asked?: ReadonlyMap<string, string>
}

/**
 * Creates the path mapping of a dialect with virtual roots; without any, its paths are logical ones. A path that climbs out
 * of its root is passed on unchanged, and the guard refuses it.
 *
 * @throws TypeError if a root is not an absolute path, or does not name a directory of the workspace
 * @example
 * const pathMapping = createPathMapping({ '/workspace': '' })
 * console.log(pathMapping.inward('/workspace/src/a.ts')) // src/a.ts
 */
export function createPathMapping(virtualRoots: VirtualRoots = {}): PathMapping {
  refuseSurplus('createPathMapping()', 1, arguments)
  const roots = checkRoots(virtualRoots)
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
      if (path.startsWith('/') || path.startsWith('artifact://') || /^\.\.(\/|$)/.test(path)) return path
      const inside = (path === '.' ? '' : path) as LogicalPath
      for (const { virtual, prefix, logical } of byDirectory) {
        if (inside === logical) return virtual
        if (isWithin(inside, logical)) return prefix + (logical === '' ? inside : inside.slice(logical.length + 1))
      }
      return inside === '' ? '.' : inside
    },
  }
}

/** Returns a copy of the roots. A dialect passes what its caller wrote, so that the messages name no function. */
function checkRoots(roots: unknown): VirtualRoots {
  if (typeof roots !== 'object' || roots === null || !hasPlainPrototype(roots)) {
    const shown = roots === null || roots === undefined ? `${roots}` : Array.isArray(roots) ? 'a list' : kindOf(roots)
    throw new TypeError(`The virtual roots must be an object such as { "/workspace": "" }, not ${shown}`)
  }
  const entries = Object.entries(roots)
  for (const [root, directory] of entries) {
    if (typeof directory === 'string') continue
    throw new TypeError(
      `The virtual root ${JSON.stringify(root)} must name a directory of the workspace as a string; a dialect has no other options`,
    )
  }
  return Object.fromEntries(entries)
}

function kindOf(value: unknown): string {
  return typeof value === 'object' ? 'an object of a class' : `a ${typeof value}`
}

/** Returns the virtual roots of a mapping, with their directories. */
export function rootsOfMapping({ roots, inward }: PathMapping): VirtualRoots {
  return Object.fromEntries(roots.map((root) => [root, inward(root).replace(/^\.$/, '')]))
}

/** The path mapping of one call. */
export interface RecordedPaths extends PathMapping {
  /** The translations of the paths that the call has translated. */
  readonly translations: ReadonlyMap<string, string>
}

/** Returns the path mapping for one call. It remembers the paths as the call wrote them, for rules and for messages. */
export function recordPaths(mapping: PathMapping): RecordedPaths {
  const asked = new Map<string, string>()
  const translations = new Map<string, string>()
  return {
    ...mapping,
    asked,
    translations,
    inward(path) {
      const inside = mapping.inward(path)
      translations.set(path, inside)
      asked.set(inside, path)
      return inside
    },
    outward(path) {
      const original = asked.get(path)
      return original === undefined || isLogical(path) ? mapping.outward(path) : original
    },
  }
}

function isLogical(path: string): boolean {
  try {
    parsePath(path)
    return true
  } catch {
    return false
  }
}

function below(directory: LogicalPath, relative: string): string {
  if (relative === '') return directory === '' ? '.' : directory
  if (directory === '') return relative
  try {
    return `${directory}/${parsePath(relative)}`
  } catch {
    return relative
  }
}

function directoryOf(virtual: string, directory: string): LogicalPath {
  const root = `The virtual root ${JSON.stringify(virtual)}`
  if (!virtual.startsWith('/')) throw new TypeError(`${root} is not an absolute path such as "/workspace"`)
  if (/[*]|\s$/.test(virtual)) throw new TypeError(`${root} must be a name without * and without a space at its end`)
  const normal = `/${normalized(virtual.slice(1)) ?? ''}`
  if (normal !== virtual) {
    const help = normal === '/' ? '' : `: write ${JSON.stringify(normal)}`
    throw new TypeError(`${root} is not an absolute path in its shortest form${help}`)
  }
  const logical = normalized(directory)
  if (logical !== undefined) return logical
  const relative = normalized(directory.replace(/^\/+/, ''))
  const help = relative === undefined ? '' : `: write ${JSON.stringify(relative)}, relative to its root`
  throw new TypeError(`${root} does not name a directory of the workspace${help}`)
}

/** Returns a normalized path, or undefined when the guard refuses it. */
function normalized(path: string): LogicalPath | undefined {
  try {
    return parsePath(path === '' ? '.' : path)
  } catch {
    return undefined
  }
}
