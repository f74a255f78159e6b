import type { DurableObjectState } from '@cloudflare/workers-types'
import { commitsAtOnce, failingStorage, largeFile, measure } from './durable-object-runs.ts'

interface Env {
  readonly SUBJECT: {
    newUniqueId(): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

/** A Durable Object in which runs are made over its own storage. */
export class Subject {
  private readonly state: DurableObjectState

  constructor(state: DurableObjectState) {
    this.state = state
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const { storage } = this.state
    if (pathname === '/large') return Response.json(await largeFile(storage))
    if (pathname === '/at-once') return Response.json(await commitsAtOnce(storage))
    if (pathname === '/full') return Response.json(await failingStorage(storage))
    if (pathname === '/measure') return Response.json(await measure(storage))
    return new Response('not found', { status: 404 })
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    return env.SUBJECT.get(env.SUBJECT.newUniqueId()).fetch(request)
  },
}
