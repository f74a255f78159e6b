import { type IgnoreScope, ignoredIn, scopeWith } from '../paths/ignore.ts'
import { childOf, type Path, ROOT } from '../paths/logical-path.ts'
import type { DirectoryNode, FileNode, LinkNode, TreeNode } from '../storage/backend.ts'
import { forEachDifference } from '../storage/tree.ts'
import { type BaseDirectory, type BaseFile, sideOfBase } from './base-tree.ts'
import { type Changed, gitMode, idOfNode, LINK, SUBMODULE, sideOfNode } from './changed-path.ts'
import type { FileSelection } from './file-selection.ts'
import type { Objects } from './objects.ts'
import { isValidGitPath } from './valid-path.ts'

/** Everything besides its content that decides the result of comparing a directory. */
interface Location {
  readonly path: Path
  readonly base: BaseDirectory | undefined
  /** The ignore scope outside the directory. */
  readonly outer: IgnoreScope | undefined
  readonly ignored: boolean
  readonly selection: FileSelection
}

/** The result of comparing one directory at one location. */
interface CachedResult {
  readonly location: Location
  /** The ignore scope inside the directory. */
  readonly scope: IgnoreScope | undefined
  /** The changes by name, for names that have any. */
  readonly parts: ReadonlyMap<string, readonly Changed[]>
  readonly changed: readonly Changed[]
}

const NONE: readonly Changed[] = []

/**
 * Compares a tree in memory with a base. A node that was compared before is not compared again. For a directory that has
 * become another node, only the names that changed are compared, so the cost is that of the changes since the last call.
 */
export class TreeComparer {
  readonly #objects: Objects
  readonly #cache = new WeakMap<DirectoryNode, CachedResult>()
  #lastTree: DirectoryNode | undefined

  constructor(objects: Objects) {
    this.#objects = objects
  }

  compare(tree: DirectoryNode, base: BaseDirectory, selection: FileSelection): readonly Changed[] {
    const root: Location = { path: ROOT, base, outer: selection.exclude, ignored: false, selection }
    const changed = this.#compareDirectory(tree, root, this.#lastTree)
    this.#lastTree = tree
    return changed
  }

  /** `before` is the node that was compared at this location the last time. */
  #compareDirectory(directory: DirectoryNode, location: Location, before: TreeNode | undefined): readonly Changed[] {
    const { base } = location
    if (base !== undefined && base.node === directory) return NONE
    const cached = this.#cache.get(directory)
    if (cached !== undefined && isSameLocation(cached.location, location)) return cached.changed
    const scope = scopeInside(directory, location)
    const entries = new DirectoryEntries(location, scope)
    const last = before?.type === 'directory' ? this.#cache.get(before) : undefined
    let parts: Map<string, readonly Changed[]>
    if (
      before?.type === 'directory' &&
      last !== undefined &&
      isSameLocation(last.location, location) &&
      last.scope === scope
    ) {
      parts = last.parts.size === 0 ? new Map() : new Map(last.parts)
      forEachDifference(before, directory, (name, old, now) => {
        const changes = this.#compareEntry(entries, name, now, old)
        if (changes.length > 0) parts.set(name, changes)
        else parts.delete(name)
      })
    } else {
      parts = new Map()
      const add = (name: string, node: TreeNode | undefined) => {
        const changes = this.#compareEntry(entries, name, node, undefined)
        if (changes.length > 0) parts.set(name, changes)
      }
      for (const [name, node] of directory.entries()) add(name, node)
      for (const names of base === undefined ? [] : [base.files, base.directories]) {
        for (const name of names.keys()) if (directory.get(name) === undefined) add(name, undefined)
      }
    }
    const changed = joined(parts)
    this.#cache.set(directory, { location, scope, parts, changed })
    return changed
  }

  /** Compares one name of a directory: its current node with its file and directory in the base. */
  #compareEntry(
    entries: DirectoryEntries,
    name: string,
    node: TreeNode | undefined,
    before: TreeNode | undefined,
  ): readonly Changed[] {
    if (name === '.git') return NONE
    const { path, base } = entries.location
    const old = base?.files.get(name)
    const oldDirectory = base?.directories.get(name)
    if (node === undefined) return this.#deleted(old, oldDirectory, path, name)
    if (node.type === 'directory') return this.#compareSubdirectory(entries, name, node, before)
    if (old !== undefined) {
      if (old.node === node) return NONE
      const mode = node.type === 'link' ? LINK : gitMode(node.stat.mode, old.mode)
      if (mode === old.mode && !this.#hasOtherSize(node, old.id) && idOfNode(node) === old.id) return NONE
      return [{ path: childOf(path, name), old: sideOfBase(this.#objects, old), now: sideOfNode(node, old.mode) }]
    }
    const deleted = oldDirectory === undefined ? NONE : this.#deleted(undefined, oldDirectory, path, name)
    const childPath = childOf(path, name)
    if (entries.isIgnored(name, false) && !entries.location.selection.added.has(childPath)) return deleted
    const added = { path: childPath, old: null, now: sideOfNode(node, undefined) }
    return deleted.length === 0 ? [added] : [...deleted, added]
  }

  #compareSubdirectory(
    entries: DirectoryEntries,
    name: string,
    node: DirectoryNode,
    before: TreeNode | undefined,
  ): readonly Changed[] {
    const { path, base, selection } = entries.location
    const old = base?.files.get(name)
    if (old?.mode === SUBMODULE) return NONE
    const childPath = childOf(path, name)
    const oldDirectory = base?.directories.get(name)
    if (oldDirectory !== undefined) {
      return this.#compareDirectory(node, entries.child(childPath, name, oldDirectory), before)
    }
    const deleted = old === undefined ? NONE : this.#deleted(old, undefined, path, name)
    // The files of a nested repository are its own.
    if (node.get('.git') !== undefined) return deleted
    const child = entries.child(childPath, name, undefined)
    if (child.ignored && !selection.added.has(childPath)) return deleted
    const added = this.#compareDirectory(node, child, before)
    return deleted.length === 0 ? added : [...deleted, ...added]
  }

  /** Detects most edits without hashing, if the base's content was read before. */
  #hasOtherSize(node: FileNode | LinkNode, id: string): boolean {
    const size = node.type === 'file' ? this.#objects.knownSize(id) : undefined
    return size !== undefined && size !== node.stat.size
  }

  /** The deletion of everything that the base has under a name. */
  #deleted(
    old: BaseFile | undefined,
    oldDirectory: BaseDirectory | undefined,
    path: Path,
    name: string,
  ): readonly Changed[] {
    const all: Changed[] = []
    if (old !== undefined && old.mode !== SUBMODULE && isValidGitPath(path, name)) {
      all.push({ path: childOf(path, name), old: sideOfBase(this.#objects, old), now: null })
    }
    if (oldDirectory !== undefined) {
      deletions(this.#objects, oldDirectory, childOf(path, name), (change) => all.push(change))
    }
    return all
  }
}

/** The entries of a directory during its comparison: where they are, and which of them are ignored. */
class DirectoryEntries {
  readonly location: Location
  readonly #scope: IgnoreScope | undefined
  #test: ReturnType<typeof ignoredIn> | undefined

  constructor(location: Location, scope: IgnoreScope | undefined) {
    this.location = location
    this.#scope = scope
  }

  isIgnored(name: string, isDirectory: boolean): boolean {
    if (this.location.ignored) return true
    this.#test ??= ignoredIn(this.#scope, this.location.path)
    return this.#test(name, isDirectory)
  }

  /** The location of a subdirectory. */
  child(path: Path, name: string, base: BaseDirectory | undefined): Location {
    return {
      path,
      base,
      outer: this.#scope,
      ignored: this.isIgnored(name, true),
      selection: this.location.selection,
    }
  }
}

function isSameLocation(a: Location, b: Location): boolean {
  return (
    a.base === b.base &&
    a.path === b.path &&
    a.outer === b.outer &&
    a.ignored === b.ignored &&
    a.selection === b.selection
  )
}

function joined(parts: ReadonlyMap<string, readonly Changed[]>): readonly Changed[] {
  let all = NONE
  let copy: Changed[] | undefined
  for (const part of parts.values()) {
    if (all.length === 0) {
      all = part
      continue
    }
    if (copy === undefined) {
      copy = all.slice()
      all = copy
    }
    for (const change of part) copy.push(change)
  }
  return all
}

/** Reports the deletion of every file below a directory of the base. */
export function deletions(objects: Objects, base: BaseDirectory, path: Path, add: (changed: Changed) => void): void {
  for (const [name, old] of base.files) {
    if (old.mode === SUBMODULE || !isValidGitPath(path, name)) continue
    add({ path: childOf(path, name), old: sideOfBase(objects, old), now: null })
  }
  for (const [name, old] of base.directories) deletions(objects, old, childOf(path, name), add)
}

/** One scope object per ignore file and directory, so that scopes can be compared by identity. */
const scopes = new WeakMap<FileNode, { outer: IgnoreScope | undefined; path: Path; scope: IgnoreScope | undefined }>()

function scopeInside(directory: DirectoryNode, { path, outer, selection }: Location): IgnoreScope | undefined {
  const file = directory.get('.gitignore')
  if (file?.type !== 'file') return outer
  const cached = scopes.get(file)
  if (cached !== undefined && cached.outer === outer && cached.path === path) return cached.scope
  const scope = scopeWith(outer, path, file.bytes, selection.caseInsensitive)
  scopes.set(file, { outer, path, scope })
  return scope
}
