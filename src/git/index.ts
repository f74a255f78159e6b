import type { GitProvider, Person } from './provider.ts'
import { openRepository } from './repository.ts'

export type {
  CommitRequest,
  GitHost,
  GitProvider,
  LogEntry,
  Person,
  RemoteOptions,
  Repository,
  RestoreOptions,
  StatusEntry,
} from './provider.ts'
export { openRepository }

/**
 * Git for a workspace, as its option `git`: init, add, commit, log, status, branch, checkout, clone and fetch over HTTP,
 * without any native git. Where the platform has no global `Buffer`, as a browser or a worker, the first use of the repository
 * (diffs need it not) puts one there, which isomorphic-git takes for granted.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', git: git() })
 * await workspace.git?.init()
 * await workspace.git?.add('.')
 * await workspace.git?.commit({ message: 'first' })
 * await workspace.close()
 */
export function git(options: { readonly author?: Person } = {}): GitProvider {
  return { open: (host) => openRepository(host, options) }
}
