import { combineVerdicts, type Policy, type Verdict } from '../../policy/evaluation.ts'
import type { Shell } from '../../shells/types.ts'

/**
 * Returns the policy for a shell. If the shell cannot undo commands or cannot keep them from protected files, every command
 * needs an approval, unless a rule or the entry of its tool allows it.
 */
export function policyForShell({ name, capabilities: { undo, confined } }: Shell, policy: Policy): Policy {
  const lack = !confined ? 'cannot keep commands from protected files' : undo ? undefined : 'cannot undo commands'
  if (lack === undefined) return policy
  const approvalVerdict: Verdict = {
    decision: 'ask',
    reason: `The shell ${name} ${lack}`,
    rules: [{ name: confined ? 'undo' : 'confined', action: 'ask', source: 'protection' }],
  }
  return {
    ...policy,
    evaluate(call) {
      const verdict = policy.evaluate(call)
      const isAllowedExplicitly = verdict.rules.some(
        ({ source, action }) => action === 'allow' && (source === 'rule' || source === 'tool'),
      )
      return isAllowedExplicitly ? verdict : combineVerdicts(verdict, approvalVerdict)
    },
  }
}
