import { describe, expect, it } from 'vitest'
import { askPermission, directoryHandle } from '../../../src/backends/directory-handle/index.ts'
import { memory } from '../../../src/backends/memory/index.ts'
import { opfs } from '../../../src/backends/opfs/index.ts'
import type { LogicalPath } from '../../../src/paths/logical-path.ts'
import { change, commit, directory, file } from '../../../src/testing/backend/case.ts'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { scale } from '../../contract/scale.ts'
import { isLong } from '../../counts.ts'
import { cellOf } from '../../runtimes/cell.ts'
import type { CaseResult } from '../../runtimes/report.ts'
import { storyOver, withoutModes } from '../../runtimes/story.ts'
import { differenceOf, faultsOf } from '../../runtimes/table.ts'
import type { Asked } from './contract-worker.ts'
import { shareOf, sharers } from './share.ts'
import { freshName, pageSubjects, removeWorkspace, workerSubjects } from './subjects.ts'

describe.each(Object.entries(pageSubjects()))('%s', (name, create) => {
  // Each case has its own workspace, and mostly waits for the storage.
  registerContract('the contract', shareOf(name, backendContract({ name, create, scale })), {
    describe,
    it: it.concurrent,
  })

  it.runIf(isLong || name === Object.keys(pageSubjects())[0])(
    'returns the same results and records as memory(), except for unsupported modes',
    async () => {
      let modes = true
      const story = await storyOver(async () => {
        const subject = await create()
        modes = subject.backend.capabilities.modes
        return subject
      })
      const text = await storyOver(() => ({ backend: memory() }))
      expect(differenceOf(modes ? text : withoutModes(text), story)).toBe('')
    },
  )
})

/** Workspaces that are opened in a worker run their contract there. */
describe.each(Object.entries(workerSubjects()))('%s', (name, create) => {
  it('fulfills the contract', async ({ task }) => {
    const worker = new Worker(new URL('./contract-worker.ts', import.meta.url), { type: 'module' })
    const outcomes = await new Promise<CaseResult[]>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
      const names = shareOf(name, backendContract({ name, create })).map((one) => one.name)
      worker.postMessage({ subject: name, names } satisfies Asked)
    })
    worker.terminate()
    task.meta.cells = [cellOf('Chromium', name, outcomes)]
    expect(task.meta.cells.flatMap(faultsOf)).toEqual([])
  })
})

describe('the contract', () => {
  it('is fulfilled by each kind of storage, with every case in one of its ways to open it', () => {
    const cases = Array.from({ length: 9 }, (_, at) => at)
    for (const ways of sharers) {
      expect(ways.flatMap((name) => shareOf(name, cases)).sort()).toEqual(
        isLong ? [...cases, ...cases, ...cases].sort() : cases,
      )
    }
    expect(sharers.flat().sort()).toEqual([...Object.keys(pageSubjects()), ...Object.keys(workerSubjects())].sort())
  })
})

describe('opfs', () => {
  it('reports where it stores and how much space there is', async () => {
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

describe('directoryHandle', () => {
  it('returns stored spellings on a case-insensitive file system', async () => {
    const root = await navigator.storage.getDirectory()
    const handle = await root.getDirectoryHandle(freshName(), { create: true })
    const backend = await directoryHandle(handle)
    expect(backend.capabilities).toMatchObject({ caseSensitive: false, links: false, modes: false })
    await commit(backend, change('Docs', directory), change('Docs/.Env', file('x')))
    expect(await backend.canonical('docs/.ENV' as LogicalPath)).toBe('Docs/.Env')
    await backend.close()
    const again = await directoryHandle(handle)
    expect(again.capabilities.caseSensitive, 'detected from existing names').toBe(true)
    await again.close()
    await root.removeEntry(handle.name, { recursive: true })
  })

  it('refuses a handle without permission, and asks only if that can help', async () => {
    const root = await navigator.storage.getDirectory()
    const requests: string[] = []
    const locked = {
      kind: 'directory',
      queryPermission: async () => 'prompt',
      requestPermission: async ({ mode }: { mode: string }) => {
        requests.push(mode)
        return 'denied'
      },
    } as unknown as FileSystemDirectoryHandle
    await expect(directoryHandle(locked)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    expect(requests).toEqual([])
    expect(await askPermission(locked)).toBe('denied')
    expect(requests).toEqual(['readwrite'])
    expect(await askPermission(root)).toBe('granted')
  })
})
