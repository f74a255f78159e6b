import { ToolError } from '../errors.ts'
import type { Path } from '../paths/logical-path.ts'
import { throwIfAborted } from '../util/abort.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import { NO_REASON } from '../util/no-reason.ts'
import type { GuardedAccess } from './access.ts'
import type { Verdict } from './evaluation.ts'
import type { Risk } from './risk/index.ts'

/** A request for an approval. Plain data. */
export interface ApprovalRequest {
  readonly id: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
  readonly verdict: Verdict
  /** The change as a diff. For a push, lines with its remote, branch and commits come first. */
  readonly diff?: string
  /**
   * Paths of which the call changes more than the content, or other than that. `link`: it creates, changes or replaces a link.
   */
  readonly attributes?: readonly {
    /** Path in the workspace. */
    readonly path: Path
    /** What the call changes at the path. */
    readonly changes: readonly ('content' | 'permissions' | 'link')[]
  }[]
  /** Flags such as `touchesBuildFile`, each with the path that raises it. */
  readonly risks: readonly Risk[]
}

/** What a call changes at a path. */
export type AttributeChange = NonNullable<ApprovalRequest['attributes']>[number]

/** A request that has no id yet. */
export type ApprovalQuestion = Omit<ApprovalRequest, 'id'>

/**
 * The answer to a request: allow once, allow for this run (the same rules on the same paths; content,
 * permissions and links count separately), or deny with a reason that the agent sees. `by` records who answered.
 */
export type ApprovalAnswer =
  | 'allow'
  | 'allow-run'
  | { readonly allow: 'once' | 'run'; readonly by?: string }
  | { readonly deny: string; readonly by?: string }

/** An {@link ApprovalAnswer} in object form. */
export type NormalizedAnswer =
  | { readonly allow: 'once' | 'run'; readonly by?: string }
  | { readonly deny: string; readonly by?: string }

/**
 * Returns an answer in object form, or `undefined` for an invalid one. Only its own fields count, and one that no answer has
 * makes it invalid. `by` is cut to 200 characters.
 */
export function normalizeAnswer(answer: unknown): NormalizedAnswer | undefined {
  if (answer === 'allow') return { allow: 'once' }
  if (answer === 'allow-run') return { allow: 'run' }
  const fields = ownFields(answer)
  const [allow, deny, by] = answerFields.map((name) => fields.get(name))
  if ([...fields.keys()].some((name) => !answerFields.includes(name))) return undefined
  if (by !== undefined && typeof by !== 'string') return undefined
  const author = by === undefined ? {} : { by: by.slice(0, 200) }
  if (allow === undefined)
    return typeof deny === 'string' ? { deny: deny.trim() === '' ? NO_REASON : deny, ...author } : undefined
  return deny === undefined && (allow === 'once' || allow === 'run') ? { allow, ...author } : undefined
}

const answerFields = ['allow', 'deny', 'by']

/** Returns the own fields of an object that are not `undefined`. None if they cannot be read. */
function ownFields(value: unknown): ReadonlyMap<string, unknown> {
  try {
    return new Map(Object.entries(value as object).filter(([, field]) => field !== undefined))
  } catch {
    return new Map()
  }
}

/**
 * The result of a handler: an answer, or `later`. With `later` the call ends with `APPROVAL_REQUIRED` and waits, as it does
 * without a handler.
 */
export type HandlerAnswer = ApprovalAnswer | 'later'

/**
 * Answers approval requests. Nothing has changed before it answers. If it throws or returns anything else, the call is
 * refused. The promise has a wider type than the valid answers, because TypeScript infers `string` for the `'allow'` of an
 * async function.
 *
 * @example
 * const approve = async ({ tool }) => (tool === 'write_file' ? 'allow' : { deny: 'Only write_file may do that' })
 */
export type ApproveHandler = (
  request: ApprovalRequest,
  options: { readonly signal?: AbortSignal },
) => HandlerAnswer | Promise<HandlerAnswer | (string & {})>

export interface ApprovalsOptions {
  readonly approve?: ApproveHandler | undefined
  /** Creates the id of a request. */
  readonly ids: () => string
}

/** How a request was allowed: by this answer (once, or for the run), or by an earlier answer for the run. */
export type Approval = 'once' | 'run' | 'earlier'

/** Receives the outcome of a request, and who answered if the answer says so. */
export type AnswerListener = (outcome: Approval | 'denied', by?: string) => void

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  readonly onAnswer?: AnswerListener
  /** Answers if the run has no handler of its own. */
  readonly approve?: ApproveHandler | undefined
}

/** The approvals of one run. */
export interface Approvals {
  /**
   * Obtains the approval of a call whose verdict is `ask`.
   *
   * @throws ToolError `APPROVAL_REQUIRED` with `approvalId` if nobody can be asked, `APPROVAL_DENIED` with the reason of the
   * answer, `ABORTED`, and `HOOK_FAILED` if the handler throws or returns an invalid answer
   */
  ask(request: ApprovalQuestion, options?: AskOptions): Promise<Approval>
  /**
   * Applies the answer to an earlier request. Returns false, and applies nothing, if the present request asks about more than
   * the earlier one. Calls no handler.
   */
  accept(earlier: ApprovalQuestion, now: ApprovalQuestion, answer: 'allow' | 'allow-run'): boolean
  /** Returns whether earlier answers for the run allow everything that the request asks about. */
  covers(request: ApprovalQuestion): boolean
}

/** Creates the approvals of a run. They remember what was allowed for the whole run. */
export function createApprovals({ approve, ids }: ApprovalsOptions): Approvals {
  const allowed = new Set<string>()

  function covers(request: ApprovalQuestion): boolean {
    const questions = questionsOf(request)
    return questions.length > 0 && questions.every((question) => allowed.has(question))
  }

  return {
    covers,
    accept(earlier, now, answer) {
      // The answer is about these commits. By now the branch may have others.
      const isPush = now.accesses.some(({ permission }) => permission === 'git:push')
      if (isPush && earlier.diff !== now.diff) return false
      const answered = new Set(questionsOf(earlier))
      const questions = questionsOf(now)
      if (!questions.every((question) => answered.has(question))) return false
      if (answer === 'allow-run') for (const question of questions) allowed.add(question)
      return true
    },
    async ask(question, { signal, onAnswer, approve: fallback } = {}) {
      const handler = approve ?? fallback
      if (covers(question)) {
        onAnswer?.('earlier')
        return 'earlier'
      }
      const request: ApprovalRequest = { id: ids(), ...question }
      const answer = handler === undefined ? 'later' : await answerOf(handler, request, signal)
      if (answer === 'later') {
        throw new ToolError('APPROVAL_REQUIRED', `${request.tool} needs an approval: ${request.verdict.reason}`, {
          approvalId: request.id,
        })
      }
      if ('allow' in answer) {
        if (answer.allow === 'run') for (const key of questionsOf(request)) allowed.add(key)
        onAnswer?.(answer.allow, answer.by)
        return answer.allow
      }
      onAnswer?.('denied', answer.by)
      throw new ToolError('APPROVAL_DENIED', `The approval of ${request.tool} was refused: ${answer.deny}`, {
        approvalId: request.id,
      })
    },
  }
}

/**
 * Returns a key for each question of a request: every rule with the access it asks about and what changes there, and every
 * risk. The key of a command contains its whole input, because its path does not describe its effect.
 */
function questionsOf({ tool, input, accesses, verdict, risks, attributes = [] }: ApprovalQuestion): string[] {
  const questions = risks.map(({ flag, path }) => canonicalJson(['risk', flag, path]))
  for (const rule of verdict.rules) {
    if (rule.action !== 'ask') continue
    const affected = accesses.filter(
      ({ asked, path }) => rule.path === undefined || rule.path === path || rule.path === asked,
    )
    if (accesses.length === 0) questions.push(canonicalJson(['call', rule.source, rule.name, tool, input]))
    for (const access of affected) {
      const changes = attributes.find(({ path }) => path === access.path)?.changes ?? ['content']
      for (const change of changes) questions.push(questionAbout(rule, tool, input, access, change))
    }
  }
  return questions
}

function questionAbout(
  rule: Verdict['rules'][number],
  tool: string,
  input: Readonly<Record<string, unknown>>,
  { permission, asked, path }: GuardedAccess,
  change: AttributeChange['changes'][number],
): string {
  const command = permission.startsWith('command:') ? input : null
  return canonicalJson([
    'access',
    rule.source,
    rule.name,
    tool,
    permission,
    asked,
    path,
    command,
    ...(change === 'content' ? [] : [change]),
  ])
}

async function answerOf(
  approve: ApproveHandler,
  request: ApprovalRequest,
  signal: AbortSignal | undefined,
): Promise<NormalizedAnswer | 'later'> {
  throwIfAborted(signal, cancelled(request))
  const answered = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new ToolError('ABORTED', cancelled(request))), {
      signal: answered.signal,
    })
  })
  const asking = (async () => approve(request, signal === undefined ? {} : { signal }))()
  let answer: unknown
  try {
    // The race also handles a rejection that arrives after the abort.
    answer = await Promise.race([asking, aborted])
  } catch {
    throwIfAborted(signal, cancelled(request))
    throw failed(request, 'failed')
  } finally {
    answered.abort()
  }
  throwIfAborted(signal, cancelled(request))
  if (answer === 'later') return answer
  const normalized = normalizeAnswer(answer)
  if (normalized !== undefined) return normalized
  throw failed(request, 'returned an invalid answer; expected "allow", "allow-run", "later" or { deny: reason }')
}

function cancelled({ tool }: ApprovalRequest): string {
  return `${tool} was cancelled while waiting for its approval`
}

function failed(request: ApprovalRequest, failure: string): ToolError {
  return new ToolError('HOOK_FAILED', `The approve handler ${failure}; ${request.tool} was not executed`, {
    approvalId: request.id,
    hint: 'Nothing was changed. Report this to the user.',
  })
}
