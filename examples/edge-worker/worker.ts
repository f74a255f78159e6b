import type { DurableObjectNamespace, DurableObjectState } from '@cloudflare/workers-types'
import { createWorkspace, type PolicyInput, type Workspace } from 'wardspace'
import { durableObject } from 'wardspace/backends/durable-object'
import { memory } from 'wardspace/backends/memory'
import { toJsonSchema } from 'wardspace/json-schema'
import { auditLog, parkedCalls } from './storage.ts'

interface Env {
  readonly WORKSPACES: DurableObjectNamespace
  /** The token of agents, which may call tools. */
  readonly AGENT_TOKEN: string
  /** The token of people, who may answer approvals and read the audit. Never give it to an agent. */
  readonly APPROVER_TOKEN: string
}

/** Agents work freely, but changes in `published/` need a person's approval. */
const policy: PolicyInput = {
  preset: 'autonomous',
  rules: [
    {
      name: 'published pages need a person',
      action: 'ask',
      paths: ['published/**'],
      permissions: ['file:change'],
    },
  ],
}

const MAX_BODY_BYTES = 2 * 1024 * 1024

/** One workspace. A single object handles all of its requests. */
export class WorkspaceObject {
  private readonly state: DurableObjectState
  private readonly parked: ReturnType<typeof parkedCalls>
  private opened: Promise<Workspace> | undefined

  constructor(state: DurableObjectState) {
    this.state = state
    this.parked = parkedCalls(state.storage)
  }

  private open(): Promise<Workspace> {
    const { storage } = this.state
    this.opened ??= createWorkspace({
      backend: durableObject(storage),
      policy,
      audit: auditLog(storage),
      parked: this.parked,
    })
    return this.opened
  }

  async fetch(request: Request): Promise<Response> {
    const [, , kind, name] = pathOf(request)
    const workspace = await this.open()
    switch (`${request.method} ${kind}`) {
      case 'POST tools': {
        const input = await bodyOf(request)
        return input instanceof Response ? input : answer(await workspace.callTool(name ?? '', input))
      }
      case 'GET approvals':
        return Response.json(this.parked.all())
      case 'POST approvals': {
        const body = await bodyOf(request)
        if (body instanceof Response) return body
        return answer(await workspace.resume(name ?? '', (body as { answer: 'allow' } | null)?.answer as 'allow'))
      }
      case 'GET audit':
        return Response.json({ check: workspace.verifyAudit(), records: workspace.auditRecords() })
      default:
        return problem(404, 'There is nothing here')
    }
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [root, id, kind] = pathOf(request)
    const token = kind === 'approvals' || kind === 'audit' ? env.APPROVER_TOKEN : env.AGENT_TOKEN
    if (!(await shows(request, token))) return problem(401, 'Send "authorization: Bearer TOKEN" with the right token')
    if (root === 'tools' && request.method === 'GET') {
      const { tools } = await createWorkspace({ backend: memory(), policy })
      return Response.json(toJsonSchema(tools))
    }
    if (root !== 'workspaces' || !/^[A-Za-z0-9._-]{1,64}$/.test(id ?? '')) return problem(404, 'There is nothing here')
    const object = env.WORKSPACES.get(env.WORKSPACES.idFromName(id as string))
    return (await object.fetch(request as never)) as unknown as Response
  },
}

function pathOf(request: Request): string[] {
  return new URL(request.url).pathname.slice(1).split('/')
}

/** Returns the result of a call, with status 202 while it waits for an approval. */
function answer(result: { readonly ok: boolean; readonly code?: unknown }): Response {
  const status = result.ok ? 200 : result.code === 'APPROVAL_REQUIRED' ? 202 : 422
  return Response.json(result, { status })
}

function problem(status: number, message: string): Response {
  return Response.json({ ok: false, message }, { status })
}

async function bodyOf(request: Request): Promise<unknown> {
  const body = await request.arrayBuffer()
  if (body.byteLength > MAX_BODY_BYTES) return problem(413, `The body is larger than ${MAX_BODY_BYTES} bytes`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return problem(400, 'The body is no JSON')
  }
}

/** Compares hashes, so that the duration reveals nothing about the token. A missing token grants no access. */
async function shows(request: Request, token: string | undefined): Promise<boolean> {
  const value = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
  if (value === undefined || token === undefined || token === '') return false
  const [a, b] = await Promise.all([value, token].map(hash))
  return a === b
}

async function hash(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).join()
}
