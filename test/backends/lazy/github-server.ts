import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { objectId } from '../../../src/files/hash/sha1.ts'
import { concatBytes } from '../../../src/util/bytes.ts'

/** A file of a served repository: text or bytes, an executable, a link, a submodule, or another tree. */
export type RepositoryEntry =
  | string
  | Uint8Array
  | readonly [type: 'executable' | 'link' | 'submodule', content: string]
  | Repository
export interface Repository {
  readonly [name: string]: RepositoryEntry
}

export interface GithubServer {
  readonly url: string
  /** `METHOD path` of each request, in order, without the API's prefix. */
  readonly requests: string[]
  /** The headers of each request. */
  readonly headers: IncomingMessage['headers'][]
  /** Requests that were answered at the same time, at most. */
  atOnce: number
  /** Answers instead of the API, if it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  close(): Promise<void>
}

export interface GithubServerOptions {
  /** Recursive listings of more entries are truncated. */
  readonly maxEntries?: number
  /** Blobs are answered as JSON with base64, whatever the client accepts. */
  readonly json?: boolean
  /** Milliseconds before an answer. */
  readonly delay?: number
}

interface Tree {
  readonly sha: string
  readonly entries: readonly {
    path: string
    mode: string
    type: 'blob' | 'tree' | 'commit'
    sha: string
    size?: number
  }[]
}

/** The trees and blobs of a repository, with the ids that git gives them. */
function objectsOf(repository: Repository) {
  const trees = new Map<string, Tree>()
  const blobs = new Map<string, Uint8Array>()
  const encoder = new TextEncoder()
  const blob = (path: string, mode: string, content: string | Uint8Array): Tree['entries'][number] => {
    const bytes = typeof content === 'string' ? encoder.encode(content) : content
    const sha = objectId('blob', bytes)
    blobs.set(sha, bytes)
    return { path, mode, type: 'blob', sha, size: bytes.length }
  }
  const tree = (directory: Repository): Tree => {
    const entries = Object.entries(directory).map(([path, entry]): Tree['entries'][number] => {
      if (typeof entry === 'string' || entry instanceof Uint8Array) return blob(path, '100644', entry)
      if (!Array.isArray(entry)) {
        return { path, mode: '040000', type: 'tree', sha: tree(entry as Repository).sha }
      }
      const [kind, content] = entry as readonly [string, string]
      if (kind === 'submodule') return { path, mode: '160000', type: 'commit', sha: content }
      return blob(path, kind === 'link' ? '120000' : '100755', content)
    })
    const key = ({ path, type }: { path: string; type: string }) => (type === 'tree' ? `${path}/` : path)
    entries.sort((a, b) => (key(a) < key(b) ? -1 : 1))
    const parts = entries.map(({ path, mode, sha }) =>
      concatBytes([encoder.encode(`${mode.replace(/^0/, '')} ${path}\0`), new Uint8Array(Buffer.from(sha, 'hex'))]),
    )
    const sha = objectId('tree', concatBytes(parts))
    trees.set(sha, { sha, entries })
    return { sha, entries }
  }
  return { root: tree(repository).sha, trees, blobs }
}

/** The entries below a tree with their whole paths, each tree before its entries, as the API lists them. */
function recursive(trees: ReadonlyMap<string, Tree>, sha: string, prefix = ''): Tree['entries'][number][] {
  return (trees.get(sha)?.entries ?? []).flatMap((entry) => {
    const whole = { ...entry, path: prefix + entry.path }
    return entry.type === 'tree' ? [whole, ...recursive(trees, entry.sha, `${prefix}${entry.path}/`)] : [whole]
  })
}

/**
 * Serves a repository `octo/files` as GitHub's REST API does: trees by id, branch or `HEAD`, truncated listings, ETags, blobs as
 * raw bytes or as JSON with base64 in lines, 404 with a JSON body, compressed answers.
 */
export async function startGithub(repository: Repository, options: GithubServerOptions = {}): Promise<GithubServer> {
  const { root, trees, blobs } = objectsOf(repository)
  let open = 0
  const answer = (request: IncomingMessage, response: ServerResponse): unknown => {
    const url = new URL(request.url ?? '', 'http://server')
    const json = (status: number, value: unknown, headers: Record<string, string> = {}) => {
      const body = gzipSync(JSON.stringify(value), { level: 1 })
      const type = { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'gzip' }
      response.writeHead(status, { ...type, ...limits, ...headers }).end(body)
    }
    const missing = () =>
      json(404, { message: 'Not Found', documentation_url: 'https://docs.github.com/rest', status: '404' })
    const [, kind, id = ''] = /^\/repos\/octo\/files\/git\/(trees|blobs)\/([^/]+)$/.exec(url.pathname) ?? []
    const name = decodeURIComponent(id)
    if (kind === 'trees') {
      const sha = ['HEAD', 'main', 'feature/x'].includes(name) ? root : name
      const tree = trees.get(sha)
      if (tree === undefined) return missing()
      const etag = `W/"${sha}${url.search}"`
      if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag, ...limits }).end()
      const all = url.searchParams.has('recursive') ? recursive(trees, sha) : tree.entries
      const truncated = url.searchParams.has('recursive') && all.length > (options.maxEntries ?? 100_000)
      const listed = truncated ? all.slice(0, options.maxEntries) : all
      const api = `http://${request.headers.host}/repos/octo/files/git`
      const withUrls = listed.map((entry) => ({ ...entry, url: `${api}/${entry.type}s/${entry.sha}` }))
      return json(200, { sha, url: `${api}/trees/${sha}`, tree: withUrls, truncated }, { etag })
    }
    const bytes = kind === 'blobs' ? blobs.get(name) : undefined
    if (bytes === undefined) return missing()
    const etag = `"${name}"`
    if (request.headers.accept?.includes('raw') && options.json !== true) {
      const type = 'application/vnd.github.raw+json; charset=utf-8'
      return void response.writeHead(200, { 'content-type': type, etag, ...limits }).end(bytes)
    }
    const content = Buffer.from(bytes).toString('base64').replace(/.{60}/g, '$&\n')
    json(
      200,
      { sha: name, node_id: 'B', size: bytes.length, url: '', content: `${content}\n`, encoding: 'base64' },
      { etag },
    )
  }
  const server = createServer((request, response) => {
    started.requests.push(`${request.method} ${request.url?.replace('/repos/octo/files/git', '')}`)
    started.headers.push(request.headers)
    open += 1
    started.atOnce = Math.max(started.atOnce, open)
    response.on('close', () => {
      open -= 1
    })
    const now = () => {
      if (started.intercept?.(request, response) !== true) answer(request, response)
    }
    if (options.delay === undefined) now()
    else setTimeout(now, options.delay)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const started: GithubServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    headers: [],
    atOnce: 0,
    intercept: undefined,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return started
}

const limits = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4999', 'x-github-media-type': 'github.v3' }
