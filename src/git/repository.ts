import type { GitHost, Person, Repository } from './provider.ts'
import { checkout, createBranch, currentBranch, deleteBranch, listBranches, moveTo } from './repository-branches.ts'
import { RepositoryContext } from './repository-context.ts'
import { commit, log } from './repository-history.ts'
import { add, restore, status } from './repository-index.ts'
import { clone, fetchRemote, init } from './repository-remote.ts'

const DEFAULT_AUTHOR: Person = { name: 'Wardspace', email: 'wardspace@localhost' }

/** Returns the repository of a host. It need not exist yet: `init` and `clone` create it. */
export function openRepository(host: GitHost, options: { readonly author?: Person } = {}): Repository {
  const context = new RepositoryContext(host, options.author ?? DEFAULT_AUTHOR)
  return {
    init: (initOptions) => init(context, initOptions),
    add: (paths, addOptions) => add(context, paths, addOptions),
    commit: (request) => commit(context, request),
    log: (logOptions) => log(context, logOptions),
    status: () => status(context),
    branches: () => listBranches(context),
    currentBranch: () => currentBranch(context),
    branch: (name, branchOptions) => createBranch(context, name, branchOptions),
    deleteBranch: (name) => deleteBranch(context, name),
    moveTo: (branch) => moveTo(context, branch),
    checkout: (ref, checkoutOptions) => checkout(context, ref, checkoutOptions),
    restore: (paths, restoreOptions) => restore(context, paths, restoreOptions),
    fetch: (fetchOptions) => fetchRemote(context, fetchOptions),
    clone: (url, cloneOptions) => clone(context, url, cloneOptions),
  }
}
