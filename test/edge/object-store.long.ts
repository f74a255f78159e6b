import { afterAll, beforeAll, describe, it } from 'vitest'
import { objectStore } from '../../src/backends/object-store/index.ts'
import { backendContract, registerContract } from '../../src/testing/index.ts'
import { openBucket } from './buckets.ts'
import { objectStoreTests } from './object-store-tests.ts'

describe('over R2', () => {
  let bucket: Awaited<ReturnType<typeof openBucket>>
  beforeAll(async () => {
    bucket = await openBucket()
  })
  afterAll(() => bucket.dispose())
  objectStoreTests(() => bucket.store, { rounds: 20 })

  // Workerd runs the contract too, with smaller trees.
  let subjects = 0
  const create = () => {
    const prefix = `subject ${++subjects}`
    const open = () => objectStore(bucket.store, { prefix })
    return { backend: open(), reopen: open, physical: prefix }
  }
  registerContract('the contract', backendContract({ name: 'R2', create }), { describe, it })
})
