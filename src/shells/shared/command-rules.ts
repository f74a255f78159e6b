import type { Policy } from '../../policy/evaluation.ts'

/** Whether a policy labels the output of commands, or limits what may be passed to them. */
export function hasCommandLabels({ labels }: Policy['data']): boolean {
  return [...(labels?.sources ?? []), ...(labels?.sinks ?? [])].some(({ commands }) => commands !== undefined)
}

/** Whether a policy has lists of commands, or rules on them. */
export function hasCommandRules({ commands, rules }: Policy['data']): boolean {
  const { allow, deny = [], deniedOperators = [] } = commands ?? {}
  if (allow !== undefined || deny.length > 0 || deniedOperators.length > 0) return true
  return rules?.some((rule) => rule.commands !== undefined) === true
}
