import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FileServer {
  readonly url: string
  /** `path range` of each request. */
  readonly requests: string[]
  /** The served files, by path. */
  readonly files: Map<string, Uint8Array>
  /** Whether requests for ranges are answered with ranges. */
  ranges: boolean
  close(): Promise<void>
}

/** Serves files with ETags and ranges, as static hosts do. */
export async function startFiles(files: Readonly<Record<string, Uint8Array | string>>): Promise<FileServer> {
  const encoder = new TextEncoder()
  const served = Object.entries(files).map(([path, content]): [string, Uint8Array] => [
    `/${path}`,
    typeof content === 'string' ? encoder.encode(content) : content,
  ])
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://server').pathname)
    started.requests.push(`${path} ${request.headers.range ?? ''}`.trim())
    const bytes = started.files.get(path)
    if (bytes === undefined) return void response.writeHead(404).end('not here')
    const headers = { 'accept-ranges': 'bytes', etag: `"${bytes.length}"`, 'access-control-allow-origin': '*' }
    const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    if (first === undefined || !started.ranges) return void response.writeHead(200, headers).end(bytes)
    const start = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first)
    const end = first === '' ? bytes.length : Math.min(Number(last || bytes.length) + 1, bytes.length)
    if (start >= bytes.length) return void response.writeHead(416).end()
    const range = `bytes ${start}-${end - 1}/${bytes.length}`
    response.writeHead(206, { ...headers, 'content-range': range }).end(bytes.subarray(start, end))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const started: FileServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    files: new Map(served),
    ranges: true,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return started
}
