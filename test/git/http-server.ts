import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { git } from './repositories.ts'

interface ServeOptions {
  readonly delayMs?: number
  /** `NAME:PASSWORD` that HTTP Basic demands. */
  readonly account?: string
  /** Changes the list of refs that git sends. */
  readonly changeRefs?: (list: Buffer) => Buffer
  /** Answers instead of git if it returns true. */
  readonly instead?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** Serves the repositories below `root` on loopback with the real `git http-backend`. */
export async function serveGit(
  root: string,
  options: ServeOptions = {},
): Promise<{
  url: string
  requests: string[]
  /** Settles when git answers no request. */
  idle(): Promise<void>
  close(): Promise<void>
}> {
  const backend = `${git(root, '--exec-path').trim()}/git-http-backend`
  const requests: string[] = []
  const running = new Set<ChildProcess>()
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    requests.push(`${request.method} ${request.url}`)
    if (options.instead?.(request, response) === true) return
    const { account } = options
    const expected = account === undefined ? undefined : `Basic ${Buffer.from(account).toString('base64')}`
    if (request.headers.authorization !== expected && expected !== undefined) {
      request.resume()
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you?')
      return
    }
    // Requests through a CORS proxy have the address of the server in their path.
    const path = url.pathname.replace(/^\/proxy\/[^/]+/, '')
    const child = spawn(backend, {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        ...(account === undefined ? {} : { REMOTE_USER: account.split(':')[0] }),
        GIT_CONFIG_GLOBAL: '/dev/null',
        REQUEST_METHOD: request.method,
        QUERY_STRING: url.search.slice(1),
        PATH_INFO: path,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        HTTP_GIT_PROTOCOL: (request.headers['git-protocol'] as string | undefined) ?? '',
      },
    })
    running.add(child)
    child.on('close', () => running.delete(child))
    request.pipe(child.stdin)
    // As a web server does when a client is gone.
    request.on('close', () => {
      if (!request.complete) child.stdin.destroy()
    })
    child.stdin.on('error', () => undefined)
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('close', () => {
      const output = Buffer.concat(chunks)
      const end = output.indexOf('\r\n\r\n')
      let status = 200
      for (const line of output.subarray(0, end).toString().split('\r\n')) {
        const [name = '', value = ''] = line.split(': ')
        if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10)
        else if (name !== '') response.setHeader(name, value)
      }
      response.statusCode = status
      const body = output.subarray(end + 4)
      const sent = url.pathname.endsWith('/info/refs') ? (options.changeRefs?.(body) ?? body) : body
      setTimeout(() => response.end(sent), options.delayMs ?? 0)
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async idle() {
      // A request of a client that has just ended may still arrive.
      await new Promise((resolve) => setTimeout(resolve, 20))
      for (const child of running) await once(child, 'close')
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}
