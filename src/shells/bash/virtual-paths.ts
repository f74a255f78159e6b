import type { CommandFiles } from '../types.ts'

/** Where the workspace stands in the tree that commands see. */
export const HOME = '/workspace'
const SCRATCH = '/tmp'

/** A path that a command names, in the part of its tree that holds it. */
export type VirtualPath =
  | { readonly in: 'files'; readonly files: CommandFiles; readonly path: string }
  | { readonly in: 'device'; readonly device: Device }
  /** A directory that is there only to hold the others. */
  | { readonly in: 'frame'; readonly names: readonly string[] }
  | { readonly in: 'nowhere' }

export type Device = 'null' | 'urandom'

export interface Places {
  readonly workspace: CommandFiles
  /** Files of the command's own, gone with it: `/tmp`, and what bash keeps in `/dev/fd`. */
  readonly scratch: CommandFiles
}

/** The tree that commands see: the workspace, a place for temporary files, and two devices; nothing else is there. */
export function resolveVirtualPath(path: string, places: Places): VirtualPath {
  const inside = below(path, HOME)
  if (inside !== undefined) return { in: 'files', files: places.workspace, path: inside }
  const temporary = below(path, SCRATCH)
  if (temporary !== undefined) return { in: 'files', files: places.scratch, path: within('tmp', temporary) }
  const descriptor = below(path, '/dev/fd')
  if (descriptor !== undefined) return { in: 'files', files: places.scratch, path: within('fd', descriptor) }
  if (path === '/dev/null') return { in: 'device', device: 'null' }
  if (path === '/dev/urandom') return { in: 'device', device: 'urandom' }
  if (path === '/') return { in: 'frame', names: ['dev', 'tmp', 'workspace'] }
  if (path === '/dev') return { in: 'frame', names: ['fd', 'null', 'urandom'] }
  return { in: 'nowhere' }
}

function below(path: string, directory: string): string | undefined {
  if (path === directory) return '.'
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : undefined
}

function within(directory: string, path: string): string {
  return path === '.' ? directory : `${directory}/${path}`
}

/** A path without `.`, `..` and doubled slashes, as a shell joins it to its directory. */
export function resolvePath(base: string, path: string): string {
  const names: string[] = []
  for (const name of `${path.startsWith('/') ? '' : base}/${path}`.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}

/** What the interpreter's file system answers without its files. Names are found by walking alone. */
export const withoutFiles = { resolvePath, getAllPaths: (): string[] => [] }
