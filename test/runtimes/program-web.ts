import type { DurableObjectStorage, R2Bucket } from '@cloudflare/workers-types'
import { memory } from '../../src/backends/memory/index.ts'
import { durableObjectSubject, r2Subject } from '../edge/subjects.ts'
import type { Subject } from './program.ts'

/** The resources of a worker: the storage of its Durable Object, and a bucket. */
export interface WorkerHost {
  readonly storage: DurableObjectStorage
  readonly bucket: R2Bucket
}

/** The program for runtimes with web APIs only: a page of Chromium, and a Durable Object in workerd, which has a host. */
export const subjects = (host?: WorkerHost): Readonly<Record<string, Subject>> => ({
  memory: () => ({ backend: memory() }),
  ...(host !== undefined && {
    'Durable Object': () => durableObjectSubject(host.storage),
    R2: () => r2Subject(host.bucket),
  }),
})
