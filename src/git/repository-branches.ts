import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import { gitMode } from './changed-path.ts'
import { filesOf, indexAfterCheckout, type LocalChange, planCheckout } from './checkout.ts'
import { type RepositoryContext, requireBranchName } from './repository-context.ts'
import { writeIndex } from './repository-index.ts'
import type { TreeDirectory } from './trees.ts'

/** The commit that was checked out, and its paths that a workspace cannot hold. */
export interface CheckoutResult {
  readonly commit: string
  readonly skipped: readonly string[]
}

/** Returns the names of the local branches. */
export async function listBranches(context: RepositoryContext): Promise<readonly string[]> {
  await context.requireRepository()
  return context.runGit('list branches', (isomorphic) => isomorphic.listBranches(context.location))
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
  { force = false }: { readonly force?: boolean } = {},
): Promise<CheckoutResult> {
  await context.requireRepository()
  const commit = await context.reader.resolve(ref)
  const isBranch = (await listBranches(context)).includes(ref)
  const result = await checkoutCommit(context, commit, force)
  await context.writeHead(isBranch ? `refs/heads/${ref}` : commit, isBranch)
  return result
}

/** Changes files and index from HEAD to a commit. HEAD stays as it is. */
export async function checkoutCommit(
  context: RepositoryContext,
  commit: string,
  force: boolean,
): Promise<CheckoutResult> {
  const { backend, reader, host } = context
  const from = await context.headTree()
  const to = await reader.tree(commit)
  const head = await reader.headCommit()
  // Without a commit, HEAD's tree is empty and every existing file counts as added.
  const dirty = head === undefined ? await filesInTheWay(context, to) : await context.diffs.changed(head)
  const index = await context.stagedFiles()
  const newIndex = indexAfterCheckout(force ? new Map() : index, from, to, host.mayRead)
  const plan = await planCheckout(backend, reader.objects, from, to, dirty, index, force, host.mayRead)
  if (plan.changes.length > 0) await host.change(plan.changes, `checkout ${commit.slice(0, 12)}`)
  await writeIndex(context, newIndex)
  return { commit, skipped: plan.skipped.filter((path) => host.mayRead(path as Path)) }
}

/** Returns existing files at paths where a first checkout would write. */
async function filesInTheWay({ backend }: RepositoryContext, tree: TreeDirectory): Promise<LocalChange[]> {
  const files: LocalChange[] = []
  for (const [path] of filesOf(tree)) {
    const stat = await backend.stat(path as Path)
    if (stat?.type !== 'file') continue
    const { bytes } = await backend.read(path as Path)
    const now = { mode: gitMode(stat.mode, undefined), id: objectId('blob', bytes) }
    files.push({ path: path as Path, old: null, now })
  }
  return files
}
