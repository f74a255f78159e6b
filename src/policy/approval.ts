import { ToolError } from '../errors.ts'
import { throwIfAborted } from '../util/abort.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import type { GuardedAccess } from './access.ts'
import type { Verdict } from './policy.ts'
import type { Risk } from './risk/index.ts'

/** What whoever approves is asked. Plain data. */
export interface ApprovalRequest {
  readonly id: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
  readonly verdict: Verdict
  /** What the call would change. */
  readonly diff?: string
  /** What to look at: flags such as `touchesBuildFile`, each with the path that raises it. */
  readonly risks: readonly Risk[]
}

/** What is asked, before it has an id. */
export type ApprovalQuestion = Omit<ApprovalRequest, 'id'>

/**
 * Once, for this run (the same rules on the same paths), or not, with a reason that the agent sees. The forms with `by` say
 * for the record who answered.
 */
export type ApprovalAnswer =
  | 'allow'
  | 'allow-run'
  | { readonly allow: 'once' | 'run'; readonly by?: string }
  | { readonly deny: string; readonly by?: string }

/** An answer in its one form. */
export type ReadAnswer =
  | { readonly allow: 'once' | 'run'; readonly by?: string }
  | { readonly deny: string; readonly by?: string }

/** What an answer says; `undefined` for what is none. */
export function readAnswer(answer: unknown): ReadAnswer | undefined {
  if (answer === 'allow') return { allow: 'once' }
  if (answer === 'allow-run') return { allow: 'run' }
  if (typeof answer !== 'object' || answer === null) return undefined
  const { allow, deny, by } = answer as { allow?: unknown; deny?: unknown; by?: unknown }
  const who = typeof by === 'string' ? { by: by.slice(0, 200) } : {}
  if (typeof deny === 'string') return { deny, ...who }
  return allow === 'once' || allow === 'run' ? { allow, ...who } : undefined
}

/**
 * What a handler says: an answer, or that nobody has given one yet. The call then ends with `APPROVAL_REQUIRED` and waits, as
 * it does without a handler.
 */
export type HandlerAnswer = ApprovalAnswer | 'later'

/**
 * Answers what policy asks. While it thinks, nothing has happened yet; where it throws, or answers anything else, the call is
 * refused. Its promise is typed wider than what it may give: TypeScript takes the `'allow'` of an async function for a
 * `string` where both an answer and its promise would do.
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
  /** Makes the ids of requests. */
  readonly ids: () => string
}

/** How a request came to be allowed. */
export type Approval = 'once' | 'run' | 'earlier'

/** Told how a question was answered, and by whom if they said so. */
export type Answered = (how: Approval | 'denied', by?: string) => void

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  readonly answered?: Answered
  /** Answers where the run has nobody who does. */
  readonly approve?: ApproveHandler | undefined
}

/** The approvals of one run. */
export interface Approvals {
  /**
   * Gets the approval of a call that its verdict asks about.
   *
   * @throws ToolError `APPROVAL_REQUIRED` with `approvalId` where nobody can be asked, `APPROVAL_DENIED` with the given
   * reason, `ABORTED`, and `HOOK_FAILED` where the handler throws or answers with something else: nobody has refused
   * then, and nobody has allowed.
   */
  ask(request: ApprovalQuestion, options?: AskOptions): Promise<Approval>
  /**
   * Takes an answer that was given to an earlier request, if what is asked now was asked then: `false` otherwise. Nothing is
   * asked.
   */
  accept(earlier: Omit<ApprovalRequest, 'id'>, now: Omit<ApprovalRequest, 'id'>, answer: 'allow' | 'allow-run'): boolean
  /** Whether the run was allowed earlier what the request asks. */
  covers(request: Omit<ApprovalRequest, 'id'>): boolean
}

/** Asks for approvals, and remembers what was allowed for the whole run. */
export function createApprovals({ approve, ids }: ApprovalsOptions): Approvals {
  const allowed = new Set<string>()

  function covers(request: Omit<ApprovalRequest, 'id'>): boolean {
    const questions = questionsOf(request)
    return questions.length > 0 && questions.every((question) => allowed.has(question))
  }

  return {
    covers,
    accept(earlier, now, answer) {
      const asked = new Set(questionsOf(earlier))
      const questions = questionsOf(now)
      if (!questions.every((question) => asked.has(question))) return false
      if (answer === 'allow-run') for (const question of questions) allowed.add(question)
      return true
    },
    async ask(given, { signal, answered, approve: other } = {}) {
      const handler = approve ?? other
      if (covers(given)) {
        answered?.('earlier')
        return 'earlier'
      }
      const request: ApprovalRequest = { id: ids(), ...given }
      const answer = handler === undefined ? 'later' : await answerOf(handler, request, signal)
      if (answer === 'later') {
        throw new ToolError('APPROVAL_REQUIRED', `${request.tool} needs an approval: ${request.verdict.reason}`, {
          approvalId: request.id,
        })
      }
      if ('allow' in answer) {
        if (answer.allow === 'run') for (const question of questionsOf(request)) allowed.add(question)
        answered?.(answer.allow, answer.by)
        return answer.allow
      }
      answered?.('denied', answer.by)
      throw new ToolError('APPROVAL_DENIED', `The approval of ${request.tool} was refused: ${answer.deny}`, {
        approvalId: request.id,
      })
    },
  }
}

/**
 * Each thing that is asked about, as text: a rule with the access it asks about, and each risk. A command is asked
 * about with its whole input, for its path says nothing about what it does.
 */
function questionsOf({ tool, input, accesses, verdict, risks }: Omit<ApprovalRequest, 'id'>): string[] {
  const questions = risks.map(({ flag, path }) => canonicalJson(['risk', flag, path]))
  for (const rule of verdict.rules) {
    if (rule.action !== 'ask') continue
    const named = accesses.filter(
      ({ asked, path }) => rule.path === undefined || rule.path === path || rule.path === asked,
    )
    const whole = accesses.length === 0 ? [canonicalJson(['call', rule.source, rule.name, tool, input])] : []
    questions.push(...whole, ...named.map((access) => questionAbout(rule, tool, input, access)))
  }
  return questions
}

function questionAbout(
  rule: Verdict['rules'][number],
  tool: string,
  input: Readonly<Record<string, unknown>>,
  { permission, asked, path }: GuardedAccess,
): string {
  const command = permission.startsWith('command:') ? input : null
  return canonicalJson(['access', rule.source, rule.name, tool, permission, asked, path, command])
}

async function answerOf(
  approve: ApproveHandler,
  request: ApprovalRequest,
  signal: AbortSignal | undefined,
): Promise<ReadAnswer | 'later'> {
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
    // A late rejection of a handler that nobody waits for any more ends here, too.
    answer = await Promise.race([asking, aborted])
  } catch {
    throwIfAborted(signal, cancelled(request))
    throw failed(request, 'failed')
  } finally {
    answered.abort()
  }
  throwIfAborted(signal, cancelled(request))
  if (answer === 'later') return answer
  const read = readAnswer(answer)
  if (read !== undefined) return read
  throw failed(request, 'gave an answer that is none of "allow", "allow-run", "later" and { deny: reason }')
}

function cancelled({ tool }: ApprovalRequest): string {
  return `${tool} was cancelled while its approval was awaited`
}

function failed(request: ApprovalRequest, why: string): ToolError {
  return new ToolError('HOOK_FAILED', `The approve handler ${why}; ${request.tool} was not carried out`, {
    approvalId: request.id,
    hint: 'Nothing was changed. Tell the person in charge.',
  })
}
