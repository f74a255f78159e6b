import type { WorkspaceState } from '../call/state/workspace-state.ts'
import type { Policy } from '../policy/evaluation.ts'
import { requireKnownTools } from '../policy/known-tools.ts'
import { memoryPath } from '../policy/memory-policy.ts'
import { compilePolicy } from '../policy/policy.ts'
import { nameWrittenFields } from '../policy/written-fields.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { OpenDialect } from './dialect-run.ts'
import { knownTools } from './known-tools.ts'

export { placeOfWorkspaceOption } from '../policy/schema.ts'

/** A compiled policy, with what the workspace takes from it. */
export interface OpenPolicy {
  readonly policy: Policy
  readonly memory: WorkspaceState['memory']
  /** @throws TypeError for a tool or an input field that the policy names and the workspace does not know */
  requireKnownTools(extraTools: readonly Tool[]): void
}

/** Opens a policy object. Refuses anything that is neither an object nor the name of a preset. */
export function openPolicyObject(input: unknown, dialect: OpenDialect | undefined): OpenPolicy {
  const policy = compilePolicy(input, dialect === undefined ? {} : { roots: dialect.roots })
  const { data, origins } = policy
  return {
    policy,
    memory: data.memory && { path: memoryPath(data.memory), acl: data.memory.acl ?? false },
    requireKnownTools: (extraTools) =>
      nameWrittenFields(origins, () =>
        requireKnownTools(data, knownTools(extraTools, dialect?.dialect), dialect?.roots),
      ),
  }
}
