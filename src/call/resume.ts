import { type Failure, ToolError, toFailure } from '../errors.ts'
import { type ApprovalAnswer, type NormalizedAnswer, normalizeAnswer } from '../policy/approval.ts'
import type { ParkedCall } from '../policy/parked-calls.ts'
import { openCallAudit } from './call-audit.ts'
import { callTool } from './call-tool.ts'
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
    const read = requireAnswer(answer)
    const parked = await workspace.parkedCalls.take(id)
    workspace.parkedRuns.delete(id)
    if (parked === undefined) throw notWaiting(id)
    // A record without a valid time was not made here. The comparison is false for NaN.
    if (!(workspace.clock() < parked.expiresAt)) throw expired(parked)
    return await callTool(workspace, run, parked.tool, parked.input, { ...options, grant: { parked, answer: read } })
  } catch (error) {
    const failure = toFailure(error)
    await openCallAudit(workspace, run, 'resume', options).writeRefusal(failure)
    return failure
  }
}

function requireAnswer(answer: unknown): NormalizedAnswer {
  const read = normalizeAnswer(answer)
  if (read !== undefined) return read
  throw new ToolError('INVALID_INPUT', 'An approval is answered by "allow", "allow-run" or { deny: reason }')
}

function expired({ id, tool, expiresAt }: ParkedCall): ToolError {
  return new ToolError('NOT_FOUND', `The approval of ${tool} came too late: it could be given for a limited time`, {
    approvalId: id,
    expiresAt,
    hint: 'Nothing was changed. Make the call again.',
  })
}

function notWaiting(id: string): ToolError {
  return new ToolError('NOT_FOUND', `No call waits for the approval ${JSON.stringify(String(id).slice(0, 100))}`, {
    hint: 'It was answered already, or never asked for. Make the call again.',
  })
}
