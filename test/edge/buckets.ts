import { Miniflare } from 'miniflare'
import { type BucketBinding, type ObjectStore, r2 } from '../../src/backends/object-store.ts'

/** A real R2 bucket of miniflare, in this process's hands. */
export async function openBucket(): Promise<{ readonly store: ObjectStore; dispose(): Promise<void> }> {
  const miniflare = new Miniflare({
    modules: true,
    script: 'export default { fetch: () => new Response() }',
    r2Buckets: ['BUCKET'],
  })
  const bucket = (await miniflare.getR2Bucket('BUCKET')) as unknown as BucketBinding
  return { store: r2(bucket), dispose: () => miniflare.dispose() }
}

/** Everything in a store below a prefix. */
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

/** The store with something done around each call; `call` carries it out. */
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

/**
 * The store of a process that dies at its nth call, before or after the call takes effect: no call is answered any more.
 */
export function dying(store: ObjectStore, at: number, when: 'before' | 'after') {
  let calls = 0
  let die = () => {}
  const died = new Promise<'died'>((resolve) => {
    die = () => resolve('died')
  })
  const dead = around(store, async (_name, _key, call) => {
    calls += 1
    if (calls === at && when === 'after') await call()
    if (calls < at) return call()
    die()
    return new Promise<never>(() => {})
  })
  return { store: dead, died, calls: () => calls }
}

/** The store whose nth call fails once: before it takes effect, or only its answer is lost. */
export function failing(store: ObjectStore, at: number, when: 'before' | 'after') {
  let calls = 0
  const flaky = around(store, async (_name, _key, call) => {
    calls += 1
    if (calls !== at) return call()
    if (when === 'after') await call()
    throw new Error('the network at 10.0.0.7 failed')
  })
  return { store: flaky, calls: () => calls }
}
