import { realpathSync } from 'node:fs'
import { basename, resolve, sep } from 'node:path'
import { memory } from '../backends/memory/index.ts'
import { nodeBackend } from '../backends/node/index.ts'
import { parsePath } from '../paths/logical-path.ts'
import { isAtOrBelow } from '../paths/physical.ts'
import type { Backend } from '../storage/backend.ts'
import { mounts } from '../storage/mounts.ts'
import { readOnly } from '../storage/read-only.ts'
import { openPersistentOverlay } from './overlay-state.ts'

/** One `--root`. */
export interface Root {
  /** Under which name it stands in the workspace; the only one is the root itself: `''`. */
  readonly at: string
  readonly directory: string
}

/**
 * The roots that are asked for, as `DIR` or `NAME=DIR`. One directory is the root; several stand side by side, each under
 * its name, which is that of the directory unless another is given.
 *
 * @throws TypeError for names that are none or are given twice, and for a root inside another one
 */
export function rootsOf(given: readonly string[] = ['.']): readonly Root[] {
  const named = given.map((text) => {
    const [, name, directory] = /^([^/\\=]+)=(.+)$/s.exec(text) ?? []
    return name === undefined || directory === undefined
      ? { at: undefined, directory: text }
      : { at: requireName(name), directory }
  })
  const [first, second] = named
  if (first !== undefined && first.at === undefined && second === undefined) return [{ ...first, at: '' }]
  const roots = named.map(({ at, directory }) => ({ at: at ?? requireName(basename(resolve(directory))), directory }))
  for (const { at } of roots) {
    if (roots.filter((root) => root.at === at).length > 1) {
      throw new TypeError(`Two roots have the name "${at}": give one another name, as --root NAME=DIR`)
    }
  }
  requireApart(roots)
  return roots
}

/** The only root, for what works on one directory. */
export function oneRoot(given: readonly string[] | undefined): string {
  const [root, second] = rootsOf(given)
  if (root === undefined || root.at !== '' || second !== undefined) {
    throw new TypeError('This works on one directory: give one --root DIR, without a name')
  }
  return root.directory
}

/** The files of the roots; with `asDraft` over the overlay of each. What is beside the roots can be neither read nor made. */
export function openRoots(roots: readonly Root[], asDraft: boolean): Backend {
  const open = asDraft ? openPersistentOverlay : nodeBackend
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

/** Whether a file lies in one of the roots. */
export function isInRoots(roots: readonly Root[], file: string): boolean {
  return roots.some(({ directory }) => isAtOrBelow(realPathOf(file), realPathOf(directory), sep))
}

function requireName(name: string): string {
  try {
    if (parsePath(name) === name) return name
  } catch {}
  throw new TypeError(`"${name}" cannot be the name of a root: give another one, as --root NAME=DIR`)
}

/** A file has one name: under a second one, a rule for the first would not hold. */
function requireApart(roots: readonly Root[]): void {
  const places = roots.map(({ directory }) => ({ directory, place: realPathOf(directory) }))
  for (const [at, { directory, place }] of places.entries()) {
    for (const [other, { directory: outer, place: around }] of places.entries()) {
      if (at === other || !isAtOrBelow(place, around, sep)) continue
      throw new TypeError(`The root "${directory}" lies inside the root "${outer}": leave one out`)
    }
  }
}

/** Where something truly is; what is not there is told when it is opened. */
export function realPathOf(name: string): string {
  try {
    return realpathSync(name)
  } catch {
    return resolve(name)
  }
}
