import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A file of a stand-in repository. `mode` as in a tree of git. */
export interface RemoteFile {
  readonly mode: string
  readonly content: string | Uint8Array
}

export interface GithubServer {
  readonly url: string
  /** The paths that were asked for. */
  readonly asked: string[]
  close(): Promise<void>
}

export interface GithubOptions {
  readonly files: Readonly<Record<string, RemoteFile>>
  readonly isPrivate?: boolean
  /** Answers of the API before it answers no more. */
  readonly limit?: number
  /** Whether the API cuts the answer for a whole tree. */
  readonly cutsTrees?: boolean
}

/**
 * Answers as api.github.com and raw.githubusercontent.com (below `/raw`) do for one repository `acme/shop`: the same paths,
 * fields, status codes and headers for other origins.
 */
export async function startGithub(options: GithubOptions): Promise<GithubServer> {
  const asked: string[] = []
  let answered = 0
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').replace(/\?.*$/, ''))
    asked.push(request.url ?? '')
    const cors = {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Headers': 'Authorization',
      'Access-Control-Expose-Headers': 'X-RateLimit-Remaining, X-RateLimit-Reset',
    }
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end()
    if (path.startsWith('/raw/')) {
      const file = options.files[path.slice('/raw/acme/shop/c0ffee/'.length)]
      if (file === undefined || options.isPrivate) return response.writeHead(404, cors).end()
      return response.writeHead(200, { ...cors, 'Content-Type': 'text/plain' }).end(file.content)
    }
    answered += 1
    if (options.limit !== undefined && answered > options.limit) {
      const reset = String(Math.ceil(Date.now() / 1000) + 590)
      const limited = { ...cors, 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': reset }
      return response.writeHead(403, limited).end('{"message":"API rate limit exceeded"}')
    }
    const [status, body] = answer(path, request, options)
    response.writeHead(status, { ...cors, 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(path: string, request: IncomingMessage, options: GithubOptions): readonly [number, unknown] {
  const { files, isPrivate = false, cutsTrees = false } = options
  const { authorization } = request.headers
  if (authorization !== undefined && authorization !== 'Bearer good') return [401, { message: 'Bad credentials' }]
  const missing = [404, { message: 'Not Found' }] as const
  if (isPrivate && authorization === undefined) return missing
  const rest = path.startsWith('/repos/acme/shop') ? path.slice('/repos/acme/shop'.length) : undefined
  if (rest === undefined) return missing
  if (rest === '') return [200, { default_branch: 'main' }]
  if (/^\/commits\/(main|topic\/one|v1)$/.test(rest))
    return [200, { sha: 'c0ffee', commit: { tree: { sha: 'tree:' } } }]
  if (rest.startsWith('/commits/')) return [422, { message: 'No commit found for SHA' }]
  if (rest.startsWith('/git/blobs/')) {
    const file = files[rest.slice('/git/blobs/blob:'.length)]
    if (file === undefined) return missing
    // The API breaks the lines of what it encodes.
    const content = Buffer.from(file.content)
      .toString('base64')
      .replaceAll(/(.{60})/g, '$1\n')
    return [200, { encoding: 'base64', content }]
  }
  const directory = rest.slice('/git/trees/tree:'.length)
  const isWhole = request.url?.endsWith('?recursive=1') === true
  const below = Object.entries(files).filter(([name]) => name.startsWith(directory))
  const entries = new Map<string, unknown>()
  for (const [name, { mode, content }] of below) {
    const relative = name.slice(directory.length)
    const [first = '', ...others] = relative.split('/')
    if (others.length > 0) {
      entries.set(first, { path: first, mode: '040000', type: 'tree', sha: `tree:${directory}${first}/` })
      if (!isWhole) continue
    }
    const type = mode === '160000' ? 'commit' : 'blob'
    entries.set(relative, { path: relative, mode, type, sha: `blob:${name}`, size: Buffer.from(content).length })
  }
  return [
    200,
    { sha: `tree:${directory}`, tree: [...entries.values()], truncated: isWhole && cutsTrees && directory === '' },
  ]
}
