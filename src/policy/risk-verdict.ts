import { quote } from '../paths/logical-path.ts'
import type { Verdict } from './policy.ts'
import type { Risk } from './risk/index.ts'

/** What `requireApprovalIf` says of risks that it names: the first, and all of them. */
export function riskVerdict(first: Risk, risks: readonly Risk[]): Verdict {
  return {
    decision: 'ask',
    reason: `Policy asks about ${quote(first.path)}: ${first.flag}`,
    path: first.path,
    rules: risks.map(({ flag, path }) => ({ name: `requireApprovalIf ${flag}`, action: 'ask', source: 'risk', path })),
  }
}
