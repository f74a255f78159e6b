import { checkOptions, isFunction, isPositive, type OptionTable, refuseSurplus } from '../../util/check-options.ts'
import { WebStandardStreamableHTTPServerTransport as Transport } from '../mcp/sdk.ts'
import { type AdmissionOptions, admissionTable, createAdmission } from './admission.ts'
import { createEventStore } from './event-store.ts'
import { codeOf, refusal, rpcCodes, withHint, withReason } from './protocol-errors.ts'
import type { McpSession } from './session.ts'
import { createSessions, type SessionLimits, type Sessions } from './sessions.ts'
import { trackResponse } from './track-response.ts'

export type { McpSession } from './session.ts'

/** The request that opens a session. */
export interface McpClientRequest {
  readonly url: string
  readonly headers: Headers
}

/** Admission, sessions and limits of an {@link mcpHandler}. */
export interface McpHandlerOptions extends AdmissionOptions {
  /** Creates the server of a new session. Each session needs its own server and its own run. */
  readonly open: (client: McpClientRequest) => McpSession | Promise<McpSession>
  /** Maximum number of concurrent sessions. Default: 200. */
  readonly maxSessions?: number
  /** Milliseconds after which a session without a request or an open stream ends. Default: 30 minutes. */
  readonly idleMs?: number
  /** Maximum size of a request body in bytes. Default: 8 MiB. */
  readonly maxBodyBytes?: number
  /** Maximum number of events per session that are stored for clients that lost their connection. Default: 256. */
  readonly maxEvents?: number
  /** Maximum size of the stored events of a session, in UTF-16 units. Default: 1,048,576. */
  readonly maxEventBytes?: number
  /** Called with errors of `open` and of a session's `close`. Clients do not see them. */
  readonly onError?: (error: unknown) => void
}

const optionTable: OptionTable<McpHandlerOptions> = {
  ...admissionTable,
  open: isFunction,
  maxSessions: isPositive,
  idleMs: isPositive,
  maxBodyBytes: isPositive,
  maxEvents: isPositive,
  maxEventBytes: isPositive,
  onError: isFunction,
}

/** Serves the protocol over HTTP with web-standard requests and responses. */
export interface McpHandler {
  /** Answers one request. */
  fetch(request: Request): Promise<Response>
  /** Number of open sessions. */
  readonly size: number
  /** Ends all sessions and closes what they run. */
  close(): Promise<void>
}

/** The transport's name of the stream that belongs to no request. */
const STANDALONE_STREAM = '_GET_stream'

/** Maximum number of unread bytes of one stream. A stream with more is closed. */
const BACKLOG_BYTES = 16 * 1024 * 1024

/**
 * Creates a handler for the Model Context Protocol over Streamable HTTP, in web-standard form: for Node, Deno, Bun and Durable
 * Objects. Each client has a session with its own server. A client that lost its connection resumes with `Last-Event-ID`.
 * `Host` and `Origin` are checked first, which stops DNS rebinding and requests from foreign web pages.
 *
 * @throws TypeError for an invalid token, host, origin or limit
 * @example
 * const handler = mcpHandler({
 *   token: 'correct-horse-battery',
 *   open() {
 *     const run = workspace.run({ actor: 'mcp' })
 *     return { server: createMcpServer(workspace, { run }), close: () => run.close() }
 *   },
 * })
 * const response = await handler.fetch(new Request('http://localhost/mcp'))
 * console.log(response.status) // 401
 */
export function mcpHandler(requested: McpHandlerOptions): McpHandler {
  refuseSurplus('mcpHandler()', 1, arguments)
  const options = checkOptions<McpHandlerOptions>('mcpHandler()', requested, optionTable, 'open')
  const admission = createAdmission(options)
  const limits = limitsOf(options)
  const sessions = createSessions(limits)
  const router = new SessionRouter(options, limits, sessions)
  return {
    async fetch(request) {
      const refused = await admission.check(request)
      if (refused !== undefined) return admission.withCors(request, refused)
      const id = request.headers.get('mcp-session-id')
      const copy = request.method === 'POST' ? request.clone() : undefined
      const response = await (id === null ? router.initialize(request) : router.handle(request, id))
      return admission.withCors(request, await withReason(copy, response))
    },
    get size() {
      return sessions.size
    },
    close: () => sessions.close(),
  }
}

interface Limits extends SessionLimits {
  readonly maxEvents: number
  readonly maxEventBytes: number
  readonly maxBodyBytes: number
}

function limitsOf(options: McpHandlerOptions): Limits {
  const { onError = () => {} } = options
  return {
    maxSessions: options.maxSessions ?? 200,
    idleMs: options.idleMs ?? 30 * 60_000,
    maxEvents: options.maxEvents ?? 256,
    maxEventBytes: options.maxEventBytes ?? 1024 * 1024,
    maxBodyBytes: options.maxBodyBytes ?? 8 * 1024 * 1024,
    onError,
  }
}

type EventStore = ReturnType<typeof createEventStore>

/** Passes admitted requests to the transport of their session. */
class SessionRouter {
  readonly #open: McpHandlerOptions['open']
  readonly #limits: Limits
  readonly #sessions: Sessions
  /** Event stores of sessions whose standalone stream was not opened yet. */
  readonly #unreadEvents = new WeakMap<Transport, EventStore>()

  constructor({ open }: McpHandlerOptions, limits: Limits, sessions: Sessions) {
    this.#open = open
    this.#limits = limits
    this.#sessions = sessions
  }

  /** Answers a request without a session id: `initialize` opens a session, anything else is refused. */
  async initialize(request: Request): Promise<Response> {
    if (request.method !== 'POST') return missingSession()
    const { transport, failure } = this.#createTransport(request)
    const response = await transport.handleRequest(request)
    const refused = failure()
    if (refused !== undefined) return refused
    const session = transport.sessionId === undefined ? undefined : this.#sessions.get(transport.sessionId)
    if (session === undefined) {
      const isMissing = response.status === 400 && (await codeOf(response)) === rpcCodes.refused
      return isMissing ? missingSession() : withHint(request, response)
    }
    session.enter()
    return trackResponse(response, BACKLOG_BYTES, session.leave)
  }

  /** Answers a request of an existing session. */
  async handle(request: Request, id: string): Promise<Response> {
    const session = this.#sessions.get(id)
    if (session === undefined) return unknownSession()
    session.enter()
    const { transport } = session
    const response = await withHint(
      request,
      await transport.handleRequest(await this.#fromFirstEvent(request, transport)),
    )
    if (request.method === 'DELETE' && response.ok) await session.ended
    return trackResponse(response, BACKLOG_BYTES, session.leave)
  }

  /** Creates a transport that opens its session on `initialize`. `failure` returns the response if that failed. */
  #createTransport(request: Request): { readonly transport: Transport; failure(): Response | undefined } {
    const { maxEvents, maxEventBytes, maxBodyBytes, onError } = this.#limits
    let failure: Response | undefined
    const eventStore = createEventStore(maxEvents, maxEventBytes)
    const transport = new Transport({
      sessionIdGenerator: () => crypto.randomUUID(),
      eventStore,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: async (id) => {
        const open = async () => this.#open({ url: request.url, headers: request.headers })
        try {
          if (!(await this.#sessions.open(id, transport, open))) failure = tooManySessions()
          else this.#unreadEvents.set(transport, eventStore)
        } catch (error) {
          failure = notOpened()
          onError(error)
        }
        // A transport without a session must not accept messages.
        if (failure !== undefined) await transport.close()
      },
    })
    return { transport, failure: () => failure }
  }

  /** Lets the first standalone stream of a session begin with the events that the server sent before it was opened. */
  async #fromFirstEvent(request: Request, transport: Transport): Promise<Request> {
    const events = this.#unreadEvents.get(transport)
    if (request.method !== 'GET' || events === undefined) return request
    this.#unreadEvents.delete(transport)
    const beforeFirst = `${STANDALONE_STREAM}.0`
    if (request.headers.has('last-event-id') || !(await events.getStreamIdForEventId(beforeFirst))) return request
    const headers = new Headers(request.headers)
    headers.set('last-event-id', beforeFirst)
    return new Request(request.url, { headers })
  }
}

function missingSession(): Response {
  const hint = 'Send initialize first, then its Mcp-Session-Id with every request.'
  return refusal(400, 'The request names no session', hint)
}

function unknownSession(): Response {
  const hint = 'It may have ended. Send initialize again, without Mcp-Session-Id.'
  return refusal(404, 'The session does not exist', hint, { code: rpcCodes.lostSession })
}

function tooManySessions(): Response {
  const hint = 'End an unused session with DELETE, or try again later.'
  return refusal(503, 'No more sessions can be opened', hint, { headers: { 'Retry-After': '60' } })
}

function notOpened(): Response {
  const hint = 'Report this to the user; only the server knows the cause.'
  return refusal(500, 'The session could not be opened', hint, { code: rpcCodes.internal })
}
