import { type Path, parentOf, ROOT } from '../paths/logical-path.ts'
import type { Backend } from '../storage/backend.ts'
import { SUBMODULE } from './changed-path.ts'
import type { Cone } from './cone.ts'
import type { StagedFile } from './index-writer.ts'
import type { TreeFile } from './trees.ts'
import { holdableTest } from './valid-path.ts'

/** What is at a path where a file could be: nothing, a file or link, or a directory there or a file above. */
export type Occupant = 'none' | 'file' | 'other'

/** Returns a function that tells what is at a path. Looks into no directory that is missing. */
export function occupantFinder(backend: Backend): (path: Path) => Promise<Occupant> {
  const directories = new Map<Path, Occupant | 'directory'>([[ROOT, 'directory']])
  const at = async (path: Path) => {
    const type = (await backend.stat(path))?.type
    return type === undefined ? 'none' : type === 'directory' ? 'directory' : 'file'
  }
  async function directoryAt(path: Path): Promise<Occupant | 'directory'> {
    const missing: Path[] = []
    let above = path
    for (; !directories.has(above); above = parentOf(above)) missing.push(above)
    let found = directories.get(above) as Occupant | 'directory'
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      if (found === 'directory') found = await at(next)
      directories.set(next, found)
    }
    return found
  }
  return async (path) => {
    const directory = await directoryAt(parentOf(path))
    if (directory !== 'directory') return directory === 'none' ? 'none' : 'other'
    const found = await at(path)
    return found === 'directory' ? 'other' : found
  }
}

/**
 * Fits files and index to a cone: adds the files inside of it that are missing to the files to write, and those outside to the files
 * to delete.
 *
 * @param before the present index, whose files may be missing
 * @param index the next index; gets the marks of the files outside
 * @param targets the files to write, or to delete (`null`)
 * @param isChanged whether a file differs from the present index, so that it must stay
 * @returns the changed files outside of the cone, and those inside that have something else in their way; they stay as they are
 */
export async function applyCone(
  backend: Backend,
  cone: Cone | undefined,
  before: ReadonlyMap<string, StagedFile>,
  index: Map<string, StagedFile>,
  targets: Map<Path, TreeFile | null>,
  isChanged: (path: Path) => boolean,
): Promise<readonly Path[]> {
  const occupantOf = occupantFinder(backend)
  const isHoldable = holdableTest()
  const kept: Path[] = []
  for (const [name, { mode, id, size }] of index) {
    const path = name as Path
    const isInside = cone === undefined || cone.includes(path)
    let skip = !isInside
    if (mode !== SUBMODULE && isHoldable(path)) {
      if (isInside) {
        if (before.get(path)?.skip === true && !targets.has(path)) {
          const occupant = await occupantOf(path)
          if (occupant === 'none') targets.set(path, { mode, id })
          else if (occupant === 'other') kept.push(path)
        }
      } else if (isChanged(path)) {
        kept.push(path)
        targets.delete(path)
        skip = false
      } else if ((await occupantOf(path)) === 'file') targets.set(path, null)
      else targets.delete(path)
    }
    index.set(path, { mode, id, size, skip })
  }
  return kept
}
