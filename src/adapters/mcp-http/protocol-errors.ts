import { type MalformedAnswer, malformedAnswer, unparsableAnswer } from '../mcp/malformed-message.ts'

/** JSON-RPC error codes. Clients of the protocol treat `-32001` as a lost session. */
export const rpcCodes = {
  parse: -32700,
  invalid: -32600,
  internal: -32603,
  refused: -32000,
  lostSession: -32001,
} as const

/** Overrides for {@link refusal}. Default code: `-32000`. */
export interface RefusalDetails {
  readonly code?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Id of the request. Default: `null`. */
  readonly id?: string | number | null
}

/** Returns a response with an HTTP status and a JSON-RPC error that contains a hint. */
export function refusal(status: number, message: string, hint: string, details: RefusalDetails = {}): Response {
  const { code = rpcCodes.refused, headers = {}, id = null } = details
  const error = { code, message, data: { hint } }
  return new Response(JSON.stringify({ jsonrpc: '2.0', error, id }), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  })
}

/** Adds a hint to an error response of the transport. Returns any other response unchanged. */
export async function withHint(request: Request, response: Response): Promise<Response> {
  if (response.status < 400) return response
  const { error } = (await response.json()) as { readonly error: { readonly code: number; readonly message: string } }
  return refusal(response.status, error.message, hintFor(request, response.status, error.code), { code: error.code })
}

/**
 * Returns a response about a body that is not a message with the reason and the id of the request. Returns any other
 * response unchanged.
 *
 * @param copy the request, with a body that was not read. Absent for a request without one
 */
export async function withReason(copy: Request | undefined, response: Response): Promise<Response> {
  if (copy === undefined) return response
  if (response.status === 202) {
    // The transport accepts a list without messages.
    const answer = (await copy.text()).trim() === '[]' ? malformedAnswer([]) : undefined
    return answer === undefined ? response : refusal(400, answer.error.message, HINT, { code: answer.error.code })
  }
  if (response.status !== 400 || (await codeOf(response)) !== rpcCodes.parse) {
    // Not awaited: it settles only when the body of the request itself has ended.
    void copy.body?.cancel().catch(() => {})
    return response
  }
  const answer = answerToBody(await copy.text())
  if (answer === undefined) return response
  const { id, error } = answer
  return refusal(400, error.message, HINT, { code: error.code, id })
}

function answerToBody(body: string): MalformedAnswer | undefined {
  try {
    return [JSON.parse(body)]
      .flat()
      .map(malformedAnswer)
      .find((answer) => answer !== undefined)
  } catch {
    return unparsableAnswer('it is not JSON')
  }
}

/** Returns the code of an error response. */
export async function codeOf(response: Response): Promise<number> {
  const { error } = (await response.clone().json()) as { readonly error: { readonly code: number } }
  return error.code
}

const HINT = 'Send one JSON-RPC 2.0 message of the Model Context Protocol.'

function hintFor(request: Request, status: number, code: number): string {
  if (status === 400 && code === rpcCodes.refused) {
    return request.headers.has('last-event-id')
      ? 'The events after that one are no longer stored. Open the stream without Last-Event-ID.'
      : 'Send the MCP-Protocol-Version from the answer to initialize.'
  }
  if (status === 400 && code === rpcCodes.invalid) {
    return 'Send initialize once, alone and without a session, and at most 100 messages together.'
  }
  return hints[status] ?? HINT
}

const hints: Readonly<Record<number, string>> = {
  404: 'The session has ended. Send initialize again, without Mcp-Session-Id.',
  406: 'Send Accept: application/json, text/event-stream; for GET, text/event-stream.',
  409: 'The stream is already open. Use it, or close it first.',
  413: 'Send less per request: a file in parts, or a patch in several calls.',
  415: 'Send JSON, with Content-Type: application/json.',
  500: 'Open the stream without Last-Event-ID.',
}
