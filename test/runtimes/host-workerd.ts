import { Miniflare } from 'miniflare'
import type { Report } from './report.ts'

export const COMPATIBILITY_DATE = '2026-03-01'

/** Runs a bundle in workerd, without any of Node's modules or globals. */
export async function runInWorkerd(code: string): Promise<Report> {
  const worker = new Miniflare({
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: [],
    durableObjects: { RUNNER: { className: 'Runner', useSQLite: true } },
    r2Buckets: ['BUCKET'],
    modules: [
      { type: 'ESModule', path: 'main.mjs', contents: mainModule },
      { type: 'ESModule', path: 'bundle.mjs', contents: code },
    ],
  })
  try {
    const response = await worker.dispatchFetch('http://localhost/')
    if (!response.ok)
      throw new Error(`workerd responded with ${response.status}: ${(await response.text()).slice(0, 4000)}`)
    return (await response.json()) as Report
  } finally {
    await worker.dispose()
  }
}

/** Runs everything inside a Durable Object, without features that a user's worker does not have. */
const mainModule = `
import { run } from './bundle.mjs'

export class Runner {
  constructor(state, env) {
    this.host = { storage: state.storage, bucket: env.BUCKET }
  }
  async fetch() {
    if (typeof Buffer !== 'undefined' || typeof process !== 'undefined') return new Response('Node is here', { status: 500 })
    try {
      return Response.json(await run(this.host))
    } catch (error) {
      return new Response(error?.stack ?? String(error), { status: 500 })
    }
  }
}

export default {
  fetch: (request, env) => env.RUNNER.get(env.RUNNER.idFromName('runner')).fetch(request),
}
`
