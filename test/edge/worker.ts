import type { DurableObjectState, R2Bucket } from '@cloudflare/workers-types'
import { type BackendSubject, backendContract, type ContractCase } from '../../src/testing/index.ts'
import { commitsAtOnce, failingStorage, largeFile, measure } from './durable-object-runs.ts'
import { durableObjectSubject, r2Subject } from './subjects.ts'

interface Env {
  readonly SUBJECT: {
    newUniqueId(): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
  readonly BUCKET: R2Bucket
}

/** The result of one case of a contract. */
export interface CaseResult {
  readonly name: string
  readonly skipped?: string
  readonly error?: string
}

/** `atOnce`: how many cases may run at the same time, each over a storage of its own. */
async function runContract(name: string, create: () => BackendSubject, atOnce: number): Promise<Response> {
  const results: CaseResult[] = []
  const cases = backendContract({ name, create })
  for (let at = 0; at < cases.length; at += atOnce) {
    results.push(...(await Promise.all(cases.slice(at, at + atOnce).map(runCase))))
  }
  return Response.json(results)
}

async function runCase({ name, run }: ContractCase): Promise<CaseResult> {
  try {
    return { name, ...(await run()) }
  } catch (error) {
    return { name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** A Durable Object in which cases run over its own storage. */
export class Subject {
  private readonly state: DurableObjectState

  constructor(state: DurableObjectState) {
    this.state = state
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const { storage } = this.state
    if (pathname === '/contract/durable-object') {
      return runContract('durable object', () => durableObjectSubject(storage), 1)
    }
    if (pathname === '/large') return Response.json(await largeFile(storage))
    if (pathname === '/at-once') return Response.json(await commitsAtOnce(storage))
    if (pathname === '/full') return Response.json(await failingStorage(storage))
    if (pathname === '/measure') return Response.json(await measure(storage))
    return new Response('not found', { status: 404 })
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/runtime')
      return Response.json({ process: typeof Reflect.get(globalThis, 'process'), agent: navigator.userAgent })
    if (pathname === '/contract/object-store') return runContract('object store', () => r2Subject(env.BUCKET), 8)
    return env.SUBJECT.get(env.SUBJECT.newUniqueId()).fetch(request)
  },
}
