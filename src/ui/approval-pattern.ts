import { compileGlobs, withBelow } from '../paths/glob.ts'
import type { ApprovalRequest } from '../policy/approval.ts'
import { checkArgument, isObjectValue, requireText } from '../util/check-options.ts'
import type { ApprovalPattern, PendingApproval } from './approvals.ts'
import { readList } from './read-list.ts'

/** Whether calls like this one can be approved by their paths. The effect of a command does not follow from its path. */
export function canHavePattern({ tool, accesses }: ApprovalRequest): boolean {
  const isFileAccess = accesses.every(({ permission }) => permission.startsWith('file:'))
  return tool !== 'submit_plan' && accesses.length > 0 && isFileAccess
}

/** Returns the paths that are proposed for a request: all files of its folder, whose name is taken literally. */
export function proposePaths({ accesses }: ApprovalRequest): string {
  const path = accesses[0]?.path ?? ''
  return `${path.slice(0, path.lastIndexOf('/') + 1).replace(/[*?[\]{}()!+@|,]/g, '\\$&')}*`
}

/**
 * Creates a pattern from an approved request. It covers calls of the same tool about which the same rules ask, with the same
 * permissions and without another risk, if all their paths match.
 *
 * @param paths globs with commas between them, as in the rows of a policy: the plain name of a folder covers what is below it
 * @throws ToolError with the reason, if one of them is not a valid glob
 */
export function createPattern(approval: Pick<PendingApproval, 'request' | 'actor'>, paths: string): ApprovalPattern {
  checkArgument('createPattern()', 'approval', approval, isObjectValue)
  requireText('createPattern()', 'paths', paths)
  const { request, actor } = approval
  const glob = compileGlobs(readList(paths).flatMap(withBelow))
  const rules = rulesOf(request)
  const permissions = new Set(request.accesses.map(({ permission }) => permission))
  const flags = new Set(request.risks.map(({ flag }) => flag))
  return {
    actor,
    tool: request.tool,
    paths,
    covers: (other) =>
      other.tool === request.tool &&
      canHavePattern(other) &&
      [...rulesOf(other)].every((rule) => rules.has(rule)) &&
      other.risks.every(({ flag }) => flags.has(flag)) &&
      other.accesses.every(
        ({ permission, path, asked }) => permissions.has(permission) && glob.matches(path) && glob.matches(asked),
      ),
  }
}

function rulesOf({ verdict }: ApprovalRequest): ReadonlySet<string> {
  return new Set(verdict.rules.filter(({ action }) => action === 'ask').map(({ source, name }) => `${source} ${name}`))
}
