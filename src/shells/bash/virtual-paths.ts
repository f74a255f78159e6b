import { resolvePath } from '../../paths/absolute-path.ts'
import { parsePath } from '../../paths/logical-path.ts'
import type { CommandFiles } from '../types.ts'

/** Absolute path under which commands see the workspace, if neither the shell nor a dialect names another. */
export const DEFAULT_ROOT = '/workspace'
const SCRATCH = '/tmp'

/** Directories of a system, where programs look for commands and devices. */
const SYSTEM = /^(?:\/(?:bin|sbin|dev|proc|sys|usr\/s?bin)(?:\/.*)?|\/tmp|\/usr|\/)$/

/** Whether commands can see the workspace under a path: one that is normalized, no pattern, and outside of the system's directories. */
export function isVirtualRoot(path: unknown): path is string {
  if (typeof path !== 'string' || !path.startsWith('/') || SYSTEM.test(path) || /[*?[\]()\\]/.test(path)) return false
  try {
    return parsePath(path.slice(1)) === path.slice(1)
  } catch {
    return false
  }
}

/** A path of a command, resolved to the part of its tree that contains it. */
export type VirtualPath =
  | FilePath
  | { readonly in: 'device'; readonly device: Device }
  /** A directory that only contains the others. */
  | { readonly in: 'frame'; readonly names: readonly string[] }
  | { readonly in: 'nowhere' }

export interface FilePath {
  readonly in: 'files'
  readonly files: CommandFiles
  /** Relative to the root of the files. */
  readonly path: string
}

export type Device = 'null' | 'urandom'

export interface VirtualRoots {
  /** Absolute path under which commands see the workspace. */
  readonly root: string
  readonly workspace: CommandFiles
  /** Files that end with the command: `/tmp`, and what bash keeps in `/dev/fd`. */
  readonly scratch: CommandFiles
}

/** Resolves a path in the tree that commands see: the workspace, temporary files, two devices and nothing else. */
export function resolveVirtualPath(path: string, roots: VirtualRoots): VirtualPath {
  const { root } = roots
  const inside = below(path, root)
  if (inside !== undefined) return { in: 'files', files: roots.workspace, path: inside }
  const temporary = isAbove(path, root) && path !== SCRATCH ? undefined : below(path, SCRATCH)
  if (temporary !== undefined) return { in: 'files', files: roots.scratch, path: within('tmp', temporary) }
  const descriptor = below(path, '/dev/fd')
  if (descriptor !== undefined) return { in: 'files', files: roots.scratch, path: within('fd', descriptor) }
  if (path === '/dev/null') return { in: 'device', device: 'null' }
  if (path === '/dev/urandom') return { in: 'device', device: 'urandom' }
  if (path === '/') return { in: 'frame', names: [...new Set(['dev', nextName(root, '/'), 'tmp'])].sort() }
  if (path === '/dev') return { in: 'frame', names: ['fd', 'null', 'urandom'] }
  return isAbove(path, root) ? { in: 'frame', names: [nextName(root, path)] } : { in: 'nowhere' }
}

/** Returns a path of the tree that commands see as a path of the workspace, or `undefined` when it is not in the workspace. */
export function workspacePath(path: string, root: string): string | undefined {
  return below(path, root)
}

function below(path: string, directory: string): string | undefined {
  if (path === directory) return '.'
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : undefined
}

function isAbove(directory: string, path: string): boolean {
  return path.startsWith(directory === '/' ? '/' : `${directory}/`)
}

/** The name below a directory in a path. */
function nextName(path: string, directory: string): string {
  return path.slice(directory === '/' ? 1 : directory.length + 1).split('/')[0] as string
}

function within(directory: string, path: string): string {
  return path === '.' ? directory : `${directory}/${path}`
}

export { resolvePath }

/** The members of just-bash's file system that need no files. Paths are found by walking alone. */
export const withoutFiles = { resolvePath, getAllPaths: (): string[] => [] }
