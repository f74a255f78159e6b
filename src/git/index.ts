import type { GitProvider } from './provider.ts'
import { type GitOptions, gitOptionTable, openRepository } from './repository.ts'

export type { CommitHistory, HistoryOptions } from './commit-history.ts'
export type {
  CommitRequest,
  Credentials,
  CredentialsRequest,
  CredentialsSource,
  GitHost,
  GitProvider,
  LogEntry,
  Person,
  PreparedPush,
  PullRequest,
  PullRequestOptions,
  PullResult,
  PushAnswer,
  PushOptions,
  PushRequest,
  PushResult,
  RemoteOptions,
  Repository,
  RestoreOptions,
  StashEntry,
  StashOptions,
  StatusEntry,
} from './provider.ts'

import { checkOptions, refuseSurplus } from '../util/check-options.ts'

export { type GitOptions, openRepository }

/**
 * Git for a workspace, as its option `git`: init, add, commit, log, status, branch, checkout, clone, fetch and push over HTTP,
 * without a native git. Needs the optional package isomorphic-git: `npm install isomorphic-git`. On platforms without a global
 * `Buffer`, such as browsers and workers, the first use of the repository defines one with the optional package buffer, because
 * isomorphic-git requires it. Diffs need neither.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', git: git() })
 * await workspace.git?.init()
 * await workspace.git?.add('.')
 * await workspace.git?.commit({ message: 'first' })
 * await workspace.close()
 */
export function git(requested?: GitOptions): GitProvider {
  refuseSurplus('git()', 1, arguments)
  const options = checkOptions<GitOptions>('git()', requested, gitOptionTable)
  return { open: (host) => openRepository(host, options) }
}
