import { ToolError } from '../../errors.ts'
import { checkOptions, isFunction, isPositive, must, refuseSurplus } from '../../util/check-options.ts'
import { counted } from '../../util/counted.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { readBody } from '../../util/read-body.ts'
import { withTimeout } from '../../util/timers.ts'
import type { ListedObject, ObjectStore } from './store.ts'

/** Number of concurrent deletions. */
const MAX_DELETES = 6

/** Bytes of the largest object whose size is not known. Those of contents are 8 MiB at most. */
const MAX_OBJECT_BYTES = 64 * 1024 * 1024

/** Bytes of a page of a listing: 1,000 keys of 1,024 bytes, encoded, take 4 MB. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024

const isEndpoint = must('a URL, such as https://s3.eu-central-1.amazonaws.com', (value) => isUrl(value))
const isBucket = must('the name of a bucket', (value) => typeof value === 'string' && value !== '')

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value)
}

/** The bucket, and a function that signs its requests. */
export interface S3Options {
  /** URL of the service, such as `https://s3.eu-central-1.amazonaws.com`. The bucket is appended to its path. */
  readonly endpoint: string
  readonly bucket: string
  /** Signs and sends a request. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Time limit of each request with its answer, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number
}

/**
 * A bucket of an S3-compatible service as an object store. The given `fetch` signs the requests: with the package
 * `aws4fetch`, `const client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3' })` and
 * `fetch: (request) => client.fetch(request)`.
 *
 * The service must support `If-Match` and `If-None-Match` on writes, as Amazon S3 and R2 do, and some others do not. The
 * backend tests that before its first write, and refuses a service without that support.
 *
 * Requests have `redirect: 'manual'`, and a redirect is refused: keep that in a `fetch` that makes another request of the
 * given one. An answer that is larger than what was asked for, or not complete within `timeoutMs`, is a `BACKEND_ERROR`.
 *
 * @throws TypeError for an endpoint that is not a URL
 */
export function s3(options: S3Options): ObjectStore {
  refuseSurplus('s3()', 1, arguments)
  const table = { endpoint: isEndpoint, bucket: isBucket, fetch: isFunction, timeoutMs: isPositive }
  const {
    endpoint,
    bucket,
    fetch,
    timeoutMs = 60_000,
  } = checkOptions<S3Options>('s3()', options, table, 'endpoint', 'bucket', 'fetch')
  const base = new URL(endpoint)
  const root = `${base.origin}${base.pathname.replace(/\/$/, '')}/${encodeURIComponent(bucket)}`
  const address = (key: string) => `${root}/${key.split('/').map(encodeKeyPart).join('/')}`

  const send = sender(fetch, timeoutMs)

  return {
    get(key, { offset, length, ifNoneMatch, maxBytes = MAX_OBJECT_BYTES } = {}) {
      const range = offset === undefined || length === undefined ? undefined : { offset, end: offset + length }
      const headers = {
        ...(range === undefined ? {} : { range: `bytes=${range.offset}-${range.end - 1}` }),
        ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
      }
      return send({ url: address(key), headers }, async (response, read) => {
        if (response.status === 304) return 'unchanged'
        if (response.status === 404) return undefined
        requireOk(response)
        const etag = etagOf(response)
        if (range === undefined) return { bytes: await read(maxBytes), etag }
        // A service may ignore the range and send the whole object.
        if (response.status !== 200) return { bytes: await read(range.end - range.offset), etag }
        return { bytes: (await read(MAX_OBJECT_BYTES)).subarray(range.offset, range.end), etag }
      })
    },

    put(key, bytes, condition) {
      const headers: Record<string, string> =
        condition === undefined
          ? {}
          : 'ifMatch' in condition
            ? { 'if-match': condition.ifMatch }
            : { 'if-none-match': condition.ifNoneMatch }
      return send({ method: 'PUT', url: address(key), headers, body: bytes }, async (response) => {
        // 409: another conditional write is in progress; 404: there is no object to match.
        const notMet = [409, 412, ...(condition !== undefined && 'ifMatch' in condition ? [404] : [])]
        if (condition !== undefined && notMet.includes(response.status)) return undefined
        requireOk(response)
        return { etag: etagOf(response) }
      })
    },

    async delete(keys) {
      const deleteOne = (key: string) =>
        send({ method: 'DELETE', url: address(key) }, async (response) => {
          if (response.status !== 404) requireOk(response)
        })
      await mapConcurrent(keys, deleteOne, MAX_DELETES)
    },

    async list(prefix, cursor) {
      const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix })
      if (cursor !== undefined) query.set('continuation-token', cursor)
      const xml = await send({ url: `${root}?${query}` }, async (response, read) => {
        requireOk(response)
        return new TextDecoder().decode(await read(MAX_PAGE_BYTES))
      })
      const objects = listedIn(xml)
      const isLast = elementOf(xml, 'IsTruncated') !== 'true'
      return { objects, cursor: isLast ? undefined : elementOf(xml, 'NextContinuationToken') }
    },
  }
}

interface SentRequest {
  readonly method?: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly body?: Uint8Array
}

/** Returns a function that sends a request, and returns what `use` makes of its answer. It reads no more than that needs. */
function sender(fetch: S3Options['fetch'], timeoutMs: number) {
  return async <T>(
    { method = 'GET', url, headers = {}, body }: SentRequest,
    use: (response: Response, read: (max: number) => Promise<Uint8Array>) => Promise<T>,
  ): Promise<T> => {
    const ended = new AbortController()
    const { signal } = ended
    const init = { method, headers, redirect: 'manual', signal, ...(body && { body: body as BodyInit }) } as const
    const run = async () => {
      const response = await fetch(new Request(url, init))
      const read = async (max: number) => {
        const bytes = await readBody(response, max, signal)
        if (bytes !== undefined) return bytes
        throw new ToolError('BACKEND_ERROR', `The object store sent more than ${counted(max, 'byte')}`)
      }
      try {
        if (response.redirected) throw new Error('The store redirected the request')
        if (response.status === 507) throw new ToolError('NO_SPACE', 'Cannot write: the store is full')
        return await use(response, read)
      } finally {
        if (!response.bodyUsed) response.body?.cancel().catch(() => undefined)
      }
    }
    const late = () => new ToolError('BACKEND_ERROR', `The object store did not answer within ${timeoutMs} ms`)
    try {
      return await withTimeout(run(), timeoutMs, late)
    } finally {
      ended.abort()
    }
  }
}

/** Returns the objects of a page of a listing, in linear time for any text. */
function listedIn(xml: string): ListedObject[] {
  const items = xml.split('</Contents>').slice(0, -1)
  return items.map((before) => {
    const item = before.slice(before.lastIndexOf('<Contents>') + 1)
    return {
      key: decodeURIComponent(elementOf(item, 'Key').replaceAll('+', ' ')),
      size: Number(elementOf(item, 'Size')),
      uploadedAt: Date.parse(elementOf(item, 'LastModified')),
    }
  })
}

/** Percent-encodes everything but unreserved characters, as AWS signatures require. */
function encodeKeyPart(part: string): string {
  return encodeURIComponent(part).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function requireOk({ ok, status }: Response): void {
  if (!ok) throw new Error(`The store answered ${status}`)
}

function etagOf(response: Response): string {
  const etag = response.headers.get('etag')
  if (etag === null) throw new Error('The store sent no ETag')
  return etag
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element with a name. */
function elementOf(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
  return text.replace(/&(amp|lt|gt|quot|apos|#\d+);/g, (_, entity: string) =>
    entity.startsWith('#') ? String.fromCodePoint(Number(entity.slice(1))) : (entities[entity] as string),
  )
}
