import type { DurableObjectState } from '@cloudflare/workers-types'
import { createMcpServer } from '../../src/adapters/mcp/index.ts'
import { type McpHandler, mcpHandler } from '../../src/adapters/mcp-http/index.ts'
import { durableObject } from '../../src/backends/durable-object/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { commitsAtOnce, failingStorage, largeFile, measure } from './durable-object-runs.ts'

interface Env {
  readonly SUBJECT: {
    newUniqueId(): unknown
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

/** A Durable Object that performs test runs over its own storage. */
export class Subject {
  private readonly state: DurableObjectState
  private mcp: Promise<McpHandler> | undefined

  constructor(state: DurableObjectState) {
    this.state = state
  }

  async fetch(request: Request): Promise<Response> {
    try {
      return await this.answer(request)
    } finally {
      await globalThis.tellCoverage?.()
    }
  }

  private async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const { storage } = this.state
    if (pathname === '/mcp') {
      this.mcp ??= serveMcp(this.state)
      return (await this.mcp).fetch(request)
    }
    if (pathname === '/large') return Response.json(await largeFile(storage))
    if (pathname === '/at-once') return Response.json(await commitsAtOnce(storage))
    if (pathname === '/full') return Response.json(await failingStorage(storage))
    if (pathname === '/measure') return Response.json(await measure(storage))
    return new Response('not found', { status: 404 })
  }
}

/** The tools of a workspace in the storage of a Durable Object. All requests of a session reach the same object. */
async function serveMcp({ storage }: DurableObjectState): Promise<McpHandler> {
  const workspace = await createWorkspace({ backend: durableObject(storage), policy: 'supervised' })
  return mcpHandler({
    token: 'a-token-of-the-tests',
    open() {
      const run = workspace.run({ actor: 'mcp' })
      return { server: createMcpServer(workspace, { run }), close: () => run.close() }
    },
  })
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/mcp') return env.SUBJECT.get(env.SUBJECT.idFromName('mcp')).fetch(request)
    return env.SUBJECT.get(env.SUBJECT.newUniqueId()).fetch(request)
  },
}
