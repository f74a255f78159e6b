import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type BucketBinding, type ObjectStore, objectStore, r2, s3 } from '../../src/backends/object-store/index.ts'
import { ToolError } from '../../src/errors.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { change, commit, file } from '../../src/testing/backend/case.ts'
import { around, dying, keysIn, openBucket } from './buckets.ts'
import { objectStoreTests } from './object-store-tests.ts'
import { createS3 } from './s3-server.ts'

describe('over the S3 protocol', () => {
  const { answer } = createS3()
  objectStoreTests(() => s3({ endpoint: 'http://s3', bucket: 'my-bucket', fetch: answer }), { rounds: 20 })
})

describe('objectStore', () => {
  const encode = (text: string) => new TextEncoder().encode(text)
  const text = async (backend: Backend, path: string) =>
    new TextDecoder().decode((await backend.read(path as Path)).bytes)
  const memory = () => {
    const { answer, objects, seen } = createS3()
    return { store: s3({ endpoint: 'http://s3', bucket: 'my-bucket', fetch: answer }), objects, seen }
  }
  afterEach(() => {
    vi.useRealTimers()
  })

  it('reports a missing content in a read, a range read and a scan', async () => {
    const { store, objects } = memory()
    await commit(objectStore(store), change('a', file('1')), change('large', file(new Uint8Array(8 * 1024 * 1024 + 5))))
    const backend = objectStore(store)
    for (const key of [...objects.keys()]) {
      // The content of `a`, and the second part of the other one.
      if (key.includes('contents') && (objects.get(key)?.bytes.length ?? 0) < 10) objects.delete(key)
    }
    for (const path of ['a', 'large']) {
      const missing = { code: 'BACKEND_ERROR', message: `Cannot read "${path}": its content is missing in the store` }
      await expect(backend.read(path as Path)).rejects.toMatchObject(missing)
      await expect(backend.scan?.([path as Path], () => true)).rejects.toMatchObject(missing)
    }
    expect((await backend.read('large' as Path, { start: 0, end: 9 })).bytes).toEqual(new Uint8Array(9))
  })

  it('requests no content of a file that is too large for a scan', async () => {
    const { store } = memory()
    await commit(objectStore(store), change('large', file('12345')), change('small', file('1234')))
    let requests = 0
    const counted = around(store, async (name, key, call) => {
      if (name === 'get' && key.includes('contents')) requests += 1
      return call()
    })
    const seen: [string, number, number][] = []
    const visit = (path: Path, bytes: Uint8Array, { size }: { readonly size: number }) =>
      seen.push([path, bytes.length, size]) > 0
    await objectStore(counted).scan?.(['large', 'small'] as Path[], visit, 4)
    expect({ seen, requests }).toEqual({
      seen: [
        ['large', 0, 5],
        ['small', 4, 4],
      ],
      requests: 1,
    })
  })

  it('omits files from a scan that are deleted during it', async () => {
    const { store } = memory()
    const writer = objectStore(store)
    await commit(writer, change('a', file('1')), change('b', file('2')))
    const meddle = async () => {
      await commit(writer, change('a', null), change('b', null), change('c', file('3')))
      // The contents are deleted only now.
      await commit(writer, change('d', file('4')))
    }
    let meddling: Promise<void> | undefined
    const meddled = around(store, async (_, key, call) => {
      if (key.includes('contents')) {
        meddling ??= meddle()
        await meddling
      }
      return call()
    })
    const seen: string[] = []
    await objectStore(meddled).scan?.(['a', 'b'] as Path[], (path) => seen.push(path) > 0)
    expect(seen).toEqual([])
  })

  it('checks a commit against the current tree, never a cached one', async () => {
    const { store } = memory()
    const backend = objectStore(store)
    const other = objectStore(store)
    await commit(backend, change('a', file('1')))
    await commit(other, change('b', file('2')), change('a', null))
    const [deleted] = (await commit(backend, change('b', null))).applied
    expect(deleted?.before, 'the file existed').toMatchObject({ type: 'file', size: 1 })
    await commit(other, change('c', { type: 'directory' }))
    await commit(backend, change('c/d', file('3')))
    await expect(commit(backend, change('no/such', file('3')))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await text(other, 'c/d')).toBe('3')
  })

  it('gives up if other writers always commit first, and leaves no content', async () => {
    const { store, objects } = memory()
    await commit(objectStore(store), change('a', file('1')))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let puts = 0
    const busy: ObjectStore = {
      ...store,
      async put(key, bytes, condition) {
        if (condition === undefined) return store.put(key, bytes)
        puts += 1
        return undefined
      },
    }
    const refused = expect(commit(objectStore(busy), change('a', file('2')))).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot commit: other writers came first 100 times',
    })
    while (puts < 100) await vi.advanceTimersByTimeAsync(1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    await refused
    expect([...objects.keys()].filter((key) => key.includes('contents'))).toHaveLength(1)
    expect(await text(objectStore(store), 'a')).toBe('1')
  })

  it('refuses a commit that takes more than an hour, because its contents may be swept', async () => {
    const { store, objects } = memory()
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const slow = around(store, (name, key, call) => {
      if (name === 'put' && key.includes('contents')) vi.setSystemTime(60 * 60 * 1000 + 1)
      return call()
    })
    await expect(commit(objectStore(slow), change('a', file('1')))).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot commit: the object store took more than an hour',
    })
    expect([...objects.keys()]).toEqual([])
  })

  it('reports a full store at once, for contents and for the manifest', async () => {
    const { store, objects } = memory()
    const backend = objectStore(store)
    await commit(backend, change('a', file('1')))
    let tries = 0
    const full = around(store, async (name, key, call) => {
      if (name === 'put' && key.endsWith('manifest.json')) {
        tries += 1
        throw new ToolError('NO_SPACE', 'Cannot write: the store is full')
      }
      return call()
    })
    await expect(commit(objectStore(full), change('a', file('2')))).rejects.toMatchObject({ code: 'NO_SPACE' })
    expect(tries).toBe(1)
    expect(await text(backend, 'a')).toBe('1')
    expect(objects.size).toBeGreaterThan(1)
  })

  it('reports an unexpected response', async () => {
    const { store } = memory()
    const odd = objectStore({ ...store, get: async () => 'unchanged' })
    await expect(odd.stat('a' as Path)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'The object store sent an unexpected response',
    })
  })

  it('caches the latest commit if responses overtake each other', async () => {
    const { store, seen } = memory()
    await commit(objectStore(store), change('a', file('1')))
    let answer = () => {}
    let held = 0
    const slow = around(store, async (name, key, call) => {
      const match = await call()
      if (name === 'get' && key.endsWith('manifest.json') && held++ < 2) {
        await new Promise<void>((resolve) => {
          const others = answer
          answer = () => {
            others()
            resolve()
          }
        })
      }
      return match
    })
    const backend = objectStore(slow)
    const early = [backend.stat('b' as Path)]
    await new Promise((resolve) => setImmediate(resolve))
    early.push(backend.stat('b' as Path))
    await vi.waitFor(() => expect(held).toBe(2), { timeout: 60_000 })
    await commit(backend, change('b', file('2')))
    answer()
    expect(await Promise.all(early), 'requested before the commit').toEqual([undefined, undefined])
    seen.length = 0
    await commit(backend, change('b', file('3')))
    const puts = seen.filter(({ method, url }) => method === 'PUT' && url.endsWith('manifest.json'))
    expect(puts, 'the cached tree is not older than its own commit').toHaveLength(1)
  })

  it('caches one tree if two first requests return the same', async () => {
    const { store } = memory()
    await commit(objectStore(store), change('b', file('2')))
    let arrived = 0
    let go = () => {}
    const bothThere = new Promise<void>((resolve) => {
      go = resolve
    })
    const fresh = objectStore(
      around(store, async (_name, _key, call) => {
        arrived += 1
        if (arrived === 2) go()
        await bothThere
        return call()
      }),
    )
    const early = fresh.stat('b' as Path)
    await vi.waitFor(() => expect(arrived).toBe(1), { timeout: 60_000 })
    const [one, other] = await Promise.all([early, fresh.stat('b' as Path)])
    expect(one).toBe(other)
  })

  it('lists R2 page by page', async () => {
    const uploaded = new Date(5)
    const pages: Record<string, Awaited<ReturnType<BucketBinding['list']>>> = {
      first: { objects: [{ key: 'p/a', size: 1, uploaded }], truncated: true, cursor: 'second' },
      second: { objects: [{ key: 'p/b', size: 2, uploaded }], truncated: false, cursor: 'stale' },
    }
    const unused = () => expect.unreachable()
    const binding = {
      ...{ get: unused, put: unused, delete: unused },
      list: async ({ prefix, cursor = 'first' }: { prefix: string; cursor?: string }) => {
        expect(prefix).toBe('p/')
        return pages[cursor]
      },
    } as unknown as BucketBinding
    expect(await keysIn(r2(binding), 'p/')).toEqual(['p/a', 'p/b'])
    expect(await r2(binding).list('p/')).toEqual({
      objects: [{ key: 'p/a', size: 1, uploadedAt: 5 }],
      cursor: 'second',
    })
  })

  it('accepts a whole object for a range, and escaped characters, from S3', async () => {
    const { answer } = createS3()
    const whole = s3({
      endpoint: 'http://s3',
      bucket: 'my-bucket',
      fetch(request) {
        const headers = new Headers(request.headers)
        headers.delete('range')
        return answer(new Request(request, { headers }))
      },
    })
    await whole.put('k', encode('0123456789'))
    expect(await whole.get('k', { offset: 2, length: 3 })).toMatchObject({ bytes: encode('234') })
    const requests: string[] = []
    const marked = s3({
      endpoint: 'http://s3',
      bucket: 'my-bucket',
      async fetch({ url }) {
        requests.push(new URL(url).searchParams.get('continuation-token') ?? 'none')
        const token = '<NextContinuationToken>&lt;a&amp;b&#39;&quot;&gt;</NextContinuationToken>'
        return new Response(
          requests.length === 1
            ? `<ListBucketResult><IsTruncated>true</IsTruncated>${token}</ListBucketResult>`
            : '<ListBucketResult></ListBucketResult>',
        )
      },
    })
    expect(await keysIn(marked, 'p/')).toEqual([])
    expect(requests).toEqual(['none', `<a&b'">`])
  })
})

/** Only the most important cases over R2, because each call is slow. `object-store.long.ts` runs all tests over R2. */
describe('over R2', () => {
  let bucket: Awaited<ReturnType<typeof openBucket>>
  beforeAll(async () => {
    bucket = await openBucket()
  })
  afterAll(() => bucket.dispose())

  const f = 'f' as Path
  const g = 'g' as Path
  const set = (text: string) => [f, g].map((path) => change(path, file(text)))

  it('a process killed at any call leaves two files both old or both new', async () => {
    const entry = new Set<string>()
    for (const [at, when] of [1, 2, 3, 4, 5].flatMap((n) => [[n, 'before'] as const, [n, 'after'] as const])) {
      const prefix = `r2-${at}-${when}`
      const open = () => objectStore(bucket.store, { prefix })
      await open().commit(set('old'), { durability: 'durable' })
      const { store, died } = dying(bucket.store, at, when)
      await Promise.race([objectStore(store, { prefix }).commit(set('new'), { durability: 'durable' }), died])
      const read = await Promise.all([f, g].map((path) => open().read(path)))
      const texts = read.map(({ bytes }) => new TextDecoder().decode(bytes))
      expect(texts[0]).toBe(texts[1])
      entry.add(texts[0] ?? '')
    }
    expect([...entry].sort()).toEqual(['new', 'old'])
  })

  it('exactly one of eight isolates wins that expect the same version', async () => {
    const isolates = Array.from({ length: 8 }, () => objectStore(bucket.store, { prefix: 'race' }))
    const outcomes = await Promise.allSettled(
      isolates.map((backend, i) =>
        backend.commit([change('f', file(`writer ${i}`), 'absent')], { durability: 'durable' }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
