import { evaluateCall } from '../call/call-tool.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { toFailure } from '../errors.ts'
import type { DialectCall } from '../policy/dialect-call.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { Explanation, WorkspaceRun } from './types.ts'

/** Returns the verdict on a call, or the refusal before it. */
export async function explainCall(
  workspace: WorkspaceState,
  run: RunState,
  name: string,
  input: unknown,
): ReturnType<WorkspaceRun['explain']> {
  try {
    return await evaluateExplained(workspace, run, name, input, undefined)
  } catch (error) {
    return toFailure(error)
  }
}

/** Like {@link explainCall}, but throws the refusal. `dialectCall`: the call of a dialect tool that makes this call. */
export async function evaluateExplained(
  workspace: WorkspaceState,
  run: RunState,
  tool: string | Tool,
  input: unknown,
  dialectCall: DialectCall | undefined,
): Promise<Extract<Explanation, { ok: true }>> {
  const call = await evaluateCall(workspace, run, tool, input, { options: { dialectCall } })
  const { verdict, accesses, line } = workspace
    .openTaintTracker(workspace, run, { callId: run.id, tool: call.tool.name }, true)
    .beginCall(call)
  return { ok: true, verdict, accesses, ...(line === undefined ? {} : { line }) }
}

/** Returns the name of a tool as text, whatever the caller passed. */
export function toToolName(name: unknown): string {
  return typeof name === 'string' ? name : `(${typeof name})`
}
