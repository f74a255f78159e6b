import { openCallAudit } from '../call/call-audit.ts'
import { type CallState, draftCall, evaluateCall, evaluateDraft, requireMode } from '../call/call-tool.ts'
import { ENDLESS_WAIT } from '../call/call-wait.ts'
import { requireOpen } from '../call/require-open.ts'
import type { AuthorizedCall } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { type ErrorCode, ToolError, toFailure } from '../errors.ts'
import { completeVersions } from '../history/complete-versions.ts'
import { type GuardedAccess, refusedPermission } from '../policy/access.ts'
import type { DialectCall } from '../policy/dialect-call.ts'
import { combineVerdicts, denialOf, strength, type Verdict } from '../policy/evaluation.ts'
import { createRates } from '../policy/rate-limits.ts'
import { isBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { Explanation, WorkspaceRun } from './types.ts'

/** Returns the verdict on a call, or the refusal before it. Loaded with the first explanation. */
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

/**
 * Like {@link explainCall}, but throws the refusal. Takes the steps of the call up to its approval, in a copy of the run.
 *
 * @param dialectCall the call of a dialect tool that makes this call
 */
export async function evaluateExplained(
  workspace: WorkspaceState,
  caller: RunState,
  target: string | Tool,
  input: unknown,
  dialectCall: DialectCall | undefined,
): Promise<Extract<Explanation, { ok: true }>> {
  requireOpen(workspace)
  const run = copyOf(workspace, caller)
  const tool = typeof target === 'string' ? target : target.name
  const audit = openCallAudit({ ...workspace, clock: () => 0 }, run, tool, {})
  const taint = workspace.openTaintTracker(workspace, run, { callId: audit.id, tool }, true)
  const state: CallState = { workspace, run, target, options: { dialectCall }, audit, taint, wait: ENDLESS_WAIT }
  const unpin = workspace.backend.pin?.()
  try {
    const evaluated = await evaluateCall(state, completeVersions(run.seenVersions, input))
    requireMode(workspace, run, evaluated.tool)
    const call = evaluated.verdict.decision === 'deny' ? evaluated : taint.beginCall(evaluated)
    const verdict = isDrafted(call) ? await evaluateChanges(state, call) : call.verdict
    const { line } = call
    const accesses =
      verdict.decision === 'deny'
        ? call.accesses.map((access) => ({ ...access, permission: refusedPermission(access.permission) }))
        : call.accesses
    return { ok: true, verdict, accesses, ...(line === undefined ? {} : { line }) }
  } finally {
    unpin?.()
  }
}

/** A copy of a run, in which a call changes nothing that the run has: no counts, and no artifacts. */
function copyOf({ limits, clock }: WorkspaceState, run: RunState): RunState {
  return { ...run, rates: createRates({ limits, clock }), artifacts: { ...run.artifacts, put: () => '' } }
}

/**
 * Whether the draft of a call may be made without the call. That of a command runs it, and that of an own tool may do
 * anything.
 */
function isDrafted({ tool, verdict }: AuthorizedCall): boolean {
  return verdict.decision !== 'deny' && isBuiltinTool(tool) && !tool.permission.startsWith('command:')
}

/** Returns the verdict on the changes of a call, or that on the call if it would fail before policy evaluates them. */
async function evaluateChanges(state: CallState, call: AuthorizedCall): Promise<Verdict> {
  try {
    const proposed = await draftCall(state, call, { began: 0, ask: async () => {} })
    const { changes } = await evaluateDraft(state, call, proposed)
    return withoutFurtherPaths(changes.verdict, call.accesses)
  } catch (error) {
    if (!(error instanceof ToolError && refusals.has(error.code))) return call.verdict
    const denial = denialOf(error)
    if (denial === undefined) throw error
    return withoutFurtherPaths(combineVerdicts(call.verdict, denial), call.accesses)
  }
}

/** The codes of refusals by the guard, policy and labels. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PATH_REJECTED',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'READ_ONLY',
  'TAINT_DENIED',
  'PATCH_BUDGET_EXCEEDED',
])

/**
 * Returns a verdict that names only paths of the call and the one that decided: policy may hide others, such as those
 * below a moved directory. A denial has no rules on the others.
 */
function withoutFurtherPaths(verdict: Verdict, accesses: readonly GuardedAccess[]): Verdict {
  const named = new Set<string | undefined>([verdict.path, ...accesses.flatMap(({ asked, path }) => [asked, path])])
  const rules = new Map<string, Verdict['rules'][number]>()
  for (const { path, ...rule } of verdict.rules) {
    const isNamed = path === undefined || named.has(path)
    if (!isNamed && verdict.decision === 'deny') continue
    const shown = isNamed && path !== undefined ? { ...rule, path } : rule
    rules.set(JSON.stringify(shown), shown)
  }
  // Verdicts on the call come before those on its changes, also if the latter are stricter.
  return { ...verdict, rules: [...rules.values()].sort((a, b) => strength[b.action] - strength[a.action]) }
}
