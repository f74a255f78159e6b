/** What JSON-RPC's own codes do not name; `-32001` is what clients of the protocol take for a lost session. */
export const rpcCodes = {
  parse: -32700,
  invalid: -32600,
  internal: -32603,
  refused: -32000,
  lostSession: -32001,
} as const

export interface RefusalDetails {
  readonly code?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that is answered by its status and an error of JSON-RPC, with what to do next. */
export function refusal(status: number, message: string, hint: string, details: RefusalDetails = {}): Response {
  const { code = rpcCodes.refused, headers = {} } = details
  const error = { code, message, data: { hint } }
  return new Response(JSON.stringify({ jsonrpc: '2.0', error, id: null }), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  })
}

/** A refusal of the transport itself, with what to do next. Anything else stays as it is. */
export async function withHint(request: Request, response: Response): Promise<Response> {
  if (response.status < 400) return response
  const { error } = (await response.json()) as { readonly error: { readonly code: number; readonly message: string } }
  return refusal(response.status, error.message, hintFor(request, response.status, error.code), { code: error.code })
}

function hintFor(request: Request, status: number, code: number): string {
  if (status === 400 && code === rpcCodes.refused) {
    return request.headers.has('last-event-id')
      ? 'What came after that event is not kept any more. Open the stream without Last-Event-ID.'
      : 'Send MCP-Protocol-Version as the answer to initialize named it.'
  }
  if (status === 400 && code === rpcCodes.invalid) {
    return 'Send initialize once, alone and without a session, and at most 100 messages together.'
  }
  return hints[status] ?? 'Send one message of JSON-RPC 2.0, as the Model Context Protocol has it.'
}

const hints: Readonly<Record<number, string>> = {
  404: 'The session has ended. Send initialize again, without Mcp-Session-Id.',
  406: 'Send Accept: application/json, text/event-stream; for GET, text/event-stream.',
  409: 'The stream is open already. Close it first, or go on with it.',
  413: 'Send less at once: a file in parts, or a patch in several calls.',
  415: 'Send JSON, with Content-Type: application/json.',
  500: 'Open the stream without Last-Event-ID.',
}
