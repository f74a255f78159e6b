import { combineVerdicts, type Policy, type Verdict } from '../../policy/policy.ts'
import type { Shell } from '../../shells/types.ts'

/**
 * The policy as a shell meets it: where it cannot take back what commands do, or cannot keep them from what is
 * protected, a command that nobody has allowed by a rule or by its tool is asked about.
 */
export function policyForShell({ name, capabilities: { undo, confined } }: Shell, policy: Policy): Policy {
  const lack = !confined ? 'cannot keep commands from protected files' : undo ? undefined : 'cannot undo commands'
  if (lack === undefined) return policy
  const asked: Verdict = {
    decision: 'ask',
    reason: `The shell ${name} ${lack}`,
    rules: [{ name: confined ? 'undo' : 'confined', action: 'ask', source: 'protection' }],
  }
  return {
    ...policy,
    evaluate(call) {
      const verdict = policy.evaluate(call)
      const isMeant = verdict.rules.some(
        ({ source, action }) => action === 'allow' && (source === 'rule' || source === 'tool'),
      )
      return isMeant ? verdict : combineVerdicts(verdict, asked)
    },
  }
}
