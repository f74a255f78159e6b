import { ToolError } from '../errors.ts'
import { addAncestors, childOf, type LogicalPath, type Path, parentOf, quote, ROOT } from '../paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../storage/backend.ts'
import { linkTarget } from '../storage/link-target.ts'
import { sameVersion, versionAt, versionOf } from '../storage/versions.ts'
import { LINK, SUBMODULE } from './changed-path.ts'
import type { Cone } from './cone.ts'
import type { StagedFile } from './index-writer.ts'
import type { Objects } from './objects.ts'
import { filesOf, type TreeDirectory, type TreeFile } from './trees.ts'
import { holdableTest, isRefusedByGit, isValidGitPath } from './valid-path.ts'

/** The changes of a checkout. */
export interface CheckoutPlan {
  readonly changes: readonly Change[]
  /** Paths of the commit that a workspace cannot hold: submodules, links to the outside, names that the guard refuses. */
  readonly skipped: readonly string[]
}

/** A file that differs from the commit: `old` in the commit, `now` in the workspace. */
export interface LocalChange {
  readonly path: Path
  readonly old: TreeFile | null
  readonly now: TreeFile | null
}

/** Files to write, or to delete (`null`), and paths that a workspace cannot hold. */
export interface CheckoutTargets {
  readonly targets: Map<Path, TreeFile | null>
  readonly skipped: readonly string[]
}

/**
 * Returns the files that differ between two commits' trees.
 *
 * @param cone the sparse checkout: outside of it, untracked files stay
 * @throws ToolError `WRITE_CONFLICT` if a file that differs between the commits was changed in the workspace, unless `force`
 */
export function checkoutTargets(
  from: TreeDirectory,
  to: TreeDirectory,
  dirty: readonly LocalChange[],
  index: ReadonlyMap<string, StagedFile>,
  force: boolean,
  mayRead: (path: Path) => boolean,
  cone?: Cone,
): CheckoutTargets {
  const skipped: string[] = []
  const targets = new Map<Path, TreeFile | null>()
  differences(from, to, targets, skipped)
  const conflicts: Path[] = []
  const directories = new Set<Path>()
  for (const [path, file] of targets) if (file !== null) addAncestors(directories, path)
  for (const { path, old, now } of dirty) {
    const target = targets.get(path)
    // Nothing is written there.
    if (!force && old === null && !index.has(path) && cone?.includes(path) === false) continue
    if (force) {
      if (target === undefined) targets.set(path, fileAt(to, path) ?? null)
    } else if (target === undefined && now !== null && directories.has(path)) conflicts.push(path)
    else if (target !== undefined && (target?.id !== now?.id || target?.mode !== now?.mode)) conflicts.push(path)
  }
  // With force, untracked files stay unchanged.
  if (force) {
    for (const { path, old } of dirty) {
      if (old === null && fileAt(to, path) === undefined && !index.has(path)) targets.delete(path)
    }
  }
  if (conflicts.length > 0) throw conflict(conflicts, mayRead)
  return { targets, skipped }
}

/** Plans the change set that writes and deletes files. */
export async function planChanges(
  backend: Backend,
  objects: Objects,
  targets: ReadonlyMap<Path, TreeFile | null>,
): Promise<CheckoutPlan> {
  const skipped: string[] = []
  return { changes: await changesFor(backend, objects, targets, skipped), skipped }
}

/** Plans the changes that restore single files; `null` deletes the file. */
export async function planRestore(
  backend: Backend,
  objects: Objects,
  targets: ReadonlyMap<Path, TreeFile | null>,
): Promise<CheckoutPlan> {
  const skipped: string[] = []
  const isHoldable = holdableTest()
  const valid = new Map<Path, TreeFile | null>()
  for (const [path, file] of targets) {
    if (file?.mode === SUBMODULE || !isHoldable(path)) skipped.push(path)
    else valid.set(path, file)
  }
  const changes = await changesFor(backend, objects, valid, skipped)
  // Files that are already in the target state are not changed.
  const differing = await Promise.all(
    changes.map(async (change) => !sameVersion(await versionAt(backend, change.path), versionOf(change.to))),
  )
  return { changes: changes.filter((_, i) => differing[i]), skipped }
}

/**
 * Returns the index after a checkout. Entries that are equal in both commits keep their staged state. An empty index counts
 * as missing.
 *
 * @throws ToolError `WRITE_CONFLICT` if the checkout would discard a staged change
 */
export function indexAfterCheckout(
  index: ReadonlyMap<string, StagedFile>,
  from: TreeDirectory,
  to: TreeDirectory,
  mayRead: (path: Path) => boolean,
): Map<string, StagedFile> {
  const target = new Map(filesOf(to))
  // Without times and sizes, git reads the content of each file once.
  if (index.size === 0) return new Map([...target].map(([path, { mode, id }]) => [path, { mode, id, size: 0 }]))
  const source = new Map(filesOf(from))
  const result = new Map(index)
  for (const path of new Set([...source.keys(), ...target.keys()])) {
    const [old, now, staged] = [source.get(path), target.get(path), index.get(path)]
    if (sameEntry(old, now) || isRefusedByGit(path)) continue
    if (!sameEntry(staged, old) && !sameEntry(staged, now)) throw conflict([path as Path], mayRead)
    if (now === undefined) result.delete(path)
    else result.set(path, { ...now, size: 0 })
  }
  return result
}

function sameEntry(a: TreeFile | undefined, b: TreeFile | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode
}

/** The error names only readable files. */
export function conflict(paths: readonly Path[], mayRead: (path: Path) => boolean, action = 'check out'): ToolError {
  const readable = paths.filter(mayRead)
  const example = readable[0] === undefined ? '' : `, such as ${quote(readable[0])}`
  return new ToolError(
    'WRITE_CONFLICT',
    `Cannot ${action}: ${paths.length === 1 ? 'a file was' : `${paths.length} files were`} changed and would be overwritten${example}`,
    {
      paths: readable.slice(0, 100),
      hint: action === 'check out' ? 'Commit the changes first, or force the checkout.' : 'Commit the changes first.',
    },
  )
}

function differences(
  fromRoot: TreeDirectory,
  toRoot: TreeDirectory,
  targets: Map<Path, TreeFile | null>,
  skipped: string[],
): void {
  interface Pair {
    readonly from: TreeDirectory | undefined
    readonly to: TreeDirectory | undefined
    readonly path: Path
  }
  const waiting: Pair[] = [{ from: fromRoot, to: toRoot, path: ROOT }]
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const { from, to, path } = pair
    if (from?.id !== undefined && from.id === to?.id) continue
    for (const [name, file] of to?.files ?? []) {
      const old = from?.files.get(name)
      if (old?.id === file.id && old.mode === file.mode) continue
      const child = childOf(path, name)
      if (file.mode === SUBMODULE || !isValidGitPath(path, name)) skipped.push(child)
      else targets.set(child, file)
    }
    for (const [name, file] of from?.files ?? []) {
      if (file.mode === SUBMODULE || to?.files.has(name) === true || !isValidGitPath(path, name)) continue
      targets.set(childOf(path, name), null)
    }
    for (const [name, directory] of to?.directories ?? []) {
      if (!isValidGitPath(path, name)) skipped.push(childOf(path, name))
      else waiting.push({ from: from?.directories.get(name), to: directory, path: childOf(path, name) })
    }
    for (const [name, directory] of from?.directories ?? []) {
      if (to?.directories.has(name) === true || !isValidGitPath(path, name)) continue
      waiting.push({ from: directory, to: undefined, path: childOf(path, name) })
    }
  }
}

async function changesFor(
  backend: Backend,
  objects: Objects,
  targets: ReadonlyMap<Path, TreeFile | null>,
  skipped: string[],
): Promise<Change[]> {
  const changes = new Map<Path, Change>()
  const directories = new Set<Path>()
  for (const [path, file] of targets) {
    const stat = await backend.stat(path)
    if (file === null) {
      if (stat !== undefined && stat.type !== 'directory')
        changes.set(path, { path, expect: { tag: stat.tag }, to: null })
      continue
    }
    const state = await stateOf(objects, path, file)
    if (state === undefined) {
      skipped.push(path)
      continue
    }
    changes.set(path, { path, expect: stat === undefined ? 'absent' : { tag: stat.tag }, to: state })
    addAncestors(directories, path)
  }
  for (const directory of directories) {
    const stat = await backend.stat(directory)
    if (stat?.type === 'directory') continue
    // A file that becomes a directory is one change, not two.
    changes.set(directory, {
      path: directory,
      expect: stat === undefined ? 'any' : { tag: stat.tag },
      to: { type: 'directory' },
    })
  }
  await deleteEmptyDirectories(backend, changes, directories)
  return [...changes.values()]
}

/** Deletes directories that become empty, as in git. */
async function deleteEmptyDirectories(
  backend: Backend,
  changes: Map<Path, Change>,
  needed: ReadonlySet<Path>,
): Promise<void> {
  const above = new Set<Path>()
  for (const { path, to } of changes.values()) {
    if (to === null) addAncestors(above, path)
  }
  for (const directory of [...above].sort((a, b) => b.length - a.length)) {
    if (needed.has(directory)) continue
    const isUsed = (await backend.list(directory)).some(
      ({ name }) => changes.get(childOf(directory, name))?.to !== null,
    )
    if (isUsed) continue
    const stat = await backend.stat(directory)
    const replaced = changes.get(directory)
    if (replaced === undefined && stat !== undefined && parentOf(directory) !== directory) {
      changes.set(directory, { path: directory, expect: { tag: stat.tag }, to: null })
    }
  }
}

async function stateOf(objects: Objects, path: Path, { mode, id }: TreeFile): Promise<EntryState | undefined> {
  const bytes = await objects.need(id, 'blob')
  if (mode !== LINK) return { type: 'file', bytes, mode: mode === 0o100755 ? 0o755 : 0o644 }
  try {
    const target = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    linkTarget(path, target)
    return { type: 'link', target }
  } catch {
    return undefined
  }
}

/** Returns the file at a path of a tree. */
export function fileAt(tree: TreeDirectory, path: LogicalPath): TreeFile | undefined {
  let at: TreeDirectory | undefined = tree
  const names = path.split('/')
  for (const name of names.slice(0, -1)) at = at?.directories.get(name)
  return at?.files.get(names.at(-1) as string)
}
