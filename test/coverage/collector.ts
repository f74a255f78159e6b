import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Coverage } from './merge.ts'
import type { Told } from './realm.ts'

/** Receives the counters of realms, through a URL and a file. */
export interface Collector {
  readonly address: string
  /** Adds the received counters to the coverage. */
  countIn(coverage: Coverage): void
  close(): void
}

export async function startCollector(file: string): Promise<Collector> {
  const messages: string[] = []
  const server = createServer(async (request, response) => {
    messages.push(await text(request))
    response
      .writeHead(204, { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
      .end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    countIn(coverage) {
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
      for (const one of [...messages, ...lines]) count(coverage, JSON.parse(one))
    },
    close: () => server.close(),
  }
}

function count(coverage: Coverage, reported: Told): void {
  for (const [file, names] of Object.entries(reported)) {
    const { s = {}, f = {}, b = {} } = coverage[file] ?? {}
    for (const name of names) {
      const [kind, id = '', arm = ''] = name.split('/')
      if (kind === 's') s[id] = (s[id] ?? 0) + 1
      else if (kind === 'f') f[id] = (f[id] ?? 0) + 1
      else if (b[id] !== undefined) b[id][Number(arm)] = (b[id][Number(arm)] ?? 0) + 1
    }
  }
}
