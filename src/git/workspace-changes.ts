import { type IgnoreScope, isIgnored, scopeWith } from '../paths/ignore.ts'
import { addAncestors, ancestorsOf, childOf, GIT_DIRECTORY, isWithin, type Path, ROOT } from '../paths/logical-path.ts'
import type { Backend, Change, DirectoryNode } from '../storage/backend.ts'
import { type BaseDirectory, baseOfNode, sideOfBase } from './base-tree.ts'
import { type Baseline, createBaseline } from './baseline.ts'
import { type Changed, SUBMODULE } from './changed-path.ts'
import { DiskComparer } from './compare-disk.ts'
import { TreeComparer } from './compare-tree.ts'
import type { FileSelection } from './file-selection.ts'
import type { IndexEntry } from './index-file.ts'
import type { Objects } from './objects.ts'
import { openReader, type RepositoryReader } from './reader.ts'
import type { TreeDirectory } from './trees.ts'
import { holdableTest } from './valid-path.ts'

const NO_ENTRIES: ReadonlyMap<string, IndexEntry> = new Map()

/** Compares the files of a workspace with a commit, a tree, or the workspace as it was opened. */
export class WorkspaceChanges {
  readonly reader: RepositoryReader
  readonly #backend: Backend
  readonly #trees: TreeComparer
  readonly #disk: DiskComparer
  /** The tree as it was opened, if the backend keeps one. */
  readonly #opened: DirectoryNode | undefined
  /** The first states of changed paths, for backends without a tree. */
  readonly #baseline: Baseline
  #hasHead: boolean | undefined
  #selection: SelectionWithSource | undefined
  /** The last result with the files outside of a sparse checkout, and what it was made from. */
  #sparse: { changed: readonly Changed[]; selection: FileSelection; result: readonly Changed[] } | undefined

  constructor(backend: Backend, opened: DirectoryNode | undefined) {
    this.reader = openReader(backend)
    this.#backend = backend
    this.#trees = new TreeComparer(this.reader.objects)
    this.#disk = new DiskComparer(backend, this.reader.objects)
    this.#opened = opened
    this.#baseline = createBaseline(backend)
  }

  /** Number of changed paths whose first state was too large to keep. */
  get dropped(): number {
    return this.#baseline.dropped
  }

  /** Returns the changes since a commit; without one, since the workspace was opened. */
  async since(commit: string | undefined, signal?: AbortSignal): Promise<readonly Changed[]> {
    if (commit !== undefined) return this.from(await this.reader.tree(commit), signal)
    const tree = this.#backend.tree?.()
    if (this.#opened === undefined || tree === undefined) {
      return withoutIgnored(this.#backend, await this.#baseline.changed())
    }
    const base = baseOfNode(this.#opened)
    return this.#trees.compare(tree, base, await this.#selectionFor(base, NO_ENTRIES))
  }

  /** Returns whether the base of {@link since} has a file at a path. */
  async baseHolds(commit: string | undefined): Promise<(path: string) => boolean> {
    if (commit === undefined && this.#opened === undefined) return this.#baseline.holds
    const base = commit === undefined ? baseOfNode(this.#opened as DirectoryNode) : await this.reader.tree(commit)
    return (path) => hasFile(base, path)
  }

  /** Returns the changes since a tree. */
  async from(base: TreeDirectory, signal?: AbortSignal): Promise<readonly Changed[]> {
    const tree = this.#backend.tree?.()
    const index = await this.reader.index()
    const selection = await this.#selectionFor(base, index.entries)
    const changed = await (tree === undefined
      ? this.#disk.compare(base, index, selection, signal)
      : this.#trees.compare(tree, base, selection))
    if (index.skipped.size === 0) return changed
    const last = this.#sparse
    if (last?.changed !== changed || last.selection !== selection) {
      const result = withSkipped(this.reader.objects, changed, index.skipped, selection.added)
      this.#sparse = { changed, selection, result }
    }
    return this.#sparse?.result ?? changed
  }

  /** Notes the prior states of a change set, if they are the base to compare with. */
  beforeCommit(changes: readonly Change[]): Promise<void> | undefined {
    return this.#opened !== undefined || this.#hasHead === true ? undefined : this.#noteBaseline(changes)
  }

  async #noteBaseline(changes: readonly Change[]): Promise<void> {
    // A repository that cannot be read must not stop changes. It may be repaired or deleted later.
    this.#hasHead ??= await this.reader.headCommit().then(
      (commit) => commit !== undefined,
      () => undefined,
    )
    if (this.#hasHead !== true) await this.#baseline.note(changes.filter(({ path }) => !isWithin(path, GIT_DIRECTORY)))
  }

  /** Returns the same object as long as nothing in it changes. */
  async #selectionFor(base: BaseDirectory, entries: ReadonlyMap<string, IndexEntry>): Promise<FileSelection> {
    const exclude = await this.reader.exclude()
    const excludeText = exclude === undefined ? '' : new TextDecoder().decode(exclude)
    const last = this.#selection
    if (last?.base === base && last.entries === entries && last.excludeText === excludeText) return last
    const caseInsensitive = !this.#backend.capabilities.caseSensitive
    const added = new Set<string>()
    const directories = new Set<Path>()
    for (const path of entries.keys()) {
      if (hasFile(base, path)) continue
      added.add(path)
      addAncestors(directories, path as Path)
    }
    for (const directory of directories) added.add(directory)
    this.#selection = {
      base,
      entries,
      excludeText,
      added,
      exclude: exclude === undefined ? undefined : scopeWith(undefined, ROOT, exclude, caseInsensitive),
      caseInsensitive,
    }
    return this.#selection
  }
}

/** A selection with the inputs that it was made from. */
interface SelectionWithSource extends FileSelection {
  readonly base: BaseDirectory
  readonly entries: ReadonlyMap<string, IndexEntry>
  readonly excludeText: string
}

/**
 * Returns changes in which a missing file outside of the sparse checkout counts as it is in the index, as for git.
 *
 * @param added paths of the index that the base does not have
 */
function withSkipped(
  objects: Objects,
  changed: readonly Changed[],
  skipped: ReadonlyMap<string, IndexEntry>,
  added: ReadonlySet<string>,
): readonly Changed[] {
  const result: Changed[] = []
  const present = new Set<string>()
  const isHoldable = holdableTest()
  for (const change of changed) {
    const { path, old, now } = change
    const entry = skipped.get(path)
    if (entry !== undefined && now === null) {
      if (entry.id === old?.id && entry.mode === old.mode) continue
      result.push({ path, old, now: sideOfBase(objects, entry) })
    } else {
      result.push(change)
      if (entry !== undefined) present.add(path)
    }
  }
  for (const path of added) {
    const entry = skipped.get(path)
    if (entry === undefined || entry.mode === SUBMODULE || present.has(path) || !isHoldable(path as Path)) continue
    result.push({ path: path as Path, old: null, now: sideOfBase(objects, entry) })
  }
  return result
}

/** Whether a tree has a file at a path. */
export function hasFile(base: BaseDirectory, path: string): boolean {
  let at: BaseDirectory | undefined = base
  let start = 0
  for (let slash = path.indexOf('/'); slash !== -1 && at !== undefined; slash = path.indexOf('/', start)) {
    at = at.directories.get(path.slice(start, slash))
    start = slash + 1
  }
  return at?.files.has(path.slice(start)) === true
}

/** Returns the changes without new files that an ignore file above them ignores. */
async function withoutIgnored(backend: Backend, changed: readonly Changed[]): Promise<readonly Changed[]> {
  const scopes = new Map<Path, IgnoreScope | undefined>()
  const remaining: Changed[] = []
  for (const change of changed) {
    if (change.old !== null || !(await isIgnoredFile(backend, change.path, scopes))) remaining.push(change)
  }
  return remaining
}

async function isIgnoredFile(
  backend: Backend,
  path: Path,
  scopes: Map<Path, IgnoreScope | undefined>,
): Promise<boolean> {
  let scope: IgnoreScope | undefined
  let directory = ROOT
  for (const next of [...ancestorsOf(path).reverse(), path]) {
    if (!scopes.has(directory)) {
      const file = childOf(directory, '.gitignore')
      const stat = await backend.stat(file)
      const outer = scope
      scope =
        stat?.type === 'file'
          ? scopeWith(outer, directory, (await backend.read(file)).bytes, !backend.capabilities.caseSensitive)
          : outer
      scopes.set(directory, scope)
    } else scope = scopes.get(directory)
    if (isIgnored(scope, next, next !== path)) return true
    directory = next
  }
  return false
}
