import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { exampleTokens, startExample } from '../test/edge/example-server.ts'
import { startWorker, subjectBindings } from '../test/edge/workerd.ts'

const WORKSPACES = 1000
const CLIENTS = 50
const SECONDS = 20

/**
 * `npx tsx bench/edge.ts`: the time of calls in a Durable Object, in real workerd on this machine, and the example of a worker under
 * load, which is killed in the middle. Clients, the server and workerd share the processors.
 */
async function main(): Promise<void> {
  const workerd = await startWorker('worker.ts', subjectBindings)
  const answer = await workerd.dispatchFetch('http://edge/measure')
  for (const [label, ms] of Object.entries((await answer.json()) as Record<string, number>))
    console.log(`${label.padEnd(12)} ${(ms * 1000).toFixed(0).padStart(6)} µs`)
  await workerd.dispose()
  await benchLoad()
}

/** Half of the calls write a file, half read one that was written. What a client was told is written survives the kill. */
async function benchLoad(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'wardspace-edge-'))
  const written = new Map<string, string>()
  try {
    const server = await startExample(data)
    const times: number[] = []
    const stop = new AbortController()
    const clients = Promise.all(
      Array.from({ length: CLIENTS }, (_, client) =>
        work(server.address, client, { times, written, stop: stop.signal }),
      ),
    )
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000))
    const calls = times.length
    stop.abort()
    await server.kill()
    await clients
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(0)
    console.log(
      `${CLIENTS} clients, ${WORKSPACES} workspaces: ${(calls / SECONDS).toFixed(0)} calls a second, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
    )
    const again = await startExample(data)
    let lost = 0
    for (const [place, content] of written) {
      const [workspace = '', path = ''] = place.split(' ')
      const result = await send(again.address, workspace, 'read_file', { path })
      if (result.content !== content) lost += 1
    }
    await again.kill()
    console.log(`${written.size} files written before workerd was killed, ${lost} lost`)
    if (lost > 0) throw new Error('Files were lost')
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

interface Load {
  readonly times: number[]
  readonly written: Map<string, string>
  readonly stop: AbortSignal
}

/** Calls one workspace after another. Each client has files of its own in each. */
async function work(address: string, client: number, { times, written, stop }: Load): Promise<void> {
  for (let turn = 0; !stop.aborted; turn++) {
    const workspace = `load-${(client * 37 + turn) % WORKSPACES}`
    const path = `client-${client}/file-${turn % 7}.txt`
    const content = `turn ${turn} of client ${client}\n`
    try {
      const began = performance.now()
      const result = await send(address, workspace, 'write_file', { path, content })
      times.push(performance.now() - began)
      if (result.ok !== true) throw new Error(JSON.stringify(result))
      written.set(`${workspace} ${path}`, content)
      const begun = performance.now()
      const read = await send(address, workspace, 'read_file', { path })
      times.push(performance.now() - begun)
      if (read.content !== content) throw new Error(JSON.stringify(read))
    } catch (error) {
      // The server was killed.
      if (!stop.aborted) throw error
      // An unanswered write may be there or not.
      written.delete(`${workspace} ${path}`)
    }
  }
}

async function send(address: string, workspace: string, tool: string, input: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${address}/workspaces/${workspace}/tools/${tool}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${exampleTokens.AGENT_TOKEN}` },
    body: JSON.stringify(input),
  })
  return (await response.json()) as Record<string, unknown>
}

await main()
