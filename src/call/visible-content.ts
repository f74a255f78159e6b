import type { Failure } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import { isWithin, type Path } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { CallPolicy, PolicyCall } from '../policy/evaluation.ts'
import type { Success } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Returns a function that decides whether a call may show content and versions of a file. */
export function contentVisibility(
  { policy, memory }: Pick<WorkspaceState, 'policy' | 'memory'>,
  call: Omit<PolicyCall, 'accesses'>,
): (path: Path) => boolean {
  let view: CallPolicy | undefined
  return (path) => {
    view ??= policy.forCall(call)
    const classification = classifyPath(path)
    if (view.decide('file:read', path, classification) === 'allow') return true
    const isNote = memory !== undefined && isWithin(path, memory.path)
    return isNote && !classification.redacted && view.decide('memory:read', path, classification) === 'allow'
  }
}

/** Removes the version of a file that must not be read, under any name: it would confirm a guess of its content. */
export function withoutHiddenVersion<R extends Failure | Success>(
  result: R,
  maySee: (path: Path) => boolean,
  accesses: readonly GuardedAccess[] = [],
): R {
  const { path, currentSha256, oldSha256 } = result as Record<string, unknown>
  if (typeof path !== 'string' || (typeof currentSha256 !== 'string' && typeof oldSha256 !== 'string')) return result
  if (maySee(path as Path) && accesses.every((access) => access.asked !== path || maySee(access.path))) return result
  if (typeof oldSha256 === 'string') return { ...result, oldSha256: null }
  const { currentSha256: _, ...visible } = result as Failure
  return visible as R
}
