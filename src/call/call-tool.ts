import { type Failure, ToolError, toFailure } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import { guardAccesses } from '../guard/guard-accesses.ts'
import { type Path, ROOT } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { ApprovalQuestion } from '../policy/approval.ts'
import { combineVerdicts, deniedError, type PolicyCall } from '../policy/policy.ts'
import type { EntryState, Receipt } from '../storage/backend.ts'
import type { Draft, ShownVersion, Tool } from '../tools/define-tool.ts'
import { throwIfAborted } from '../util/abort.ts'
import { authorizeChanges } from './authorize-changes.ts'
import { openCallAudit } from './call-audit.ts'
import { policyForShell } from './commands/shell-policy.ts'
import { limitResult } from './limit-result.ts'
import { parseInput } from './parse-input.ts'
import { callWithGrant, type Grant, requestApproval, requestStepApproval, requireGrant } from './pending-approval.ts'
import { activatePlan, isInPlanMode } from './plan-mode.ts'
import { readPriorStates } from './prior-states.ts'
import { preHooks, runPostHooks, runPreHook } from './run-hooks.ts'
import type { AuthorizedCall, CallAudit, CallOptions, Success } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'
import { storeFullOutput } from './store-full-output.ts'
import { addPathSuggestions } from './suggest-paths.ts'
import { openTaintTracker, type TaintTracker } from './taint-tracker.ts'
import { createToolContext } from './tool-context.ts'

/**
 * The life of one call: the same steps in the same order, for every tool and every caller. Gives a result or a refusal
 * and never rejects, whatever a model, a file or a backend does. A refused call has changed nothing. What the workspace
 * does beside its tools, such as undo, is given as a tool itself.
 */
export async function callTool(
  workspace: WorkspaceState,
  run: RunState,
  called: string | Tool,
  given: unknown,
  options: CallOptions & InternalCallOptions = {},
): Promise<Success | Failure> {
  const { grant, signal } = options
  const name = typeof called === 'string' ? called : called.name
  const record = openCallAudit(workspace, run, name, options)
  const flow = openTaintTracker(workspace, run, record.id, name, typeof called === 'string')
  try {
    // 1–6. What the call wants to reach, and whether it may.
    let call = await judge(workspace, run, called, given, record, flow)

    // 7. A hook may refuse or narrow. What it narrows is judged from the start.
    let input = given
    for (const hook of preHooks(workspace.hooks)) {
      record.enterStep('hooks')
      const narrowed = await runPreHook(hook, hookCall(run, call), workspace.limits.hookTimeoutMs)
      if (narrowed === undefined) continue
      input = narrowed.input
      call = await judge(workspace, run, called, input, record, flow)
    }

    // What was approved earlier is what was seen then.
    if (grant !== undefined) {
      if ('deny' in grant.answer) record.addApproval(grant.parked.request, 'denied', grant.answer.by)
      await requireGrant(workspace, grant)
    }

    // What the workspace does beside its tools is no data, and so it cannot wait for another process.
    const repeatable = typeof called === 'string' ? { input } : undefined
    const began = grant?.parked.began ?? record.started
    const asking = {
      grant,
      signal,
      approve: options.approve,
      began,
      earlier: [] as ApprovalQuestion[],
      answered: record.addApproval,
    }
    const ask = (question: ApprovalQuestion) => requestStepApproval(workspace, run, repeatable, question, asking)

    // What runs something is approved before it runs; what it then changes is asked about by itself.
    if (call.tool.commandLine !== undefined && call.verdict.decision === 'ask') {
      record.enterStep('approval')
      call = await approvedToRun(call, ask)
    }

    // 8. Draft: read through a view that reaches only what was granted, and say what shall change.
    record.enterStep('draft')
    throwIfAborted(signal)
    const context = createToolContext(workspace, callWithGrant(run, grant), call, {
      record,
      flow,
      signal,
      ask,
      began,
      onProgress: options.onProgress,
      commit: (tool) => callTool(workspace, run, tool, {}),
    })
    let draft = await call.tool.draft(call.input, context)
    for (const refusal of draft.refusals ?? []) record.addRefusal(refusal)
    for (const path of draft.reads ?? []) {
      record.addRead(path)
      flow.addRead(path)
    }

    // 9. Judge every change by itself, and get the approval if anything asks for it.
    record.enterStep('approval')
    let changes = flow.authorizeChanges(await authorizeChanges(workspace, run, call, draft))
    record.setVerdict(changes.verdict)
    if (changes.verdict.decision === 'deny') throw deniedError(changes.verdict)
    if (draft.dryRun === true) {
      // A rehearsal is judged whole, and ends with nothing to commit.
      draft = { ...draft, changes: [], copiedFrom: [] }
      changes = flow.authorizeChanges(await authorizeChanges(workspace, run, call, draft))
    }
    const { plan } = draft
    record.setPlan(plan)
    if (changes.verdict.decision === 'ask') {
      await requestApproval(workspace, run, repeatable && { ...repeatable, plan }, changes, asking)
    }

    // 10. Intent, commit, outcome: nothing is changed that could not be recorded before.
    record.enterStep('commit')
    throwIfAborted(signal)
    run.rates.countWrite(changes.bytes)
    const before = await readPriorStates(workspace, draft, changes.changes)
    await record.writeIntent(changes)
    if (plan !== undefined) activatePlan(workspace, run, plan)
    const receipt = await commit(workspace, run, draft, changes.bytes, signal)
    if (draft.target === undefined) journal(workspace, run, record, call.tool.name, before, receipt)
    for (const { path } of receipt.applied) run.readHistory.forgetLines(path)
    for (const shown of draft.shown?.(receipt) ?? []) {
      if (options.shows === undefined) run.readHistory.noteVersion(shown)
      else options.shows(shown)
      record.addReadVersion(shown)
    }
    const artifactUri =
      changes.storeDiff(run.artifacts, receipt, record.warnings) ??
      storeFullOutput(draft.fullOutput, run.artifacts, record.warnings)
    flow.labelChanges(changes, receipt, draft.target === undefined ? workspace : (workspace.origin ?? workspace))
    tellOf(draft.target === undefined ? workspace : workspace.origin, run, record.id, receipt)
    record.setLabel(flow.labelResult(), run.taint.origin())
    await record.writeOutcome(receipt, artifactUri)

    // 11. A hook may relabel or redact the result; the effect stands.
    record.enterStep('response')
    const result: Success = {
      ok: true,
      summary: draft.summary,
      warnings: [...context.warnings, ...record.warnings],
      ...(await draft.result(receipt)),
      callId: record.id,
      ...(artifactUri === undefined ? {} : { artifactUri }),
      ...(workspace.labels.active ? { label: flow.labelResult() } : {}),
    }
    const answered = (await runPostHooks(
      workspace.hooks,
      hookCall(run, call),
      result,
      workspace.limits.hookTimeoutMs,
    )) as Success
    const labelled = workspace.labels.active ? { ...answered, label: flow.applyHookLabel(answered.label) } : answered

    // 12. What a model sees is bounded.
    const answer = limitResult(labelled, workspace.limits.projectionBytes, run.artifacts)
    // A dialect may show something else of it.
    if (options.shows === undefined) draft.onResult?.(answer)
    return answer
  } catch (error) {
    const failure = withoutSecretVersion(
      workspace,
      name,
      toFailure(await addPathSuggestions(workspace, run, name, error)),
    )
    const label = flow.labelFailure(failure)
    record.setLabel(label, run.taint.origin())
    await record.writeRefusal(failure)
    return workspace.labels.active ? { ...failure, label } : failure
  }
}

/** What a call may be told by the workspace itself. */
export interface InternalCallOptions {
  readonly grant?: Grant | undefined
  /** The tool of a dialect that makes it. */
  readonly via?: string
  /** Takes what the call shows, for the read ledger: whoever calls knows later whether the run gets to see it. */
  readonly shows?: (shown: ShownVersion) => void
}

/** Steps 1 to 6: parse, plan, guard and classify, mode and rates, policy. */
async function judge(
  workspace: WorkspaceState,
  run: RunState,
  called: string | Tool,
  given: unknown,
  record: CallAudit,
  flow: TaintTracker,
): Promise<AuthorizedCall> {
  const call = await resolveAccesses(workspace, run, called, given, record)
  record.enterStep('limits')
  requireMode(workspace, run, call.tool)
  if (!record.isCounted) run.rates.countCall(call.tool.name)
  record.isCounted = true
  record.enterStep('policy')
  record.setVerdict(call.verdict)
  if (call.verdict.decision === 'deny') throw deniedError(call.verdict)
  return flow.beginCall(call)
}

/** What a call would reach and the verdict on it; nothing is executed, counted or refused by policy. */
export async function resolveAccesses(
  workspace: WorkspaceState,
  run: RunState,
  called: string | Tool,
  given: unknown,
  record?: Pick<CallAudit, 'enterStep' | 'setPlannedAccesses' | 'setAccesses' | 'addRefusal'>,
): Promise<AuthorizedCall> {
  record?.enterStep('input')
  const tool = typeof called === 'string' ? findTool(workspace, called) : called
  const input = parseInput(tool, given)
  if (workspace.policy.data.requireReason === true) requireReason(tool, input)
  record?.enterStep('plan')
  const planned = tool.plan(input, { cwd: run.shell.cwd, memory: workspace.memory?.path })
  record?.setPlannedAccesses(planned)
  record?.enterStep('guard')
  const facts = policyCall(run, tool.name, input)
  const accesses = await guardAccesses(workspace.backend, planned, nameJudge(workspace, facts))
  record?.setAccesses(accesses, input)
  const line = tool.commandLine?.(input)
  if (line === undefined) return { tool, input, accesses, verdict: workspace.policy.evaluate({ ...facts, accesses }) }
  return reachByCommand(workspace, { tool, input, accesses }, facts, line, record)
}

/** The verdict on a call that runs a line: on its place, on the line's structure, and on what it plainly opens. */
async function reachByCommand(
  workspace: WorkspaceState,
  call: Omit<AuthorizedCall, 'verdict'>,
  facts: Omit<PolicyCall, 'accesses'>,
  line: string,
  record: Pick<CallAudit, 'addRefusal'> | undefined,
): Promise<AuthorizedCall> {
  const { shell } = workspace
  if (shell === undefined) throw new ToolError('SHELL_UNAVAILABLE', 'This workspace has no shell')
  const judged = shell.judge(line, {
    cwd: call.accesses[0]?.path ?? ROOT,
    policy: policyForShell(shell, workspace.policy),
    call: { ...facts, accesses: call.accesses },
  })
  const reached = { ...call, line: judged.line, verdict: judged.verdict }
  const judgeName = nameJudge(workspace, facts)
  for (const access of await guardAccesses(workspace.backend, judged.opens, judgeName)) {
    const opened = workspace.policy.evaluate({ ...facts, accesses: [access] })
    // What it asks about is asked when the line comes to it, or once it is known what it wrote.
    if (opened.decision !== 'deny') continue
    const { code, message } = deniedError(opened)
    record?.addRefusal({ permission: access.permission, path: access.asked, code, message })
    reached.verdict = combineVerdicts(reached.verdict, opened)
  }
  return reached
}

/** Judges a path that cannot be followed by its name alone. */
function nameJudge(workspace: WorkspaceState, facts: Omit<PolicyCall, 'accesses'>): (access: GuardedAccess) => void {
  return (access) => {
    const verdict = workspace.policy.evaluate({ ...facts, accesses: [access] })
    if (verdict.decision === 'deny') throw deniedError(verdict)
  }
}

/** Gets the approval of what is about to run. */
async function approvedToRun(
  call: AuthorizedCall,
  ask: (question: ApprovalQuestion) => Promise<void>,
): Promise<AuthorizedCall> {
  const { tool, input, accesses, verdict } = call
  await ask({ tool: tool.name, input, accesses, verdict, risks: [] })
  return { ...call, verdict: { ...verdict, decision: 'allow', reason: 'It was approved' } }
}

/** The one place in the whole code where anything is changed. */
async function commit(
  workspace: WorkspaceState,
  run: RunState,
  draft: Draft<unknown>,
  bytes: number,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  const changes = draft.changes ?? []
  if (changes.length === 0) return { applied: [] }
  try {
    const at = workspace.clock()
    await workspace.diffs.beforeCommit(changes)
    if (draft.target === undefined) for (const fork of workspace.commitListeners) await fork.hold(changes)
    return await (draft.target ?? workspace.backend).commit(changes, {
      durability: 'durable',
      at,
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    run.rates.refundWrite(bytes)
    throw error
  }
}

/** The hash of a file that must not be read would tell whoever guesses its content. */
function withoutSecretVersion(workspace: WorkspaceState, tool: string, failure: Failure): Failure {
  if (typeof failure.currentSha256 !== 'string' || failure.path === undefined) return failure
  const path = failure.path as Path
  const classification = classifyPath(path)
  if (!classification.redacted || workspace.policy.decide(tool, 'file:read', path, classification) === 'allow')
    return failure
  const { currentSha256: _, ...rest } = failure
  return rest as Failure
}

/** Tells of what a call has changed. Accepted into what lies below an overlay, nothing shows another way here. */
function tellOf(workspace: WorkspaceState | undefined, run: RunState, callId: string, { applied }: Receipt): void {
  if (workspace === undefined || applied.length === 0) return
  const paths = applied.map(({ path }) => path)
  const listing = applied.some(({ before, after }) => (before === null) !== (after === null))
  workspace.events.emit({ type: 'changed', paths, listing, runId: run.id, callId })
}

/** Notes what a call replaced, so that it can be taken back. */
function journal(
  workspace: WorkspaceState,
  run: RunState,
  record: CallAudit,
  tool: string,
  before: readonly EntryState[] | undefined,
  receipt: Receipt,
): void {
  if (receipt.applied.length === 0) return
  workspace.journal.add({ callId: record.id, runId: run.id, tool, at: workspace.clock() }, before, receipt)
  if (before === undefined) record.warnings.push('This call cannot be undone: what it replaced is too large to be kept')
}

/** A call that changes something says why, where policy wants to know. What has no `reason` cannot. */
function requireReason({ name, mutates, input: { shape } }: Tool, { reason }: Readonly<Record<string, unknown>>): void {
  if (!mutates || !('reason' in shape) || (typeof reason === 'string' && /\S/.test(reason))) return
  throw new ToolError('INVALID_INPUT', `${name} needs a reason here`, {
    field: 'reason',
    hint: 'Say in reason why this is to be done; it is kept for the record.',
  })
}

function findTool(workspace: WorkspaceState, name: string): Tool {
  const tool = workspace.tools.get(name)
  if (tool !== undefined) return tool
  const withheld = workspace.unavailableTools.get(name)
  if (withheld !== undefined) throw withheld
  throw new ToolError('UNKNOWN_TOOL', `There is no tool ${JSON.stringify(String(name).slice(0, 100))} here`, {
    hint: `Use one of: ${[...workspace.tools.keys()].join(', ')}.`,
  })
}

function requireMode(workspace: WorkspaceState, run: RunState, tool: Tool): void {
  if (tool.mutates && isInPlanMode(workspace, run)) {
    throw new ToolError('PLAN_MODE', `${tool.name} has to wait until the plan is approved`)
  }
}

function hookCall(run: RunState, { tool, input, accesses }: AuthorizedCall) {
  return { runId: run.id, actor: run.actor, tool: tool.name, input, accesses }
}
