import { ToolError } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import type {
  AnswerListener,
  ApprovalQuestion,
  Approvals,
  ApproveHandler,
  NormalizedAnswer,
} from '../policy/approval.ts'
import type { DialectCall } from '../policy/dialect-call.ts'
import type { ParkedCall, ParkedEffect } from '../policy/parked-calls.ts'
import type { WorkPlan } from '../policy/plan.ts'
import { sameVersion, versionAt, versionOf } from '../storage/versions.ts'
import { anySignal } from '../util/abort.ts'
import { setBounded } from '../util/set-bounded.ts'
import { requireOpen } from './require-open.ts'
import type { AuthorizedCall, AuthorizedChanges, KnownChange } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'
import { contentVisibility } from './visible-content.ts'

/** A parked call with the answer that it waited for. */
export interface Grant {
  readonly parked: ParkedCall
  readonly answer: NormalizedAnswer
}

/**
 * Gets the approval that the verdict on a call requires. Uses the answer that the call was resumed with, if it covers what
 * the call would do now; otherwise asks the approver. Without an approver, the call is parked.
 *
 * @param call the data from which the call can be repeated; a call without it is never parked
 * @throws ToolError as `Approvals.ask`, and `BACKEND_ERROR` if the call could not be parked
 */
export async function requestApproval(
  workspace: WorkspaceState,
  run: RunState,
  call: ReplayableCall | undefined,
  changes: AuthorizedChanges,
  asking: ApprovalContext,
): Promise<void> {
  const request = changes.approvalRequest()
  const approvals = await run.approvals.open()
  const { grant } = asking
  const isSame = grant !== undefined && sameEffect(grant.parked.effect, await effectOf(workspace, changes.changes))
  if (isSame && isGranted(approvals, request, grant, asking)) return
  await askOrPark(workspace, run, call, request, asking, () => effectOf(workspace, changes.changes))
}

/** The data from which a call is repeated, also in another process. */
export interface ReplayableCall {
  readonly input: unknown
  /** The call of a dialect tool that makes this call. */
  readonly dialectCall?: DialectCall
  /** The plan that it submits. */
  readonly plan?: WorkPlan | undefined
}

/** How a call requests approvals, and the answers so far. */
export interface ApprovalContext {
  readonly grant: Grant | undefined
  readonly signal: AbortSignal | undefined
  /** Answers if the workspace has no `approve` handler. */
  readonly approve: ApproveHandler | undefined
  /** When the call began, milliseconds since 1970. */
  readonly began: number
  /** Records every answer. */
  readonly answered: (question: ApprovalQuestion, ...answer: Parameters<AnswerListener>) => void
  /** Questions of the same call that were answered before: a call that is parked later must not ask them again. */
  readonly earlier: ApprovalQuestion[]
}

/**
 * Gets an approval that a call needs before its changes are known: to run a command, or for a read of a command. The
 * changes have an approval of their own.
 *
 * @throws ToolError as {@link requestApproval}
 */
export async function requestStepApproval(
  workspace: WorkspaceState,
  run: RunState,
  call: ReplayableCall | undefined,
  question: ApprovalQuestion,
  asking: ApprovalContext,
): Promise<void> {
  const { grant, earlier } = asking
  const approvals = await run.approvals.open()
  if (grant === undefined || !isGranted(approvals, question, grant, asking)) {
    await askOrPark(workspace, run, call, question, asking, async () => [])
  }
  earlier.push(question)
}

/** Whether an error of the draft may tell about the content of a file that may not be read before an approval. */
export function tellsContent(
  workspace: WorkspaceState,
  run: RunState,
  { tool, input, accesses, dialectCall }: AuthorizedCall,
  error: unknown,
): boolean {
  // That a file does not exist says nothing about its content, but about that of the files that were looked at before.
  const isAbsent = accesses.length === 1 && error instanceof ToolError && error.code === 'NOT_FOUND'
  const isApproval = error instanceof ToolError && /^(?:APPROVAL_|ABORTED)/.test(error.code)
  if (isAbsent || isApproval) return false
  const facts = policyCall(run, tool.name, input, dialectCall)
  const maySee = contentVisibility(workspace, facts)
  const { decide } = workspace.policy.forCall(facts)
  // Where reading is denied, the draft has not read the file.
  const asks = (path: Path) =>
    (['file:read', 'memory:read'] as const).some((permission) => decide(permission, path, classifyPath(path)) === 'ask')
  return accesses.some(({ path }) => !maySee(path) && asks(path))
}

/** Returns whether the answer that the call was resumed with covers a question. If so, records it as the answer. */
function isGranted(
  approvals: Approvals,
  question: ApprovalQuestion,
  { parked, answer }: Grant,
  { answered }: ApprovalContext,
): boolean {
  const covers =
    'allow' in answer && approvals.accept(parked.request, question, answer.allow === 'run' ? 'allow-run' : 'allow')
  if (covers) answered(question, answer.allow, answer.by)
  return covers
}

async function askOrPark(
  workspace: WorkspaceState,
  run: RunState,
  call: ReplayableCall | undefined,
  request: ApprovalQuestion,
  { signal, earlier, answered, approve: handler, began }: ApprovalContext,
  effect: () => Promise<ParkedEffect[]>,
): Promise<void> {
  try {
    const approvals = await run.approvals.open()
    await whileOpen(workspace, (ended) =>
      approvals.ask(request, {
        signal: anySignal(signal, ended),
        approve: handler,
        onAnswer: (answer, by) => answered(request, answer, by),
      }),
    )
  } catch (error) {
    const isParked = error instanceof ToolError && error.code === 'APPROVAL_REQUIRED' && call !== undefined
    if (!isParked) throw error
    const id = String(error.details.approvalId)
    const taint = run.taint.origin()
    const { dialectCall } = call
    if (workspace.parkedRuns.has(id)) {
      throw new ToolError('BACKEND_ERROR', `Another call waits with the approval id ${quote(id)}`, {
        hint: 'Report this to the user: the option ids must return a new id each time.',
      })
    }
    try {
      await workspace.parkedCalls.put({
        id,
        runId: run.id,
        actor: run.actor,
        tool: request.tool,
        input: call.input,
        ...(dialectCall === undefined ? {} : { dialectTools: dialectCall.tools, dialectArgs: dialectCall.args }),
        at: workspace.clock(),
        began,
        expiresAt: workspace.clock() + workspace.limits.approvalMs,
        request: { id, ...withEarlier(request, earlier) },
        ...(taint === undefined ? {} : { taint }),
        effect: await effect(),
      })
      remember(workspace, id, run, call.plan)
    } catch {
      throw new ToolError(
        'BACKEND_ERROR',
        `${request.tool} needs an approval, but the waiting call could not be stored`,
      )
    }
    throw error
  }
}

/**
 * Waits for an answer, at most until the workspace is closed, or the one that it is a fork of.
 *
 * @throws ToolError `BACKEND_ERROR` if it is closed
 */
async function whileOpen(workspace: WorkspaceState, ask: (ended: AbortSignal) => Promise<unknown>): Promise<void> {
  requireOpen(workspace)
  const ended = new AbortController()
  const end = () => ended.abort()
  const workspaces: WorkspaceState[] = []
  for (let each: WorkspaceState | undefined = workspace; each !== undefined; each = each.origin) workspaces.push(each)
  for (const { ends } of workspaces) ends.add(end)
  try {
    await ask(ended.signal)
  } catch (error) {
    requireOpen(workspace)
    throw error
  } finally {
    for (const { ends } of workspaces) ends.delete(end)
  }
}

/** Combines a request with those that were answered before it, so that one answer covers the call from its start. */
function withEarlier(request: ApprovalQuestion, earlier: readonly ApprovalQuestion[]): ApprovalQuestion {
  const all = [...earlier, request]
  return {
    ...request,
    accesses: all.flatMap(({ accesses }) => accesses),
    verdict: { ...request.verdict, rules: all.flatMap(({ verdict }) => verdict.rules) },
  }
}

/**
 * Refuses to resume a call whose approval was denied, or whose files have changed since.
 *
 * @throws ToolError `APPROVAL_DENIED`, or `WRITE_CONFLICT` with `currentSha256`
 */
export async function requireGrant(workspace: WorkspaceState, { parked, answer }: Grant): Promise<void> {
  if ('deny' in answer) {
    throw new ToolError('APPROVAL_DENIED', `The approval of ${parked.tool} was refused: ${answer.deny}`, {
      approvalId: parked.id,
    })
  }
  for (const { path, before } of parked.effect) {
    const current = await versionAt(workspace.backend, path as Path)
    if (sameVersion(current, before)) continue
    throw new ToolError('WRITE_CONFLICT', `Cannot resume ${parked.tool}: ${quote(path)} changed while it waited`, {
      path,
      currentSha256: current?.type === 'file' ? current.sha256 : null,
    })
  }
}

/** The run as a resumed call sees it: the run has read the versions that the call was parked with. */
export function callWithGrant(run: RunState, grant: Grant | undefined): RunState {
  if (grant === undefined) return run
  const hasReadWhole = (path: Path, sha256: string) =>
    run.readHistory.hasReadWhole(path, sha256) ||
    grant.parked.effect.some(
      (entry) => entry.path === path && entry.before?.type === 'file' && entry.before.sha256 === sha256,
    )
  return { ...run, readHistory: { ...run.readHistory, hasReadWhole } }
}

/** Remembers the run of a parked call. Identifies it by object, because a run in another process may have the same id. */
function remember(workspace: WorkspaceState, id: string, run: RunState, plan: WorkPlan | undefined): void {
  setBounded(workspace.parkedRuns, id, run)
  if (plan !== undefined) workspace.submittedPlans.set(run, { plan, approvalId: id })
}

async function effectOf(workspace: WorkspaceState, changes: readonly KnownChange[]): Promise<ParkedEffect[]> {
  const effect: ParkedEffect[] = []
  for (const { change, before, headOf } of changes) {
    const { path, to } = change
    const previous = headOf === undefined ? versionOf(before) : await versionAt(workspace.backend, path)
    effect.push({ path, before: previous, after: versionOf(to) })
  }
  return effect
}

function sameEffect(parked: readonly ParkedEffect[], current: readonly ParkedEffect[]): boolean {
  return (
    parked.length === current.length &&
    current.every(({ path, before, after }, i) => {
      const entry = parked[i]
      return entry?.path === path && sameVersion(entry.before, before) && sameVersion(entry.after, after)
    })
  )
}
