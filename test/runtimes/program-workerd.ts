import type { DurableObjectStorage, R2Bucket } from '@cloudflare/workers-types'
import { memory } from '../../src/backends/memory/index.ts'
import { durableObjectSubject, r2Subject } from '../edge/subjects.ts'
import type { Subject } from './program.ts'

/** The resources of a worker: the storage of its Durable Object, and a bucket. */
export interface WorkerHost {
  readonly storage: DurableObjectStorage
  readonly bucket: R2Bucket
}

/** The program for a Durable Object in workerd. */
export const subjects = ({ storage, bucket }: WorkerHost): Readonly<Record<string, Subject>> => ({
  memory: () => ({ backend: memory() }),
  'Durable Object': () => durableObjectSubject(storage),
  R2: () => r2Subject(bucket),
})
