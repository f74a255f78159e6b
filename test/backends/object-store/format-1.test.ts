import { describe, expect, it } from 'vitest'
import { type ObjectStore, objectStore, sweep } from '../../../src/backends/object-store/index.ts'
import { sha256Text } from '../../../src/files/hash/sha256.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { change, commit, file } from '../../../src/testing/backend/case.ts'
import { mapStore } from '../../edge/map-store.ts'

const encode = (text: string) => new TextEncoder().encode(text)

/** A store as the version with one manifest left it: `count` files in a directory, a link, and garbage. */
async function oldStore(count: number) {
  const { store, objects } = mapStore()
  const names = Array.from({ length: count }, (_, i) => `file-${i}`)
  for (const name of [...names, 'dropped']) await store.put(`wardspace/contents/c-${name}`, encode(`text of ${name}`))
  const rows = names.map((name) => {
    const text = `text of ${name}`
    return [`d/${name}`, 'file', `t-${name}`, 5, 0o600, text.length, sha256Text(text), `c-${name}`]
  })
  const manifest = {
    format: 1,
    next: 900,
    commits: ['an-old-commit'],
    garbage: [{ content: 'c-dropped', size: 15 }],
    entries: [['', 'directory', '1', 3], ['d', 'directory', '2', 4], ...rows, ['link', 'link', '3', 6, 'd/file-0']],
  }
  await store.put('wardspace/manifest.json', encode(JSON.stringify(manifest)))
  return { store, objects }
}

const textAt = async (store: ObjectStore, path: string) =>
  new TextDecoder().decode((await objectStore(store).read(path as Path)).bytes)

describe('object store of the version with one manifest', () => {
  it('is read without a change', async () => {
    const { store, objects } = await oldStore(300)
    const before = [...objects.keys()]
    const backend = objectStore(store)
    expect(await backend.list('d' as Path)).toHaveLength(300)
    expect(await backend.readLink('link' as Path)).toBe('d/file-0')
    expect(await backend.stat('d/file-7' as Path)).toEqual({
      ...{ type: 'file', size: 14, mode: 0o600, modifiedAt: 5, tag: 't-file-7' },
    })
    expect(await textAt(store, 'd/file-7')).toBe('text of file-7')
    expect([...objects.keys()]).toEqual(before)
  })

  it('is moved over by its first commit, which keeps every entry and content', async () => {
    const { store, objects } = await oldStore(300)
    const backend = objectStore(store)
    const stats = async () => Promise.all([...Array(300).keys()].map((i) => backend.stat(`d/file-${i}` as Path)))
    const before = await stats()
    await commit(backend, change('d/file-7', file('new'), { tag: 't-file-7' }))
    const manifest = JSON.parse(new TextDecoder().decode(objects.get('wardspace/manifest.json')?.bytes))
    expect(manifest).toMatchObject({ format: 2, commits: ['an-old-commit', expect.any(String)] })
    expect(objects.has('wardspace/contents/c-dropped')).toBe(false)
    before[7] = await objectStore(store).stat('d/file-7' as Path)
    expect(await stats()).toEqual(before)
    expect(await textAt(store, 'd/file-7')).toBe('new')
    expect(await textAt(store, 'd/file-8')).toBe('text of file-8')
    await commit(backend, change('d/file-8', file('new')))
    expect(objects.has('wardspace/contents/c-file-7')).toBe(false)
  })

  it('is swept, and refuses two first commits that expect the same', async () => {
    const { store, objects } = await oldStore(3)
    await store.put('wardspace/contents/left', encode('left'))
    await sweep(store, { clock: () => Date.now() + 48 * 60 * 60 * 1000 })
    expect([...objects.keys()].sort()).toEqual([
      ...['file-0', 'file-1', 'file-2'].map((name) => `wardspace/contents/c-${name}`),
      'wardspace/manifest.json',
    ])
    const expected = { sha256: sha256Text('text of file-0') }
    const outcomes = await Promise.allSettled(
      [1, 2].map((n) => commit(objectStore(store), change('d/file-0', file(`by ${n}`), expected))),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})
