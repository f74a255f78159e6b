import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import { isWithin, type LogicalPath, type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import { SUBMODULE } from './changed-path.ts'
import { filesOf, planRestore } from './checkout.ts'
import { treeOfIndex } from './compare-commits.ts'
import { indexFile, type StagedFile } from './index-writer.ts'
import { deflate } from './inflate.ts'
import { gitPath, makeDirectories } from './isomorphic-fs.ts'
import type { RestoreOptions, StatusEntry } from './provider.ts'
import type { RepositoryContext } from './repository-context.ts'
import { DIRECTORY_MODE, type TreeDirectory, type TreeEntry, type TreeFile, treeBytes } from './trees.ts'

/** An object to write. */
export interface NewObject {
  readonly type: 'blob' | 'tree' | 'commit'
  readonly id: string
  readonly bytes: Uint8Array
}

/** Copies the current state of files and directories to the index. */
export async function add(
  context: RepositoryContext,
  paths: string | readonly string[],
  { tracked = false }: { readonly tracked?: boolean } = {},
): Promise<{ readonly staged: readonly string[]; readonly leftOut: number }> {
  await context.requireRepository()
  const { host } = context
  const roots = (typeof paths === 'string' ? [paths] : paths).map((path) => parsePath(path))
  const files = await context.stagedFiles()
  const changed = await context.changedSinceHead()
  const blobs: NewObject[] = []
  const staged: string[] = []
  let leftOut = 0
  for (const { path, now } of changed) {
    if (!isWithinAny(path, roots) || (tracked && !files.has(path))) continue
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
  await resetUnchanged(context, files, new Set(changed.map(({ path }) => path)), roots, tracked)
  await writeObjects(context, blobs)
  await writeIndex(context, files)
  return { staged, leftOut }
}

/** Resets entries of the index whose file is again as in HEAD, and removes those that neither the files nor HEAD have. */
async function resetUnchanged(
  context: RepositoryContext,
  files: Map<string, StagedFile>,
  changed: ReadonlySet<string>,
  roots: readonly LogicalPath[],
  tracked: boolean,
): Promise<void> {
  const committed = new Map(filesOf(await context.headTree()))
  for (const [path, { mode }] of [...files]) {
    if (changed.has(path) || committed.has(path) || mode === SUBMODULE) continue
    if (!isWithinAny(path as Path, roots)) continue
    const stat = await context.backend.stat(path as Path)
    if (stat === undefined || stat.type === 'directory') files.delete(path)
  }
  for (const [path, file] of committed) {
    const entry = files.get(path)
    if (changed.has(path) || (entry?.id === file.id && entry.mode === file.mode)) continue
    if (tracked && entry === undefined) continue
    if (isWithinAny(path as Path, roots)) files.set(path, { ...file, size: 0 })
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
  for (const root of roots) {
    const candidates = new Set(overlay ? source.keys() : [...source.keys(), ...files.keys()])
    const selected = [...candidates].filter((path) => isWithin(path as Path, root) && host.mayRead(path as Path))
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
      else if (entry?.id !== file.id || entry.mode !== file.mode) files.set(path, { ...file, size: 0 })
    }
    await writeIndex(context, files)
  }
  return (plan?.skipped ?? []).filter((path) => host.mayRead(path as Path))
}

export async function writeIndex(context: RepositoryContext, files: ReadonlyMap<string, StagedFile>): Promise<void> {
  const change: Change = { path: gitPath('index'), expect: 'any', to: { type: 'file', bytes: indexFile(files) } }
  await context.backend.commit([change], { durability: 'durable' })
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
