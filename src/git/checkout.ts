import { ToolError } from '../errors.ts'
import { ancestorsOf, childOf, type LogicalPath, type Path, parentOf, quote } from '../paths/logical-path.ts'
import type { Backend, Change, EntryState } from '../storage/backend.ts'
import { linkTarget } from '../storage/change-set.ts'
import { sameVersion, versionAt, versionOf } from '../storage/versions.ts'
import { LINK, SUBMODULE } from './changed-path.ts'
import type { StagedFile } from './index-writer.ts'
import type { Objects } from './objects.ts'
import type { TreeDirectory, TreeFile } from './trees.ts'
import { isValidGitPath } from './valid-path.ts'

/** What a checkout would change in the tree. */
export interface CheckoutPlan {
  readonly changes: readonly Change[]
  /** Paths of the commit that a workspace cannot hold: submodules, links that lead outside, names that the guard refuses. */
  readonly skipped: readonly string[]
}

/** A file that is not as the commit has it: as it is there, and as it is in the workspace. */
export interface LocalChange {
  readonly path: Path
  readonly old: TreeFile | null
  readonly now: TreeFile | null
}

/**
 * The change set that brings the files from one commit's tree to another's. What was changed in the workspace and differs
 * between the two commits is not overwritten: such a checkout is refused, unless it is forced.
 *
 * @throws ToolError `WRITE_CONFLICT`
 */
export async function planCheckout(
  backend: Backend,
  objects: Objects,
  from: TreeDirectory,
  to: TreeDirectory,
  dirty: readonly LocalChange[],
  index: ReadonlyMap<string, StagedFile>,
  force: boolean,
): Promise<CheckoutPlan> {
  const skipped: string[] = []
  const wanted = new Map<Path, TreeFile | null>()
  differences(from, to, '' as Path, wanted, skipped)
  const conflicts: Path[] = []
  for (const { path, now } of dirty) {
    const target = wanted.get(path)
    if (force) {
      if (target === undefined) wanted.set(path, fileAt(to, path) ?? null)
    } else if (target !== undefined && (target?.id !== now?.id || target?.mode !== now?.mode)) conflicts.push(path)
  }
  // With force, what git does not know stays as it is.
  if (force) {
    for (const { path, old } of dirty) {
      if (old === null && fileAt(to, path) === undefined && !index.has(path)) wanted.delete(path)
    }
  }
  if (conflicts.length > 0) throw conflict(conflicts)
  return { changes: await changesFor(backend, objects, wanted, skipped), skipped }
}

/**
 * The changes that bring single files to what they are given as; `null` is taken away.
 */
export async function planRestore(
  backend: Backend,
  objects: Objects,
  wanted: ReadonlyMap<Path, TreeFile | null>,
): Promise<CheckoutPlan> {
  const skipped: string[] = []
  const taken = new Map<Path, TreeFile | null>()
  for (const [path, file] of wanted) {
    if (
      file?.mode === SUBMODULE ||
      !path.split('/').every((name, i, all) => isValidGitPath(all.slice(0, i).join('/') as Path, name))
    )
      skipped.push(path)
    else taken.set(path, file)
  }
  const changes = await changesFor(backend, objects, taken, skipped)
  // What is as it shall be already is no change.
  const differing = await Promise.all(
    changes.map(async (change) => !sameVersion(await versionAt(backend, change.path), versionOf(change.to))),
  )
  return { changes: changes.filter((_, i) => differing[i]), skipped }
}

/**
 * The index after a checkout: what both commits have alike stays as it was put there. Empty, it is taken for none.
 *
 * @throws ToolError `WRITE_CONFLICT` where something was put there that the checkout would take out
 */
export function indexAfterCheckout(
  index: ReadonlyMap<string, StagedFile>,
  from: TreeDirectory,
  to: TreeDirectory,
): Map<string, StagedFile> {
  const target = new Map(filesOf(to))
  // Without times and sizes: git looks at the content itself, once.
  if (index.size === 0) return new Map([...target].map(([path, file]) => [path, { ...file, size: 0 }]))
  const source = new Map(filesOf(from))
  const carried = new Map(index)
  for (const path of new Set([...source.keys(), ...target.keys()])) {
    const [old, now, staged] = [source.get(path), target.get(path), index.get(path)]
    if (sameEntry(old, now)) continue
    if (!sameEntry(staged, old) && !sameEntry(staged, now)) throw conflict([path as Path])
    if (now === undefined) carried.delete(path)
    else carried.set(path, { ...now, size: 0 })
  }
  return carried
}

function sameEntry(a: TreeFile | undefined, b: TreeFile | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode
}

function conflict(paths: readonly Path[]): ToolError {
  return new ToolError(
    'WRITE_CONFLICT',
    `Cannot check out: ${paths.length === 1 ? 'a file was' : `${paths.length} files were`} changed and would be overwritten, such as ${quote(paths[0] as Path)}`,
    { paths: paths.slice(0, 100), hint: 'Commit the changes first, or force the checkout.' },
  )
}

function differences(
  from: TreeDirectory | undefined,
  to: TreeDirectory | undefined,
  path: Path,
  wanted: Map<Path, TreeFile | null>,
  skipped: string[],
): void {
  if (from?.id !== undefined && from.id === to?.id) return
  for (const [name, file] of to?.files ?? []) {
    const old = from?.files.get(name)
    if (old?.id === file.id && old.mode === file.mode) continue
    const child = childOf(path, name)
    if (file.mode === SUBMODULE || !isValidGitPath(path, name)) skipped.push(child)
    else wanted.set(child, file)
  }
  for (const [name, file] of from?.files ?? []) {
    if (file.mode === SUBMODULE || to?.files.has(name) === true || !isValidGitPath(path, name)) continue
    wanted.set(childOf(path, name), null)
  }
  for (const [name, directory] of to?.directories ?? []) {
    if (!isValidGitPath(path, name)) skipped.push(childOf(path, name))
    else differences(from?.directories.get(name), directory, childOf(path, name), wanted, skipped)
  }
  for (const [name, directory] of from?.directories ?? []) {
    if (to?.directories.has(name) !== true && isValidGitPath(path, name)) {
      differences(directory, undefined, childOf(path, name), wanted, skipped)
    }
  }
}

async function changesFor(
  backend: Backend,
  objects: Objects,
  wanted: ReadonlyMap<Path, TreeFile | null>,
  skipped: string[],
): Promise<Change[]> {
  const changes = new Map<Path, Change>()
  const directories = new Set<Path>()
  for (const [path, file] of wanted) {
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
    for (const above of ancestorsOf(path)) directories.add(above)
  }
  for (const directory of directories) {
    const stat = await backend.stat(directory)
    if (stat?.type === 'directory') continue
    // A file that gives way to a directory is one change, not two.
    changes.set(directory, {
      path: directory,
      expect: stat === undefined ? 'any' : { tag: stat.tag },
      to: { type: 'directory' },
    })
  }
  await emptied(backend, changes, directories)
  return [...changes.values()]
}

/** Directories in which nothing would be left go too, as in git. */
async function emptied(backend: Backend, changes: Map<Path, Change>, needed: ReadonlySet<Path>): Promise<void> {
  const above = new Set<Path>()
  for (const { path, to } of changes.values()) {
    if (to === null) for (const directory of ancestorsOf(path)) above.add(directory)
  }
  for (const directory of [...above].sort((a, b) => b.length - a.length)) {
    if (needed.has(directory)) continue
    const left = (await backend.list(directory)).some(({ name }) => changes.get(childOf(directory, name))?.to !== null)
    if (left) continue
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

/** The file at a path of a tree. */
export function fileAt(tree: TreeDirectory, path: LogicalPath): TreeFile | undefined {
  let at: TreeDirectory | undefined = tree
  const names = path.split('/')
  for (const name of names.slice(0, -1)) at = at?.directories.get(name)
  return at?.files.get(names.at(-1) as string)
}

/** All files of a tree. */
export function* filesOf(tree: TreeDirectory, path = ''): Generator<readonly [path: string, file: TreeFile]> {
  for (const [name, file] of tree.files) yield [path + name, file]
  for (const [name, directory] of tree.directories) yield* filesOf(directory, `${path}${name}/`)
}
