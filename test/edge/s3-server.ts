import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

/** A request that the server received. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * An in-memory S3 server with the used part of the protocol, including conditional writes. Pages of lists have three
 * objects.
 */
export function createS3({ honours = ['if-match', 'if-none-match'] as readonly string[] } = {}) {
  const objects = new Map<string, { bytes: Uint8Array<ArrayBuffer>; etag: string; modified: Date }>()
  const seen: SeenRequest[] = []

  async function answer(request: Request): Promise<Response> {
    const { pathname, search, searchParams } = new URL(request.url)
    const { method, headers } = request
    const body = new Uint8Array(await request.arrayBuffer())
    seen.push({ method, url: `${pathname}${search}`, headers: Object.fromEntries(headers) })
    const [, bucket, ...names] = pathname.split('/')
    if (bucket !== 'my-bucket') return reply(404)
    if (names.length === 0) return reply(200, { 'content-type': 'application/xml' }, listOf(searchParams))
    const key = decodeURIComponent(names.join('/'))
    const present = objects.get(key)
    if (method === 'GET') {
      if (present === undefined) return reply(404)
      const { bytes, etag } = present
      if (headers.get('if-none-match') === etag) return reply(304, { etag })
      const range = /^bytes=(\d+)-(\d+)$/.exec(headers.get('range') ?? '')
      if (range === null) return reply(200, { etag }, bytes)
      const part = bytes.subarray(Number(range[1]), Number(range[2]) + 1)
      return part.length === 0 ? reply(416) : reply(206, { etag }, part)
    }
    if (method === 'PUT') {
      const expected = honours.includes('if-match') ? headers.get('if-match') : null
      if (expected !== null && present === undefined) return reply(404)
      if (expected !== null && expected !== present?.etag) return reply(412)
      if (honours.includes('if-none-match') && headers.has('if-none-match') && present !== undefined) return reply(412)
      const etag = `"${createHash('md5').update(body).digest('hex')}"`
      objects.set(key, { bytes: body, etag, modified: new Date() })
      return reply(200, { etag })
    }
    if (method !== 'DELETE') return reply(405)
    objects.delete(key)
    return reply(204)
  }

  function listOf(query: URLSearchParams): string {
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '')).sort()
    const from = Number(query.get('continuation-token') ?? 0)
    const isTruncated = from + 3 < keys.length
    const contents = keys.slice(from, from + 3).map((key) => {
      const { bytes, modified } = objects.get(key) as { bytes: Uint8Array; modified: Date }
      const name = encodeURIComponent(key).replaceAll('%20', '+')
      return `<Contents><Key>${name}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`
    })
    const next = isTruncated ? `<NextContinuationToken>${from + 3}</NextContinuationToken>` : ''
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`
  }

  return { answer, objects, seen }
}

/** The same over a real HTTP server. */
export async function startS3(options: Parameters<typeof createS3>[0] = {}) {
  const { answer, objects, seen } = createS3(options)
  const server = createServer(async (incoming, outgoing) => {
    const hasBody = incoming.method === 'PUT'
    const request = new Request(`http://s3${incoming.url}`, {
      method: incoming.method ?? '',
      headers: incoming.headers as Record<string, string>,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
    })
    const response = await answer(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(new Uint8Array(await response.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    seen,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

function reply(
  status: number,
  headers: Record<string, string> = {},
  body: string | Uint8Array<ArrayBuffer> | null = null,
) {
  return new Response(body, { status, headers })
}
