import { type IgnoreScope, ignoredIn } from '../paths/ignore.ts'
import { childOf, type Path, ROOT } from '../paths/logical-path.ts'
import type { DirectoryNode, FileNode, LinkNode, TreeNode } from '../storage/backend.ts'
import { forEachDifference } from '../storage/tree.ts'
import { type BaseDirectory, type BaseFile, sideOfBase } from './base-tree.ts'
import { type Changed, gitMode, idOfNode, LINK, SUBMODULE, sideOfNode } from './changed-path.ts'
import { type Facts, scopeWith } from './ignore-scope.ts'
import type { Objects } from './objects.ts'
import { isValidGitPath } from './valid-path.ts'

/** What one directory in one place came to, against one base. */
interface Known {
  readonly base: BaseDirectory | undefined
  readonly path: Path
  readonly outer: IgnoreScope | undefined
  /** The scope inside. */
  readonly scope: IgnoreScope | undefined
  readonly ignored: boolean
  readonly facts: Facts
  /** What each name contributes, those that contribute something. */
  readonly parts: ReadonlyMap<string, readonly Changed[]>
  readonly changed: readonly Changed[]
}

const NONE: readonly Changed[] = []

/**
 * What differs between a tree in memory and a base. A directory that was compared before is not looked at again as long
 * as it is the same node, and of one that became another node only the names that did, so that the cost is that of what
 * changed since.
 */
export function treeComparer(
  objects: Objects,
): (tree: DirectoryNode, base: BaseDirectory, facts: Facts) => readonly Changed[] {
  const known = new WeakMap<DirectoryNode, Known>()
  let lastTree: DirectoryNode | undefined

  /** `before`: the directory that was compared in this place the last time. */
  function compare(
    directory: DirectoryNode,
    base: BaseDirectory | undefined,
    path: Path,
    outer: IgnoreScope | undefined,
    ignored: boolean,
    facts: Facts,
    before: TreeNode | undefined,
  ): readonly Changed[] {
    if (base !== undefined && base.node === directory) return NONE
    const holds = (one: Known | undefined): one is Known =>
      one !== undefined &&
      one.base === base &&
      one.path === path &&
      one.outer === outer &&
      one.ignored === ignored &&
      one.facts === facts
    const same = known.get(directory)
    if (holds(same)) return same.changed
    const scope = scopeIn(directory, path, outer, facts)
    const part = partsIn(base, path, scope, ignored, facts)
    let parts: Map<string, readonly Changed[]>
    const last = before?.type === 'directory' ? known.get(before) : undefined
    if (before?.type === 'directory' && holds(last) && last.scope === scope) {
      parts = last.parts.size === 0 ? new Map() : new Map(last.parts)
      forEachDifference(before, directory, (name, old, now) => {
        const found = part(name, now, old)
        if (found.length > 0) parts.set(name, found)
        else parts.delete(name)
      })
    } else {
      parts = new Map()
      const note = (name: string, node: TreeNode | undefined) => {
        const found = part(name, node, undefined)
        if (found.length > 0) parts.set(name, found)
      }
      for (const [name, node] of directory.entries()) note(name, node)
      for (const names of base === undefined ? [] : [base.files, base.directories]) {
        for (const name of names.keys()) if (directory.get(name) === undefined) note(name, undefined)
      }
    }
    const changed = joined(parts)
    known.set(directory, { base, path, outer, scope, ignored, facts, parts, changed })
    return changed
  }

  /** What one name of a directory contributes: by what it is now, and what the base has under it. */
  function partsIn(
    base: BaseDirectory | undefined,
    path: Path,
    scope: IgnoreScope | undefined,
    ignored: boolean,
    facts: Facts,
  ) {
    let inScope: ReturnType<typeof ignoredIn> | undefined
    const isIgnored = (name: string, isDirectory: boolean): boolean => {
      inScope ??= ignoredIn(scope, path)
      return inScope(name, isDirectory)
    }
    return (name: string, node: TreeNode | undefined, before: TreeNode | undefined): readonly Changed[] => {
      if (name === '.git') return NONE
      const old = base?.files.get(name)
      const within = base?.directories.get(name)
      if (node === undefined) return gone(old, within, path, name)
      if (node.type === 'directory') {
        if (old?.mode === SUBMODULE) return NONE
        const childPath = childOf(path, name)
        if (within === undefined) {
          const vanished = old === undefined ? NONE : gone(old, undefined, path, name)
          if (node.get('.git') !== undefined) return vanished
          const hidden = ignored || isIgnored(name, true)
          if (hidden && !facts.added.has(childPath)) return vanished
          const found = compare(node, undefined, childPath, scope, hidden, facts, before)
          return vanished.length === 0 ? found : [...vanished, ...found]
        }
        return compare(node, within, childPath, scope, ignored || isIgnored(name, true), facts, before)
      }
      if (old !== undefined) {
        if (old.node === node) return NONE
        const mode = node.type === 'link' ? LINK : gitMode(node.stat.mode, old.mode)
        if (mode === old.mode && !hasOtherSize(node, old.id) && idOfNode(node) === old.id) return NONE
        return [{ path: childOf(path, name), old: sideOfBase(objects, old), now: sideOfNode(node, old.mode) }]
      }
      const vanished = within === undefined ? NONE : gone(undefined, within, path, name)
      const childPath = childOf(path, name)
      if ((ignored || isIgnored(name, false)) && !facts.added.has(childPath)) return vanished
      const fresh = { path: childPath, old: null, now: sideOfNode(node, undefined) }
      return vanished.length === 0 ? [fresh] : [...vanished, fresh]
    }
  }

  /** Tells apart without hashing what was edited, once the base's content was looked at. */
  function hasOtherSize(node: FileNode | LinkNode, id: string): boolean {
    const size = node.type === 'file' ? objects.knownSize(id) : undefined
    return size !== undefined && size !== node.stat.size
  }

  /** What the base has under a name, where nothing of it is left. */
  function gone(
    old: BaseFile | undefined,
    within: BaseDirectory | undefined,
    path: Path,
    name: string,
  ): readonly Changed[] {
    const all: Changed[] = []
    if (old !== undefined && old.mode !== SUBMODULE && isValidGitPath(path, name)) {
      all.push({ path: childOf(path, name), old: sideOfBase(objects, old), now: null })
    }
    if (within !== undefined) deletions(objects, within, childOf(path, name), (one) => all.push(one))
    return all
  }

  return (tree, base, facts) => {
    const changed = compare(tree, base, ROOT, facts.exclude, false, facts, lastTree)
    lastTree = tree
    return changed
  }
}

function joined(parts: ReadonlyMap<string, readonly Changed[]>): readonly Changed[] {
  let all = NONE
  let own: Changed[] | undefined
  for (const part of parts.values()) {
    if (all.length === 0) {
      all = part
      continue
    }
    if (own === undefined) {
      own = all.slice()
      all = own
    }
    for (const one of part) own.push(one)
  }
  return all
}

/** Everything below a directory of the base that is gone. */
export function deletions(objects: Objects, base: BaseDirectory, path: Path, add: (changed: Changed) => void): void {
  for (const [name, old] of base.files) {
    if (old.mode === SUBMODULE || !isValidGitPath(path, name)) continue
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
