import { LONGEST_MS, runAfter } from '../../util/timers.ts'
import {
  type ClientRequest,
  capabilitiesOf,
  hasForms,
  InvalidAnswer,
  nameOf,
  type QuestionAnswer,
  type QuestionForm,
  type QuestionLimits,
} from './client-request.ts'
import { wrongField } from './form-validation.ts'
import { invalidParams } from './protocol-errors.ts'
import {
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  isSpecType,
  ProtocolErrorCode,
  SdkErrorCode,
  type Server,
  type ServerContext,
} from './sdk.ts'

/** Runs the requests of one client, which may ask its user questions. */
export interface Rounds {
  /** Returns the result of `act`, or a request for input that the client answers with the next round of its request. */
  run<R>(context: ServerContext, act: (request: ClientRequest) => Promise<R>): Promise<R | InputRequiredResult>
}

/** Creates the rounds for a version of the protocol: until 2025-11-25, questions are requests of the server. */
export function createRounds(server: Server, era: 'legacy' | 'modern'): Rounds {
  if (era === 'modern') return new SuspendedRequests(server)
  return { run: (context, act) => act(directRequest(server, context)) }
}

function directRequest(server: Server, context: ServerContext): ClientRequest {
  const { id, signal, _meta, notify } = context.mcpReq
  return {
    signal,
    _meta,
    sendNotification: notify,
    hasForms: hasForms(capabilitiesOf(server, context)),
    client: nameOf(server, context),
    async ask(form, { timeoutMs, signal }) {
      try {
        const options = { timeout: Math.min(timeoutMs, LONGEST_MS), relatedRequestId: id, signal }
        return await server.elicitInput({ mode: 'form', ...form }, options)
      } catch (error) {
        const { code } = error as { readonly code?: unknown }
        if (invalidAnswerCodes.has(code)) throw new InvalidAnswer((error as Error).message)
        throw error
      }
    },
  }
}

const invalidAnswerCodes: ReadonlySet<unknown> = new Set([ProtocolErrorCode.InvalidParams, SdkErrorCode.InvalidResult])

/** The name of the question in a request for input. Only one is open at a time. */
const QUESTION = 'approval'

/** A request that runs, or waits for the answer to a question. */
interface OpenRequest {
  readonly outcome: Promise<{ readonly result: unknown }>
  readonly controller: AbortController
  /** The current round. None while the request waits for the next one. */
  round: ServerContext | undefined
  /** Called with each question. */
  onQuestion: (form: QuestionForm) => void
  /** Called with the answer to the open question. */
  onAnswer: (answer: unknown) => void
}

/**
 * Requests since 2026-07-28, where the server cannot send requests. A question ends the round of a request, which waits in memory
 * for the client to send it again with the answer. The identifier of the question is random and valid once, on this connection.
 */
class SuspendedRequests implements Rounds {
  readonly #server: Server
  readonly #waiting = new Map<string, OpenRequest>()

  constructor(server: Server) {
    this.#server = server
    const { onclose } = server
    server.onclose = () => {
      onclose?.()
      for (const { controller } of this.#waiting.values()) controller.abort(new Error('The connection was closed'))
      this.#waiting.clear()
    }
  }

  async run<R>(context: ServerContext, act: (request: ClientRequest) => Promise<R>): Promise<R | InputRequiredResult> {
    const request = this.#reopen(context) ?? this.#open(context, act)
    const { signal } = context.mcpReq
    const abort = () => request.controller.abort(signal.reason)
    signal.addEventListener('abort', abort)
    const asked = new Promise<QuestionForm>((resolve) => {
      request.onQuestion = resolve
    })
    try {
      this.#answer(request, context)
      const next = await Promise.race([request.outcome, asked.then((form) => ({ form }))])
      if ('result' in next) return next.result as R
      return this.#suspend(request, next.form)
    } finally {
      request.round = undefined
      signal.removeEventListener('abort', abort)
    }
  }

  /** Returns the request that waits for this round, or `undefined` for a first round. */
  #reopen(context: ServerContext): OpenRequest | undefined {
    const state = context.mcpReq.requestState()
    if (state === undefined) return undefined
    const request = this.#waiting.get(String(state))
    if (request === undefined) throw invalidParams('The question is not open any more: send the request again')
    this.#waiting.delete(String(state))
    request.round = context
    return request
  }

  #open<R>(context: ServerContext, act: (request: ClientRequest) => Promise<R>): OpenRequest {
    const controller = new AbortController()
    const request: { -readonly [F in keyof OpenRequest]: OpenRequest[F] } = {
      outcome: new Promise(() => {}),
      controller,
      round: context,
      onQuestion: () => {},
      onAnswer: () => {},
    }
    // The first question may come before the race begins.
    request.outcome = Promise.resolve()
      .then(() => act(this.#clientRequest(request, context)))
      .then((result) => ({ result }))
    request.outcome.catch(() => {})
    return request
  }

  #clientRequest(request: OpenRequest, context: ServerContext): ClientRequest {
    return {
      signal: request.controller.signal,
      _meta: context.mcpReq._meta,
      hasForms: hasForms(capabilitiesOf(this.#server, context)),
      client: nameOf(this.#server, context),
      // Each round has a progress token of its own.
      sendNotification: async ({ method, params }) => {
        const progressToken = request.round?.mcpReq._meta?.progressToken
        if (progressToken !== undefined)
          await request.round?.mcpReq.notify({ method, params: { ...params, progressToken } })
      },
      ask: async (form, limits) => checkAnswer(form, await this.#ask(request, form, limits)),
    }
  }

  #ask(request: OpenRequest, form: QuestionForm, { timeoutMs, signal }: QuestionLimits): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        request.onAnswer = () => {}
      }
      const stop = () => {
        end()
        reject(signal.aborted ? signal.reason : new Error('The client did not answer'))
      }
      const timer = runAfter(timeoutMs, stop)
      signal.addEventListener('abort', stop)
      request.onAnswer = (answer) => {
        end()
        resolve(answer)
      }
      request.onQuestion(form)
    })
  }

  #suspend(request: OpenRequest, form: QuestionForm): InputRequiredResult {
    const requestState = crypto.randomUUID()
    this.#waiting.set(requestState, request)
    void request.outcome.catch(() => {}).finally(() => this.#waiting.delete(requestState))
    return inputRequired({ inputRequests: { [QUESTION]: inputRequired.elicit(form) }, requestState })
  }

  #answer(request: OpenRequest, context: ServerContext): void {
    if (context.mcpReq.requestState() === undefined) return
    request.onAnswer(context.mcpReq.inputResponses?.[QUESTION])
  }
}

/** @throws InvalidAnswer */
function checkAnswer(form: QuestionForm, answer: unknown): QuestionAnswer {
  if (!isSpecType.ElicitResult(answer)) throw new InvalidAnswer('The answer is not the result of a form')
  const { action, content = {} } = answer as ElicitResult
  const problem = action === 'accept' ? wrongField(content, form.requestedSchema) : undefined
  if (problem !== undefined) throw new InvalidAnswer(`The answer does not fit the form: ${problem}`)
  return { action, content }
}
