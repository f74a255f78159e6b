import { describe, expect, it } from 'vitest'
import { askPermission, directoryHandle } from '../../../src/backends/directory-handle.ts'
import { memory } from '../../../src/backends/memory.ts'
import { type OpfsOptions, opfs } from '../../../src/backends/opfs.ts'
import type { LogicalPath } from '../../../src/paths/logical-path.ts'
import { change, commit, directory, file } from '../../../src/testing/backend/case.ts'
import { type BackendSubject, backendContract, registerContract } from '../../../src/testing/index.ts'
import { cellOf } from '../../runtimes/cell.ts'
import type { CaseResult } from '../../runtimes/report.ts'
import { storyOver, withoutModes } from '../../runtimes/story.ts'
import { differenceOf, faultsOf } from '../../runtimes/table.ts'

let count = 0
const fresh = (): string => {
  count += 1
  return `test-${Date.now().toString(36)}-${count}`
}

function workspace(options: OpfsOptions) {
  return async () => {
    const name = fresh()
    const open = () => opfs({ ...options, name, persist: false })
    return { backend: await open(), reopen: open, dispose: () => removeWorkspace(name) }
  }
}

const subjects: Readonly<Record<string, () => Promise<BackendSubject>>> = {
  'OPFS packed, from the page over a worker': workspace({}),
  'OPFS packed, on the page': workspace({ access: 'async' }),
  'OPFS files, on the page': workspace({ layout: 'files' }),
  async 'a directory handle'() {
    const name = fresh()
    const root = await navigator.storage.getDirectory()
    const handle = await root.getDirectoryHandle(name, { create: true })
    const open = () => directoryHandle(handle, { caseSensitive: true })
    return { backend: await open(), reopen: open, dispose: () => root.removeEntry(name, { recursive: true }) }
  },
}

for (const [name, create] of Object.entries(subjects)) {
  registerContract(`${name}: the contract`, backendContract({ name, create }), { describe, it })
}

/** Where the workspace is opened in a worker, its contract is run there. */
describe.each(['packed', 'files'] as const)('OPFS %s, in a worker', (layout) => {
  it('keeps the contract', async ({ task }) => {
    const worker = new Worker(new URL('./contract-worker.ts', import.meta.url), { type: 'module' })
    const outcomes = await new Promise<CaseResult[]>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.postMessage(layout)
    })
    worker.terminate()
    task.meta.cells = [cellOf('Chromium', `OPFS ${layout}, in a worker`, outcomes)]
    expect(task.meta.cells.flatMap(faultsOf)).toEqual([])
  })
})

describe.each(Object.entries(subjects))('%s', (_, create) => {
  it('gives the results and records of memory for the same calls, but for modes where it has none', async () => {
    let modes = true
    const story = await storyOver(async () => {
      const subject = await create()
      modes = subject.backend.capabilities.modes
      return subject
    })
    const told = await storyOver(() => ({ backend: memory() }))
    expect(differenceOf(modes ? told : withoutModes(told), story)).toBe('')
  })
})

describe('opfs', () => {
  it('tells where it stores, and how much room there is', async () => {
    const name = fresh()
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
    const handle = await root.getDirectoryHandle(fresh(), { create: true })
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

async function removeWorkspace(name: string): Promise<void> {
  const all = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace')
  await all.removeEntry(name, { recursive: true })
}
