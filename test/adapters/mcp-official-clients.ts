import { Client as ClientV2, type Transport as TransportV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  ElicitRequestSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'

/** The answer of a person to a form. */
export interface PersonsAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Record<string, string>
}

export interface OfficialClientOptions {
  /** Answers the questions of the server. Default: the client has no elicitation. */
  readonly answer?: (message: string) => PersonsAnswer | Promise<PersonsAnswer>
  /** Called with each notification of a changed list. */
  readonly onChange?: (list: 'tools' | 'resources') => void
}

interface CallLimits {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string | undefined }) => void
}

/** What the tests do with a client, whatever its version. */
export interface OfficialClient {
  connect(transport: unknown): Promise<void>
  version(): string | undefined
  listTools(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>
  /** Returns the structured result of a call, or the complete refusal. */
  call(name: string, input: Record<string, unknown>, limits?: CallLimits): Promise<Record<string, unknown>>
  readResource(uri: string): Promise<string>
  listResources(): Promise<readonly string[]>
  getPrompt(name: string, values: Record<string, string>): Promise<string>
  complete(path: string): Promise<readonly string[]>
  /** Asks for notifications of changed lists, where the protocol requires it. */
  listen(): Promise<void>
  close(): Promise<void>
}

type ClientFactory = (options?: OfficialClientOptions) => OfficialClient

const info = { name: 'test client', version: '1.0.0' }

type Outcome = {
  readonly structuredContent?: unknown
  readonly _meta?: Record<string, unknown> | undefined
}

function outcomeOf(result: unknown): Record<string, unknown> {
  const { structuredContent, _meta } = result as Outcome
  return (structuredContent ?? _meta?.['wardspace/failure']) as Record<string, unknown>
}

function v1({ answer, onChange }: OfficialClientOptions = {}): OfficialClient {
  const client = new ClientV1(info, { capabilities: answer === undefined ? {} : { elicitation: { form: {} } } })
  let version: string | undefined
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await answer(params.message)) }))
  }
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => onChange?.('tools'))
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onChange?.('resources'))
  return {
    async connect(transport) {
      const used = transport as TransportV1
      const { setProtocolVersion } = used
      used.setProtocolVersion = (negotiated) => {
        version = negotiated
        setProtocolVersion?.call(used, negotiated)
      }
      await client.connect(used)
    },
    version: () => version,
    listTools: async () => (await client.listTools()).tools,
    call: async (name, input, limits = {}) =>
      outcomeOf(await client.callTool({ name, arguments: input }, undefined, limits as never)),
    readResource: async (uri) => textOf(await client.readResource({ uri })),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    getPrompt: async (name, values) => JSON.stringify(await client.getPrompt({ name, arguments: values })),
    complete: async (path) => (await client.complete(completionOf(path))).completion.values,
    async listen() {},
    close: () => client.close(),
  }
}

function v2(mode: 'legacy' | 'auto' | { pin: string }): ClientFactory {
  return ({ answer, onChange } = {}) => {
    const client = new ClientV2(info, {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode },
    })
    if (answer !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await answer(params.message)) }))
    }
    client.setNotificationHandler('notifications/tools/list_changed', () => onChange?.('tools'))
    client.setNotificationHandler('notifications/resources/list_changed', () => onChange?.('resources'))
    return {
      connect: (transport) => client.connect(transport as TransportV2),
      version: () => client.getNegotiatedProtocolVersion(),
      listTools: async () => (await client.listTools()).tools,
      call: async (name, input, limits = {}) =>
        outcomeOf(await client.callTool({ name, arguments: input }, limits as never)),
      readResource: async (uri) => textOf(await client.readResource({ uri })),
      listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      getPrompt: async (name, values) => JSON.stringify(await client.getPrompt({ name, arguments: values })),
      complete: async (path) => (await client.complete(completionOf(path))).completion.values,
      async listen() {
        if (client.getProtocolEra() === 'modern') {
          await client.listen({ toolsListChanged: true, resourcesListChanged: true })
        }
      },
      close: () => client.close(),
    }
  }
}

function textOf({ contents }: { readonly contents: readonly object[] }): string {
  return (contents[0] as { readonly text: string }).text
}

function completionOf(value: string) {
  return {
    ref: { type: 'ref/prompt' as const, name: 'mend_failing_test' },
    argument: { name: 'path', value },
  }
}

/** The official clients, with the version of the protocol that each speaks with a server that knows all of them. */
export const officialClients: readonly (readonly [name: string, create: ClientFactory, version: string])[] = [
  ['v1', v1, '2025-11-25'],
  ['v2 as before', v2('legacy'), '2025-11-25'],
  ['v2 that negotiates', v2('auto'), '2026-07-28'],
  ['v2 of protocol 2026-07-28 only', v2({ pin: '2026-07-28' }), '2026-07-28'],
]
