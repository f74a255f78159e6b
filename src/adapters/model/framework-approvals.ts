import { contextOfFiles } from '../../call/files-context.ts'
import type { CallOptions, Success } from '../../call/state/call.ts'
import { isDialectResult } from '../../dialects/runtime/types.ts'
import type { Failure } from '../../errors.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../policy/approval.ts'
import { canonicalJson } from '../../util/canonical-json.ts'
import { checkArgument, isFunction, isObjectWith, isOneOf, type OptionTable } from '../../util/check-options.ts'
import { setBounded } from '../../util/set-bounded.ts'
import type { CallResult, OfferOptions } from './select-tools.ts'

/** A call that waits for an answer. Plain data. */
export interface PendingCall {
  /** The framework's id of the call. */
  readonly callId: string
  /** The id of the request. Only an answer with this id counts. */
  readonly approvalId: string
  /** What the call would do, with its rules and the change as a diff. */
  readonly request: ApprovalRequest
}

/** The answer to a {@link PendingCall}. */
export interface PendingAnswer {
  readonly approvalId: string
  readonly answer: ApprovalAnswer
}

/** A call of a framework. */
interface FrameworkCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
  readonly signal?: AbortSignal | undefined
}

/** A call that has been made, as far as it needs no approval. */
interface Begun {
  /** The tool and its input. */
  readonly key: string
  readonly result: Promise<CallResult>
  /** What it waits for. */
  readonly pending: Promise<PendingCall | undefined>
  /** Whether an earlier process was asked about the call, so that nobody was asked about this one. */
  readonly isRepeated: boolean
}

type Caller = NonNullable<OfferOptions['run']>

/** A workspace that can resume calls. */
interface Resumable {
  resume(id: string, answer: ApprovalAnswer, options?: CallOptions): Promise<Success | Failure>
}

/** The options of a call that concern approvals. */
interface ApprovalsOptions extends Pick<OfferOptions, 'run' | 'approve'>, Pick<CallOptions, 'media'> {
  readonly approvals?: 'workspace' | 'framework'
  readonly onPending?: (pending: PendingCall) => void
}

/** The checks of the options that only approvals have. */
export const approvalTable: OptionTable<Omit<ApprovalsOptions, 'run' | 'approve' | 'media'>> = {
  approvals: isOneOf('workspace', 'framework'),
  onPending: isFunction,
}

/**
 * Returns the calls of a framework that asks for approvals itself, if the options say so.
 *
 * @throws TypeError for a workspace without `resume()`, and for a handler beside the framework, of the workspace or of the options
 */
export function approvalsOf(
  owner: string,
  workspace: object,
  { approvals, onPending, run, approve, media }: ApprovalsOptions,
): FrameworkApprovals | undefined {
  if (approvals !== 'framework') {
    if (onPending === undefined) return undefined
    throw new TypeError(`${owner} takes onPending only with approvals: 'framework'`)
  }
  checkArgument(owner, 'workspace', workspace, isObjectWith('a workspace with resume()', 'resume'))
  if (approve !== undefined) throw new TypeError(`${owner} takes either approve or approvals: 'framework'`)
  if (contextOfFiles.get(Object(Object(workspace).files))?.run.approvals.hasHandler) {
    throw new TypeError(`${owner}: the workspace answers approvals, not the framework; remove its approve`)
  }
  return new FrameworkApprovals(workspace as Resumable, run ?? (workspace as Caller), media ? { media } : {})
}

/**
 * Makes the calls of a framework that asks for approvals itself. A call is made once, when the framework asks about it. If the policy
 * requires an approval, the call is parked, and resumed by the answer that the framework has for its id: what was shown is what
 * happens, and a file that changed since is a `WRITE_CONFLICT`.
 */
class FrameworkApprovals {
  readonly #run: Caller
  readonly #workspace: Resumable
  readonly #options: Pick<CallOptions, 'media'>
  readonly #begun = new Map<string, Begun>()

  constructor(workspace: Resumable, run: Caller, options: Pick<CallOptions, 'media'>) {
    this.#workspace = workspace
    this.#options = options
    this.#run = run
  }

  /** Makes a call, unless it was made. Returns what it waits for. */
  async ask(call: FrameworkCall, isRepeated = false): Promise<PendingCall | undefined> {
    return this.#begin(call, isRepeated).pending
  }

  /** Returns the result of a call that the framework runs, because it needs no approval or has one. */
  async finish(call: FrameworkCall): Promise<CallResult> {
    const begun = this.#taken(call) ?? this.#begin(call, true)
    this.#begun.delete(call.id)
    const pending = await begun.pending
    if (pending === undefined || begun.isRepeated) return begun.result
    return this.#resume(pending, 'allow', call)
  }

  /** Makes a call, and asks within it. `interrupt` throws, or returns the answer that the framework continues with. */
  async callAsking(call: FrameworkCall, interrupt: (pending: PendingCall) => unknown): Promise<CallResult> {
    const begun = this.#begin(call, false)
    const pending = await begun.pending
    if (pending === undefined) {
      await this.#forgetFinished()
      return begun.result
    }
    const answer: Partial<PendingAnswer> = Object(await interrupt(pending))
    if (answer.approvalId !== pending.approvalId || answer.answer === undefined) return begun.result
    this.#begun.delete(call.id)
    return this.#resume(pending, answer.answer, call)
  }

  #resume({ approvalId, callId }: PendingCall, answer: ApprovalAnswer, { signal }: FrameworkCall) {
    return this.#workspace.resume(approvalId, answer, {
      ...this.#options,
      step: callId,
      ...(signal && { signal }),
    })
  }

  /** Returns the call that was made with this id, if it has the same tool and input. */
  #taken({ id, name, input }: FrameworkCall): Begun | undefined {
    const begun = this.#begun.get(id)
    return begun?.key === keyOf(name, input) ? begun : undefined
  }

  #begin(call: FrameworkCall, isRepeated: boolean): Begun {
    const existing = this.#taken(call)
    if (existing !== undefined) return existing
    const { id, name, input, signal } = call
    let request: ApprovalRequest | undefined
    const result: Promise<CallResult> = this.#run.callTool(name, input, {
      ...this.#options,
      step: id,
      ...(signal && { signal }),
      approve(asked) {
        request = asked
        return 'later'
      },
    })
    const pending = result.then((settled) => {
      const failure = isDialectResult(settled) ? settled.failure : settled.ok ? undefined : (settled as Failure)
      if (failure?.code !== 'APPROVAL_REQUIRED' || failure.approvalId === undefined || !request) return undefined
      return { callId: id, approvalId: failure.approvalId, request }
    })
    const begun = { key: keyOf(name, input), result, pending, isRepeated }
    setBounded(this.#begun, id, begun)
    return begun
  }

  /** Results stay while a call waits, because a framework may repeat the calls beside it when it goes on. */
  async #forgetFinished(): Promise<void> {
    const all = await Promise.all([...this.#begun].map(async ([id, { pending }]) => [id, await pending] as const))
    if (all.some(([, pending]) => pending !== undefined)) return
    for (const [id] of all) this.#begun.delete(id)
  }
}

function keyOf(name: string, input: unknown): string {
  return canonicalJson([name, input])
}
