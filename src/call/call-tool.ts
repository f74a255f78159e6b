import { type Failure, ToolError, toFailure, withCause } from '../errors.ts'
import { memoryPermissions } from '../guard/grants.ts'
import { guardAccesses } from '../guard/guard-accesses.ts'
import { hiddenBy } from '../guard/visibility.ts'
import { mayExpectVersions, noteVersions } from '../history/seen-versions.ts'
import { display, isWithin, type Path, quote } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import type { ApprovalQuestion } from '../policy/approval.ts'
import type { DialectCall } from '../policy/dialect-call.ts'
import { deniedError, withAccesses } from '../policy/evaluation.ts'
import type { EntryState, Receipt } from '../storage/backend.ts'
import type { BuiltinContext, BuiltinDraft, PlanState } from '../tools/builtin-tool.ts'
import type { ShownVersion, Tool } from '../tools/define-tool.ts'
import { resultSize } from '../tools/shared/result-size.ts'
import { memoizeAsync } from '../util/memoize-async.ts'
import { activatePlan } from './approve-plans.ts'
import { openCallAudit } from './call-audit.ts'
import { type CallWait, ENDLESS_WAIT, isEndable } from './call-wait.ts'
import type { EvaluatedDraft, ProposedDraft } from './evaluate-changes.ts'
import { mayRunCommands } from './may-run-commands.ts'
import type { ApprovalContext, Grant, ReplayableCall } from './pending-approval.ts'
import { isInPlanMode } from './plan-mode.ts'
import { readInput } from './read-input.ts'
import { closedError, requireOpen } from './require-open.ts'
import type { AuthorizedCall, AuthorizedChanges, CallAudit, CallOptions, Success } from './state/call.ts'
import type { CheckReport } from './state/checks.ts'
import type { HookCall } from './state/hooks.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { CheckCall, CheckedCall, OpenChecks, WorkspaceState } from './state/workspace-state.ts'
import { storeFullOutput } from './store-full-output.ts'
import { CallContext, type ToolContextOptions } from './tool-context.ts'
import { contentVisibility, withoutHiddenVersion } from './visible-content.ts'

/** What authorizes and commits changes is loaded with the first call that changes something. */
const loadChangeSteps = memoizeAsync(() => import('./change-steps.ts'))

/** Completes the versions that an input expects. */
const loadCompletion = memoizeAsync(() => import('../history/complete-versions.ts'))

/** Options that only the library itself passes. */
export interface InternalCallOptions {
  /** The answer to the approval that the call waited for. */
  readonly grant?: Grant | undefined
  /** The dialect tool that makes the call, for the audit. */
  readonly via?: string
  /** The call of a dialect tool that makes this call, for policy and rates. */
  readonly dialectCall?: DialectCall | undefined
  /** Whether the dialect tool has made a call before, so that it is counted already. */
  readonly isLaterStep?: boolean
  /** Receives the versions that the call shows. A dialect decides later whether the run is shown them. */
  readonly shows?: (shown: ShownVersion) => void
  /** Of a call that a check makes: nobody is asked, nothing is counted, and its changes are dropped. */
  readonly check?: CheckCall
  /** Builds the draft of a method of `workspace.files`, which has the name of a tool. Its result is not cut. */
  readonly draftFiles?: (
    call: AuthorizedCall,
    context: BuiltinContext,
    options: ToolContextOptions,
  ) => Promise<BuiltinDraft<unknown>>
}

/** Whether a call is one of a tool, or of a method that works like one. Operations, such as undo, restore earlier states. */
function isToolCall({ target, options }: Pick<CallState, 'target' | 'options'>): boolean {
  return typeof target === 'string' || options.draftFiles !== undefined || options.check !== undefined
}

/** A call while it runs. Steps read it and pass their own results on to the next step. */
export interface CallState {
  readonly workspace: WorkspaceState
  readonly run: RunState
  /** The name of a tool, or an operation of the workspace, such as undo, in the shape of a tool. */
  readonly target: string | Tool
  readonly options: CallOptions & InternalCallOptions
  readonly audit: CallAudit
  readonly taint: TaintTracker
  /** Set before the first step. */
  wait: CallWait
}

const loadLimitedWait = memoizeAsync(() => import('./limited-wait.ts'))

/**
 * Runs one call: the same steps in the same order, for every tool and every caller. Returns a result or a refusal and
 * never rejects, whatever a model, a file or a backend does. A refused call changes nothing.
 */
export async function callTool(
  workspace: WorkspaceState,
  run: RunState,
  target: string | Tool,
  rawInput: unknown,
  options: CallOptions & InternalCallOptions = {},
): Promise<Success | Failure> {
  const name = typeof target === 'string' ? target : target.name
  const audit = openCallAudit(workspace, run, name, options)
  const taint = workspace.openTaintTracker(
    workspace,
    run,
    { callId: audit.id, tool: name },
    isToolCall({ target, options }),
  )
  const state: CallState = { workspace, run, target, options, audit, taint, wait: ENDLESS_WAIT }
  const unpin = workspace.backend.pin?.()
  let preparing: Promise<PreparedCall> | undefined
  try {
    requireOpen(workspace)
    if (isEndable(name, options.signal)) state.wait = (await loadLimitedWait()).openLimitedWait(state, name)
    preparing = prepareCall(state, rawInput)
    const prepared = await state.wait.untilPrepared(preparing)
    const effect = applyReceipt(state, prepared, await commitDraft(state, prepared)) // 10
    const finishing = createResult(state, prepared, effect) // 11
    const result = await (effect.receipt.applied.length > 0 ? finishing : state.wait.until(finishing))
    const recorded = recordOutcome(audit, await projectResult(state, prepared, effect, result)) // 12
    return noteSeen(state, recorded instanceof Promise ? await recorded : recorded)
  } catch (error) {
    return noteSeen(state, await refuseCall(state, name, closedMeanwhile(workspace, error)))
  } finally {
    state.wait.close(taint, preparing)
    unpin?.()
  }
}

/** A call that may have its effect. */
interface PreparedCall extends EvaluatedDraft {
  readonly call: AuthorizedCall
  /** Commits the changes, if there are any. */
  readonly steps: Awaited<ReturnType<typeof loadChangeSteps>> | undefined
  /** The states that the changes replace. `undefined` if they are too large to keep. */
  readonly before: readonly EntryState[] | undefined
  readonly warnings: readonly string[]
}

/** Steps 1 to 9: all that a call does before its effect. */
async function prepareCall(state: CallState, rawInput: unknown): Promise<PreparedCall> {
  const { workspace, run, options, audit } = state
  // No async function returns an input: a promise would read its field `then`, which may throw.
  const wanted = mayExpectVersions(rawInput)
    ? (await loadCompletion()).completeVersions(run.seenVersions, rawInput)
    : rawInput
  const requested = authorizeCall(state, await evaluateCall(state, wanted)) // 1 to 6
  const hooked = runPreCallHooks(state, requested, wanted) // 7
  const { authorized, input } = hooked instanceof Promise ? await hooked : hooked
  if (options.grant !== undefined) await checkGrant(state, options.grant)
  const approvals = openApprovals(state, input)
  const call = needsCommandApproval(authorized) ? await approveCall(state, authorized, approvals) : authorized
  const evaluated = await prepareDraft(state, call, approvals) // 8
  const { draft, changes, warnings } = evaluated
  audit.plan = draft.plan
  if (changes.verdict.decision === 'ask') await approveDraft(state, evaluated, approvals) // 9
  audit.step = 'commit'
  if (changes.changes.length === 0) return { call, draft, changes, warnings, steps: undefined, before: undefined }
  const steps = await loadChangeSteps()
  const before = await steps.readPriorStates(workspace, draft, changes.changes)
  return { call, draft, changes, warnings, steps, before }
}

/** Returns the error of a call, which is another one if its storage or audit was closed while it ran. */
function closedMeanwhile(workspace: WorkspaceState, error: unknown): unknown {
  const code = error instanceof ToolError ? error.code : undefined
  return code === 'BACKEND_ERROR' || code === 'AUDIT_FAILED' ? (closedError(workspace) ?? error) : error
}

/** Records the versions that a result or a refusal shows. A program that reads files names versions with all digits. */
function noteSeen<R extends Success | Failure>({ run, options }: CallState, result: R): R {
  if (options.draftFiles === undefined) noteVersions(run.seenVersions, result)
  return result
}

/** Steps 5 and 6. */
function authorizeCall(state: CallState, call: AuthorizedCall): AuthorizedCall {
  requireModeAndLimits(state, call.tool)
  return requireVerdict(state, call)
}

/**
 * Steps 1 to 4 and the verdict: what a call would reach, and what policy says about it. Nothing is executed, counted or
 * refused by policy. They run again for an input that a pre-call hook has narrowed.
 */
export async function evaluateCall(state: CallState, rawInput: unknown): Promise<AuthorizedCall> {
  const {
    workspace,
    run,
    audit,
    wait,
    options: { dialectCall },
  } = state
  const parsed = parseCall(state, rawInput)
  const { tool, input } = parsed instanceof Promise ? await parsed : parsed
  wait.limit(workspace, tool, input.timeoutMs)
  const plan = planAccesses(state, tool, input)
  const planned = plan instanceof Promise ? await plan : plan
  audit.planned = planned
  const facts = policyCall(run, tool.name, input, dialectCall)
  const guarded = guardAndClassify(state, planned, facts)
  const accesses = guarded instanceof Promise ? await guarded : guarded
  if (workspace.ownTools.has(tool)) await requireNotes(workspace, accesses)
  audit.setAccesses(accesses, input)
  const line = workspace.runnerOf(tool).commandLine(tool, input)
  if (line !== undefined) {
    const { evaluateCommand } = await import('./evaluate-command.ts')
    return evaluateCommand(workspace, { tool, input, accesses, dialectCall }, facts, line, audit)
  }
  return { tool, input, accesses, dialectCall, verdict: workspace.policy.evaluate(withAccesses(facts, accesses)) }
}

/** Step 1: finds the tool and parses the input with its schema. */
function parseCall({ workspace, target, audit }: CallState, rawInput: unknown): ParsedCall | Promise<ParsedCall> {
  audit.step = 'input'
  const tool = typeof target === 'string' ? workspace.tools.get(target) : target
  if (tool === undefined) return refuseTool(workspace, target as string)
  const withReason = (input: AuthorizedCall['input']) => {
    if (workspace.policy.data.requireReason === true) requireReason(tool, input)
    return { tool, input }
  }
  const input = readInput({ name: tool.name, input: workspace.runnerOf(tool).inputSchema(tool) }, rawInput)
  return input instanceof Promise ? input.then(withReason) : withReason(input)
}

type ParsedCall = Pick<AuthorizedCall, 'tool' | 'input'>

/** Step 2: the accesses that the call plans, before anything is read. */
function planAccesses(
  { workspace, run, audit }: CallState,
  tool: Tool,
  input: AuthorizedCall['input'],
): readonly Access[] | Promise<readonly Access[]> {
  audit.step = 'plan'
  const state: PlanState = { cwd: run.shell.cwd, memory: workspace.memory?.path }
  return workspace.runnerOf(tool).plan(tool, input, state)
}

/** Steps 3 and 4: the canonical path of every access, classified by the requested name and by the canonical one. */
function guardAndClassify(
  { workspace, audit }: CallState,
  planned: readonly Access[],
  facts: ReturnType<typeof policyCall>,
): readonly GuardedAccess[] | Promise<readonly GuardedAccess[]> {
  audit.step = 'guard'
  return guardAccesses(workspace.backend, planned, hiddenBy(workspace.policy, facts))
}

/** Requires that accesses with memory permissions stay inside the notes, because file rules do not apply to them. */
async function requireNotes({ backend, memory }: WorkspaceState, accesses: readonly GuardedAccess[]): Promise<void> {
  const toNotes = accesses.filter(({ permission }) => memoryPermissions.has(permission))
  if (toNotes.length === 0) return
  const directory = memory && (await backend.canonical(memory.path))
  for (const { permission, asked, path } of toNotes) {
    if (memory && directory !== undefined && isWithin(asked, memory.path) && isWithin(path, directory)) continue
    const message = `Cannot use ${permission} for ${quote(display(asked))}: it is outside of the notes`
    throw new ToolError('POLICY_DENIED', message, { path: asked })
  }
}

/** Step 5: checks plan mode and counts the call against the rate limits, once. */
function requireModeAndLimits({ workspace, run, audit, options }: CallState, tool: Tool): void {
  audit.step = 'limits'
  requireMode(workspace, run, tool)
  if (!audit.isCounted && options.check === undefined) countCall(run, tool.name, options)
  audit.isCounted = true
}

/** @throws ToolError `PLAN_MODE` for a tool that changes something before the plan is approved */
export function requireMode(workspace: WorkspaceState, run: RunState, tool: Tool): void {
  if (!tool.mutates || !isInPlanMode(workspace, run)) return
  throw new ToolError('PLAN_MODE', `${tool.name} is not allowed before the plan is approved`)
}

/**
 * Counts a call under its tool and, for the first call that a dialect tool makes, under the names of the dialect tool. Each
 * name counts once per call of the dialect tool.
 */
function countCall({ rates }: RunState, tool: string, { dialectCall, isLaterStep = false }: InternalCallOptions): void {
  if (dialectCall === undefined) rates.countCall(tool)
  else if (!isLaterStep) rates.countCall(...new Set([tool, ...dialectCall.tools]))
  else if (dialectCall.tools.includes(tool)) rates.countCall()
  else rates.countCall(tool)
}

/** Step 6: ends the call if policy or the taint of the run denies it. */
function requireVerdict({ audit, taint }: CallState, call: AuthorizedCall): AuthorizedCall {
  audit.step = 'policy'
  audit.verdict = call.verdict
  if (call.verdict.decision === 'deny') throw deniedError(call.verdict)
  return taint.beginCall(call)
}

/** Step 7: a hook may refuse the call or narrow its input. A narrowed input is authorized from step 1. */
function runPreCallHooks(
  state: CallState,
  requested: AuthorizedCall,
  rawInput: unknown,
): HookedCall | Promise<HookedCall> {
  const { preToolCall, postToolResponse } = state.workspace.hooks
  const hook = preToolCall ?? postToolResponse
  return hook ? callPreHooks(state, requested, rawInput) : { authorized: requested, input: rawInput }
}

interface HookedCall {
  readonly authorized: AuthorizedCall
  readonly input: unknown
}

async function callPreHooks(state: CallState, requested: AuthorizedCall, rawInput: unknown): Promise<HookedCall> {
  const { workspace, run, audit, wait } = state
  let authorized = requested
  let input = rawInput
  // Also what runs the hooks after the commit, where nothing may fail to load any more.
  const { preHooks, runPreHook } = await import('./run-hooks.ts')
  for (const hook of preHooks(workspace.hooks)) {
    audit.step = 'hooks'
    const narrowed = await wait.untimed(() =>
      runPreHook(hook, hookCall(run, authorized), workspace.limits.hookTimeoutMs),
    )
    if (narrowed === undefined) continue
    input = narrowed.input
    authorized = authorizeCall(state, await evaluateCall(state, input))
  }
  return { authorized, input }
}

/** The approvals of a call. */
interface CallApprovals {
  readonly context: ApprovalContext
  /** The data from which another process can repeat the call. `undefined` for an operation, which is not data. */
  readonly replayable: ReplayableCall | undefined
  /** Gets an approval before the changes are known. */
  readonly ask: (question: ApprovalQuestion) => Promise<void>
}

/** Checks the answer of a resumed call, which must find its files as they were when it was approved. */
async function checkGrant({ workspace, audit }: CallState, grant: Grant): Promise<void> {
  if ('deny' in grant.answer) audit.addApproval(grant.parked.request, 'denied', grant.answer.by)
  const { requireGrant } = await import('./pending-approval.ts')
  await requireGrant(workspace, grant)
}

/** Opens the approvals of a call. */
function openApprovals({ workspace, run, target, options, audit, wait }: CallState, input: unknown): CallApprovals {
  const { grant, approve, dialectCall } = options
  const replayable =
    typeof target === 'string' ? { input, ...(dialectCall === undefined ? {} : { dialectCall }) } : undefined
  const began = grant?.parked.began ?? audit.started
  const context: ApprovalContext = {
    grant,
    signal: wait.signal,
    approve,
    began,
    earlier: [],
    answered: (...answer) => audit.addApproval(...answer),
  }
  return {
    context,
    replayable,
    async ask(question) {
      if (options.check !== undefined) return options.check.requireApproved(question)
      const { requestStepApproval } = await import('./pending-approval.ts')
      await wait.untimed(() => requestStepApproval(workspace, run, replayable, question, context))
    },
  }
}

function needsCommandApproval({ tool, verdict }: AuthorizedCall): boolean {
  return tool.commandLine !== undefined && verdict.decision === 'ask'
}

/** Gets the approval of a call before its changes are known. They are approved separately. */
async function approveCall(
  { audit }: CallState,
  call: AuthorizedCall,
  { ask }: CallApprovals,
): Promise<AuthorizedCall> {
  const { tool, input, accesses, verdict } = call
  audit.step = 'approval'
  await ask({ tool: tool.name, input, accesses, verdict, risks: [] })
  return { ...call, verdict: { ...verdict, decision: 'allow', reason: 'It was approved' } }
}

/** Step 8: reads through a view of the granted accesses, and builds the change set. */
export async function draftCall(
  { workspace, run, options, audit, taint, wait }: CallState,
  call: AuthorizedCall,
  { began, ask }: Pick<CallApprovals, 'ask'> & Pick<ApprovalContext, 'began'>,
): Promise<ProposedDraft> {
  const { grant, onProgress, media } = options
  audit.step = 'draft'
  wait.requireNotCancelled()
  const commit = (tool: Tool) => callTool(workspace, run, tool, {}, { dialectCall: options.dialectCall })
  if (workspace.ownTools.has(call.tool)) taint.showToProgram()
  const reads = new Set<Path>()
  const openCommands = mayRunCommands(workspace, call.tool) ? await loadCommands() : undefined
  const grantedRun = grant === undefined ? run : (await import('./pending-approval.ts')).callWithGrant(run, grant)
  const contextOptions = { audit, taint, wait, ask, began, onProgress, media, commit, reads, openCommands }
  const context = new CallContext(workspace, grantedRun, call, contextOptions)
  const draft = await (options.draftFiles === undefined
    ? workspace.runnerOf(call.tool).draft(call, context)
    : options.draftFiles(call, context, contextOptions))
  for (const refusal of draft.refusals ?? []) audit.addRefusal(refusal)
  for (const path of draft.reads ?? []) {
    audit.addRead(path)
    if (draft.flow === undefined) taint.addRead(path)
  }
  const received = draft.flow?.received
  if (received !== undefined) taint.addLabel(received.label, received.path)
  return { draft, warnings: context.warnings, reads }
}

/** What runs commands is loaded for the tools that may run them. */
const loadCommands = memoizeAsync(async () => (await import('./commands/session.ts')).openCommandSession)

/**
 * Drafts a call and evaluates every change. If policy asks about reading a file, an error that may tell about its content
 * comes after the answer.
 */
async function prepareDraft(
  state: CallState,
  call: AuthorizedCall,
  approvals: CallApprovals,
): Promise<EvaluatedDraft & Pick<ProposedDraft, 'warnings'>> {
  const { audit, options } = state
  try {
    const proposed = await draftCall(state, call, { ask: approvals.ask, began: approvals.context.began })
    audit.step = 'approval'
    const evaluated = evaluateDraft(state, call, options.check?.withoutEffect(proposed) ?? proposed)
    const { draft, changes } = await evaluated
    return { draft, changes, warnings: proposed.warnings }
  } catch (error) {
    if (call.verdict.decision === 'ask') {
      const { tellsContent } = await import('./pending-approval.ts')
      if (tellsContent(state.workspace, state.run, call, error)) await approveCall(state, call, approvals)
    }
    throw error
  }
}

/** Step 9: gets the approval for which policy or a label asks. */
async function approveDraft(
  { workspace, run, wait }: CallState,
  { draft: { plan }, changes }: EvaluatedDraft,
  { context, replayable }: CallApprovals,
): Promise<void> {
  const { requestApproval } = await import('./pending-approval.ts')
  await wait.untimed(() => requestApproval(workspace, run, replayable && { ...replayable, plan }, changes, context))
}

/** Evaluates every change of a draft. */
export function evaluateDraft(
  state: CallState,
  call: AuthorizedCall,
  proposed: ProposedDraft,
): EvaluatedDraft | Promise<EvaluatedDraft> {
  const { draft } = proposed
  if (!isWithoutChanges(draft)) {
    return loadChangeSteps().then((steps) => steps.evaluateChanges(state, call, proposed, isToolCall(state)))
  }
  const evaluated = (changes: AuthorizedChanges) => {
    state.audit.verdict = changes.verdict
    return { draft, changes }
  }
  const changes = state.taint.authorizeChanges(noChanges(call, draft), draft)
  return changes instanceof Promise ? changes.then(evaluated) : evaluated(changes)
}

/** Whether a draft only reads what its plan named. */
function isWithoutChanges({ changes, accesses, copiedFrom, plan }: BuiltinDraft<unknown>): boolean {
  return plan === undefined && !changes?.length && !accesses?.length && !copiedFrom?.length
}

/** The changes of a draft without changes: the verdict is that on the call. */
function noChanges(
  { tool, input, accesses, verdict }: AuthorizedCall,
  draft: BuiltinDraft<unknown>,
): AuthorizedChanges {
  return {
    changes: [],
    verdict,
    bytes: 0,
    approvalRequest: () => ({ tool: tool.name, input, accesses, verdict, diff: draft.diff ?? '', risks: [] }),
    changedLines: () => undefined,
    storeDiff: () => undefined,
  }
}

/** The effect of a committed draft. */
interface CallEffect {
  readonly receipt: Receipt
  readonly artifactUri: string | undefined
}

/** Step 10: intent record and commit. If the intent cannot be recorded, nothing is committed. */
function commitDraft(
  { workspace, run, options, audit, wait }: CallState,
  { draft, changes, steps }: PreparedCall,
): Receipt | Promise<Receipt> {
  const { push, plan } = draft
  wait.stopTimer()
  run.rates.countWrite(changes.bytes)
  const written = push === undefined ? audit.writeIntent(changes) : audit.writePush(push.update).then(() => push.send())
  const commit = () => {
    if (plan !== undefined) activatePlan(workspace, run, plan)
    return steps?.commitChanges(workspace, run, draft, changes.bytes, options.signal) ?? NO_RECEIPT
  }
  return written === undefined ? commit() : written.then(commit)
}

/**
 * The rest of step 10: the journal and the artifact. An exception of the tool ends the call only when the effect is labelled and
 * announced.
 */
function applyReceipt(
  { workspace, run, options, audit, taint }: CallState,
  { call, draft, changes, steps, before }: PreparedCall,
  receipt: Receipt,
): CallEffect {
  const { shows = run.readHistory.noteVersion } = options
  audit.setEffect(receipt)
  audit.step = 'response'
  // The commit of a fork changes the files of its origin.
  const changed = draft.target === undefined ? workspace : workspace.origin
  if (changed !== undefined) steps?.addToJournal(changed, run, audit, call.tool.name, before, receipt)
  for (const { path } of receipt.applied) run.readHistory.forgetLines(path)
  const runner = workspace.runnerOf(call.tool)
  const exceptions: unknown[] = []
  const attempt = <T>(action: () => T): T | undefined => {
    try {
      return action()
    } catch (error) {
      exceptions.push(error)
      return undefined
    }
  }
  for (const version of attempt(() => runner.shown(call.tool, draft, receipt)) ?? []) {
    shows(version)
    audit.addReadVersion(version)
  }
  let artifactUri = changes.storeDiff(run.artifacts, receipt, audit.warnings)
  const { fullOutput } = draft
  if (artifactUri === undefined && fullOutput !== undefined) {
    const text = attempt(() => runner.fullOutput(call.tool, fullOutput, receipt))
    if (text !== undefined) artifactUri = storeFullOutput(text, fullOutput.extension, run.artifacts, audit.warnings)
  }
  taint.labelChanges(changes, draft, receipt, changed ?? workspace)
  if (changed !== undefined) steps?.emitChanges(changed, run, audit.id, receipt)
  audit.setLabel(taint.labelResult(), run.taint.origin())
  const lines = receipt.applied.length === 0 ? undefined : changes.changedLines()
  audit.setOutput(artifactUri, lines)
  if (exceptions.length > 0) throw exceptions[0]
  return { receipt, artifactUri }
}

const NO_RECEIPT: Receipt = Object.freeze({ applied: Object.freeze([]) })

/** Step 11: builds the result. A post-call hook can relabel or redact it, but not revert the effect. */
async function createResult(
  state: CallState,
  { call, draft, warnings }: PreparedCall,
  { receipt, artifactUri }: CallEffect,
): Promise<Success> {
  const { workspace, run, audit, taint } = state
  const { hooks, labels, limits } = workspace
  const built = workspace.runnerOf(call.tool).result(call.tool, draft, receipt)
  const fields = built instanceof Promise ? await built : built
  // Operations, such as undo, and methods of `files` have no result for a model.
  const isChecked = workspace.checks !== undefined && typeof state.target === 'string' && receipt.applied.length > 0
  const checks = isChecked ? await checkChanges(state, workspace.checks, receipt) : NO_CHECKS
  const result: Success = {
    ok: true,
    summary: draft.summary,
    warnings: [...warnings, ...audit.warnings],
    ...fields,
    ...(checks.length === 0 ? {} : { checks }),
    callId: audit.id,
    ...(artifactUri === undefined ? {} : { artifactUri }),
  }
  const maySee = contentVisibility(workspace, policyCall(run, call.tool.name, call.input, call.dialectCall))
  const visible = withoutHiddenVersion(result, maySee, call.accesses)
  const labelled = labels.active ? { ...visible, label: taint.labelResult(visible) } : visible
  if (hooks.postToolResponse === undefined) return labelled
  const { runPostHooks } = await import('./run-hooks.ts')
  const answer = (await runPostHooks(hooks, hookCall(run, call), labelled, limits.hookTimeoutMs)) as Success
  return labels.active ? { ...answer, label: taint.applyHookLabel(answer.label) } : answer
}

const NO_CHECKS: readonly CheckReport[] = []

/** Runs the checks of the workspace after a tool has changed files. They never fail, and change nothing. */
async function checkChanges(
  { workspace, run, options, audit, taint }: CallState,
  checks: OpenChecks,
  { applied }: Receipt,
): Promise<readonly CheckReport[]> {
  const call: CheckedCall['call'] = (tool, input, internal) => callTool(workspace, run, tool, input, internal)
  const reports = await checks.run({ workspace, run, applied, audit, taint, options, call })
  if (reports.length > 0) audit.setLabel(taint.labelResult(reports), run.taint.origin())
  return reports
}

/** Step 12: limits the size of the result, except for its media. */
function projectResult(
  { workspace, run, options }: CallState,
  { call: { tool }, draft }: PreparedCall,
  { receipt }: CallEffect,
  result: Success,
): Success | Promise<Success> {
  if (options.draftFiles !== undefined) return result
  const { projectionBytes } = workspace.limits
  const pass = (answer: Success) => {
    // A dialect may show a different result, so the draft receives only an answer that is shown unchanged.
    if (options.shows === undefined) workspace.runnerOf(tool).passAnswer(tool, draft, answer, receipt)
    return answer
  }
  const texts = draft.hasMedia === true && result.media !== undefined ? withoutMedia(result) : result
  if (resultSize(texts, projectionBytes) <= projectionBytes) return pass(result)
  // A call that changes something has loaded these before.
  return loadChangeSteps().then(({ limitResult }) => {
    const answer = limitResult(texts, projectionBytes, run.artifacts)
    return pass(texts === result ? answer : { ...answer, media: result.media })
  })
}

function withoutMedia({ media, ...texts }: Success): Success {
  return texts as Success
}

/**
 * Writes the outcome record, once the tool and the hooks of the embedding program can no longer fail. A record that could
 * not be written is a warning.
 */
function recordOutcome(audit: CallAudit, result: Success): Success | Promise<Success> {
  const known = audit.warnings.length
  const withWarnings = () => {
    if (audit.warnings.length === known) return result
    return { ...result, warnings: [...result.warnings, ...audit.warnings.slice(known)] }
  }
  const written = audit.writeOutcome()
  return written === undefined ? withWarnings() : written.then(withWarnings)
}

/**
 * Turns an error of any step into the refusal, and records it once with the step. After the commit, the record has the
 * committed changes and the code of the failure.
 */
async function refuseCall(state: CallState, name: string, error: unknown): Promise<Failure> {
  const {
    workspace,
    run,
    options: { dialectCall },
    audit,
    taint,
  } = state
  const original = toFailure(await withSuggestions(state, name, error))
  const maySee = contentVisibility(workspace, policyCall(run, name, {}, dialectCall))
  const failure = withoutHiddenVersion(original, maySee)
  const { cause } = original
  const label = taint.labelFailure(failure)
  audit.setLabel(label, run.taint.origin())
  await audit.writeOutcome(failure)
  if (cause !== undefined)
    workspace.events.emit({ type: 'exception', runId: run.id, callId: audit.id, tool: name, cause })
  return withCause(workspace.labels.active ? { ...failure, label } : failure, cause)
}

/** Adds the most similar visible paths to a `NOT_FOUND`. Without them, the error stays as it is. */
async function withSuggestions(
  { workspace, run, options: { dialectCall }, wait }: CallState,
  tool: string,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ToolError) || error.code !== 'NOT_FOUND' || error.details.path === undefined) return error
  try {
    const { addPathSuggestions } = await import('./suggest-paths.ts')
    return await wait.until(addPathSuggestions(workspace, run, tool, dialectCall, error, error.details.path))
  } catch {
    return error
  }
}

/** Requires a reason for a change, if the tool takes one. Called if policy demands reasons. */
function requireReason({ name, mutates, input: { shape } }: Tool, { reason }: AuthorizedCall['input']): void {
  if (!mutates || !('reason' in shape) || (typeof reason === 'string' && /\S/.test(reason))) return
  throw new ToolError('INVALID_INPUT', `${name} needs a reason in this workspace`, {
    field: 'reason',
    hint: 'State in the field reason why the change is needed.',
  })
}

/** @throws ToolError for a tool that the workspace does not have, or cannot serve */
async function refuseTool({ tools, unavailableTools }: WorkspaceState, name: string): Promise<never> {
  const unavailable = unavailableTools.get(name)
  if (unavailable !== undefined) throw unavailable
  const { unknownTool } = await import('./parse-input.ts')
  throw unknownTool(name, [...tools.keys()])
}

function hookCall(run: RunState, { tool, input, accesses }: AuthorizedCall): HookCall {
  return { runId: run.id, actor: run.actor, tool: tool.name, input, accesses }
}
