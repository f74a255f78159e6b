import { quote } from '../paths/logical-path.ts'
import type { Verdict } from './evaluation.ts'
import type { Risk } from './risk/index.ts'

/** Returns the verdict of `requireApprovalIf`. Its reason names the first risk, its rules name all. */
export function riskVerdict(first: Risk, risks: readonly Risk[]): Verdict {
  return {
    decision: 'ask',
    reason: `Policy asks about ${quote(first.path)}: ${first.flag}`,
    path: first.path,
    rules: risks.map(({ flag, path }) => ({ name: `requireApprovalIf ${flag}`, action: 'ask', source: 'risk', path })),
  }
}
