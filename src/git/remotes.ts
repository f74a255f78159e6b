import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { requireBranchName } from './ref-name.ts'
import { parseRemoteUrl } from './remote-url.ts'
import { currentBranch } from './repository-branches.ts'
import type { RepositoryContext } from './repository-context.ts'

/** The address of a repository on a server. */
export interface RemoteAddress {
  readonly url: URL
  /** The name of the remote, if the address is that of one. */
  readonly remote: string | undefined
}

/**
 * Returns the address of a remote of the repository, or the given one.
 *
 * @throws ToolError `NOT_FOUND` for an unknown remote, `INVALID_INPUT` for an address that cannot be used
 */
export async function remoteAddress(
  context: RepositoryContext,
  { remote, url }: { readonly remote?: string; readonly url?: string },
  operation: 'fetch' | 'push',
): Promise<RemoteAddress> {
  if (url !== undefined) {
    const known = remote ?? 'origin'
    const address = parseRemoteUrl(url)
    const configured = await remoteUrl(context, known, operation).catch(() => undefined)
    return { url: address, remote: configured?.href === address.href ? known : undefined }
  }
  const name = remote ?? 'origin'
  const configured = await remoteUrl(context, name, operation)
  if (configured !== undefined) return { url: configured, remote: name }
  throw new ToolError('NOT_FOUND', `The repository has no remote ${quote(name)}`, {
    hint: 'Clone the repository, or pass its address as url.',
  })
}

async function remoteUrl(
  context: RepositoryContext,
  remote: string,
  operation: 'fetch' | 'push',
): Promise<URL | undefined> {
  if (!/^[\w][\w.-]*$/.test(remote)) return undefined
  const read = (field: string) =>
    context.runGit('read the remote', (isomorphic) =>
      isomorphic.getConfig({ ...context.location, path: `remote.${remote}.${field}` }),
    )
  const address: unknown = (operation === 'push' ? await read('pushurl') : undefined) ?? (await read('url'))
  return typeof address === 'string' ? parseRemoteUrl(address) : undefined
}

/** Records the branch of a remote as the upstream of a branch. */
export async function setUpstream(
  context: RepositoryContext,
  branch: string,
  remote: string,
  merge: string,
): Promise<void> {
  await context.runGit('set the upstream', async (isomorphic) => {
    await isomorphic.setConfig({ ...context.location, path: `branch.${branch}.remote`, value: remote })
    await isomorphic.setConfig({ ...context.location, path: `branch.${branch}.merge`, value: merge })
  })
}

/** Returns the branch on a remote that a branch follows, by default that of the current branch. */
export async function upstreamOf(
  context: RepositoryContext,
  name: string | undefined,
): Promise<{ readonly remote: string; readonly branch: string } | undefined> {
  const branch = name ?? (await currentBranch(context))
  if (branch === undefined) return undefined
  requireBranchName(branch)
  const [remote, merge]: unknown[] = await context.runGit('read the upstream', async (isomorphic) => [
    await isomorphic.getConfig({ ...context.location, path: `branch.${branch}.remote` }),
    await isomorphic.getConfig({ ...context.location, path: `branch.${branch}.merge` }),
  ])
  if (typeof remote !== 'string' || typeof merge !== 'string') return undefined
  return { remote, branch: merge.replace(/^refs\/heads\//, '') }
}
