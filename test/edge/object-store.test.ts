import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { objectStore, s3 } from '../../src/backends/object-store.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { dying, openBucket } from './buckets.ts'
import { objectStoreTests } from './object-store-tests.ts'
import { createS3 } from './s3-server.ts'

describe('over the S3 protocol', () => {
  const { answer } = createS3()
  objectStoreTests(() => s3({ endpoint: 'http://s3', bucket: 'my-bucket', fetch: answer }), { rounds: 20 })
})

/** All of the above runs over R2 too, in `object-store.long.ts`; here what matters most, since each call takes its time. */
describe('over R2', () => {
  let bucket: Awaited<ReturnType<typeof openBucket>>
  beforeAll(async () => {
    bucket = await openBucket()
  })
  afterAll(() => bucket.dispose())

  const f = 'f' as Path
  const g = 'g' as Path
  const file = (text: string) => ({ type: 'file', bytes: new TextEncoder().encode(text) }) as const
  const set = (text: string) => [f, g].map((path) => ({ path, expect: 'any', to: file(text) }) as const)

  it('a process that dies at any call leaves both of two files old or new', async () => {
    const found = new Set<string>()
    for (const [at, when] of [1, 2, 3, 4, 5].flatMap((n) => [[n, 'before'] as const, [n, 'after'] as const])) {
      const prefix = `r2-${at}-${when}`
      const open = () => objectStore(bucket.store, { prefix })
      await open().commit(set('old'), { durability: 'durable' })
      const { store, died } = dying(bucket.store, at, when)
      await Promise.race([objectStore(store, { prefix }).commit(set('new'), { durability: 'durable' }), died])
      const read = await Promise.all([f, g].map((path) => open().read(path)))
      const texts = read.map(({ bytes }) => new TextDecoder().decode(bytes))
      expect(texts[0]).toBe(texts[1])
      found.add(texts[0] ?? '')
    }
    expect([...found].sort()).toEqual(['new', 'old'])
  })

  it('of eight isolates with one expected version exactly one wins', async () => {
    const isolates = Array.from({ length: 8 }, () => objectStore(bucket.store, { prefix: 'race' }))
    const outcomes = await Promise.allSettled(
      isolates.map((backend, i) =>
        backend.commit([{ path: f, expect: 'absent', to: file(`writer ${i}`) }], { durability: 'durable' }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
