import type { AgentLimits, DoneReason, Prices, Usage } from './types.ts'

/** The cost of tokens in dollars. */
export function costOf(
  { inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>,
  prices: Prices,
): number {
  return (inputTokens * prices.read + outputTokens * prices.written) / 1_000_000
}

/**
 * Returns why another step is not allowed, or undefined when it is.
 *
 * @param next the estimated tokens of its request
 */
export function overBudget(usage: Usage, next: number, limits: AgentLimits): DoneReason | undefined {
  const { maxTokens = Number.POSITIVE_INFINITY, maxCost = Number.POSITIVE_INFINITY, prices } = limits
  if (usage.inputTokens + usage.outputTokens + next > maxTokens) return 'tokens'
  const nextCost = prices === undefined ? 0 : costOf({ inputTokens: next, outputTokens: 0 }, prices)
  return (usage.cost ?? 0) + nextCost > maxCost ? 'cost' : undefined
}
