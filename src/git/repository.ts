import {
  checkArgument,
  checkOptions,
  isAbortSignal,
  isBoolean,
  isFunction,
  isListOf,
  isObjectWith,
  isOneOf,
  isOneOrMore,
  isPositive,
  isRecordOf,
  isText,
  must,
  type OptionTable,
  refuseIdle,
  refuseSurplus,
  refuseSurplusOf,
  shape,
} from '../util/check-options.ts'
import type {
  CommitRequest,
  CredentialsSource,
  GitHost,
  Person,
  PullRequestOptions,
  PushOptions,
  RemoteOptions,
  Repository,
  RestoreOptions,
  StashOptions,
} from './provider.ts'
import { upstreamOf } from './remotes.ts'
import { checkout, createBranch, currentBranch, deleteBranch, listBranches, moveTo } from './repository-branches.ts'
import { RepositoryContext } from './repository-context.ts'
import { commit, log } from './repository-history.ts'
import { add, restore, status } from './repository-index.ts'
import { formatPatch, pullRequest } from './repository-patches.ts'
import { push } from './repository-push.ts'
import { clone, fetchRemote, init, pull, remoteBranches } from './repository-remote.ts'
import { setSparseDirectories, sparseDirectories } from './repository-sparse.ts'
import { applyStash, dropStash, listStashes, pushStash } from './repository-stash.ts'

/** The options of `git()`. */
export interface GitOptions {
  readonly author?: Person
  readonly credentials?: CredentialsSource
}

/** Other characters would end the line of the author, or its name. */
const isPartOfLine = must(
  'a string without line breaks, NUL, < and >',
  (value) => typeof value === 'string' && !/[\0\r\n<>]/.test(value),
)
const isPerson = shape<Person>({ name: isPartOfLine, email: isPartOfLine }, 'name', 'email')

export const gitOptionTable: OptionTable<GitOptions> = { author: isPerson, credentials: isFunction }

const commitTable: OptionTable<CommitRequest> = { message: isText, author: isPerson, amend: isBoolean }
const checkoutTable: OptionTable<OptionsOf<'checkout', 1>> = { force: isBoolean, sparse: isListOf(isText) }
const restoreTable: OptionTable<RestoreOptions> = { from: isText, only: isOneOf('index'), overlay: isBoolean }
const remoteTable: OptionTable<RemoteOptions> = {
  corsProxy: isText,
  headers: isRecordOf(isText),
  credentials: isFunction,
  onProgress: isFunction,
  signal: isAbortSignal,
  depth: isPositive,
  onLeftOut: isFunction,
}

const isExpectation = shape<{ readonly expect: string | null }>(
  {
    expect: must(
      'a commit id of 40 hex digits, or null',
      (value) => value === null || /^[0-9a-f]{40}$/.test(String(value)),
    ),
  },
  'expect',
)
const pushTable: OptionTable<PushOptions> = {
  ...{ remote: isText, url: isText, ref: isText, remoteRef: isText, delete: isBoolean, setUpstream: isBoolean },
  ...{ corsProxy: isText, headers: isRecordOf(isText), credentials: isFunction, signal: isAbortSignal },
  force: (value, path, owner) => (value === 'lease' ? value : isExpectation(value, path, owner)),
}

/** @throws TypeError for a wrong option, and for one without an effect on a deletion */
function pushOptionsOf(options: PushOptions | undefined): PushOptions {
  const checked = checkOptions<PushOptions>('push()', options, pushTable)
  if (checked.delete === true) {
    const problem = 'with delete: true; name the branch on the server as remoteRef'
    refuseIdle('push()', checked, ['ref', 'setUpstream'], problem)
  }
  return checked
}

const stashTable: OptionTable<StashOptions> = { message: isText, untracked: isBoolean }

function positionOf(owner: string, position = 0): number {
  return checkArgument(
    owner,
    'position',
    position,
    must('a whole number', (value) => Number.isSafeInteger(value) && Number(value) >= 0),
  )
}

const rangeTable: OptionTable<PullRequestOptions> = { base: isText, head: isText }

/** The options of a method, by the position of its parameter. */
type OptionsOf<M extends keyof Repository, At extends number> = NonNullable<Parameters<Repository[M]>[At]>

/** @throws TypeError for anything but a path or a list of paths */
function isPaths<P extends string | readonly string[]>(paths: P, owner: string): P {
  return isOneOrMore(isText)(paths, 'paths', owner) as P
}

function directoriesOf(directories: readonly string[] | null): readonly string[] | null {
  if (directories === null) return null
  return checkArgument('setSparseDirectories()', 'directories', directories, isListOf(isText))
}

/** @throws TypeError that names the argument */
function textOf(owner: string, name: string, value: string): string {
  return checkArgument(owner, name, value, isText)
}

const DEFAULT_AUTHOR: Person = { name: 'Wardspace', email: 'wardspace@localhost' }

const isGitHost = isObjectWith('a host with a backend, mayRead() and change()', 'mayRead', 'change')

/** Returns the repository of a host. It need not exist yet: `init` and `clone` create it. */
export function openRepository(host: GitHost, options?: GitOptions): Repository {
  refuseSurplus('openRepository()', 2, arguments)
  checkArgument('openRepository()', 'host', host, isGitHost)
  const { author = DEFAULT_AUTHOR, credentials } = checkOptions<GitOptions>('openRepository()', options, gitOptionTable)
  const context = new RepositoryContext(host, author, credentials)
  const repository: Repository = {
    init: async (initOptions) =>
      init(context, checkOptions<OptionsOf<'init', 0>>('init()', initOptions, { defaultBranch: isText })),
    add: async (paths, addOptions) =>
      add(
        context,
        isPaths(paths, 'add()'),
        checkOptions<OptionsOf<'add', 1>>('add()', addOptions, { tracked: isBoolean }),
      ),
    commit: async (request) => commit(context, checkOptions('commit()', request, commitTable)),
    log: async (logOptions) =>
      log(context, checkOptions<OptionsOf<'log', 0>>('log()', logOptions, { ref: isText, depth: isPositive })),
    status: () => status(context),
    branches: () => listBranches(context),
    currentBranch: () => currentBranch(context),
    branch: async (name, branchOptions) =>
      createBranch(
        context,
        textOf('branch()', 'name', name),
        checkOptions<OptionsOf<'branch', 1>>('branch()', branchOptions, { at: isText }),
      ),
    deleteBranch: async (name) => deleteBranch(context, textOf('deleteBranch()', 'name', name)),
    upstream: async (branch) =>
      upstreamOf(context, branch === undefined ? undefined : textOf('upstream()', 'branch', branch)),
    moveTo: async (branch) => moveTo(context, textOf('moveTo()', 'branch', branch)),
    checkout: async (ref, checkoutOptions) =>
      checkout(
        context,
        textOf('checkout()', 'ref', ref),
        checkOptions<OptionsOf<'checkout', 1>>('checkout()', checkoutOptions, checkoutTable),
      ),
    sparseDirectories: () => sparseDirectories(context),
    setSparseDirectories: async (directories) => setSparseDirectories(context, directoriesOf(directories)),
    restore: async (paths, restoreOptions) =>
      restore(context, isPaths(paths, 'restore()'), checkOptions('restore()', restoreOptions, restoreTable)),
    stash: async (stashOptions) => pushStash(context, checkOptions<StashOptions>('stash()', stashOptions, stashTable)),
    stashes: async () => {
      await context.requireRepository()
      return (await listStashes(context)).map(({ commit, message }) => ({ commit, message }))
    },
    applyStash: async (position) => applyStash(context, positionOf('applyStash()', position)),
    dropStash: async (position) => dropStash(context, positionOf('dropStash()', position)),
    fetch: async (fetchOptions) =>
      fetchRemote(
        context,
        checkOptions<OptionsOf<'fetch', 0>>('fetch()', fetchOptions, { ...remoteTable, ref: isText, url: isText }),
      ),
    remoteBranches: () => remoteBranches(context),
    pull: async (pullOptions) =>
      pull(
        context,
        checkOptions<OptionsOf<'pull', 0>>('pull()', pullOptions, { ...remoteTable, ref: isText, url: isText }),
      ),
    pullRequest: async (range) => pullRequest(context, checkOptions('pullRequest()', range, rangeTable, 'base')),
    formatPatch: async (range) => formatPatch(context, checkOptions('formatPatch()', range, rangeTable, 'base')),
    push: async (pushOptions) => push(context, pushOptionsOf(pushOptions)),
    clone: async (url, cloneOptions) =>
      clone(
        context,
        textOf('clone()', 'url', url),
        checkOptions<OptionsOf<'clone', 1>>('clone()', cloneOptions, {
          ...remoteTable,
          ref: isText,
          sparse: isListOf(isText),
        }),
      ),
  }
  return refuseSurplusOf(repository, (_, error) => {
    throw error
  })
}
