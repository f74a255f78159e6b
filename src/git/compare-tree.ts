import { type IgnoreScope, ignoredIn, scopeWith } from '../paths/ignore.ts'
import { childOf, nameOf, type Path, parentOf, ROOT } from '../paths/logical-path.ts'
import type { DirectoryNode, FileNode, LinkNode, TreeNode } from '../storage/backend.ts'
import { forEachDifference } from '../storage/tree.ts'
import { type BaseDirectory, type BaseFile, sideOfBase } from './base-tree.ts'
import {
  type Changed,
  gitMode,
  idOfNode,
  LINK,
  loadIds,
  mayNeedContent,
  needsContent,
  SUBMODULE,
  sideOfNode,
} from './changed-path.ts'
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

/** A directory that must be compared. */
interface Subdirectory {
  readonly name: string
  readonly node: DirectoryNode
  readonly location: Location
  /** The node that was compared at this location the last time. */
  readonly before: TreeNode | undefined
  /** What the base has at its path and is no directory. */
  readonly deleted: readonly Changed[]
}

/** A directory during its comparison. */
interface Frame {
  readonly subdirectory: Subdirectory
  readonly entries: DirectoryEntries
  readonly parts: Map<string, readonly Changed[]>
  /** The directory that contains it. */
  readonly outer: Frame | undefined
  readonly waiting: Subdirectory[]
}

const NONE: readonly Changed[] = []

/**
 * Compares a tree in memory with a base. A node that was compared before is not compared again. For a directory that has
 * become another node, only the names that changed are compared, so the cost is that of the changes since the last call.
 */
export class TreeComparer {
  readonly #objects: Objects
  #cache = new WeakMap<DirectoryNode, CachedResult>()
  /** The files that could not be compared, because their content is not in memory. */
  #unread: FileNode[] = []
  #lastTree: DirectoryNode | undefined

  constructor(objects: Objects) {
    this.#objects = objects
  }

  async compare(tree: DirectoryNode, base: BaseDirectory, selection: FileSelection): Promise<readonly Changed[]> {
    const location: Location = { path: ROOT, base, outer: selection.exclude, ignored: false, selection }
    for (;;) {
      const changed =
        this.#known(tree, location) ??
        this.#compareTree({ name: '', node: tree, location, before: this.#lastTree, deleted: NONE })
      this.#lastTree = tree
      if (this.#unread.length === 0) {
        await loadIds(changed.flatMap(({ old, now }) => [old?.node, now?.node]).filter(mayNeedContent))
        return changed
      }
      // The results lack what was not compared.
      this.#cache = new WeakMap()
      await loadIds(this.#unread.splice(0))
    }
  }

  /** Compares a directory and everything below it, as a stack of directories: a path may have 2,048 names. */
  #compareTree(root: Subdirectory): readonly Changed[] {
    let frame = this.#open(root, undefined)
    for (;;) {
      const next = frame.waiting.pop()
      if (next !== undefined) {
        frame = this.#open(next, frame)
        continue
      }
      const { subdirectory, entries, parts, outer } = frame
      const { name, node, location, deleted } = subdirectory
      const changed = joined(parts)
      this.#cache.set(node, { location, scope: entries.scope, parts, changed })
      if (outer === undefined) return changed
      setPart(outer.parts, name, deleted.length === 0 ? changed : [...deleted, ...changed])
      frame = outer
    }
  }

  /** The result of comparing a directory, if it is known. */
  #known(directory: DirectoryNode, location: Location): readonly Changed[] | undefined {
    if (location.base !== undefined && location.base.node === directory) return NONE
    const cached = this.#cache.get(directory)
    return cached !== undefined && isSameLocation(cached.location, location) ? cached.changed : undefined
  }

  /** Compares the names of a directory. Subdirectories that must be compared as well wait in the frame. */
  #open(subdirectory: Subdirectory, outer: Frame | undefined): Frame {
    const { node: directory, location, before } = subdirectory
    const { base } = location
    const entries = new DirectoryEntries(location, scopeInside(directory, location))
    const last = before?.type === 'directory' ? this.#cache.get(before) : undefined
    const isAgain = last !== undefined && isSameLocation(last.location, location) && last.scope === entries.scope
    const parts = new Map(isAgain ? last.parts : undefined)
    const frame: Frame = { subdirectory, entries, parts, outer, waiting: [] }
    if (isAgain) {
      forEachDifference(before as DirectoryNode, directory, (name, old, now) => {
        this.#compareEntry(frame, name, now, old)
      })
    } else {
      for (const [name, node] of directory.entries()) this.#compareEntry(frame, name, node, undefined)
      for (const names of base === undefined ? [] : [base.files, base.directories]) {
        for (const name of names.keys()) {
          if (directory.get(name) === undefined) this.#compareEntry(frame, name, undefined, undefined)
        }
      }
    }
    return frame
  }

  /** Compares one name of a directory: its current node with its file and directory in the base. */
  #compareEntry(frame: Frame, name: string, node: TreeNode | undefined, before: TreeNode | undefined): void {
    if (name === '.git') return
    if (node?.type === 'directory') this.#compareSubdirectory(frame, name, node, before)
    else setPart(frame.parts, name, this.#compareFile(frame.entries, name, node))
  }

  /** Compares a name that is not a directory now. */
  #compareFile(entries: DirectoryEntries, name: string, node: FileNode | LinkNode | undefined): readonly Changed[] {
    const { path, base } = entries.location
    const old = base?.files.get(name)
    const oldDirectory = base?.directories.get(name)
    if (node === undefined) return this.#deleted(old, oldDirectory, path, name)
    if (old !== undefined) {
      if (old.node === node) return NONE
      const mode = node.type === 'link' ? LINK : gitMode(node.stat.mode, old.mode)
      const unread = [node, old.node].filter(needsContent)
      if (mode === old.mode && unread.length > 0) {
        this.#unread.push(...unread)
        return NONE
      }
      if (mode === old.mode && !this.#hasOtherSize(node, old) && idOfNode(node) === old.id) return NONE
      return [{ path: childOf(path, name), old: sideOfBase(this.#objects, old), now: sideOfNode(node, old.mode) }]
    }
    const deleted = oldDirectory === undefined ? NONE : this.#deleted(undefined, oldDirectory, path, name)
    const childPath = childOf(path, name)
    if (entries.isIgnored(name, false) && !entries.location.selection.added.has(childPath)) return deleted
    const added = { path: childPath, old: null, now: sideOfNode(node, undefined) }
    return deleted.length === 0 ? [added] : [...deleted, added]
  }

  #compareSubdirectory(frame: Frame, name: string, node: DirectoryNode, before: TreeNode | undefined): void {
    const { entries, parts, waiting } = frame
    const { path, base, selection } = entries.location
    const old = base?.files.get(name)
    if (old?.mode === SUBMODULE) {
      parts.delete(name)
      return
    }
    const childPath = childOf(path, name)
    const oldDirectory = base?.directories.get(name)
    const deleted = old === undefined || oldDirectory !== undefined ? NONE : this.#deleted(old, undefined, path, name)
    const location = entries.child(childPath, name, oldDirectory)
    // The files of a nested repository are its own.
    const isLeftOut =
      oldDirectory === undefined &&
      (node.get('.git') !== undefined || (location.ignored && !selection.added.has(childPath)))
    const changed = isLeftOut ? NONE : this.#known(node, location)
    if (changed === undefined) waiting.push({ name, node, location, before, deleted })
    else setPart(parts, name, deleted.length === 0 ? changed : [...deleted, ...changed])
  }

  /** Detects most edits without hashing, if the base's content is in memory or was read before. */
  #hasOtherSize({ type, stat }: FileNode | LinkNode, old: BaseFile): boolean {
    if (type !== 'file') return false
    const size = old.node === undefined ? this.#objects.knownSize(old.id) : old.node.stat.size
    return size !== undefined && size !== stat.size
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
  /** The ignore scope inside the directory. */
  readonly scope: IgnoreScope | undefined
  #test: ReturnType<typeof ignoredIn> | undefined

  constructor(location: Location, scope: IgnoreScope | undefined) {
    this.location = location
    this.scope = scope
  }

  isIgnored(name: string, isDirectory: boolean): boolean {
    if (this.location.ignored) return true
    this.#test ??= ignoredIn(this.scope, this.location.path)
    return this.#test(name, isDirectory)
  }

  /** The location of a subdirectory. */
  child(path: Path, name: string, base: BaseDirectory | undefined): Location {
    return {
      path,
      base,
      outer: this.scope,
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

function setPart(parts: Map<string, readonly Changed[]>, name: string, changes: readonly Changed[]): void {
  if (changes.length > 0) parts.set(name, changes)
  else parts.delete(name)
}

/** Reports the deletion of every file below a directory of the base that a workspace can hold. */
export function deletions(objects: Objects, base: BaseDirectory, path: Path, add: (changed: Changed) => void): void {
  const waiting = [{ base, path }]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at.path !== ROOT && !isValidGitPath(parentOf(at.path), nameOf(at.path))) continue
    for (const [name, old] of at.base.files) {
      if (old.mode === SUBMODULE || !isValidGitPath(at.path, name)) continue
      add({ path: childOf(at.path, name), old: sideOfBase(objects, old), now: null })
    }
    for (const [name, old] of at.base.directories) waiting.push({ base: old, path: childOf(at.path, name) })
  }
}

/** One scope object per ignore file and directory, so that scopes can be compared by identity. */
const scopes = new WeakMap<FileNode, { outer: IgnoreScope | undefined; path: Path; scope: IgnoreScope | undefined }>()

function scopeInside(directory: DirectoryNode, { path, outer, selection }: Location): IgnoreScope | undefined {
  const file = directory.get('.gitignore')
  if (file?.type !== 'file') return outer
  const cached = scopes.get(file)
  if (cached !== undefined && cached.outer === outer && cached.path === path) return cached.scope
  // The content of an ignore file is in memory.
  const scope = scopeWith(outer, path, file.bytes as Uint8Array, selection.caseInsensitive)
  scopes.set(file, { outer, path, scope })
  return scope
}
