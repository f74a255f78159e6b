import type { CommitHistory } from '../git/commit-history.ts'
import type { WorkspaceDiff } from '../git/workspace-diff.ts'
import { isWrittenAsId } from '../git/written-as-id.ts'
import { isAbove } from '../policy/taint.ts'
import type { TaintTracker } from './state/taint-tracker.ts'

/**
 * Returns a diff that names its base commit instead of showing its id, if the label of the id is above what the call and its
 * run have received. A caller who writes the id receives its label: the result confirms that the commit exists.
 */
export async function withLabelledBase(
  diff: WorkspaceDiff,
  base: string | undefined,
  history: CommitHistory,
  taint: TaintTracker,
): Promise<WorkspaceDiff> {
  const { baseCommit } = diff
  if (baseCommit === null) return diff
  if (isWrittenAsId(base)) {
    await taint.addCommit(history, baseCommit)
    return diff
  }
  const label = await taint.labelOfCommit(history, baseCommit)
  return isAbove(label, taint.highestLabel()) ? { ...diff, baseCommit: base ?? 'HEAD' } : diff
}
