import { describe, expect, it } from 'vitest'
import { askPermission, directoryHandle } from '../../../src/backends/directory-handle.ts'
import { opfs } from '../../../src/backends/opfs.ts'
import type { LogicalPath } from '../../../src/paths/logical-path.ts'
import { change, commit, directory, file } from '../../../src/testing/backend/case.ts'
import { type BackendSubject, backendContract, registerContract } from '../../../src/testing/index.ts'
import type { Asked, Outcome } from './contract-worker.ts'
import { type Crashed, crashEverywhere, type Failing } from './crashes.ts'
import { freshName, pageSubjects, removeWorkspace, workerSubjects } from './subjects.ts'

for (const [name, create] of Object.entries(pageSubjects())) {
  // Each case has a workspace of its own, and waits for the storage most of the time.
  registerContract(name, backendContract({ name, create }), { describe, it: it.concurrent })
}

/** Where the workspace is opened in a worker, its contract is run there. */
describe.each(Object.keys(workerSubjects()))('%s', (name) => {
  it('keeps the contract', async () => {
    const outcomes = await inWorker<Outcome[]>({ subject: name })
    expect(outcomes.filter(({ failed }) => failed !== undefined)).toEqual([])
    const skipped = outcomes.filter((one) => one.skipped !== undefined)
    expect(outcomes.length - skipped.length).toBeGreaterThan(name.includes('packed') ? 95 : 65)
    for (const one of skipped) {
      expect(one.skipped).toMatch(/^(the backend (declares|offers|has)|nobody but the backend)/)
    }
  })
})

/** The packed layout is shown against faults of many kinds in `packed.test.ts`. */
describe('storage that fails at any call tears no set', () => {
  it.each<[string, Failing]>([
    ['OPFS files, page', 'once'],
    ['directory handle, page', 'dead'],
  ])('%s, %s', async (name, failing) => {
    const create = pageSubjects()[name] as () => Promise<BackendSubject>
    expectWhole(await crashEverywhere(create, failing))
  })

  it.each<[string, Failing]>([
    ['OPFS files, worker', 'once'],
    ['OPFS files, worker', 'dead'],
  ])('%s, %s', async (subject, failing) => {
    expectWhole(await inWorker<Crashed>({ subject, failing }))
  })
})

function expectWhole({ outcomes, faults }: Crashed): void {
  expect(faults.join('\n')).toBe('')
  expect(outcomes.old).toBeGreaterThan(5)
  expect(outcomes.new).toBeGreaterThan(1)
}

async function inWorker<T>(asked: Asked): Promise<T> {
  const worker = new Worker(new URL('./contract-worker.ts', import.meta.url), { type: 'module' })
  try {
    return await new Promise<T>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.postMessage(asked)
    })
  } finally {
    worker.terminate()
  }
}

describe('opfs', () => {
  it('tells where it stores, and how much room there is', async () => {
    const name = freshName()
    const backend = await opfs({ name })
    const info = await backend.info()
    expect(info).toMatchObject({ layout: 'packed', access: 'sync', inWorker: true, warnings: [] })
    expect(typeof info.persisted).toBe('boolean')
    expect(info.quota).toBeGreaterThan(info.usage as number)
    await backend.close()
    await removeWorkspace(name)
  })
})

describe('a directory handle', () => {
  it('gives names as they are stored where letter case does not tell', async () => {
    const root = await navigator.storage.getDirectory()
    const handle = await root.getDirectoryHandle(freshName(), { create: true })
    const backend = await directoryHandle(handle)
    expect(backend.capabilities).toMatchObject({ caseSensitive: false, links: false, modes: false })
    await commit(backend, change('Docs', directory), change('Docs/.Env', file('x')))
    expect(await backend.canonical('docs/.ENV' as LogicalPath)).toBe('Docs/.Env')
    await backend.close()
    const again = await directoryHandle(handle)
    expect(again.capabilities.caseSensitive, 'the names that are there tell').toBe(true)
    await again.close()
    await root.removeEntry(handle.name, { recursive: true })
  })

  it('without permission is refused, and asks only where that is of use', async () => {
    const root = await navigator.storage.getDirectory()
    const asked: string[] = []
    const locked = {
      kind: 'directory',
      queryPermission: async () => 'prompt',
      requestPermission: async ({ mode }: { mode: string }) => {
        asked.push(mode)
        return 'denied'
      },
    } as unknown as FileSystemDirectoryHandle
    await expect(directoryHandle(locked)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    expect(asked).toEqual([])
    expect(await askPermission(locked)).toBe('denied')
    expect(asked).toEqual(['readwrite'])
    expect(await askPermission(root)).toBe('granted')
  })
})
