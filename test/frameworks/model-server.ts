import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ModelProtocol, protocols } from './model-protocols.ts'

/** A call that the model makes, independent of the protocol. */
export interface ScriptedCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** The type of the call of a tool that OpenAI's API has built in, such as `shell_call`. `input` has its fields. */
  readonly native?: string
}

/** A tool that a request offers. */
export interface OfferedTool {
  readonly name: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly strict: boolean
}

/** What the model received so far. */
export interface Received {
  /** The tools of the first request. */
  readonly tools: readonly OfferedTool[]
  /** The results of the calls, in order, as the text that the model receives. */
  readonly results: readonly string[]
  /** The results of the first conversation that came to its end. */
  readonly first: readonly string[]
}

/** A local server that speaks the protocols of Anthropic and OpenAI. */
export interface ModelServer {
  /** Environment variables that make the clients of both providers use the server. */
  readonly env: Readonly<Record<string, string>>
  received(): Received
  close(): Promise<void>
}

/**
 * Starts a server whose model makes the calls one after the other, each in the answer to the result of the one before it, and says
 * `finalText` after the last one. The model keeps to a strict schema: it fills the fields that it does not need with null.
 */
export async function startModelServer(calls: readonly ScriptedCall[], finalText: string): Promise<ModelServer> {
  let tools: readonly OfferedTool[] | undefined
  let results: readonly string[] = []
  let first: readonly string[] | undefined
  const server = createServer(async (request, response) => {
    const protocol = protocolOf(request.url ?? '')
    if (protocol === undefined) {
      response.writeHead(404).end()
      return
    }
    const body = JSON.parse(await textOf(request))
    const offered = protocol.toolsOf(body)
    tools ??= offered
    // A request that continues a conversation on the server has only the new results.
    const continues = body.thread?.type === 'continue' || body.previous_response_id !== undefined
    results = [...(continues ? results : []), ...protocol.resultsOf(body)]
    const call = calls[results.length]
    if (call === undefined) first ??= results
    const answer =
      call === undefined
        ? protocol.sayText(finalText)
        : protocol.makeCall(`call_${results.length + 1}`, withNulls(call, offered))
    if (body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of protocol.eventsOf(answer)) {
      response.write(`${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    }
    response.end(protocol.end)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    env: {
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: url,
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    },
    received: () => ({ tools: tools ?? [], results, first: first ?? [] }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function protocolOf(url: string): ModelProtocol | undefined {
  return Object.entries(protocols).find(([path]) => url.split('?')[0]?.endsWith(path))?.[1]
}

/** Fills the required fields that the call leaves out with null, if the tool is strict. */
function withNulls(call: ScriptedCall, offered: readonly OfferedTool[]): ScriptedCall {
  const { name, input } = call
  const tool = offered.find((each) => each.name === name)
  if (tool?.strict !== true) return call
  const required = (tool.schema.required ?? []) as readonly string[]
  return { name, input: { ...Object.fromEntries(required.map((field) => [field, null])), ...input } }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += piece
  return text
}
