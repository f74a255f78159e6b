import { afterAll, beforeAll, describe } from 'vitest'
import { openBucket } from './buckets.ts'
import { objectStoreTests } from './object-store-tests.ts'

describe('over R2', () => {
  let bucket: Awaited<ReturnType<typeof openBucket>>
  beforeAll(async () => {
    bucket = await openBucket()
  })
  afterAll(() => bucket.dispose())
  objectStoreTests(() => bucket.store, { rounds: 20 })
})
