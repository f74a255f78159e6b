import { checkCallOptions } from '../call/call-options.ts'
import { callTool } from '../call/call-tool.ts'
import { hideTokens } from '../call/hide-tokens.ts'
import { refuseUncalled } from '../call/refuse-uncalled.ts'
import { requireOpen } from '../call/require-open.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { isUint8Array } from '../util/bytes.ts'
import { isBoolean, isRecordOf, must, type OptionTable } from '../util/check-options.ts'
import type { OverlayCommitOptions } from './merge-pending.ts'
import { openAccept } from './operations.ts'
import { undoOptionTable } from './run-step.ts'
import type { Workspace } from './types.ts'

type CommitResult = ReturnType<Workspace['commit']>

const mergeOptionTable: OptionTable<Omit<OverlayCommitOptions, 'merge'>> = {
  ...undoOptionTable,
  resolve: isRecordOf(
    must(
      'a string, a Uint8Array, or null',
      (value) => value === null || typeof value === 'string' || isUint8Array(value),
    ),
  ),
}

const commitOptionTable: OptionTable<OverlayCommitOptions> = { ...mergeOptionTable, merge: isBoolean }

/** Applies the changes of an overlay to the files below it. Wrong options refuse it. */
export function commitOverlay(workspace: WorkspaceState, run: RunState, options: unknown): CommitResult {
  return accept(workspace, run, () => checkCallOptions('commit()', options, commitOptionTable))
}

/** The same with the option `merge`. */
export function mergeOverlay(workspace: WorkspaceState, run: RunState, options: unknown): CommitResult {
  return accept(workspace, run, () => ({
    ...checkCallOptions<Omit<OverlayCommitOptions, 'merge'>>('merge()', options, mergeOptionTable),
    merge: true,
  }))
}

async function accept(
  workspace: WorkspaceState,
  run: RunState,
  checkedOptions: () => OverlayCommitOptions,
): Promise<Awaited<CommitResult>> {
  try {
    requireOpen(workspace)
    const { reason, merge, resolve, ...callOptions } = checkedOptions()
    const operation = await openAccept(workspace, merge === true, resolve)
    const result = await callTool(workspace, run, operation, reason === undefined ? {} : { reason }, callOptions)
    return hideTokens(result) as Awaited<CommitResult>
  } catch (error) {
    return refuseUncalled({ workspace, run }, 'commit', error)
  }
}
