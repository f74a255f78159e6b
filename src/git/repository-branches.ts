import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import { addAncestors, type Path, quote } from '../paths/logical-path.ts'
import { stateAt } from '../storage/versions.ts'
import { applyCone } from './apply-cone.ts'
import { gitMode, LINK } from './changed-path.ts'
import { checkoutTargets, fileAt, indexAfterCheckout, type LocalChange, planChanges } from './checkout.ts'
import { requireBranchName } from './ref-name.ts'
import type { RepositoryContext } from './repository-context.ts'
import { writeIndex } from './repository-index.ts'
import { coneFor } from './repository-sparse.ts'
import { requireCone, writeSparse } from './sparse-settings.ts'
import { filesOf, type TreeDirectory, type TreeFile } from './trees.ts'
import { holdableTest } from './valid-path.ts'

interface CheckoutOptions {
  readonly force?: boolean
  readonly sparse?: readonly string[]
}

export interface CheckoutResult {
  readonly commit: string
  /** Paths of the commit that a workspace cannot hold. */
  readonly skipped: readonly string[]
  /** Files that stay although they are outside of the sparse checkout, because they are changed. */
  readonly kept: readonly string[]
}

/** Returns the names of the local branches. */
export async function listBranches(context: RepositoryContext): Promise<readonly string[]> {
  await context.requireRepository()
  return [...(await context.reader.refs('refs/heads/')).keys()]
}

/** Returns the branch that HEAD names, or `undefined` when it names a commit. */
export async function currentBranch(context: RepositoryContext): Promise<string | undefined> {
  await context.requireRepository()
  const branch = await context.runGit('read HEAD', (isomorphic) => isomorphic.currentBranch(context.location))
  return branch ?? undefined
}

export async function createBranch(
  context: RepositoryContext,
  name: string,
  { at = 'HEAD' }: { readonly at?: string } = {},
): Promise<void> {
  requireBranchName(name)
  await context.requireRepository()
  const object = await context.reader.resolve(at)
  await context.runGit(`create branch ${quote(name)}`, (isomorphic) =>
    isomorphic.branch({ ...context.location, ref: name, object }),
  )
}

export async function deleteBranch(context: RepositoryContext, name: string): Promise<void> {
  requireBranchName(name)
  await context.requireRepository()
  if ((await currentBranch(context)) === name) {
    throw new ToolError('INVALID_INPUT', `Cannot delete branch ${quote(name)}: it is checked out`)
  }
  if (!(await listBranches(context)).includes(name)) {
    throw new ToolError('NOT_FOUND', `Cannot delete branch ${quote(name)}: it does not exist`)
  }
  await context.runGit(`delete branch ${quote(name)}`, (isomorphic) =>
    isomorphic.deleteRef({ ...context.location, ref: `refs/heads/${name}` }),
  )
}

/** Points HEAD to a branch, without changing files or index. */
export async function moveTo(context: RepositoryContext, branch: string): Promise<void> {
  requireBranchName(branch)
  await context.requireRepository()
  await context.writeHead(`refs/heads/${branch}`, true)
}

export async function checkout(
  context: RepositoryContext,
  ref: string,
  { force = false, sparse }: CheckoutOptions = {},
): Promise<CheckoutResult> {
  await context.requireRepository()
  const commit = await context.reader.resolve(ref)
  const isBranch = (await listBranches(context)).includes(ref)
  const result = await checkoutCommit(context, commit, force, sparse)
  await context.writeHead(isBranch ? `refs/heads/${ref}` : commit, isBranch)
  return result
}

/**
 * Changes files and index from HEAD to a commit. HEAD stays as it is.
 *
 * @param sparse directories to check out. Default: those of the sparse checkout, or everything
 */
export async function checkoutCommit(
  context: RepositoryContext,
  commit: string,
  force: boolean,
  sparse?: readonly string[],
): Promise<CheckoutResult> {
  const { backend, reader, host } = context
  const from = await context.headTree()
  const to = await reader.tree(commit)
  const head = await reader.headCommit()
  // Without a commit, HEAD's tree is empty and every existing file counts as added.
  const dirty = head === undefined ? await filesInTheWay(context, to) : await context.diffs.changed(head)
  const index = await context.stagedFiles()
  const newIndex = indexAfterCheckout(force ? new Map() : index, from, to, host.mayRead)
  const cone = sparse === undefined ? await requireCone(context, 'check out') : coneFor(context, sparse, newIndex)
  const { targets, skipped } = checkoutTargets(from, to, dirty, index, force, host.mayRead, cone)
  const isChanged = force ? () => false : changedTest(dirty, from, index)
  const kept = cone === undefined ? [] : await applyCone(backend, cone, index, newIndex, targets, isChanged)
  const plan = await planChanges(backend, reader.objects, targets)
  if (plan.changes.length > 0) await host.change(plan.changes, `checkout ${commit.slice(0, 12)}`)
  if (sparse !== undefined) await writeSparse(context, cone)
  await writeIndex(context, newIndex)
  const left = [...skipped, ...plan.skipped].filter((path) => cone?.includes(path) !== false)
  return { commit, skipped: left.filter((path) => host.mayRead(path as Path)), kept: kept.filter(host.mayRead) }
}

/** Returns a function that tells whether a file differs from the index. */
function changedTest(dirty: readonly LocalChange[], head: TreeDirectory, index: ReadonlyMap<string, TreeFile>) {
  const now = new Map(dirty.map((change) => [change.path, change.now]))
  return (path: Path): boolean => {
    const file = now.has(path) ? now.get(path) : fileAt(head, path)
    const entry = index.get(path)
    return file !== null && file !== undefined && (file.id !== entry?.id || file.mode !== entry.mode)
  }
}

/** Returns existing files and links at paths where a first checkout would write a file or a directory. */
async function filesInTheWay({ backend }: RepositoryContext, tree: TreeDirectory): Promise<LocalChange[]> {
  const paths = new Set<Path>()
  const isHoldable = holdableTest()
  for (const [path] of filesOf(tree)) {
    if (!isHoldable(path as Path)) continue
    paths.add(path as Path)
    addAncestors(paths, path as Path)
  }
  const files: LocalChange[] = []
  for (const path of paths) {
    const state = await stateAt(backend, path)
    if (state === null || state.type === 'directory') continue
    const isLink = state.type === 'link'
    const bytes = isLink ? new TextEncoder().encode(state.target) : state.bytes
    const now = { mode: isLink ? LINK : gitMode(state.mode, undefined), id: objectId('blob', bytes) }
    files.push({ path, old: null, now })
  }
  return files
}
