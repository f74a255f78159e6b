import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import { isWithin, type LogicalPath, type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import { occupantFinder } from './apply-cone.ts'
import { SUBMODULE } from './changed-path.ts'
import { planRestore } from './checkout.ts'
import { treeOfIndex } from './compare-commits.ts'
import type { Cone } from './cone.ts'
import { indexFile, type StagedFile } from './index-writer.ts'
import { deflate } from './inflate.ts'
import { gitPath, makeDirectories } from './isomorphic-fs.ts'
import type { RestoreOptions, StatusEntry } from './provider.ts'
import type { RepositoryContext } from './repository-context.ts'
import { gitFiles } from './repository-files.ts'
import { readSparse, requireCone } from './sparse-settings.ts'
import { DIRECTORY_MODE, filesOf, type TreeDirectory, type TreeEntry, type TreeFile, treeBytes } from './trees.ts'
import { holdableTest, isRefusedByGit } from './valid-path.ts'

/** An object to write. */
export interface NewObject {
  readonly type: 'blob' | 'tree' | 'commit'
  readonly id: string
  readonly bytes: Uint8Array
}

/** What {@link add} did. */
export interface AddResult {
  readonly staged: readonly string[]
  /** Number of files that may not be read. */
  readonly leftOut: number
  /** New files, and paths to add, that are outside of the sparse checkout: they are not added. */
  readonly outside: readonly string[]
}

/** Copies the current state of files and directories to the index. */
export async function add(
  context: RepositoryContext,
  paths: string | readonly string[],
  { tracked = false }: { readonly tracked?: boolean } = {},
): Promise<AddResult> {
  await context.requireRepository()
  const { host } = context
  const cone = await requireCone(context, 'add')
  const roots = (typeof paths === 'string' ? [paths] : paths).map((path) => parsePath(path))
  const files = await context.stagedFiles()
  const changed = await context.changedSinceHead()
  const blobs: NewObject[] = []
  const staged: string[] = []
  const outside = cone === undefined ? new Set<string>() : rootsOutside(context, cone, roots, files)
  let leftOut = 0
  for (const { path, now } of changed) {
    if (!isWithinAny(path, roots) || (tracked && !files.has(path))) continue
    if (cone?.includes(path) === false) {
      if (now !== null && !files.has(path) && host.mayRead(path)) outside.add(path)
      continue
    }
    if (!host.mayRead(path)) {
      leftOut += 1
      continue
    }
    if (now === null) files.delete(path)
    else {
      const bytes = await now.bytes()
      if (bytes === undefined) {
        throw new ToolError('FILE_TOO_LARGE', `Cannot add ${quote(path)}: it is too large to read`, { path })
      }
      const id = objectId('blob', bytes)
      blobs.push({ type: 'blob', id, bytes })
      files.set(path, { mode: now.mode, id, size: bytes.length })
    }
    staged.push(path)
  }
  const isDecided = new Set<string>(changed.map(({ path }) => path))
  for (const path of files.keys()) if (cone?.includes(path) === false) isDecided.add(path)
  await resetUnchanged(context, files, isDecided, roots, tracked)
  await writeObjects(context, blobs)
  await writeIndex(context, files)
  return { staged, leftOut, outside: [...outside] }
}

/** Returns the paths to add that have files of the index, but only outside of the sparse checkout. */
function rootsOutside(
  { host }: RepositoryContext,
  cone: Cone,
  roots: readonly LogicalPath[],
  files: ReadonlyMap<string, StagedFile>,
): Set<string> {
  const outside = new Set<string>()
  for (const root of roots) {
    const known = [...files.keys()].filter((path) => isWithin(path as Path, root) && host.mayRead(path as Path))
    if (known.length > 0 && !known.some(cone.includes)) outside.add(root)
  }
  return outside
}

/**
 * Resets entries of the index whose file is again as in HEAD, and removes those that neither the files nor HEAD have. Entries
 * that a workspace cannot hold stay: it does not know their files.
 */
async function resetUnchanged(
  context: RepositoryContext,
  files: Map<string, StagedFile>,
  changed: ReadonlySet<string>,
  roots: readonly LogicalPath[],
  tracked: boolean,
): Promise<void> {
  const committed = new Map(filesOf(await context.headTree()))
  const isHoldable = holdableTest()
  const isKept = (path: string, modes: readonly (number | undefined)[]) =>
    changed.has(path) || modes.includes(SUBMODULE) || !isWithinAny(path as Path, roots) || !isHoldable(path as Path)
  for (const [path, { mode }] of [...files]) {
    if (committed.has(path) || isKept(path, [mode])) continue
    const stat = await context.backend.stat(path as Path)
    if (stat === undefined || stat.type === 'directory') files.delete(path)
  }
  for (const [path, file] of committed) {
    const entry = files.get(path)
    if ((entry?.id === file.id && entry.mode === file.mode) || (tracked && entry === undefined)) continue
    if (!isKept(path, [file.mode, entry?.mode])) files.set(path, stagedAs(file, entry))
  }
}

/** Returns the readable files that differ from HEAD. */
export async function status(context: RepositoryContext): Promise<readonly StatusEntry[]> {
  await context.requireRepository()
  const files = (await context.reader.index()).entries
  const changed = (await context.changedSinceHead()).filter(({ path }) => context.host.mayRead(path))
  return changed.map(({ path, old, now }) => {
    const entry = files.get(path)
    return {
      path,
      status: old === null ? 'added' : now === null ? 'deleted' : 'modified',
      staged: now === null ? entry === undefined : entry?.id === now.id && entry.mode === now.mode,
    } as const
  })
}

/** Restores files from the index, or index and files from a commit. Returns the paths that a workspace cannot hold. */
export async function restore(
  context: RepositoryContext,
  paths: readonly string[],
  { from, only, overlay = false }: RestoreOptions = {},
): Promise<readonly string[]> {
  await context.requireRepository()
  const { host, reader } = context
  const roots = paths.map((path) => parsePath(path))
  const files = await context.stagedFiles()
  const tree = from === undefined ? undefined : await reader.tree(await reader.resolve(from))
  const source = tree === undefined ? files : new Map(filesOf(tree))
  const targets = new Map<Path, StagedFile | TreeFile | null>()
  const missing = only === 'index' ? new Set<string>() : await missingOutside(context, files, source)
  for (const root of roots) {
    const candidates = new Set(overlay ? source.keys() : [...source.keys(), ...files.keys()])
    const selected = [...candidates].filter(
      (path) => isWithin(path as Path, root) && host.mayRead(path as Path) && !missing.has(path),
    )
    if (selected.length === 0) {
      throw new ToolError('NOT_FOUND', `Cannot restore ${quote(root)}: it matches no file known to git`, { path: root })
    }
    for (const path of selected) targets.set(path as Path, source.get(path) ?? null)
  }
  const plan = only === 'index' ? undefined : await planRestore(context.backend, reader.objects, targets)
  if (plan !== undefined && plan.changes.length > 0) await host.change(plan.changes, 'restore')
  if (tree !== undefined) {
    for (const [path, file] of targets) {
      const entry = files.get(path)
      if (file === null) files.delete(path)
      else if (entry?.id !== file.id || entry.mode !== file.mode) files.set(path, stagedAs(file, entry))
    }
    await writeIndex(context, files)
  }
  return (plan?.skipped ?? []).filter((path) => host.mayRead(path as Path))
}

/** Returns the files outside of a sparse checkout that are missing, and that the source has as they are in the index. */
async function missingOutside(
  { backend }: RepositoryContext,
  files: ReadonlyMap<string, StagedFile>,
  source: ReadonlyMap<string, TreeFile>,
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>()
  const occupantOf = occupantFinder(backend)
  const isHoldable = holdableTest()
  for (const [path, { id, mode, skip }] of files) {
    const file = source.get(path)
    if (skip !== true || file?.id !== id || file.mode !== mode || !isHoldable(path as Path)) continue
    if ((await occupantOf(path as Path)) !== 'file') missing.add(path)
  }
  return missing
}

/** Returns an entry of the index with new content. Its file may be missing if that of the present entry may be. */
export function stagedAs({ mode, id }: TreeFile, present: StagedFile | undefined): StagedFile {
  const file = { mode, id, size: 0 }
  return present?.skip === true ? { ...file, skip: true } : file
}

/** Writes the index, without paths that git refuses. */
export async function writeIndex(context: RepositoryContext, files: ReadonlyMap<string, StagedFile>): Promise<void> {
  const accepted = new Map([...files].filter(([path]) => !isRefusedByGit(path)))
  const bytes = indexFile(await withSkips(context, accepted))
  const change: Change = { path: gitPath('index'), expect: 'any', to: { type: 'file', bytes } }
  await context.backend.commit([change], { durability: 'durable' })
}

/** Marks new entries whose files are missing because they are outside of the sparse checkout. */
async function withSkips(
  { backend }: RepositoryContext,
  files: ReadonlyMap<string, StagedFile>,
): Promise<ReadonlyMap<string, StagedFile>> {
  const { isEnabled, cone } = await readSparse(gitFiles(backend))
  if (!isEnabled || cone === undefined) return files
  const marked = new Map(files)
  const occupantOf = occupantFinder(backend)
  const isHoldable = holdableTest()
  for (const [path, file] of files) {
    if (file.skip !== undefined || cone.includes(path)) continue
    const isMissing = !isHoldable(path as Path) || (await occupantOf(path as Path)) !== 'file'
    if (isMissing) marked.set(path, { ...file, skip: true })
  }
  return marked
}

/** Writes the trees of the index. Returns the id of the root. */
export async function writeIndexTrees(context: RepositoryContext): Promise<string> {
  return writeTrees(context, treeOfIndex(await context.stagedFiles()))
}

/** Writes a tree and those below it. Returns its id. */
export async function writeTrees(context: RepositoryContext, root: TreeDirectory): Promise<string> {
  // A directory stands after the one that contains it.
  const directories: TreeDirectory[] = [root]
  for (const directory of directories) for (const child of directory.directories.values()) directories.push(child)
  const ids = new Map<TreeDirectory, string>()
  const trees: NewObject[] = []
  for (const directory of directories.reverse()) {
    const entries: TreeEntry[] = [...directory.files].map(([name, { mode, id }]) => ({ name, mode, id }))
    for (const [name, child] of directory.directories) {
      entries.push({ name, mode: DIRECTORY_MODE, id: ids.get(child) as string })
    }
    const bytes = treeBytes(entries)
    const id = objectId('tree', bytes)
    ids.set(directory, id)
    trees.push({ type: 'tree', id, bytes })
  }
  await writeObjects(context, trees)
  return ids.get(root) as string
}

/** Writes the objects that the repository does not have yet, as loose ones. */
export async function writeObjects(
  { backend, reader }: RepositoryContext,
  objects: readonly NewObject[],
): Promise<void> {
  const changes: Change[] = []
  const ids = new Set<string>()
  for (const { type, id, bytes } of objects) {
    const path = gitPath('objects', id.slice(0, 2), id.slice(2))
    if (ids.has(id) || (await reader.objects.read(id)) !== undefined) continue
    ids.add(id)
    await makeDirectories(backend, path)
    const header = new TextEncoder().encode(`${type} ${bytes.length}\0`)
    const object = new Uint8Array(header.length + bytes.length)
    object.set(header)
    object.set(bytes, header.length)
    changes.push({ path, expect: 'any', to: { type: 'file', bytes: new Uint8Array(await deflate(object)) } })
  }
  if (changes.length > 0) await backend.commit(changes, { durability: 'relaxed' })
}

function isWithinAny(path: LogicalPath, roots: readonly LogicalPath[]): boolean {
  return roots.some((root) => isWithin(path, root))
}
