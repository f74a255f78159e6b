import { describe, expect, it } from 'vitest'
import { objectStore, sweep } from '../../../src/backends/object-store/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { change, commit, file } from '../../../src/testing/backend/case.ts'
import { times } from '../../counts.ts'
import { mapStore } from '../../edge/map-store.ts'
import { contentsOf, cutSweep, expectNoLeaks, fragmentedObjects } from '../../edge/object-store-faults.ts'

const later = (days: number) => ({ clock: () => Date.now() + days * 24 * 60 * 60 * 1000 })

const FILES = times(4000, 8000)

describe('sweep of an object store', () => {
  it('packs contents and nodes that lie in many objects, and deletes these with the next sweep', async () => {
    const { store, objects, count } = mapStore()
    const files = Array.from({ length: FILES }, (_, i) => change(`wide/file-${i}` as Path, file(`text ${i}`)))
    const backend = objectStore(store)
    await commit(backend, change('wide', { type: 'directory' }), ...files)
    for (let i = 0; i < FILES; i += 75) await commit(backend, change(`wide/file-${i}`, file(`changed ${i}`)))
    const reader = objectStore(store)
    await reader.stat('wide' as Path)
    const before = await contentsOf(store)
    const cost = await count(() => contentsOf(store))
    expect(cost.get).toBeGreaterThan(times(60, 100))
    await sweep(store, later(2))
    expect((await count(() => contentsOf(store))).get).toBeLessThan(20)
    expect(await contentsOf(store)).toEqual(before)
    const size = objects.size
    await sweep(store, later(4))
    expect(size - objects.size, 'the old objects').toBeGreaterThan(times(60, 100))
    await expectNoLeaks(store, objects, 'packed')
    expect((await reader.read('wide/file-150' as Path)).bytes).toEqual(new TextEncoder().encode('changed 150'))
  })

  it('changes no file when it is cut off, and when others commit meanwhile', async () => {
    const seeded = await fragmentedObjects()
    for (let seed = 1; seed <= times(2, 12); seed++) await cutSweep(seed, seeded)
  })
})
