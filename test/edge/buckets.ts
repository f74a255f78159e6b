import { Miniflare } from 'miniflare'
import { type BucketBinding, type ObjectStore, r2 } from '../../src/backends/object-store/index.ts'
import { createInjector } from '../../src/testing/faults.ts'

/** An R2 bucket of miniflare in this process. */
export async function openBucket(): Promise<{ readonly store: ObjectStore; dispose(): Promise<void> }> {
  const miniflare = new Miniflare({
    modules: true,
    script: 'export default { fetch: () => new Response() }',
    r2Buckets: ['BUCKET'],
  })
  const bucket = (await miniflare.getR2Bucket('BUCKET')) as unknown as BucketBinding
  return { store: r2(bucket), dispose: () => miniflare.dispose() }
}

/** All objects of a store below a prefix. */
export async function keysIn(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(prefix, cursor)
    keys.push(...page.objects.map(({ key }) => key))
    cursor = page.cursor
  } while (cursor !== undefined)
  return keys
}

/** The store with a wrapper around each call; `call` performs it. */
export function around(
  store: ObjectStore,
  step: <T>(name: keyof ObjectStore, key: string, call: () => Promise<T>) => Promise<T>,
): ObjectStore {
  return {
    get: (key, options) => step('get', key, () => store.get(key, options)),
    put: (key, bytes, condition) => step('put', key, () => store.put(key, bytes, condition)),
    delete: (keys) => step('delete', keys[0] ?? '', () => store.delete(keys)),
    list: (prefix, cursor) => step('list', prefix, () => store.list(prefix, cursor)),
  }
}

const storeOperations = ['get', 'put', 'delete', 'list'] as const

/**
 * The store of a process that dies at its nth call, before or after the call takes effect. Later calls never settle.
 */
export function dying(store: ObjectStore, at: number, when: 'before' | 'after') {
  let die = () => {}
  const died = new Promise<'died'>((resolve) => {
    die = () => resolve('died')
  })
  const faults = createInjector<keyof ObjectStore>(storeOperations, callOf(at, { when, crash: true }))
  const dead = around(store, (name, key, call) =>
    faults.around(name, [key], { act: call }).catch((error: unknown) => {
      if (!faults.crashed) throw error
      die()
      return new Promise<never>(() => {})
    }),
  )
  return { store: dead, died, calls: () => faults.calls.length }
}

/** The store whose nth call fails once: before it takes effect, or by losing the response. */
export function failing(store: ObjectStore, at: number, when: 'before' | 'after') {
  const error = new Error('the network at 10.0.0.7 failed')
  const faults = createInjector<keyof ObjectStore>(storeOperations, callOf(at, { when, error }))
  const flaky = around(store, (name, key, call) => faults.around(name, [key], { act: call }))
  return { store: flaky, calls: () => faults.calls.length }
}

/** A fault of the nth call; infinity for none. */
function callOf<F extends object>(nth: number, fault: F): (F & { nth: number })[] {
  return nth === Number.POSITIVE_INFINITY ? [] : [{ ...fault, nth }]
}
