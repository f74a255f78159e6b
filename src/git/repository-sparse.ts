import { ToolError } from '../errors.ts'
import { type Path, parsePath, quote } from '../paths/logical-path.ts'
import { applyCone } from './apply-cone.ts'
import { planChanges } from './checkout.ts'
import { treeOfIndex } from './compare-commits.ts'
import { type Cone, coneOf } from './cone.ts'
import type { RepositoryContext } from './repository-context.ts'
import { writeIndex } from './repository-index.ts'
import { requireCone, writeSparse } from './sparse-settings.ts'
import type { TreeFile } from './trees.ts'

/** Returns the directories of the sparse checkout; `undefined` if everything is checked out. */
export async function sparseDirectories(context: RepositoryContext): Promise<readonly string[] | undefined> {
  await context.requireRepository()
  return (await requireCone(context, 'list the directories'))?.directories
}

/** @throws ToolError `INVALID_INPUT` for a file of the index */
export function coneFor(
  { host }: RepositoryContext,
  directories: readonly string[],
  files: ReadonlyMap<string, unknown>,
): Cone {
  const cone = coneOf(directories.map((path) => parsePath(path) as Path))
  const file = cone.directories.find((path) => files.has(path) && host.mayRead(path))
  if (file === undefined) return cone
  throw new ToolError('INVALID_INPUT', `${quote(file)} is not a directory`, { path: file })
}

/**
 * Checks out only some directories and the files directly above them; `null` for everything. Returns the files that stay
 * although they are outside, because they are changed.
 */
export async function setSparseDirectories(
  context: RepositoryContext,
  directories: readonly string[] | null,
): Promise<{ readonly kept: readonly string[] }> {
  await context.requireRepository()
  const { backend, reader, host } = context
  const before = await context.stagedFiles()
  const cone = directories === null ? undefined : coneFor(context, directories, before)
  const changed = new Set<Path>()
  for (const { path, old, now } of await context.diffs.changedFrom(treeOfIndex(before))) {
    if (old !== null && now !== null) changed.add(path)
  }
  const index = new Map(before)
  const targets = new Map<Path, TreeFile | null>()
  const kept = await applyCone(backend, cone, before, index, targets, (path) => changed.has(path))
  const plan = await planChanges(backend, reader.objects, targets)
  if (plan.changes.length > 0) await host.change(plan.changes, 'sparse-checkout')
  await writeSparse(context, cone)
  await writeIndex(context, index)
  return { kept: kept.filter(host.mayRead) }
}
