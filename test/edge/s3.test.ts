import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { objectStore, s3, sweep } from '../../src/backends/object-store/index.ts'
import { requireConditions } from '../../src/backends/object-store/probe.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { backendContract, registerContract } from '../../src/testing/index.ts'
import { keysIn } from './buckets.ts'
import { createS3, startS3 } from './s3-server.ts'

let server: Awaited<ReturnType<typeof startS3>>
let subjects = 0

beforeAll(async () => {
  server = await startS3()
})
afterAll(() => server.close())

/** Like a signing fetch: adds headers to the request. */
const signed = (request: Request) => {
  request.headers.set('authorization', 'AWS4-HMAC-SHA256 test')
  return fetch(request)
}
const store = () => s3({ endpoint: server.endpoint, bucket: 'my-bucket', fetch: signed })

const contract = createS3()

registerContract(
  'object store over the S3 protocol',
  backendContract({
    name: 's3',
    create() {
      const prefix = `subject ${++subjects}`
      const theirs = s3({ endpoint: 'http://s3', bucket: 'my-bucket', fetch: contract.answer })
      const open = () => objectStore(theirs, { prefix })
      return { backend: open(), reopen: open, physical: prefix }
    },
  }),
  { describe, it },
)

describe('s3', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  it('sends the requests of the protocol, and encodes special characters in names', async () => {
    const key = "a b/ü+!'()*~&?#%2F.txt"
    server.seen.length = 0
    const stored = await store().put(key, bytes('0123456789'), { ifNoneMatch: '*' })
    expect(await store().put(key, bytes('x'), { ifNoneMatch: '*' })).toBeUndefined()
    expect(await store().put(key, bytes('x'), { ifMatch: '"other"' })).toBeUndefined()
    expect(await store().put('none', bytes('x'), { ifMatch: '"other"' })).toBeUndefined()
    expect(await store().get(key)).toEqual({ bytes: bytes('0123456789'), etag: stored?.etag })
    expect(await store().get(key, { ifNoneMatch: stored?.etag ?? '' })).toBe('unchanged')
    expect(await store().get(key, { offset: 2, length: 3 })).toMatchObject({ bytes: bytes('234') })
    expect(await store().get('none')).toBeUndefined()
    expect([...server.objects.keys()].filter((one) => one.startsWith('a b/'))).toEqual([key])
    expect(await keysIn(store(), 'a b/')).toEqual([key])
    await store().delete([key, 'none'])
    expect(await store().get(key)).toBeUndefined()
    const [first] = server.seen
    expect(first).toMatchObject({
      method: 'PUT',
      url: '/my-bucket/a%20b/%C3%BC%2B%21%27%28%29%2A~%26%3F%23%252F.txt',
      headers: { 'if-none-match': '*', authorization: 'AWS4-HMAC-SHA256 test' },
    })
  })

  it('lists page by page', async () => {
    const keys = Array.from({ length: 10 }, (_, i) => `pages/${i} <&>`)
    for (const key of keys) await store().put(key, bytes(key))
    expect(await keysIn(store(), 'pages/')).toEqual(keys)
    const { objects } = await store().list('pages/')
    expect(objects[0]).toMatchObject({ size: 11, uploadedAt: expect.any(Number) })
    expect(Math.abs((objects[0]?.uploadedAt ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  it('refuses a server that ignores conditions, and names the condition', async () => {
    for (const honours of [['if-match'], ['if-none-match'], []]) {
      const careless = await startS3({ honours })
      try {
        const theirs = s3({ endpoint: careless.endpoint, bucket: 'my-bucket', fetch: signed })
        const missing = honours.includes('if-none-match') ? 'If-Match' : 'If-None-Match'
        const backend = objectStore(theirs)
        const change = { path: 'f' as Path, expect: 'any', to: { type: 'directory' } } as const
        const refused = await backend.commit([change], { durability: 'durable' }).catch((error: unknown) => error)
        expect(refused).toMatchObject({
          code: 'BACKEND_ERROR',
          message: expect.stringContaining(`ignores ${missing} `),
        })
        expect(careless.objects.size).toBe(0)
      } finally {
        await careless.close()
      }
    }
    await requireConditions(store(), 'probes/fine')
  })

  it('exposes nothing of the server in errors', async () => {
    const gone = s3({ endpoint: 'http://127.0.0.1:1', bucket: 'my-bucket', fetch: signed })
    const failed = await objectStore(gone)
      .list('' as Path)
      .catch((error: unknown) => error)
    expect(failed).toMatchObject({ name: 'ToolError', code: 'BACKEND_ERROR' })
    expect(String(failed)).not.toContain('127.0.0.1')
    const full = s3({
      endpoint: server.endpoint,
      bucket: 'my-bucket',
      fetch: async () => new Response('', { status: 507 }),
    })
    await expect(
      objectStore(full).commit([{ path: 'f' as Path, expect: 'any', to: { type: 'directory' } }], {
        durability: 'durable',
      }),
    ).rejects.toMatchObject({ code: 'NO_SPACE' })
    const sick = s3({
      endpoint: server.endpoint,
      bucket: 'my-bucket',
      fetch: async () => new Response('', { status: 503 }),
    })
    await expect(sick.delete(['f'])).rejects.toThrow('The store answered 503')
    const untagged = s3({ endpoint: server.endpoint, bucket: 'my-bucket', fetch: async () => new Response('') })
    await expect(untagged.get('f')).rejects.toThrow('The store sent no ETag')
    expect(() => s3({ endpoint: 'no address', bucket: 'b', fetch: signed })).toThrow(TypeError)
  })

  it('ends an answer that is larger than asked for, or that never ends, and refuses a redirect', async () => {
    let isCancelled = false
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
        cancel: () => {
          isCancelled = true
        },
      })
    const answering = (body: () => ReadableStream<Uint8Array>, status = 200) =>
      s3({
        endpoint: 'http://s3',
        bucket: 'b',
        timeoutMs: 200,
        fetch: async (request) => {
          expect(request.redirect).toBe('manual')
          return new Response(body(), { status, headers: { etag: '"x"' } })
        },
      })
    const larger = { code: 'BACKEND_ERROR', message: expect.stringContaining('sent more than') }
    const calls = [
      () => answering(endless).get('k'),
      () => answering(endless).get('k', { maxBytes: 100 }),
      () => answering(endless, 206).get('k', { offset: 5, length: 10 }),
      () => answering(endless).get('k', { offset: 5, length: 10 }),
      () => answering(endless).list('p/'),
    ]
    for (const call of calls) {
      isCancelled = false
      await expect(call()).rejects.toMatchObject(larger)
      await expect.poll(() => isCancelled).toBe(true)
    }
    isCancelled = false
    const silent = answering(
      () =>
        new ReadableStream({
          cancel: () => {
            isCancelled = true
          },
        }),
    )
    await expect(silent.get('k')).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: expect.stringContaining('within 200 ms'),
    })
    await expect.poll(() => isCancelled).toBe(true)
    await expect(answering(endless, 307).get('k')).rejects.toThrow('The store answered 307')
    const deaf = s3({ endpoint: 'http://s3', bucket: 'b', timeoutMs: 50, fetch: () => new Promise(() => undefined) })
    await expect(deaf.put('k', bytes('x'))).rejects.toThrow('within 50 ms')
    const many = answering(() => new Blob(['<Contents>'.repeat(500_000)]).stream())
    expect((await many.list('p/')).objects).toEqual([])
  })

  it('treats missing objects as deleted, and deletes the others', async () => {
    const requests: string[] = []
    const missing = s3({
      endpoint: server.endpoint,
      bucket: 'my-bucket',
      async fetch({ method, url }) {
        requests.push(`${method} ${new URL(url).pathname}`)
        return new Response(null, { status: requests.length === 1 ? 404 : 204 })
      },
    })
    await missing.delete(['gone', 'there'])
    expect(requests).toEqual(['DELETE /my-bucket/gone', 'DELETE /my-bucket/there'])
  })

  it('supports sweep', async () => {
    const prefix = 'swept'
    const backend = objectStore(store(), { prefix })
    const to = { type: 'file', bytes: bytes('x') } as const
    await backend.commit([{ path: 'f' as Path, expect: 'any', to }], { durability: 'durable' })
    for (let i = 0; i < 5; i++) await store().put(`swept/contents/left-${i}`, bytes('left behind'))
    expect(await sweep(store(), { prefix })).toEqual({ kept: 6, deleted: 0 })
    const later = () => Date.now() + 25 * 60 * 60 * 1000
    expect(await sweep(store(), { prefix, clock: later })).toEqual({ kept: 1, deleted: 5 })
    expect(new TextDecoder().decode((await backend.read('f' as Path)).bytes)).toBe('x')
  })
})
