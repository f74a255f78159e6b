import { ToolError } from '../../errors.ts'
import { gitPath } from '../../git/isomorphic-fs.ts'
import type { PreparedPush, PushAnswer, PushRequest } from '../../git/provider.ts'
import { openReader } from '../../git/reader.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { ApprovalQuestion } from '../../policy/approval.ts'
import type { ContentFlow } from '../../policy/content-flow.ts'
import { deniedError } from '../../policy/evaluation.ts'
import type { TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import { pushAccess } from '../push-access.ts'
import { requireHost } from './reach-host.ts'
import type { SessionState } from './session-state.ts'

/** What a push needs of the transaction of its line. */
export interface PushingLine {
  readonly session: SessionState
  readonly files: Pick<TrackedCommandFiles, 'reach' | 'refuse'>
  readonly flow: ContentFlow | undefined
  /** Ends the line with a question. It runs again after the approval. */
  readonly askFor: (question: ApprovalQuestion, keys: readonly string[]) => never
  /** The number of pushes that the line has begun. */
  pushes: number
}

/**
 * Does a push of a command line if policy, labels and, if policy asks, a person allow it. It cannot be taken back, so it sends
 * only commits that the workspace has: those of the line itself may still be refused when the line ends.
 *
 * @throws ToolError if it is refused
 */
export async function pushOfLine(state: PushingLine, request: PushRequest): Promise<PushAnswer> {
  const { session, files, flow } = state
  const { url, ref, commit, branch, history, force } = request
  const key = JSON.stringify([url.href, ref, commit, force])
  const index = state.pushes++
  const done = session.pushes[index]
  if (done?.key === key) return done.answer
  const access = await files.reach(pushAccess(url, ref))
  if (flow !== undefined) {
    if (branch !== undefined) flow.readName(gitPath('refs/heads', branch))
    if (commit !== null) await session.options.noteCommit(history, commit, flow)
  }
  requireHost(session, files, url, 'git:push')
  if (commit !== null) await requireCommitted(state, commit)
  const prepared = await request.prepare()
  if (prepared.isNeeded) {
    await requireApproved(state, request, access, prepared)
    await session.options.audit.writePush({ url: url.href, ref, from: prepared.from, to: commit })
  }
  const answer = await prepared.send()
  session.pushes[index] = { key, answer }
  return answer
}

/** @throws ToolError if the line itself made the commit */
async function requireCommitted({ session }: PushingLine, commit: string): Promise<void> {
  if ((await openReader(session.workspace.backend).objects.read(commit)) !== undefined) return
  throw new ToolError(
    'POLICY_DENIED',
    'the commits of this line are part of the workspace only when the line has ended',
    {
      hint: 'Push in a command of its own.',
    },
  )
}

async function requireApproved(
  state: PushingLine,
  { url, ref, commit, force }: PushRequest,
  access: GuardedAccess,
  prepared: PreparedPush,
): Promise<void> {
  const { session, askFor } = state
  const { workspace, run, call, facts, approved } = session
  const verdict = workspace.policy.evaluate({ ...facts, accesses: [access] })
  if (verdict.decision === 'deny') throw deniedError(verdict)
  if (verdict.decision === 'allow') return
  const key = JSON.stringify(['git:push', url.href, ref, prepared.from, commit, force])
  const diff = await prepared.describe()
  const question = { tool: call.tool.name, input: call.input, accesses: [access], verdict, diff, risks: [] }
  if (approved.has(key) || run.approvals.opened?.covers(question) === true) return
  askFor(question, [key])
}
