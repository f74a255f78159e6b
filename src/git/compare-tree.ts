import { type IgnoreScope, ignoredIn } from '../paths/ignore.ts'
import { childOf, type Path, ROOT } from '../paths/logical-path.ts'
import type { DirectoryNode, FileNode } from '../vfs/backend.ts'
import { type BaseDirectory, sideOfBase } from './base.ts'
import { type Changed, gitMode, idOfNode, LINK, SUBMODULE, sideOfNode } from './changed.ts'
import { isNameable } from './nameable.ts'
import type { Objects } from './objects.ts'
import { type Facts, scopeWith } from './scope.ts'

/** What one directory in one place came to, against one base. */
interface Known {
  readonly base: BaseDirectory | undefined
  readonly path: Path
  readonly scope: IgnoreScope | undefined
  readonly ignored: boolean
  readonly facts: Facts
  readonly changed: readonly Changed[]
}

const NONE: readonly Changed[] = []

/**
 * What differs between a tree in memory and a base. A directory that was compared before is not looked at again as long
 * as it is the same node, so that the cost is that of what changed since.
 */
export function treeComparer(
  objects: Objects,
): (tree: DirectoryNode, base: BaseDirectory, facts: Facts) => readonly Changed[] {
  const known = new WeakMap<DirectoryNode, Known>()

  function compare(
    directory: DirectoryNode,
    base: BaseDirectory | undefined,
    path: Path,
    outer: IgnoreScope | undefined,
    ignored: boolean,
    facts: Facts,
  ): readonly Changed[] {
    if (base !== undefined && base.node === directory) return NONE
    const same = known.get(directory)
    if (
      same !== undefined &&
      same.base === base &&
      same.path === path &&
      same.scope === outer &&
      same.ignored === ignored &&
      same.facts === facts
    ) {
      return same.changed
    }
    const changed = look(directory, base, path, outer, ignored, facts)
    known.set(directory, { base, path, scope: outer, ignored, facts, changed })
    return changed
  }

  function look(
    directory: DirectoryNode,
    base: BaseDirectory | undefined,
    path: Path,
    outer: IgnoreScope | undefined,
    ignored: boolean,
    facts: Facts,
  ): readonly Changed[] {
    const scope = scopeIn(directory, path, outer, facts)
    const isIgnored = ignoredIn(scope, path)
    let changed: Changed[] | undefined
    const add = (one: Changed) => {
      changed ??= []
      changed.push(one)
    }
    let seen = 0
    for (const [name, node] of directory.entries()) {
      if (name === '.git') continue
      const childPath = childOf(path, name)
      const old = base?.files.get(name)
      if (node.type === 'directory') {
        if (old?.mode === SUBMODULE) {
          seen += 1
          continue
        }
        const within = base?.directories.get(name)
        if (within === undefined && node.get('.git') !== undefined) continue
        const hidden = ignored || (within === undefined && isIgnored(name, true))
        if (hidden && within === undefined && !facts.added.has(childPath)) continue
        for (const one of compare(node, within, childPath, scope, hidden || isIgnored(name, true), facts)) add(one)
        continue
      }
      if (old !== undefined) {
        seen += 1
        if (old.node === node) continue
        const mode = node.type === 'link' ? LINK : gitMode(node.stat.mode, old.mode)
        if (mode === old.mode && idOfNode(node) === old.id) continue
        add({ path: childPath, old: sideOfBase(objects, old), now: sideOfNode(node, old.mode) })
      } else if (!(ignored || isIgnored(name, false)) || facts.added.has(childPath)) {
        add({ path: childPath, old: null, now: sideOfNode(node, undefined) })
      }
    }
    if (base === undefined) return changed ?? NONE
    if (seen < base.files.size) {
      for (const [name, old] of base.files) {
        const present = directory.get(name)
        if (
          old.mode === SUBMODULE ||
          (present !== undefined && present.type !== 'directory') ||
          !isNameable(path, name)
        )
          continue
        add({ path: childOf(path, name), old: sideOfBase(objects, old), now: null })
      }
    }
    for (const [name, old] of base.directories) {
      if (directory.get(name)?.type !== 'directory') deletions(objects, old, childOf(path, name), add)
    }
    return changed ?? NONE
  }

  return (tree, base, facts) => compare(tree, base, ROOT, facts.exclude, false, facts)
}

/** Everything below a directory of the base that is gone. */
export function deletions(objects: Objects, base: BaseDirectory, path: Path, add: (changed: Changed) => void): void {
  for (const [name, old] of base.files) {
    if (old.mode === SUBMODULE || !isNameable(path, name)) continue
    add({ path: childOf(path, name), old: sideOfBase(objects, old), now: null })
  }
  for (const [name, old] of base.directories) deletions(objects, old, childOf(path, name), add)
}

/** One scope object for one ignore file in one place, so that scopes can be compared as they are. */
const scopes = new WeakMap<FileNode, { outer: IgnoreScope | undefined; path: Path; scope: IgnoreScope | undefined }>()

function scopeIn(
  directory: DirectoryNode,
  path: Path,
  outer: IgnoreScope | undefined,
  facts: Facts,
): IgnoreScope | undefined {
  const file = directory.get('.gitignore')
  if (file?.type !== 'file') return outer
  const same = scopes.get(file)
  if (same !== undefined && same.outer === outer && same.path === path) return same.scope
  const scope = scopeWith(outer, path, file.bytes, facts.caseInsensitive)
  scopes.set(file, { outer, path, scope })
  return scope
}
