import { isRefusal } from '../../errors.ts'
import type { TimelineEntry } from '../timeline.ts'
import { headlineOf, type Refusal, refusalInWords } from './person-words.ts'

/** What was refused of a call, in the words of a person; empty if nothing was. A command can be refused in part. */
export function refusalsOf({ result }: Pick<TimelineEntry, 'result'>): readonly string[] {
  if (result === undefined) return []
  if (!result.ok) return isRefusal(result) ? [headlineOf(result)] : []
  const { refused } = result as { refused?: readonly Refusal[] }
  return [...new Set((refused ?? []).map(refusalInWords))]
}
