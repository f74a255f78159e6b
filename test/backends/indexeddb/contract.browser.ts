import { describe, expect, it, onTestFinished } from 'vitest'
import { indexedDb } from '../../../src/backends/indexeddb/index.ts'
import { createWorkspace } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { type BackendSubject, backendContract, registerContract } from '../../../src/testing/index.ts'
import { times } from '../../counts.ts'
import { FILES, wholeGeneration } from '../killed-generations.ts'
import { countTogether } from '../writers.ts'

let count = 0
const newName = () => `contract-${Date.now()}-${count++}`

async function create(): Promise<BackendSubject> {
  const name = newName()
  return {
    backend: await indexedDb(name),
    physical: name,
    reopen: () => indexedDb(name),
    plantLink: (path, target) => plantLink(name, path, target),
    dispose: () => remove(name),
  }
}

registerContract('indexedDb', backendContract({ name: 'indexedDb', create }), { describe, it: it.concurrent })

describe('indexedDb', () => {
  it('never loses a change of writers with connections of their own', async () => {
    const name = temporary()
    const backends = await Promise.all(Array.from({ length: 6 }, () => indexedDb(name)))
    const rounds = times(5, 100)
    const { count: sum, conflicts } = await countTogether(backends, rounds)
    expect(sum).toBe(rounds * backends.length)
    expect(conflicts).toBeGreaterThan(0)
    expect(await partsIn(name)).toBe(1)
  })

  it('lists damaged entries, and reads the others', async () => {
    const name = temporary()
    const backend = await indexedDb(name)
    const workspace = await createWorkspace({ backend, policy: 'autonomous' })
    for (const path of ['a.txt', 'bad.txt']) await workspace.call('write_file', { path, content: `${path}\n` })
    const whole = { type: 'file', stat: { type: 'file', size: 4, mode: 0o644, modifiedAt: 0, tag: '1' } }
    const damage = [
      null,
      'text',
      {},
      { type: 'weird' },
      { ...whole },
      { ...whole, sha256: '00', content: 1 },
      { type: 'link' },
    ]
    for (const entry of damage) {
      await inStore(name, 'entries', (entries) => entries.put(entry, ['', 'bad.txt']))
      expect(await backend.list('' as Path)).toEqual([
        { name: 'a.txt', type: 'file' },
        { name: 'bad.txt', type: 'other' },
      ])
      expect(await workspace.call('list_directory', {})).toMatchObject({ ok: true })
      expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'a.txt\n' })
      await expect(backend.read('bad.txt' as Path)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    }
    await inStore(name, 'parts', (parts) => parts.put(new TextEncoder().encode('b.txt\n'), [2, 0]))
    await inStore(name, 'parts', (parts) => parts.put(new TextEncoder().encode('b.txt\n'), [1, 0]))
    await expect(backend.read('a.txt' as Path)).rejects.toMatchObject({ code: 'BACKEND_ERROR', message: /damaged/ })
  })

  it('has the old or the new files after its worker was ended', async () => {
    const name = temporary()
    let acknowledged = 0
    for (let kill = 0; kill < times(5, 200); kill++) {
      const worker = new Worker(new URL('./killed-worker.ts', import.meta.url), { type: 'module' })
      await new Promise((resolve, reject) => {
        worker.onerror = ({ message }) => reject(new Error(message))
        worker.onmessage = ({ data }) => {
          if (acknowledged < data) setTimeout(resolve, Math.random() * 30)
          acknowledged = data
        }
        worker.postMessage({ name, first: acknowledged })
      })
      worker.terminate()
      const backend = await indexedDb(name)
      const generation = await wholeGeneration(backend)
      // The message of the last acknowledged ones may have been lost with the worker.
      expect(generation).toBeGreaterThanOrEqual(acknowledged)
      expect(await partsIn(name)).toBe(FILES.length)
      await backend.close()
      acknowledged = generation
    }
  })

  it('reads ranges across parts', async () => {
    const backend = await indexedDb(temporary())
    const path = 'large.bin' as Path
    const bytes = Uint8Array.from({ length: 2_500_000 }, (_, i) => (i * 31 + (i >> 8)) % 256)
    await backend.commit([{ path, expect: 'any', to: { type: 'file', bytes } }], { durability: 'durable' })
    const edges = [0, 1, 1_048_575, 1_048_576, 1_048_577, 2_097_152, 2_499_999, 2_500_000, 3_000_000]
    for (const start of edges) {
      for (const end of edges) {
        const read = await backend.read(path, { start, end })
        const expected = bytes.subarray(start, Math.max(start, end))
        expect(read.bytes.length).toBe(expected.length)
        expect(read.bytes.every((byte, index) => byte === expected[index])).toBe(true)
      }
    }
  })

  it('serves a workspace, and finds its files again', async () => {
    const name = temporary()
    const workspace = await createWorkspace({ backend: await indexedDb(name), policy: 'autonomous' })
    const written = await workspace.call('write_file', { path: 'src/a.txt', content: 'one\n' })
    expect(await workspace.undo(String(Object(written).callId))).toMatchObject({ ok: true })
    expect(await workspace.call('write_file', { path: 'src/b.txt', content: 'two\n' })).toMatchObject({ ok: true })
    await workspace.close()
    const again = await createWorkspace({ backend: await indexedDb(name), policy: 'readOnly' })
    expect(await again.call('find_files', { pattern: '**' })).toMatchObject({ files: ['src/b.txt'] })
  })

  it('refuses wrong options, and a database of a newer version', async () => {
    await expect(indexedDb(1 as never)).rejects.toThrow(TypeError)
    await expect(indexedDb('a', { facotry: indexedDB } as never)).rejects.toThrow('did you mean "factory"?')
    await expect(indexedDb('a', { factory: {} } as never)).rejects.toThrow(TypeError)
    const name = temporary()
    const newer = indexedDB.open(`wardspace/${name}`, 2)
    await new Promise((resolve) => {
      newer.onsuccess = resolve
    })
    newer.result.close()
    await expect(indexedDb(name)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: expect.stringContaining('newer version'),
      cause: expect.objectContaining({ name: 'VersionError' }),
    })
    await expect(indexedDb('')).rejects.toThrow('name is empty')
  })

  it('fails after it was closed, without the name of the database', async () => {
    const name = temporary()
    const backend = await indexedDb(name)
    await backend.close()
    await expect(backend.stat('a' as Path)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    await expect(backend.stat('a' as Path)).rejects.not.toThrow(name)
  })
})

function temporary(): string {
  const name = newName()
  onTestFinished(() => remove(name))
  return name
}

function remove(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(`wardspace/${name}`)
    request.onsuccess = () => resolve()
    request.onerror = () => reject(request.error)
  })
}

async function inStore<T>(name: string, store: string, use: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const open = indexedDB.open(`wardspace/${name}`)
  await new Promise((resolve) => {
    open.onsuccess = resolve
  })
  const request = use(open.result.transaction(store, 'readwrite').objectStore(store))
  await new Promise((resolve) => {
    request.onsuccess = resolve
  })
  open.result.close()
  return request.result
}

const partsIn = (name: string): Promise<number> => inStore(name, 'parts', (parts) => parts.count())

async function plantLink(name: string, path: string, target: string): Promise<void> {
  const slash = path.lastIndexOf('/')
  const stat = { type: 'link', size: 0, mode: 0o777, modifiedAt: 0, tag: '0' }
  const key = [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)]
  await inStore(name, 'entries', (entries) => entries.put({ type: 'link', stat, target }, key))
}
