import { ToolError } from '../errors.ts'
import { GIT_DIRECTORY } from '../paths/logical-path.ts'
import type { Access } from '../policy/access.ts'
import type { Policy } from '../policy/evaluation.ts'

/**
 * Returns the access that policy evaluates for a push. Its path names server, repository and branch, so that rules and answers
 * for a whole run are about these: `.git/push/HOST/REPOSITORY/refs/heads/BRANCH`. A port follows the host after a `+`.
 *
 * @throws ToolError `PATH_REJECTED` for an address that no path can hold
 */
export function pushAccess({ host, pathname }: URL, ref: string): Access {
  const names = pathname.split('/').filter((name) => name !== '')
  const path = [GIT_DIRECTORY, 'push', host.replaceAll(':', '+'), ...names, ref].join('/')
  return { permission: 'git:push', path, noFollow: true }
}

/** @throws ToolError `POLICY_DENIED` if policy does not name the host */
export function requireReachable(policy: Pick<Policy, 'mayReach'>, url: URL): void {
  if (policy.mayReach(url)) return
  throw new ToolError('POLICY_DENIED', `policy names no network host ${JSON.stringify(url.host)}`, {
    hint: 'The owner of the workspace can name it in network.hosts of the policy.',
  })
}
