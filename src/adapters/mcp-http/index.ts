import { WebStandardStreamableHTTPServerTransport as Transport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { type AdmissionOptions, createAdmission } from './admission.ts'
import { createEvents } from './event-store.ts'
import { refusal, rpcCodes, withHint } from './protocol-errors.ts'
import { createSessions, type McpSession } from './sessions.ts'
import { trackResponse } from './track-response.ts'

export type { McpSession } from './sessions.ts'

/** Who wants a session. */
export interface McpClientRequest {
  readonly url: string
  readonly headers: Headers
}

/** Who may come in, what a session is served, and how many there may be. */
export interface McpHandlerOptions extends AdmissionOptions {
  /** Makes what a new session speaks to: a server of its own, over a run of its own. */
  readonly open: (client: McpClientRequest) => McpSession | Promise<McpSession>
  /** How many sessions there may be at once. Default: 200. */
  readonly maxSessions?: number
  /** How long a session may lie without a request or an open stream, in milliseconds. Default: 30 minutes. */
  readonly idleMs?: number
  /** How large the body of a request may be. Default: 8 MiB. */
  readonly maxBodyBytes?: number
  /** How many events of a session are kept for clients that lost their connection. Default: 256, of 1 MiB in all. */
  readonly maxEvents?: number
  readonly maxEventBytes?: number
  /** Is told what went wrong when a session was opened or ended; clients are not. */
  readonly onError?: (error: unknown) => void
}

/** The protocol over HTTP, for any server that speaks in requests and responses. */
export interface McpHandler {
  /** Answers one request, whatever it is. */
  fetch(request: Request): Promise<Response>
  /** How many sessions there are. */
  readonly size: number
  /** Ends all sessions, with what they run. */
  close(): Promise<void>
}

/** What the transport calls the stream that belongs to no request. */
const OWN_STREAM = '_GET_stream'

/** What a client may leave unread of one stream before that is cut. */
const BACKLOG_BYTES = 16 * 1024 * 1024

/**
 * The Model Context Protocol over Streamable HTTP, in web-standard form: for Node, Deno, Bun, and Durable Objects. Each
 * client has a session with a server of its own; one whose connection broke goes on by `Last-Event-ID`. Requests that a
 * browser was led to send are refused by `Host` and `Origin`, before anything else is looked at.
 *
 * @throws TypeError for a misconfiguration
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
export function mcpHandler(options: McpHandlerOptions): McpHandler {
  const admission = createAdmission(options)
  const { onError = () => {} } = options
  const maxEvents = atLeastOne('maxEvents', options.maxEvents ?? 256)
  const maxEventBytes = atLeastOne('maxEventBytes', options.maxEventBytes ?? 1024 * 1024)
  const maxRequestBodySize = atLeastOne('maxBodyBytes', options.maxBodyBytes ?? 8 * 1024 * 1024)
  const sessions = createSessions({
    most: atLeastOne('maxSessions', options.maxSessions ?? 200),
    idleMs: atLeastOne('idleMs', options.idleMs ?? 30 * 60_000),
    onError,
  })

  /** The events of sessions whose own stream was never opened. */
  const waiting = new WeakMap<Transport, ReturnType<typeof createEvents>>()

  async function begin(request: Request): Promise<Response> {
    if (request.method !== 'POST') return withoutSession()
    let failed: Response | undefined
    const eventStore = createEvents(maxEvents, maxEventBytes)
    const transport = new Transport({
      sessionIdGenerator: () => crypto.randomUUID(),
      eventStore,
      maxRequestBodySize,
      async onsessioninitialized(id) {
        const make = async () => options.open({ url: request.url, headers: request.headers })
        try {
          if (!(await sessions.open(id, transport, make))) failed = full()
          else waiting.set(transport, eventStore)
        } catch (error) {
          failed = broken()
          onError(error)
        }
        // What was not opened takes no message.
        if (failed !== undefined) await transport.close()
      },
    })
    const response = await transport.handleRequest(request)
    if (failed !== undefined) return failed
    const session = transport.sessionId === undefined ? undefined : sessions.get(transport.sessionId)
    if (session === undefined) {
      const isPlain = response.status === 400 && (await codeOf(response)) === rpcCodes.refused
      return isPlain ? withoutSession() : withHint(request, response)
    }
    session.enter()
    return trackResponse(response, BACKLOG_BYTES, session.leave)
  }

  /** Of a stream that is opened for the first time: with what the server has said before that. */
  async function fromBeginning(request: Request, transport: Transport): Promise<Request> {
    const events = waiting.get(transport)
    if (request.method !== 'GET' || events === undefined) return request
    waiting.delete(transport)
    const before = `${OWN_STREAM}.0`
    if (request.headers.has('last-event-id') || !(await events.getStreamIdForEventId(before))) return request
    const headers = new Headers(request.headers)
    headers.set('last-event-id', before)
    return new Request(request.url, { headers })
  }

  async function goOn(request: Request, id: string): Promise<Response> {
    const session = sessions.get(id)
    if (session === undefined) {
      const hint = 'It may have ended. Send initialize again, without Mcp-Session-Id.'
      return refusal(404, 'There is no such session', hint, { code: rpcCodes.lostSession })
    }
    session.enter()
    const { transport } = session
    const response = await withHint(request, await transport.handleRequest(await fromBeginning(request, transport)))
    if (request.method === 'DELETE' && response.ok) await session.ended
    return trackResponse(response, BACKLOG_BYTES, session.leave)
  }

  return {
    async fetch(request) {
      const refused = await admission.check(request)
      if (refused !== undefined) return admission.shown(request, refused)
      const id = request.headers.get('mcp-session-id')
      return admission.shown(request, id === null ? await begin(request) : await goOn(request, id))
    },
    get size() {
      return sessions.size
    },
    close: () => sessions.close(),
  }
}

async function codeOf(response: Response): Promise<number> {
  const { error } = (await response.clone().json()) as { readonly error: { readonly code: number } }
  return error.code
}

function withoutSession(): Response {
  const hint = 'Send initialize first, then its Mcp-Session-Id with every request.'
  return refusal(400, 'The request names no session', hint)
}

function full(): Response {
  const hint = 'End a session that is not needed with DELETE, or try again later.'
  return refusal(503, 'No more sessions can be opened', hint, { headers: { 'Retry-After': '60' } })
}

function broken(): Response {
  const hint = 'Report this to the user; only the server knows the cause.'
  return refusal(500, 'The session could not be opened', hint, { code: rpcCodes.internal })
}

function atLeastOne(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new TypeError(`mcpHandler(): ${name} must be a positive whole number`)
}
