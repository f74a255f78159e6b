import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { objectStore } from '../../../src/backends/object-store/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import { createWorkspace, mounts, readOnly } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { change, commit, file } from '../../../src/testing/backend/case.ts'
import { mapStore } from '../../edge/map-store.ts'

const f = 'd1/file-1' as Path

/** A store with 2,000 files in 100 directories, which has several nodes and packs. */
async function setUp() {
  const { store, count } = mapStore()
  const directories = Array.from({ length: 100 }, (_, i) => change(`d${i}`, { type: 'directory' }))
  const files = Array.from({ length: 2000 }, (_, i) =>
    change(`d${i % 100}/file-${i}`, file(`text of ${i}\n`.repeat(99))),
  )
  await commit(objectStore(store), ...directories, ...files)
  return { open: () => objectStore(store), count }
}

describe('requests of an object store', () => {
  // The time within which a call uses one answer does not pass by itself.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('follow the change, not the tree', async () => {
    const { open, count } = await setUp()
    const writer = open()
    const cold = await count(() => commit(writer, change(f, file('new'))))
    expect(cold).toMatchObject({ inARow: 4, put: 3 })
    expect(cold.written).toBeLessThan(32 * 1024)
    expect(await count(() => commit(writer, change(f, file('newer'))))).toMatchObject({ inARow: 2, get: 0, put: 3 })
    const reader = open()
    await reader.read('d2/file-2' as Path)
    expect(await count(() => reader.read('d2/file-102' as Path))).toMatchObject({ inARow: 2, get: 2 })
    expect(await count(() => reader.read('d2/file-102' as Path))).toMatchObject({ get: 1 })
  })

  it('of a call ask once whether the tree changed', async () => {
    const { open, count } = await setUp()
    for (const wrap of [(backend: Backend) => backend, readOnly, (backend: Backend) => mounts({ '': backend })]) {
      const workspace = await createWorkspace({ backend: wrap(open()), policy: 'autonomous' })
      const search = () => workspace.call('search_text', { query: 'nowhere' })
      const { get, inARow } = await count(search)
      expect(get).toBeLessThan(20)
      expect(inARow).toBeLessThan(10)
      expect((await count(search)).get).toBe(1)
      expect((await count(() => workspace.call('list_directory', { path: 'd3' }))).get).toBe(1)
    }
    const workspace = await createWorkspace({ backend: open(), policy: 'autonomous' })
    const edit = (oldText: string, newText: string) => async () => {
      const edits = [{ oldText, newText, replaceAll: true }]
      expect(await workspace.call('edit_file', { path: f, edits })).toMatchObject({ ok: true })
    }
    expect((await count(edit('text of 1', 'new'))).inARow).toBeLessThanOrEqual(5)
    expect(await count(edit('new', 'newer'))).toMatchObject({ inARow: 3, get: 1 })
  })

  it('of a call see what was committed before it began, also while another call runs', async () => {
    const { open } = await setUp()
    const [backend, other] = [open(), open()]
    const text = async () => new TextDecoder().decode((await backend.read(f)).bytes)
    for (const subject of [backend, overlay(backend), mounts({ '': backend })]) {
      await commit(other, change(f, file('one')))
      const unpin = subject.pin?.()
      expect(await text()).toBe('one')
      await commit(other, change(f, file('two')))
      expect(await text(), 'within the first call').toBe('one')
      vi.setSystemTime(Date.now() + 2000)
      expect(await text(), 'after two seconds').toBe('two')
      await commit(other, change(f, file('two and a half')))
      const unpinSecond = subject.pin?.()
      expect(await text(), 'in a second call').toBe('two and a half')
      await commit(backend, change(f, file('three')))
      expect(await text(), 'after its own commit').toBe('three')
      unpin?.()
      unpin?.()
      await commit(other, change(f, file('four')))
      expect(await text()).toBe('three')
      unpinSecond?.()
      expect(await text(), 'after all calls').toBe('four')
    }
  })
})
