import { type Failure, ToolError } from '../../errors.ts'
import type { CommitHistory } from '../../git/commit-history.ts'
import type { PushAnswer } from '../../git/provider.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { ApprovalQuestion } from '../../policy/approval.ts'
import type { ContentFlow } from '../../policy/content-flow.ts'
import { type CallPolicy, deniedError, type PolicyCall } from '../../policy/evaluation.ts'
import type { Label } from '../../policy/labels.ts'
import { isMutating } from '../../policy/permissions.ts'
import type { ContentLabel } from '../../policy/taint.ts'
import type { CommitSubscription } from '../../shells/types.ts'
import type { Tool } from '../../tools/define-tool.ts'
import type { AuthorizedCall, CallAudit } from '../state/call.ts'
import type { RunState } from '../state/run-state.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'

export interface CommandSessionOptions {
  readonly audit: Pick<CallAudit, 'addRead' | 'addRefusal' | 'writePush'>
  /** When the call began, milliseconds since 1970. */
  readonly began: number
  /** Gets an approval that the command needs while it runs. */
  readonly ask: (question: ApprovalQuestion) => Promise<void>
  /** Commits the changes of a background command, as a call of its own. */
  readonly commit: (tool: Tool) => Promise<{ readonly ok: true } | Failure>
  /** @throws ToolError if content that the run has read must not be sent to the host */
  readonly requireHostAllowed: (host: string) => void
  /** Records content that the command has received, or may have. `label`: if it is higher than that of the path. */
  readonly noteReceived: (path: Path, label: Label) => void
  /** Records that a line of the call has received the id of a commit. */
  readonly noteCommit: (history: CommitHistory, commit: string, flow: ContentFlow) => Promise<void>
  /** See {@link StartedBy.labelStart}. */
  readonly labelStart: (
    texts: readonly string[],
    isOfLine: boolean,
    flow: ContentFlow,
    hasStarted: boolean,
  ) => ToolError | undefined
  /** Tells the call what one of its lines receives and writes. */
  readonly noteFlow: (flow: ContentFlow) => void
  /** The highest label that the call has received, such as that of its command line. */
  readonly received: () => ContentLabel | undefined
}

/** A push with its answer. */
export interface DonePush {
  readonly key: string
  readonly answer: PushAnswer
}

/** The state that all transactions of the commands of one call share. */
export interface SessionState {
  readonly workspace: WorkspaceState
  readonly run: RunState
  readonly call: AuthorizedCall
  readonly options: CommandSessionOptions
  /** The call as policy sees it. */
  readonly facts: Omit<PolicyCall, 'accesses'>
  readonly policy: CallPolicy
  /** Accesses that were approved for this call. */
  readonly approved: Set<string>
  /** Pushes that lines of this call have done, in their order. A line that runs again does not repeat them. */
  readonly pushes: DonePush[]
  readonly onCommit: CommitSubscription
}

/**
 * Evaluates one access of a command. Returns the question if a read needs an approval. An approval of a change is
 * requested when the command has ended.
 *
 * @throws ToolError if policy denies the access
 */
export function evaluateAccess(
  {
    workspace,
    run,
    call,
    facts,
    policy,
    approved,
  }: Pick<SessionState, 'workspace' | 'run' | 'call' | 'facts' | 'policy' | 'approved'>,
  access: GuardedAccess,
): ApprovalQuestion | undefined {
  const { permission, asked, path, classification } = access
  if (workspace.isReadOnly && isMutating(permission)) {
    throw new ToolError('READ_ONLY', 'The workspace is read-only', { path: asked })
  }
  const byRequestedName = policy.decide(permission, asked, classification)
  const isAllowed =
    access.reveals !== true &&
    byRequestedName === 'allow' &&
    (asked === path || policy.decide(permission, path, classification) === 'allow')
  if (isAllowed) return undefined
  const verdict = workspace.policy.evaluate({ ...facts, accesses: [access] })
  if (verdict.decision === 'deny') throw deniedError(verdict)
  if (verdict.decision === 'allow' || isMutating(permission)) return undefined
  const question = { tool: call.tool.name, input: call.input, accesses: [access], verdict, risks: [] }
  return approved.has(accessKey(access)) || run.approvals.opened?.covers(question) === true ? undefined : question
}

/** Identifies an access among those that were approved. */
export function accessKey({ permission, asked, path }: GuardedAccess): string {
  return JSON.stringify([permission, asked, path])
}
