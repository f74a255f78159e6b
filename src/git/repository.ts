import {
  checkArgument,
  checkOptions,
  isAbortSignal,
  isBoolean,
  isFunction,
  isObjectWith,
  isOneOf,
  isOneOrMore,
  isPositive,
  isRecordOf,
  isText,
  type OptionTable,
  shape,
} from '../util/check-options.ts'
import type { CommitRequest, GitHost, Person, RemoteOptions, Repository, RestoreOptions } from './provider.ts'
import { checkout, createBranch, currentBranch, deleteBranch, listBranches, moveTo } from './repository-branches.ts'
import { RepositoryContext } from './repository-context.ts'
import { commit, log } from './repository-history.ts'
import { add, restore, status } from './repository-index.ts'
import { clone, fetchRemote, init } from './repository-remote.ts'

/** The options of `git()`. */
interface GitOptions {
  readonly author?: Person
}

const isPerson = shape<Person>({ name: isText, email: isText }, 'name', 'email')

export const gitOptionTable: OptionTable<GitOptions> = { author: isPerson }

const commitTable: OptionTable<CommitRequest> = { message: isText, author: isPerson, amend: isBoolean }
const restoreTable: OptionTable<RestoreOptions> = { from: isText, only: isOneOf('index'), overlay: isBoolean }
const remoteTable: OptionTable<RemoteOptions> = {
  corsProxy: isText,
  headers: isRecordOf(isText),
  onProgress: isFunction,
  signal: isAbortSignal,
  depth: isPositive,
}

/** The options of a method, by the position of its parameter. */
type OptionsOf<M extends keyof Repository, At extends number> = NonNullable<Parameters<Repository[M]>[At]>

/** @throws TypeError for anything but a path or a list of paths */
function isPaths<P extends string | readonly string[]>(paths: P, owner: string): P {
  return isOneOrMore(isText)(paths, 'paths', owner) as P
}

/** @throws TypeError that names the argument */
function textOf(owner: string, name: string, value: string): string {
  return checkArgument(owner, name, value, isText)
}

const DEFAULT_AUTHOR: Person = { name: 'Wardspace', email: 'wardspace@localhost' }

const isGitHost = isObjectWith('a host with a backend, mayRead() and change()', 'mayRead', 'change')

/** Returns the repository of a host. It need not exist yet: `init` and `clone` create it. */
export function openRepository(host: GitHost, options?: { readonly author?: Person }): Repository {
  checkArgument('openRepository()', 'host', host, isGitHost)
  const { author = DEFAULT_AUTHOR } = checkOptions<GitOptions>('openRepository()', options, gitOptionTable)
  const context = new RepositoryContext(host, author)
  return {
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
    moveTo: async (branch) => moveTo(context, textOf('moveTo()', 'branch', branch)),
    checkout: async (ref, checkoutOptions) =>
      checkout(
        context,
        textOf('checkout()', 'ref', ref),
        checkOptions<OptionsOf<'checkout', 1>>('checkout()', checkoutOptions, { force: isBoolean }),
      ),
    restore: async (paths, restoreOptions) =>
      restore(context, isPaths(paths, 'restore()'), checkOptions('restore()', restoreOptions, restoreTable)),
    fetch: async (fetchOptions) =>
      fetchRemote(
        context,
        checkOptions<OptionsOf<'fetch', 0>>('fetch()', fetchOptions, { ...remoteTable, ref: isText, url: isText }),
      ),
    clone: async (url, cloneOptions) =>
      clone(
        context,
        textOf('clone()', 'url', url),
        checkOptions<OptionsOf<'clone', 1>>('clone()', cloneOptions, { ...remoteTable, ref: isText }),
      ),
  }
}
