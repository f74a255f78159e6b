import type { CommandFiles } from '../types.ts'

/** Where the workspace is mounted in the tree that commands see. */
export const HOME = '/workspace'
const SCRATCH = '/tmp'

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
  readonly workspace: CommandFiles
  /** Files that end with the command: `/tmp`, and what bash keeps in `/dev/fd`. */
  readonly scratch: CommandFiles
}

/** Resolves a path in the tree that commands see: the workspace, temporary files, two devices and nothing else. */
export function resolveVirtualPath(path: string, roots: VirtualRoots): VirtualPath {
  const inside = below(path, HOME)
  if (inside !== undefined) return { in: 'files', files: roots.workspace, path: inside }
  const temporary = below(path, SCRATCH)
  if (temporary !== undefined) return { in: 'files', files: roots.scratch, path: within('tmp', temporary) }
  const descriptor = below(path, '/dev/fd')
  if (descriptor !== undefined) return { in: 'files', files: roots.scratch, path: within('fd', descriptor) }
  if (path === '/dev/null') return { in: 'device', device: 'null' }
  if (path === '/dev/urandom') return { in: 'device', device: 'urandom' }
  if (path === '/') return { in: 'frame', names: ['dev', 'tmp', 'workspace'] }
  if (path === '/dev') return { in: 'frame', names: ['fd', 'null', 'urandom'] }
  return { in: 'nowhere' }
}

/** Returns a path of the tree that commands see as a path of the workspace, or `undefined` when it is not in the workspace. */
export function workspacePath(path: string): string | undefined {
  return below(path, HOME)
}

function below(path: string, directory: string): string | undefined {
  if (path === directory) return '.'
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : undefined
}

function within(directory: string, path: string): string {
  return path === '.' ? directory : `${directory}/${path}`
}

/** Joins a path to a directory as a shell does: absolute, without `.`, `..` and doubled slashes. */
export function resolvePath(base: string, path: string): string {
  const names: string[] = []
  for (const name of `${path.startsWith('/') ? '' : base}/${path}`.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}

/** The members of just-bash's file system that need no files. Paths are found by walking alone. */
export const withoutFiles = { resolvePath, getAllPaths: (): string[] => [] }
