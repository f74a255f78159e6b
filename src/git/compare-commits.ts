import { childOf, type Path, ROOT } from '../paths/logical-path.ts'
import { sideOfBase } from './base-tree.ts'
import type { Changed } from './changed-path.ts'
import { createTextCache, type DiffSection, sectionOf } from './diff-section.ts'
import type { Objects } from './objects.ts'
import { findRenames } from './renames.ts'
import { filesOf, type TreeDirectory, type TreeFile } from './trees.ts'
import { holdableTest, isValidGitPath } from './valid-path.ts'

/**
 * Returns the changes between two trees.
 *
 * @param leaveOut called with each changed file that a workspace cannot hold
 */
export function compareTrees(
  objects: Objects,
  from: TreeDirectory,
  to: TreeDirectory,
  leaveOut: (path: string) => void = () => {},
): readonly Changed[] {
  interface Pair {
    readonly old: TreeDirectory | undefined
    readonly now: TreeDirectory | undefined
    readonly at: Path
    readonly isHoldable: boolean
  }
  const changed: Changed[] = []
  const waiting: Pair[] = [{ old: from, now: to, at: ROOT, isHoldable: true }]
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const { old, now, at, isHoldable } = pair
    if (old === now || (old?.id === now?.id && old?.id !== '')) continue
    for (const name of namesOf(old?.files, now?.files)) {
      const [before, after] = [old?.files.get(name), now?.files.get(name)]
      if (before?.id === after?.id && before?.mode === after?.mode) continue
      const path = childOf(at, name)
      if (!isHoldable || !isValidGitPath(at, name)) {
        leaveOut(path)
        continue
      }
      changed.push({
        path,
        old: before === undefined ? null : sideOfBase(objects, before),
        now: after === undefined ? null : sideOfBase(objects, after),
      })
    }
    for (const name of namesOf(old?.directories, now?.directories)) {
      waiting.push({
        ...{ old: old?.directories.get(name), now: now?.directories.get(name), at: childOf(at, name) },
        isHoldable: isHoldable && isValidGitPath(at, name),
      })
    }
  }
  return changed
}

/** Returns changes as text, sorted by path, with renames detected and secrets redacted. */
export async function sectionsOf(
  changed: readonly Changed[],
  withBinary: (path: Path) => boolean = () => false,
): Promise<readonly DiffSection[]> {
  const texts = createTextCache()
  const sections: DiffSection[] = []
  const sorted = [...changed].sort((a, b) => (a.path < b.path ? -1 : 1))
  for (const change of await findRenames(sorted)) {
    const section = await sectionOf(change, (path) => withBinary(path as Path), texts)
    if (section.text !== '' || section.redacted) sections.push(section)
  }
  return sections
}

/** Returns the index as a tree. Its directories have no ids. */
export function treeOfIndex(entries: ReadonlyMap<string, TreeFile>): TreeDirectory {
  const root = directory()
  for (const [path, { mode, id }] of entries) {
    const names = path.split('/')
    let at = root
    for (const name of names.slice(0, -1)) {
      const next = at.directories.get(name) ?? directory()
      at.directories.set(name, next)
      at = next
    }
    at.files.set(names.at(-1) as string, { mode, id })
  }
  return root
}

interface IndexDirectory extends TreeDirectory {
  readonly files: Map<string, TreeFile>
  readonly directories: Map<string, IndexDirectory>
}

function directory(): IndexDirectory {
  return { id: '', files: new Map(), directories: new Map(), count: 0 }
}

function namesOf(
  a: ReadonlyMap<string, unknown> | undefined,
  b: ReadonlyMap<string, unknown> | undefined,
): Iterable<string> {
  return new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])])
}

const unholdable = new WeakMap<object, readonly string[]>()

/** Names that are not only of usual characters, or begin like git's own files, or are too long, need the full check. */
const UNUSUAL = /[^\w.+@()[\] /-]|(^|\/)(\.|git)|[^/]{256}/i

/** Returns the files of a tree or an index that a workspace cannot hold. Searched once for each of them. */
export function unholdableFiles(files: TreeDirectory | ReadonlyMap<string, unknown>): readonly string[] {
  let paths = unholdable.get(files)
  if (paths === undefined) {
    const isHoldable = holdableTest()
    const entries: Iterable<readonly [string, unknown]> = 'directories' in files ? filesOf(files) : files
    paths = [...entries].map(([path]) => path).filter((path) => UNUSUAL.test(path) && !isHoldable(path as Path))
    unholdable.set(files, paths)
  }
  return paths
}
