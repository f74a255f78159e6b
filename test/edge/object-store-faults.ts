import { expect } from 'vitest'
import { type ObjectStore, objectStore, sweep } from '../../src/backends/object-store/index.ts'
import { isLeaf, type Node } from '../../src/backends/object-store/nodes.ts'
import { objectNames } from '../../src/backends/object-store/objects.ts'
import { openSpace } from '../../src/backends/object-store/space.ts'
import { sha256Text } from '../../src/files/hash/sha256.ts'
import { type Path, ROOT } from '../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../src/storage/backend.ts'
import { change, file } from '../../src/testing/backend/case.ts'
import { around } from './buckets.ts'
import { type MapObjects, mapStore } from './map-store.ts'

/** A generator of repeatable random numbers. */
export function randomOf(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2654435761) >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Long names make leaves of about 60 files, so that a small tree has several. */
const pathAt = (n: number) => `d${n % 3}/${'long-'.repeat(30)}${n}` as Path

/** The objects of a workspace with 200 files in several nodes and a pack. */
export async function seedObjects(): Promise<MapObjects> {
  const { store, objects } = mapStore()
  const directories = [0, 1, 2].map((n) => change(`d${n}`, { type: 'directory' }))
  const files = Array.from({ length: 200 }, (_, n) => change(pathAt(n), file(`content ${n}`)))
  await commit(objectStore(store), ...directories, ...files)
  await commit(objectStore(store), change(pathAt(1), file('a content of its own')))
  return objects
}

/** The content of every file by path, read by another isolate. */
export async function contentsOf(store: ObjectStore): Promise<ReadonlyMap<string, string>> {
  const backend = objectStore(store)
  const paths: Path[] = []
  for (const { name, type } of await backend.list(ROOT)) {
    if (type === 'file') paths.push(name as Path)
    else for (const entry of await backend.list(name as Path)) paths.push(`${name}/${entry.name}` as Path)
  }
  const contents = new Map<string, string>()
  await backend.scan?.(paths, (path, bytes) => contents.set(path, new TextDecoder().decode(bytes)) !== undefined)
  return contents
}

/** The kinds of faults: a process ends, or one request goes wrong. */
export const faults = ['ends before', 'ends after', 'fails before', 'fails after', 'late', 'twice'] as const
type Fault = (typeof faults)[number]

/** Wraps a store so that its nth request has a fault. `ended` settles when the process has ended. */
export function faulty(store: ObjectStore, nth: number, fault: Fault) {
  let calls = 0
  let hasEnded = false
  let end = () => {}
  const ended = new Promise<'ended'>((resolve) => {
    end = () => resolve('ended')
  })
  const never = new Promise<never>(() => {})
  let late: (() => Promise<unknown>) | undefined
  const wrapped = around(store, async (_name, _key, call) => {
    calls += 1
    if (hasEnded) return never
    if (calls === nth) {
      if (fault === 'fails before') throw new Error('No connection')
      if (fault === 'late') {
        // The request takes effect long after the caller has given up on it.
        late = call
        throw new Error('No response')
      }
      const isAfter = fault === 'ends after' || fault === 'fails after'
      if (isAfter || fault === 'twice') {
        const first = await call()
        if (fault === 'twice') return call().then(() => first)
      }
      if (fault === 'fails after') throw new Error('Connection lost')
      hasEnded = true
      end()
      return never
    }
    return call()
  })
  return { store: wrapped, ended, calls: () => calls, settle: async () => late?.() }
}

/** Cuts one random commit at a random request, and expects the old or the new tree, and no leaks after a sweep. */
export async function cutOnce(seed: number, seeded: MapObjects): Promise<'old' | 'new'> {
  const random = randomOf(seed)
  const { store, objects } = mapStore(seeded)
  const before = await contentsOf(store)
  const after = new Map(before)
  const changes: Change[] = []
  for (const n of new Set(Array.from({ length: 1 + random(random(2) === 0 ? 3 : 60) }, () => random(230)))) {
    const path = pathAt(n)
    if (before.has(path) && random(3) === 0) {
      changes.push(change(path, null))
      after.delete(path)
    } else {
      changes.push(change(path, file(`new content ${n} of ${seed}`)))
      after.set(path, `new content ${n} of ${seed}`)
    }
  }
  const fault = faults[random(faults.length)] as Fault
  const cut = faulty(store, 1 + random(12), fault)
  const label = `${fault} in run ${seed}`
  const outcome = await Promise.race([commit(objectStore(cut.store), ...changes), cut.ended])
  const present = await contentsOf(store)
  const isNew = same(present, after)
  expect(isNew || same(present, before), `${label}: the tree is neither old nor new`).toBe(true)
  if (outcome !== 'ended') expect(isNew, `${label}: an acknowledged commit is lost`).toBe(true)
  await cut.settle()
  expect(same(await contentsOf(store), present), `${label}: a late request changed the tree`).toBe(true)
  await expectNoLeaks(store, objects, label)
  await commit(objectStore(store), change('after', file('after'), 'absent'))
  expect((await contentsOf(store)).get('after')).toBe('after')
  return isNew ? 'new' : 'old'
}

/** The same as {@link seedObjects} after 40 commits of one file, which a sweep packs. */
export async function fragmentedObjects(): Promise<MapObjects> {
  const { store, objects } = mapStore(await seedObjects())
  const backend = objectStore(store)
  for (let n = 0; n < 40; n++) await commit(backend, change(pathAt(n), file(`own ${n}`)))
  return objects
}

/** Runs a sweep with a fault at a random request, beside a writer that commits before a random request of it. */
export async function cutSweep(seed: number, seeded: MapObjects): Promise<void> {
  const random = randomOf(seed)
  const { store, objects } = mapStore(seeded)
  const expected = new Map(await contentsOf(store))
  const cut = faulty(store, 1 + random(20), faults[random(faults.length)] as Fault)
  const meeting = random(20)
  let calls = 0
  const met = around(cut.store, async (_name, _key, call) => {
    if (calls++ === meeting) {
      const path = pathAt(random(200))
      expected.set(path, `met in run ${seed}`)
      await commit(objectStore(store), change(path, file(`met in run ${seed}`)))
    }
    return call()
  })
  await Promise.race([sweep(met, { clock: () => Date.now() + 2 * DAY_MS }), cut.ended])
  await cut.settle()
  expect(same(await contentsOf(store), expected), `run ${seed}: the sweep changed the tree`).toBe(true)
  await expectNoLeaks(store, objects, `sweep of run ${seed}`)
}

/** Sweeps two days later and expects that exactly the objects of the tree remain. */
export async function expectNoLeaks(store: ObjectStore, objects: MapObjects, label: string): Promise<void> {
  const before = await contentsOf(store)
  await sweep(store, { clock: () => Date.now() + 2 * DAY_MS })
  await sweep(store, { clock: () => Date.now() + 4 * DAY_MS })
  expect(same(await contentsOf(store), before), `${label}: the sweep changed the tree`).toBe(true)
  expect([...objects.keys()].sort(), `${label}: objects remain`).toEqual([...(await usedKeys(store))].sort())
}

/** The keys of a tree, found independently of the sweep. */
async function usedKeys(store: ObjectStore): Promise<ReadonlySet<string>> {
  const { nodes, keys, root } = openSpace(store, undefined)
  const used = new Set([keys.manifest])
  const visit = async (node: Node): Promise<void> => {
    if (isLeaf(node)) {
      for (const entry of node.entries) {
        if (entry.type !== 'file') continue
        const piece = { location: entry.content, size: entry.stat.size }
        for (const name of objectNames(piece)) used.add(keys.contents + name)
      }
    } else {
      for (const [i, child] of node.children.entries()) {
        used.add(keys.nodes + objectNames(child)[0])
        await visit(await nodes.load(node.children, i))
      }
    }
  }
  await visit((await root.load()).top)
  return used
}

/** Four writers count in the same files, over a store that fails at random. No acknowledged count may be lost. */
export async function fourWriters(seed: number, rounds: number): Promise<{ readonly acknowledged: number }> {
  const { store, objects } = mapStore(await seedObjects())
  const counters = [0, 1, 2].map((n) => `d${n}/${'long-'.repeat(30)}counter` as Path)
  await commit(objectStore(store), ...counters.map((path) => change(path, file('0'))))
  const acknowledged = new Map<Path, number>(counters.map((path) => [path, 0]))
  const unknown = new Map<Path, number>(counters.map((path) => [path, 0]))
  const write = async (writer: number) => {
    const random = randomOf(seed * 10 + writer)
    const late: (() => Promise<unknown>)[] = []
    let healthy = 0
    const shaky = around(store, async (_name, _key, call) => {
      // Never twice in a row, so that retries succeed.
      const kind = healthy-- > 0 ? 9 : random(40)
      if (kind < 4) healthy = 3
      if (kind === 0) throw new Error('No connection')
      if (kind === 1) return call().then(() => Promise.reject(new Error('Connection lost')))
      if (kind === 2) {
        late.push(call)
        throw new Error('No response')
      }
      if (kind === 3) return call().then((first) => call().then(() => first))
      if (late.length > 0 && random(5) === 0) await late.shift()?.()
      return call()
    })
    const backend = objectStore(shaky)
    for (let round = 0; round < rounds; round++) {
      const path = counters[random(3)] as Path
      try {
        const text = new TextDecoder().decode((await backend.read(path)).bytes)
        const next = change(path, file(String(Number(text) + 1)), { sha256: sha256Text(text) })
        await commit(backend, next, change(pathAt(random(200)), file(`${writer} ${round}`)))
        acknowledged.set(path, (acknowledged.get(path) ?? 0) + 1)
      } catch (error) {
        if ((error as { code?: string }).code === 'WRITE_CONFLICT') continue
        if ((error as { code?: string }).code !== 'BACKEND_ERROR') throw error
        unknown.set(path, (unknown.get(path) ?? 0) + 1)
      }
    }
    for (const call of late) await call()
  }
  await Promise.all([0, 1, 2, 3].map(write))
  const present = await contentsOf(store)
  let sum = 0
  for (const path of counters) {
    const count = Number(present.get(path))
    const certain = acknowledged.get(path) ?? 0
    expect(count, `${path} of run ${seed}: an acknowledged write is lost`).toBeGreaterThanOrEqual(certain)
    expect(count, `${path} of run ${seed}: a write counts twice`).toBeLessThanOrEqual(
      certain + (unknown.get(path) ?? 0),
    )
    sum += certain
  }
  await expectNoLeaks(store, objects, `run ${seed}`)
  return { acknowledged: sum }
}

const DAY_MS = 24 * 60 * 60 * 1000

const commit = (backend: Backend, ...changes: Change[]) => backend.commit(changes, { durability: 'durable' })

function same(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, content]) => b.get(path) === content)
}
