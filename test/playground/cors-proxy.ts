import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a CORS proxy like those for git. It forwards `/host/path` to the host, here always to one server. */
export async function serveCorsProxy(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Allow-Headers', '*')
    response.setHeader('Access-Control-Expose-Headers', '*')
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end()
      return
    }
    const path = (request.url ?? '').replace(/^\/[^/]+/, '')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const type = request.headers['content-type']
    const answer = await fetch(`${target}${path}`, {
      method: request.method ?? 'GET',
      headers: type === undefined ? {} : { 'content-type': type },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
