import { describe, expect, it } from 'vitest'
import { grow } from '../../../src/backends/object-store/grow.ts'
import { objectStore } from '../../../src/backends/object-store/index.ts'
import { type Entry, fileEntry, isLeaf, keyOf, type Node, pathOf } from '../../../src/backends/object-store/nodes.ts'
import { objectNames } from '../../../src/backends/object-store/objects.ts'
import { openSpace } from '../../../src/backends/object-store/space.ts'
import { entriesIn, entryAt, type Tree } from '../../../src/backends/object-store/tree.ts'
import { type Path, ROOT } from '../../../src/paths/logical-path.ts'
import { emptyRoot } from '../../../src/storage/plan-commit.ts'
import { change, commit, file } from '../../../src/testing/backend/case.ts'
import { times } from '../../counts.ts'
import { mapStore } from '../../edge/map-store.ts'

/** Long names of directories make inner nodes of few children, so that small trees have three levels. */
const LONG = 'a-long-name-that-is-the-same-at-the-beginning-'.repeat(5)

/** A generator of repeatable random numbers. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A stored tree beside a map with the same entries. */
async function setUp() {
  const { store, objects } = mapStore()
  const space = openSpace(store, 'tree')
  const reopened = () => openSpace(store, 'tree').nodes
  const oracle = new Map<Path, Entry>()
  let tree: Tree = { root: emptyRoot, top: { keys: [], entries: [] } }
  let tags = 0
  return {
    oracle,
    reopened,
    tree: () => tree,
    entry: (): Entry => fileEntry(String(++tags), 5, { mode: 0o644, size: 3, sha256: 'a'.repeat(64), content: 'c@0' }),
    /** Applies steps to both, and deletes the dropped nodes. */
    async apply(steps: ReadonlyMap<Path, Entry | undefined>) {
      const grown = await grow(space.nodes, tree, steps)
      await space.nodeObjects.write(grown.batch)
      tree = grown
      for (const [path, entry] of steps) {
        if (entry === undefined) oracle.delete(path)
        else oracle.set(path, entry)
      }
      for (const { location } of grown.dropped) if (!location.includes('@')) objects.delete(`tree/nodes/${location}`)
      return grown
    },
    /** Reads everything as another reader would, and expects what the map contains. */
    async expectEqual() {
      const nodes = reopened()
      const keys: string[] = []
      const missing: string[] = []
      const depths = new Set<number>()
      const visit = async (node: Node, depth: number): Promise<void> => {
        if (isLeaf(node)) {
          keys.push(...node.keys)
          depths.add(depth)
          return
        }
        for (const [i, child] of node.children.entries()) {
          const name = `tree/nodes/${objectNames(child)[0]}`
          if (!objects.has(name)) missing.push(name)
          await visit(await nodes.load(node.children, i), depth + 1)
        }
      }
      await visit(tree.top, 0)
      expect(missing).toEqual([])
      expect(keys).toEqual([...oracle.keys()].map(keyOf).sort())
      expect(depths.size, 'all leaves have the same depth').toBe(1)
      const found: [Path, unknown][] = []
      for (const path of oracle.keys()) found.push([path, await entryAt(nodes, tree, path)])
      expect(found).toEqual([...oracle])
      return [...depths][0] as number
    },
  }
}

describe('an object store with damaged objects', () => {
  type Source = ReturnType<typeof objectStore>
  const paths = Array.from({ length: 9 }, (_, i) => `f${i}` as Path)
  const ways: Readonly<Record<string, (backend: Source) => Promise<unknown>>> = {
    read: (backend) => backend.read(paths[0] as Path),
    'a second read': async (backend) => {
      await backend.read(paths[0] as Path).catch(() => {})
      return backend.read(paths[0] as Path)
    },
    'read of the whole range': (backend) => backend.read(paths[0] as Path, { start: 0, end: 99 }),
    scan: (backend) => backend.scan?.(paths, () => true) ?? Promise.resolve(),
  }
  it.each(Object.keys(ways).flatMap((way) => [1, 9].map((count) => [way, count] as const)))(
    'refuses other bytes of the same length: %s of %i files',
    async (way, count) => {
      const { store, objects } = mapStore()
      await commit(objectStore(store), ...paths.slice(0, count).map((path) => change(path, file(`text of ${path}`))))
      for (const [key, { bytes }] of objects) if (key.includes('/contents/')) bytes[0] = 0x58
      await expect(ways[way]?.(objectStore(store))).rejects.toMatchObject({ code: 'BACKEND_ERROR', message: /damaged/ })
    },
  )

  it('refuses to read on when its manifest is gone', async () => {
    const { store, objects } = mapStore()
    const backend = objectStore(store)
    await commit(backend, change('a', file('x')))
    objects.delete('wardspace/manifest.json')
    await expect(backend.stat('a' as Path)).rejects.toMatchObject({ code: 'BACKEND_ERROR', message: /missing/ })
    await expect(commit(backend, change('b', file('x')))).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
  })
})

describe('tree of an object store', () => {
  it('equals a map after any commits, in trees of one to three levels', { timeout: 60_000 }, async () => {
    const { apply, entry, expectEqual, oracle } = await setUp()
    const random = randomOf(7)
    const pathAt = (n: number) => `${String(n % 256).padStart(3, '0')}${LONG}/${n}` as Path
    const levels = new Set<number>()
    for (const count of [1, 30, 300, 30_000]) {
      await apply(new Map(Array.from({ length: count }, () => [pathAt(random(20_000)), entry()])))
      levels.add(await expectEqual())
    }
    for (let round = 0; round < times(2, 30); round++) {
      const steps = new Map<Path, Entry | undefined>()
      const start = random(20_000)
      for (let i = 0; i < 1 + random(400); i++) {
        const path = round % 3 === 0 ? pathAt(start + i) : pathAt(random(20_000))
        if (random(2) === 0) steps.set(path, entry())
        else if (oracle.has(path)) steps.set(path, undefined)
      }
      await apply(steps)
      if (round % 6 === 0) levels.add(await expectEqual())
    }
    for (const share of [3, 2, 2, 8, 1]) {
      const removed = [...oracle.keys()].filter((_, i) => i % share === 0 || share === 8)
      await apply(new Map(removed.slice(0, share === 8 ? oracle.size - 5 : undefined).map((path) => [path, undefined])))
      levels.add(await expectEqual())
    }
    expect(oracle.size).toBe(0)
    expect([...levels].sort()).toEqual([0, 1, 2])
  })

  it('writes one node per level for a change in a directory with 50,000 entries, and lists it in order', async () => {
    const { apply, entry, reopened, tree } = await setUp()
    const paths = Array.from({ length: 50_000 }, (_, i) => `wide/file-${i}` as Path)
    await apply(new Map(paths.map((path) => [path, entry()])))
    const { batch } = await apply(new Map([['wide/file-77777' as Path, entry()]]))
    expect(batch.names()).toHaveLength(1)
    const names = (await entriesIn(reopened(), tree(), 'wide' as Path)).map(({ name }) => name)
    expect(names).toEqual([...paths.map((path) => path.slice(5)), 'file-77777'].sort())
    expect(await entriesIn(reopened(), tree(), ROOT)).toEqual([])
  })

  it('keeps a name apart from names that begin with it', () => {
    for (const path of ['a', 'a/b', 'a b/c', 'a!/b/c', 'ü/\u{1f600}']) expect(pathOf(keyOf(path as Path))).toBe(path)
  })
})
