import { agent, client, methods, RequestError } from '@agentclientprotocol/sdk'
import {
  type AcpOptions,
  type AcpPermissionResponse,
  type AcpTarget,
  acpClient,
} from '../../dist/adapters/acp/index.js'

/** The options of a permission request. */
const choices = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' as const },
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' as const },
  { optionId: 'no', name: 'No', kind: 'reject_once' as const },
]

/** An agent and a client of the SDK, connected, and the requests that the agent makes. */
export async function connectAgent(target: AcpTarget, options: AcpOptions = {}) {
  const guarded = acpClient(target, { RequestError, ...options })
  const app = agent({ name: 'agent' })
  const connection = new Promise<Parameters<Parameters<typeof app.onConnect>[0]>[0]>((resolve) =>
    app.onConnect(resolve),
  )
  const connected = guarded.addTo(client({ name: 'editor' })).connect(app)
  const { client: requests } = await connection
  const sessionId = 's'
  return {
    ...{ guarded, connected, requests, sessionId },
    read: (path: string, more: object = {}) =>
      requests.request(methods.client.fs.readTextFile, { sessionId, path, ...more }),
    write: (path: string, content: string) =>
      requests.request(methods.client.fs.writeTextFile, { sessionId, path, content }),
    permission: (toolCall: object) =>
      requests.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId: 't', ...toolCall },
        options: choices,
      }) as Promise<AcpPermissionResponse>,
  }
}

export type ConnectedAgent = Awaited<ReturnType<typeof connectAgent>>
