import { ToolError } from '../../errors.ts'
import { checkOptions, isFunction, isText } from '../../util/check-options.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import type { ObjectStore } from './store.ts'

/** Number of concurrent deletions. */
const MAX_DELETES = 6

/** The bucket, and a function that signs its requests. */
export interface S3Options {
  /** URL of the service, such as `https://s3.eu-central-1.amazonaws.com`. The bucket is appended to its path. */
  readonly endpoint: string
  readonly bucket: string
  /** Signs and sends a request. */
  readonly fetch: (request: Request) => Promise<Response>
}

/**
 * A bucket of an S3-compatible service as an object store. The given `fetch` signs the requests: with the package
 * `aws4fetch`, `const client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3' })` and
 * `fetch: (request) => client.fetch(request)`.
 *
 * The service must support `If-Match` and `If-None-Match` on writes, as Amazon S3 and R2 do, and some others do not. The
 * backend tests that before its first write, and refuses a service without that support.
 *
 * @throws TypeError for an endpoint that is not a URL
 */
export function s3(options: S3Options): ObjectStore {
  const table = { endpoint: isText, bucket: isText, fetch: isFunction }
  const { endpoint, bucket, fetch } = checkOptions<S3Options>('s3()', options, table, 'endpoint', 'bucket', 'fetch')
  const base = new URL(endpoint)
  const root = `${base.origin}${base.pathname.replace(/\/$/, '')}/${encodeURIComponent(bucket)}`
  const address = (key: string) => `${root}/${key.split('/').map(encodeKeyPart).join('/')}`

  async function send(method: string, url: string, headers: Record<string, string>, body?: Uint8Array) {
    const response = await fetch(new Request(url, { method, headers, ...(body && { body: body as BodyInit }) }))
    if (response.status === 507) throw new ToolError('NO_SPACE', 'Cannot write: the store is full')
    return response
  }

  return {
    async get(key, { offset, length, ifNoneMatch } = {}) {
      const response = await send('GET', address(key), {
        ...(offset === undefined || length === undefined ? {} : { range: `bytes=${offset}-${offset + length - 1}` }),
        ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
      })
      if (response.status === 304) return 'unchanged'
      if (response.status === 404) return void (await response.body?.cancel())
      await requireOk(response)
      const bytes = new Uint8Array(await response.arrayBuffer())
      // A service may ignore the range and send the whole object.
      const isWhole = offset !== undefined && length !== undefined && response.status === 200
      return { bytes: isWhole ? bytes.subarray(offset, offset + length) : bytes, etag: etagOf(response) }
    },

    async put(key, bytes, condition) {
      const headers: Record<string, string> =
        condition === undefined
          ? {}
          : 'ifMatch' in condition
            ? { 'if-match': condition.ifMatch }
            : { 'if-none-match': condition.ifNoneMatch }
      const response = await send('PUT', address(key), headers, bytes)
      // 409: another conditional write is in progress; 404: there is no object to match.
      const notMet = [409, 412, ...(condition !== undefined && 'ifMatch' in condition ? [404] : [])]
      if (condition !== undefined && notMet.includes(response.status)) return void (await response.body?.cancel())
      await requireOk(response)
      await response.body?.cancel()
      return { etag: etagOf(response) }
    },

    async delete(keys) {
      const deleteOne = async (key: string) => {
        const response = await send('DELETE', address(key), {})
        if (response.status !== 404) await requireOk(response)
        await response.body?.cancel()
      }
      await mapConcurrent(keys, deleteOne, MAX_DELETES)
    },

    async list(prefix, cursor) {
      const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix })
      if (cursor !== undefined) query.set('continuation-token', cursor)
      const response = await send('GET', `${root}?${query}`, {})
      await requireOk(response)
      const xml = await response.text()
      const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, item = '']) => ({
        key: decodeURIComponent(elementOf(item, 'Key').replaceAll('+', ' ')),
        size: Number(elementOf(item, 'Size')),
        uploadedAt: Date.parse(elementOf(item, 'LastModified')),
      }))
      const isLast = elementOf(xml, 'IsTruncated') !== 'true'
      return { objects, cursor: isLast ? undefined : elementOf(xml, 'NextContinuationToken') }
    },
  }
}

/** Percent-encodes everything but unreserved characters, as AWS signatures require. */
function encodeKeyPart(part: string): string {
  return encodeURIComponent(part).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

async function requireOk(response: Response): Promise<void> {
  if (response.ok) return
  await response.body?.cancel()
  throw new Error(`The store answered ${response.status}`)
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
