import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { throwIfAborted } from '../util/abort.ts'
import { ancestors } from './ancestors.ts'
import { httpClient } from './http.ts'
import { gitPath, removeRepository } from './isomorphic-fs.ts'
import type { PullResult, RemoteOptions } from './provider.ts'
import { requireBranchName } from './ref-name.ts'
import { parseRemoteUrl, throughProxy } from './remote-url.ts'
import { remoteAddress, setUpstream, upstreamOf } from './remotes.ts'
import { type CheckoutResult, checkoutCommit, currentBranch } from './repository-branches.ts'
import type { RepositoryContext } from './repository-context.ts'

const REMOTE = 'origin'

export interface FetchOptions extends RemoteOptions {
  readonly url?: string
  readonly ref?: string
}

interface CloneOptions extends RemoteOptions {
  readonly ref?: string
  /** Directories to check out. Default: everything. */
  readonly sparse?: readonly string[]
}

export async function init(
  context: RepositoryContext,
  { defaultBranch = 'main' }: { readonly defaultBranch?: string } = {},
): Promise<void> {
  requireBranchName(defaultBranch)
  await context.runGit('init', (isomorphic) => isomorphic.init({ ...context.location, defaultBranch }))
}

/** Fetches into `refs/remotes/origin`. Returns the commit that the remote's branch names. */
export async function fetchRemote(context: RepositoryContext, options: FetchOptions = {}): Promise<string | undefined> {
  const { ref, corsProxy, headers, onProgress, signal, depth, onLeftOut = () => {} } = options
  await context.requireRepository()
  throwIfAborted(signal)
  const { url } = await remoteAddress(context, options, 'fetch')
  const via = throughProxy(url, corsProxy)
  const credentials = options.credentials ?? context.credentials
  const { requireHost } = context.host
  const { fetchHead } = await context.runGit(
    'fetch',
    (isomorphic) =>
      isomorphic.fetch({
        ...context.locationUntil(signal),
        http: httpClient(
          { url, via, operation: 'fetch', headers, credentials, signal, requireHost },
          { ref, onLeftOut },
        ),
        remote: REMOTE,
        singleBranch: ref !== undefined,
        tags: false,
        ...(ref === undefined ? {} : { ref }),
        url: url.href,
        ...(corsProxy === undefined ? {} : { corsProxy }),
        ...(depth === undefined ? {} : { depth }),
        ...(onProgress === undefined ? {} : { onProgress }),
      }),
    signal,
  )
  context.reopenReader()
  return fetchHead ?? undefined
}

/** Returns the branches of the remote that were fetched, with their commits. */
export async function remoteBranches(context: RepositoryContext): Promise<ReadonlyMap<string, string>> {
  await context.requireRepository()
  const prefix = `refs/remotes/${REMOTE}/`
  const found = new Map<string, string>()
  for (const [name, id = prefix + name] of await context.reader.refs(prefix)) {
    if (name !== 'HEAD') found.set(name, await context.reader.resolve(id))
  }
  return found
}

/**
 * Fetches the branch that the current branch follows, and moves the current branch and the files to its commit.
 *
 * @throws ToolError `WRITE_CONFLICT` if the branch has commits that the remote lacks, or if changed files would be overwritten
 */
export async function pull(context: RepositoryContext, options: FetchOptions = {}): Promise<PullResult> {
  await context.requireRepository()
  const branch = await currentBranch(context)
  if (branch === undefined) throw new ToolError('INVALID_INPUT', 'Cannot pull: HEAD names no branch')
  const upstream = await upstreamOf(context, branch)
  const ref = options.ref ?? upstream?.branch ?? branch
  const from = await context.reader.headCommit()
  const to = await fetchRemote(context, { ...options, ref })
  if (to === undefined) throw new ToolError('NOT_FOUND', `Cannot pull: the remote has no branch ${quote(ref)}`)
  const { reader } = context
  const historyOf = async (id: string) => ancestors(reader.objects, await reader.shallow(), [id])
  if (from !== undefined && (await historyOf(from)).has(to)) return { from, to, status: 'upToDate', skipped: [] }
  if (from !== undefined && !(await historyOf(to)).has(from)) {
    throw new ToolError('WRITE_CONFLICT', `Cannot pull: ${quote(branch)} has commits that the remote branch lacks`, {
      hint: 'Push them to a branch of their own, or create a branch at the commit of the remote.',
    })
  }
  throwIfAborted(options.signal)
  const { skipped } = await checkoutCommit(context, to, false)
  await context.runGit('move the branch', (isomorphic) =>
    isomorphic.writeRef({ ...context.location, ref: `refs/heads/${branch}`, value: to, force: true }),
  )
  context.reopenReader()
  return { from, to, status: 'updated', skipped }
}

/** Initialises a repository, fetches a remote and checks out its branch. */
export async function clone(
  context: RepositoryContext,
  url: string,
  options: CloneOptions = {},
): Promise<Omit<CheckoutResult, 'kept'>> {
  if ((await context.backend.stat(gitPath())) !== undefined) {
    throw new ToolError('ALREADY_EXISTS', 'Cannot clone: the workspace already has a repository')
  }
  try {
    return await cloneInto(context, url, options)
  } catch (error) {
    // An incomplete repository must not block the next attempt.
    await removeRepository(context.backend)
    context.reopenReader()
    throw error
  }
}

async function cloneInto(
  context: RepositoryContext,
  url: string,
  { sparse, ...options }: CloneOptions,
): Promise<Omit<CheckoutResult, 'kept'>> {
  parseRemoteUrl(url)
  await init(context)
  await context.runGit('add the remote', (isomorphic) =>
    isomorphic.addRemote({ ...context.location, remote: REMOTE, url }),
  )
  const commit = await fetchRemote(context, { ...options, url })
  if (commit === undefined) throw new ToolError('NOT_FOUND', 'Cannot clone: the remote has no such branch')
  const name = options.ref ?? (await remoteBranch(context, commit)) ?? 'main'
  requireBranchName(name)
  throwIfAborted(options.signal)
  const { skipped } = await checkoutCommit(context, commit, false, sparse)
  await context.runGit('create the branch', (isomorphic) =>
    isomorphic.writeRef({ ...context.location, ref: `refs/heads/${name}`, value: commit, force: true }),
  )
  await context.writeHead(`refs/heads/${name}`, true)
  await setUpstream(context, name, REMOTE, `refs/heads/${name}`)
  return { commit, skipped }
}

/** Returns the remote's default branch: the one that its HEAD names. */
async function remoteBranch(context: RepositoryContext, commit: string): Promise<string | undefined> {
  const head = await context.backend.read(gitPath('refs', 'remotes', REMOTE, 'HEAD')).then(
    ({ bytes }) => new TextDecoder().decode(bytes),
    () => '',
  )
  const headBranch = /refs\/remotes\/origin\/(\S+)/.exec(head)?.[1]
  if (headBranch !== undefined) return headBranch
  for (const [name, id] of await remoteBranches(context)) if (id === commit) return name
  return undefined
}
