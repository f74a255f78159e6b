import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { throwIfAborted } from '../util/abort.ts'
import { ancestors } from './ancestors.ts'
import { openHttp } from './http.ts'
import type { PreparedPush, PushAnswer, PushOptions, PushResult } from './provider.ts'
import { describePush } from './push-description.ts'
import { type MissingCommits, missingCommits, objectsToSend, packOf, type SentObjects } from './push-pack.ts'
import { requireBranchName } from './ref-name.ts'
import { throughProxy } from './remote-url.ts'
import { type RemoteAddress, remoteAddress, setUpstream } from './remotes.ts'
import { currentBranch, listBranches } from './repository-branches.ts'
import type { RepositoryContext } from './repository-context.ts'
import { discover, type RemoteState, sendPack } from './send-pack.ts'

/** What a push means in this repository, before the server is asked. */
interface PushPlan extends RemoteAddress {
  /** The local branch, if one is pushed. */
  readonly branch: string | undefined
  /** `null` deletes the branch on the server. */
  readonly commit: string | null
  /** The branch on the server, without `refs/heads/`. */
  readonly remoteBranch: string
}

/** Sends a branch to a server. */
export async function push(context: RepositoryContext, options: PushOptions = {}): Promise<PushResult> {
  await context.requireRepository()
  throwIfAborted(options.signal)
  const plan = await planPush(context, options)
  const { url, branch, commit } = plan
  if (options.setUpstream === true && (branch === undefined || plan.remote === undefined)) {
    throw new ToolError(
      'INVALID_INPUT',
      'Cannot set the upstream: only a branch has one, on a remote of the repository',
      {
        field: 'setUpstream',
        hint: 'Push a branch to a remote of the repository, or do not set the upstream.',
      },
    )
  }
  const ref = `refs/heads/${plan.remoteBranch}`
  const request = {
    ...{ url, ref, commit, branch, force: options.force !== undefined, history: context.reader },
    prepare: () => prepare(context, plan, options),
  }
  const { host } = context
  const answer = host.push === undefined ? await (await request.prepare()).send() : await host.push(request)
  await recordRemoteBranch(context, plan)
  if (options.setUpstream === true) await setUpstream(context, branch as string, plan.remote as string, ref)
  return { url: url.href, ref, to: commit, ...answer }
}

async function planPush(context: RepositoryContext, options: PushOptions): Promise<PushPlan> {
  const address = await remoteAddress(context, options, 'push')
  const isDeleted = options.delete === true
  const branches = await listBranches(context)
  const named = isDeleted ? undefined : (options.ref ?? (await currentBranch(context)))
  const current = named === 'HEAD' ? await currentBranch(context) : named
  const branch = current !== undefined && branches.includes(current) ? current : undefined
  const source = branch === undefined ? named : `refs/heads/${branch}`
  const commit = isDeleted ? null : await commitOf(context, address, source ?? 'HEAD')
  const remoteBranch = (options.remoteRef ?? branch)?.replace(/^refs\/heads\//, '')
  if (remoteBranch === undefined) {
    const hint = 'Name the branch on the server with remoteRef.'
    throw new ToolError('INVALID_INPUT', 'Cannot push: the branch on the server is missing', {
      field: 'remoteRef',
      hint,
    })
  }
  if (/^refs\//.test(remoteBranch)) {
    throw new ToolError('INVALID_INPUT', `Cannot push to ${quote(remoteBranch)}: only branches are pushed`, {
      field: 'remoteRef',
    })
  }
  requireBranchName(remoteBranch)
  return { ...address, branch, commit, remoteBranch }
}

/** @throws ToolError `NOT_FOUND` with the address, because git names it */
async function commitOf(context: RepositoryContext, address: RemoteAddress, source: string): Promise<string> {
  try {
    return await context.reader.resolve(source)
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'NOT_FOUND') throw error
    throw missingBranch(address, source, error.message)
  }
}

function missingBranch({ url }: RemoteAddress, ref: string, message: string): ToolError {
  return new ToolError('NOT_FOUND', message, {
    ...{ hint: 'Name a branch that exists.', push: { url: url.href, ref, from: null, to: null, reason: 'missing' } },
  })
}

/** Contacts the server, and computes what would be sent. */
async function prepare(context: RepositoryContext, plan: PushPlan, options: PushOptions): Promise<PreparedPush> {
  const { url, commit, remoteBranch } = plan
  const { signal, headers } = options
  const http = openHttp({
    ...{ url, via: throughProxy(url, options.corsProxy), operation: 'push', headers, signal, staysHome: true },
    credentials: options.credentials ?? context.credentials,
    requireHost: context.host.requireHost,
  })
  const ref = `refs/heads/${remoteBranch}`
  const remote = await orConnection(() => discover(http, throughProxy(url, options.corsProxy), signal))
  const from = remote.refs.get(ref) ?? null
  const update = { ref, from, to: commit }
  if (from === commit && commit !== null) {
    const answer: PushAnswer = { from, status: 'upToDate', message: '' }
    return { from, isNeeded: false, describe: async () => '', send: async () => answer }
  }
  const { isForced, missing, sent } = await requirePossible(context, plan, options, remote)
  return {
    ...{ from, isNeeded: true },
    describe: () => describePush(context, { url, ...update, isForced }, missing),
    async send() {
      const pack = commit === null ? new Uint8Array() : await packOf(context.reader.objects, sent.objects, signal)
      const { refused, message } = await orConnection(() => sendPack(http, remote, update, pack, signal))
      if (refused !== undefined) {
        const action = commit === null ? `delete ${remoteBranch} on the remote` : `push ${remoteBranch}`
        throw new ToolError('BACKEND_ERROR', `Cannot ${action}: the remote refuses: ${refused}`, {
          hint: 'Nothing was changed there. Read what the remote says, and change the commits accordingly.',
          push: { url: url.href, ...update, reason: 'remote', why: refused, text: message },
        })
      }
      const status = commit === null ? 'deleted' : from === null ? 'created' : isForced ? 'forced' : 'updated'
      return { from, status, message }
    },
  }
}

interface PossiblePush {
  /** Whether the branch on the server loses commits. */
  readonly isForced: boolean
  readonly missing: MissingCommits
  readonly sent: SentObjects
}

const NOTHING: PossiblePush = {
  isForced: false,
  missing: { commits: [], boundary: [], isCut: false },
  sent: { objects: [], paths: new Set() },
}

/** @throws ToolError for a push that the server would have to refuse, or that would send files that may not be read */
async function requirePossible(
  context: RepositoryContext,
  plan: PushPlan,
  options: PushOptions,
  remote: RemoteState,
): Promise<PossiblePush> {
  const { url, commit, remoteBranch } = plan
  const ref = `refs/heads/${remoteBranch}`
  const from = remote.refs.get(ref) ?? null
  const refused = (reason: 'fetchFirst' | 'nonFastForward' | 'stale' | 'shallow', why: string, hint: string) =>
    new ToolError('WRITE_CONFLICT', `Cannot push ${remoteBranch}: ${why}`, {
      ...{ hint, push: { url: url.href, ref, from, to: commit, reason } },
    })
  if (commit === null && from === null) {
    throw missingBranch(plan, ref, `Cannot delete ${remoteBranch} on the remote: it does not exist there`)
  }
  if (options.force !== undefined && (await expected(context, plan, options.force)) !== from) {
    throw refused('stale', 'the remote is not where it is expected', 'Fetch, and look at what is new there.')
  }
  if (commit === null) return NOTHING
  const { objects } = context.reader
  const shallow = await context.reader.shallow()
  const isAhead = from === null || (await ancestors(objects, shallow, [commit])).has(from)
  if (!isAhead && options.force === undefined) {
    const hint = 'Fetch, and put the own commits on top of those of the remote.'
    if ((await objects.read(from)) !== undefined)
      throw refused('nonFastForward', 'it lacks commits of the remote', hint)
    throw refused('fetchFirst', 'the remote has commits that this repository does not have', hint)
  }
  const missing = await missingCommits(objects, shallow, commit, remote.has)
  if (missing.isCut) {
    throw refused('shallow', 'the repository has only a part of the history', 'Clone or fetch the whole history.')
  }
  const sent = await objectsToSend(objects, missing)
  const hidden = [...sent.paths].filter((path) => !context.host.mayRead(path)).length
  if (hidden > 0) {
    const files = hidden === 1 ? 'a file that may not be read' : `${hidden} files that may not be read`
    throw new ToolError('POLICY_DENIED', `Cannot push ${remoteBranch}: its commits contain ${files}`)
  }
  return { isForced: !isAhead, missing, sent }
}

/** Where the branch on the server is expected. */
async function expected(
  context: RepositoryContext,
  { remote, remoteBranch }: PushPlan,
  force: NonNullable<PushOptions['force']>,
): Promise<string | null> {
  if (force !== 'lease') return force.expect
  if (remote === undefined) return null
  return context.reader.resolve(`refs/remotes/${remote}/${remoteBranch}`).catch(() => null)
}

/** Records where the branch of a remote is. */
async function recordRemoteBranch(context: RepositoryContext, { remote, remoteBranch, commit }: PushPlan) {
  if (remote === undefined) return
  const ref = `refs/remotes/${remote}/${remoteBranch}`
  await context.runGit('record the remote branch', (isomorphic) =>
    commit === null
      ? isomorphic.deleteRef({ ...context.location, ref })
      : isomorphic.writeRef({ ...context.location, ref, value: commit, force: true }),
  )
}

/** Runs a request. The message of any other error than ours may reveal internals. */
async function orConnection<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ToolError) throw error
    throw new ToolError('BACKEND_ERROR', 'Cannot push: the server cannot be reached', {
      hint: 'Nothing was sent. Check the address, and try again later.',
    })
  }
}
