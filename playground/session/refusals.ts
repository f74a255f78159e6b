import { blockedInWords, type Refusal, refusalInWords } from './person-words.ts'
import type { TimelineEntry } from './types.ts'

/** Codes of calls that the guard, the policy, the mode, a label or the person refused. */
const refusalCodes: ReadonlySet<string> = new Set([
  ...['PATH_REJECTED', 'POLICY_DENIED', 'POLICY_DENIED_SECRET', 'READ_ONLY', 'PLAN_MODE', 'TAINT_DENIED'],
  ...['COMMAND_DENIED', 'APPROVAL_DENIED'],
])

/** Whether a call that failed was refused, and not merely impossible. */
export function isRefusal(code: string): boolean {
  return refusalCodes.has(code)
}

/** What was refused of a call, in the words of a person; empty if nothing was. A command can be refused in part. */
export function refusalsOf({ result }: Pick<TimelineEntry, 'result'>): readonly string[] {
  if (result === undefined) return []
  if (!result.ok) return isRefusal(result.code) ? [blockedInWords(result)] : []
  const { refused } = result as { refused?: readonly Refusal[] }
  return [...new Set((refused ?? []).map(refusalInWords))]
}
