import { type Failure, ToolError, toFailure } from '../errors.ts'
import { type ApprovalAnswer, type NormalizedAnswer, normalizeAnswer } from '../policy/approval.ts'
import type { ParkedCall } from '../policy/parked-calls.ts'
import { openCallAudit } from './call-audit.ts'
import { callTool } from './call-tool.ts'
import { requireOpen } from './require-open.ts'
import type { CallOptions, Success } from './state/call.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Runs or refuses a parked call, once. Refusals of the resumption itself are audited as `resume`. */
export async function resumeCall(
  workspace: WorkspaceState,
  workspaceRun: RunState,
  id: string,
  answer: ApprovalAnswer,
  options: CallOptions = {},
): Promise<Success | Failure> {
  const run = workspace.parkedRuns.get(id) ?? workspaceRun
  try {
    requireOpen(workspace)
    if (typeof id !== 'string') throw notWaiting(typeof id)
    const normalized = requireAnswer(answer)
    const parked = await workspace.parkedCalls.take(id)
    workspace.parkedRuns.delete(id)
    // An answer is for the call that it names, whatever a store returns.
    if (parked === undefined || parked.id !== id) throw notWaiting(id)
    // Refuses a record whose time is invalid, too: the comparison is false for NaN.
    if (!(workspace.clock() < parked.expiresAt)) throw expired(parked)
    if (parked.taint !== undefined) run.taint.raise(parked.taint)
    const { dialectTools, dialectArgs } = parked
    return await callTool(workspace, run, parked.tool, parked.input, {
      ...options,
      dialectCall: dialectTools === undefined ? undefined : { tools: dialectTools, args: dialectArgs },
      grant: { parked, answer: normalized },
    })
  } catch (error) {
    const failure = toFailure(error)
    await openCallAudit(workspace, run, 'resume', options).writeOutcome(failure)
    return failure
  }
}

function requireAnswer(answer: unknown): NormalizedAnswer {
  const normalized = normalizeAnswer(answer)
  if (normalized !== undefined) return normalized
  throw new ToolError('INVALID_INPUT', 'The answer to an approval must be "allow", "allow-run" or { deny: reason }')
}

function expired({ id, tool, expiresAt }: ParkedCall): ToolError {
  return new ToolError('NOT_FOUND', `The approval of ${tool} came too late: the call has expired`, {
    approvalId: id,
    expiresAt,
    hint: 'Nothing was changed. Repeat the call.',
  })
}

function notWaiting(id: string): ToolError {
  return new ToolError('NOT_FOUND', `No call waits for the approval ${JSON.stringify(id.slice(0, 100))}`, {
    hint: 'The approval was already answered or does not exist. Repeat the call.',
  })
}
