import type { ProgressRequest } from './progress.ts'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type Implementation,
  type Server,
  type ServerContext,
} from './sdk.ts'

/** The form of a question to the user of a client. */
export type QuestionForm = Omit<ElicitRequestFormParams, 'mode'>

/** How long a question waits, and the signal that cancels it. */
export interface QuestionLimits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The answer to a question, as the client sent it: the action and the content are checked. */
export interface QuestionAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, unknown>> | undefined
}

/** A request of a client, the same for all versions of the protocol. */
export interface ClientRequest extends ProgressRequest {
  readonly signal: AbortSignal
  /** Whether the client can show a form to its user. */
  readonly hasForms: boolean
  /** Name of the client. */
  readonly client: string
  /**
   * Shows a form to the user of the client. Rejects if the client does not answer, and with {@link InvalidAnswer} if its answer
   * does not fit the form.
   */
  ask(form: QuestionForm, limits: QuestionLimits): Promise<QuestionAnswer>
}

/** The client answered a question with something else than the form allows. */
export class InvalidAnswer extends Error {}

/** Returns the capabilities of the client: since 2026-07-28 each request declares them, before `initialize` did. */
export function capabilitiesOf(server: Server, context: ServerContext): ClientCapabilities | undefined {
  return envelopeOf(context)[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
}

/** Returns whether a client can show forms. Before there were other modes, `{}` meant forms. */
export function hasForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** Returns the name of the client. */
export function nameOf(server: Server, context: ServerContext): string {
  return (envelopeOf(context)[CLIENT_INFO_META_KEY] ?? server.getClientVersion())?.name ?? 'the client'
}

interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
  readonly [CLIENT_INFO_META_KEY]?: Implementation
}

/** The SDK has checked the fields; its type of them is empty. */
function envelopeOf(context: ServerContext): Envelope {
  return (context.mcpReq.envelope ?? {}) as Envelope
}
