import { realpathSync, statSync } from 'node:fs'
import { basename, resolve, sep } from 'node:path'
import { memory } from '../backends/memory/index.ts'
import { nodeBackend } from '../backends/node/index.ts'
import { parsePath } from '../paths/logical-path.ts'
import { isAtOrBelow } from '../paths/physical.ts'
import type { Backend } from '../storage/backend.ts'
import { mounts } from '../storage/mounts.ts'
import { readOnly } from '../storage/read-only.ts'

/** One `--root`. */
export interface Root {
  /** Name of its directory in the workspace; `''` for a single root, which is the root of the workspace. */
  readonly at: string
  readonly directory: string
}

/**
 * Parses the `--root` options, `DIR` or `NAME=DIR`. A single directory is the root of the workspace; several appear side by
 * side under their names. Default name: that of the directory.
 *
 * @throws TypeError for an invalid or repeated name, or a root inside another one
 */
export function rootsOf(options: readonly string[] = ['.']): readonly Root[] {
  const parsed = options.map((text) => {
    const [, name, directory] = /^([^/\\=]+)=(.+)$/s.exec(text) ?? []
    return name === undefined || directory === undefined
      ? { at: undefined, directory: text }
      : { at: requireName(name), directory }
  })
  const [first, second] = parsed
  if (first !== undefined && first.at === undefined && second === undefined) return [{ ...first, at: '' }]
  const roots = parsed.map(({ at, directory }) => ({ at: at ?? requireName(basename(resolve(directory))), directory }))
  for (const { at } of roots) {
    if (roots.filter((root) => root.at === at).length > 1) {
      throw new TypeError(`Two roots have the name "${at}": rename one with --root NAME=DIR`)
    }
  }
  requireApart(roots)
  return roots
}

/** Returns the directory of the only root, for commands that work on one directory. */
export function oneRoot(options: readonly string[] | undefined): string {
  const [root, second] = rootsOf(options)
  if (root === undefined || root.at !== '' || second !== undefined) {
    throw new TypeError('This command works on one directory: pass one --root DIR, without a name')
  }
  return root.directory
}

/**
 * Requires that every root is a directory, for commands that open none.
 *
 * @throws TypeError that names the first one that is not
 */
export function requireDirectories(roots: readonly Root[]): void {
  for (const { directory } of roots) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) continue
    throw new TypeError(`The root "${directory}" is not a directory`)
  }
}

/** Opens the backend of the roots, with `withOverlay` on the overlay of each. Outside of the roots nothing exists or can be created. */
export async function openRoots(roots: readonly Root[], withOverlay: boolean): Promise<Backend> {
  const open = withOverlay ? (await import('./overlay-state.ts')).openPersistentOverlay : nodeBackend
  const [first] = roots
  if (first?.at === '' && roots.length === 1) return open(first.directory)
  const parts: Record<string, Backend> = { '': readOnly(memory()) }
  try {
    for (const { at, directory } of roots) parts[at] = open(directory)
  } catch (error) {
    for (const backend of Object.values(parts)) void backend.close()
    throw error
  }
  return mounts(parts)
}

/** Whether a file is inside one of the roots. */
export function isInRoots(roots: readonly Root[], file: string): boolean {
  return roots.some(({ directory }) => isAtOrBelow(realPathOf(file), realPathOf(directory), sep))
}

function requireName(name: string): string {
  try {
    if (parsePath(name) === name) return name
  } catch {}
  throw new TypeError(`"${name}" cannot be the name of a root: use another one, as in --root NAME=DIR`)
}

/** Throws for nested roots. A file would have two paths, and a rule for the first would not apply to the second. */
function requireApart(roots: readonly Root[]): void {
  const resolved = roots.map(({ directory }) => ({ directory, realPath: realPathOf(directory) }))
  for (const [index, { directory, realPath }] of resolved.entries()) {
    for (const [outerIndex, { directory: outer, realPath: outerPath }] of resolved.entries()) {
      if (index === outerIndex || !isAtOrBelow(realPath, outerPath, sep)) continue
      throw new TypeError(`The root "${directory}" is inside the root "${outer}": leave one out`)
    }
  }
}

/** Returns the real path. For a missing file returns the absolute path; opening it fails later. */
export function realPathOf(name: string): string {
  try {
    return realpathSync(name)
  } catch {
    return resolve(name)
  }
}
