import { withoutEndSlashes } from '../../util/slashes.ts'
import type { FileStat } from '../../workspace/files.ts'
import { type EncodingOption, encodingOf } from './encoding.ts'
import { Dirent } from './stats.ts'

/** Options of `readdir`. */
export type DirectoryOptions =
  | EncodingOption
  | { readonly withFileTypes?: boolean; readonly recursive?: boolean; readonly encoding?: string }

/** An entry by its path relative to the directory. */
export interface FoundEntry {
  readonly path: string
  readonly type: FileStat['type']
}

/** Returns what `readdir` is asked for. */
export function directoryOptions(options: DirectoryOptions): { withFileTypes: boolean; recursive: boolean } {
  encodingOf(options as EncodingOption)
  const { withFileTypes = false, recursive = false } = Object(options) as {
    withFileTypes?: boolean
    recursive?: boolean
  }
  return { withFileTypes, recursive }
}

/** Returns entries of a tree by their paths below its directory. */
export function below(directory: string, entries: readonly FoundEntry[]): FoundEntry[] {
  const cut = directory === '' || directory === '.' ? 0 : directory.length + 1
  return entries.map(({ path, type }) => ({ path: path.slice(cut), type }))
}

/** Returns what `readdir` returns. `shown`: the directory, as the program named it. */
export function namesOf(found: readonly FoundEntry[], shown: string, withFileTypes: boolean): string[] | Dirent[] {
  if (!withFileTypes) return found.map(({ path }) => path)
  return found.map(({ path, type }) => {
    const cut = path.lastIndexOf('/')
    const parent = cut < 0 ? shown : `${withoutEndSlashes(shown)}/${path.slice(0, cut)}`
    return new Dirent(path.slice(cut + 1), parent, type)
  })
}
