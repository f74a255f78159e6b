import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { createFiles, createModel } from './agent.ts'
import { createChat } from './chat.ts'

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
const secret = randomBytes(32).toString('hex')
const chat = createChat({ workspace: await createFiles(), model: createModel(), secret })

/** Whether a request is of the own page. Any page of the browser can send requests to this machine. */
function isOwn({ headers: { host = '', origin } }: IncomingMessage): boolean {
  return /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(host) && (origin === undefined || origin === `http://${host}`)
}

const server = createServer(async (request, response) => {
  if (!isOwn(request)) return response.writeHead(403).end()
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/api/chat' && request.method === 'POST') {
    const stop = new AbortController()
    response.on('close', () => stop.abort())
    const body = Readable.toWeb(request) as BodyInit
    const init = { method: 'POST', body, duplex: 'half', signal: stop.signal } as RequestInit
    const answer = await chat(new Request('http://localhost/api/chat', init))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    return Readable.fromWeb(answer.body as ReadableStream).pipe(response)
  }
  const file = join(import.meta.dirname, '../dist', normalize(pathname === '/' ? 'index.html' : pathname))
  try {
    const content = await readFile(file)
    return response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' }).end(content)
  } catch {
    return response.writeHead(404).end()
  }
})
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://localhost:${typeof address === 'object' ? address?.port : ''}/`)
})
