import { afterEach, describe, expect, it, vi } from 'vitest'
import { askPermission, directoryHandle, permissionOf } from '../../../src/backends/directory-handle/index.ts'
import { openChanges } from '../../../src/backends/opfs/change-channel.ts'
import { type OpfsOptions, opfs } from '../../../src/backends/opfs/index.ts'
import { localLease } from '../../../src/backends/opfs/local-lease.ts'
import type { PageMessage, WorkerMessage } from '../../../src/backends/opfs/messages.ts'
import { encodeSteps } from '../../../src/backends/opfs/redo-log.ts'
import { remoteLease } from '../../../src/backends/opfs/remote-lease.ts'
import { serveSlots } from '../../../src/backends/opfs/serve-slots.ts'
import { storageFailure } from '../../../src/backends/opfs/storage-failure.ts'
import type { LogicalPath } from '../../../src/paths/logical-path.ts'
import { at, bytesOf, change, commit, directory, file, snapshot, textAt } from '../../../src/testing/backend/case.ts'
import { type BrowserParts, browserStorage, pickedDirectories } from './browser-storage.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const failing = (name: string, step: string, of?: string) => (request: string, at: string) => {
  if (request === step && (of === undefined || of === at)) throw new DOMException('it failed', name)
}
const files = (more: OpfsOptions = {}) => opfs({ layout: 'files', ...more })

describe('opfs()', () => {
  it.each<[OpfsOptions, string]>([
    [{ name: '' }, 'opfs(): the name must be'],
    [{ name: '..' }, 'opfs(): the name must be'],
    [{ name: 'a/b' }, 'opfs(): the name must be'],
    [{ lockTimeoutMs: 0 }, 'Option "lockTimeoutMs" of opfs() must be a positive safe integer, not 0'],
    [{ maxBytes: 1.5 }, 'Option "maxBytes" of opfs() must be a positive safe integer, not 1.5'],
  ])('refuses %o', async (options, message) => {
    await expect(opfs(options)).rejects.toThrow(TypeError)
    await expect(opfs(options)).rejects.toThrow(message)
  })

  it('opens the workspace `default`, without a worker if none can be started, and reports that in info()', async () => {
    const storage = browserStorage({ storage: { persisted: async () => false } })
    const backend = await opfs()
    expect(await backend.info()).toEqual({
      layout: 'packed',
      access: 'async',
      inWorker: false,
      persisted: false,
      usage: 1,
      quota: 2,
      warnings: ['No worker could be started: every commit copies the whole journal'],
    })
    await commit(backend, change('a', file('stored')))
    await backend.close()
    expect(storage.bytes('wardspace/default/journal-0')?.length).toBeGreaterThan(48)
    const again = await opfs()
    expect(await textAt(again, 'a')).toBe('stored')
    await again.close()
  })

  it('reports whether the browser persists it, and nothing with persist: false', async () => {
    let question = 0
    const storage = { persist: async () => question++ === 0, persisted: async () => false }
    browserStorage({ storage })
    const kept = await opfs()
    expect((await kept.info()).persisted).toBe(true)
    await kept.close()
    const silent = await opfs({ persist: false })
    expect((await silent.info()).persisted, 'already persisted').toBe(false)
    await silent.close()
    expect(question).toBe(1)
    browserStorage({ storage: { persist: () => Promise.reject(new Error('not from a worker')) } })
    const unknown = await opfs()
    expect((await unknown.info()).persisted).toBe(undefined)
    await unknown.close()
  })

  it.each<[string, BrowserParts | undefined, OpfsOptions, string]>([
    ['no such storage', undefined, {}, 'there is no origin private file system here'],
    ['no Web Locks', { locks: undefined }, {}, 'without Web Locks, tabs cannot be kept apart'],
    ['no Web Locks, files', { locks: undefined }, { layout: 'files' }, 'without Web Locks, tabs cannot be kept apart'],
    ['no worker', {}, { access: 'sync' }, 'no worker could be started'],
    [
      'no permission',
      { storage: { getDirectory: () => Promise.reject(new DOMException('no', 'SecurityError')) } },
      {},
      'the browser does not permit it',
    ],
  ])('fails with %s', async (_, parts, options, why) => {
    if (parts !== undefined) browserStorage(parts)
    await expect(opfs(options)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: expect.stringMatching(`^Cannot open the workspace: ${why}`),
    })
  })

  it('releases the workspace if opening fails, so that it can be opened later', async () => {
    const storage = browserStorage()
    for (const layout of ['packed', 'files'] as const) {
      storage.around = failing('NotReadableError', 'getFile')
      storage.put('wardspace/x/state/journal', new Uint8Array())
      await expect(opfs({ name: 'x', layout, lockTimeoutMs: 50 })).rejects.toMatchObject({
        code: 'BACKEND_ERROR',
        message: expect.stringContaining('it was changed while it was read'),
      })
      storage.around = () => undefined
      const backend = await opfs({ name: 'x', layout, lockTimeoutMs: 50 })
      await commit(backend, change('a', file(layout)))
      expect(await textAt(backend, 'a')).toBe(layout)
      await backend.close()
    }
  })

  it('works without BroadcastChannel', async () => {
    browserStorage()
    vi.stubGlobal('BroadcastChannel', undefined)
    const backend = await opfs({ onChange: () => expect.unreachable() })
    await commit(backend, change('a', file('alone')))
    expect(await textAt(backend, 'a')).toBe('alone')
    await backend.close()
  })
})

describe('synchronous slots', () => {
  it('store the journal, and report a partial write', async () => {
    const storage = browserStorage({ sync: true, locks: undefined })
    const closed: string[] = []
    storage.around = (step, name) => step === 'closeSync' && closed.push(name)
    const backend = await opfs({ access: 'sync' })
    expect(await backend.info()).toMatchObject({ access: 'sync', inWorker: false, warnings: [] })
    await commit(backend, change('a', file('1')))
    storage.around = (step) => (step === 'writeSync' ? 100 : undefined)
    await expect(commit(backend, change('b', file('x'.repeat(1_000))))).rejects.toMatchObject({ code: 'NO_SPACE' })
    storage.around = (step, name) => step === 'closeSync' && closed.push(name)
    expect([...(await snapshot(backend)).keys()]).toEqual(['a'])
    await backend.close()
    expect(closed).toEqual(['journal-0', 'journal-1'])
    const again = await opfs({ access: 'sync' })
    expect([...(await snapshot(again)).keys()]).toEqual(['a'])
    await again.close()
  })

  it('wait a while for a handle that is still open', async () => {
    const storage = browserStorage({ sync: true, locks: undefined })
    vi.useFakeTimers()
    let busy = 3
    storage.around = (step, name) => {
      if (step === 'createSyncAccessHandle' && name === 'journal-0' && busy-- > 0) {
        throw new DOMException('open', 'NoModificationAllowedError')
      }
    }
    const opening = opfs({ access: 'sync' })
    await vi.advanceTimersByTimeAsync(1_000)
    const backend = await opening
    await backend.close()
    const closed: string[] = []
    storage.around = (step, name) => {
      if (step === 'closeSync') closed.push(name)
      failing('InvalidStateError', 'createSyncAccessHandle', 'journal-1')(step, name)
    }
    const refused = expect(opfs({ access: 'sync' })).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot open the workspace: it is open elsewhere',
    })
    await vi.advanceTimersByTimeAsync(10_000)
    await refused
    expect(closed, 'the first of the two handles').toEqual(['journal-0'])
  })
})

describe('asynchronous slots', () => {
  it('keep the old content if a write fails', async () => {
    const storage = browserStorage()
    const backend = await opfs()
    await commit(backend, change('a', file('old')))
    const steps: string[] = []
    storage.around = (step, name) => {
      steps.push(step)
      if (step === 'abort') throw new DOMException('gone', 'InvalidStateError')
      failing('QuotaExceededError', 'write')(step, name)
    }
    await expect(commit(backend, change('a', file('new')))).rejects.toMatchObject({ code: 'NO_SPACE' })
    expect(steps).toContain('abort')
    storage.around = () => undefined
    expect(await textAt(backend, 'a')).toBe('old')
    await backend.close()
  })

  it('truncate records that a kill left incomplete', async () => {
    const storage = browserStorage()
    const backend = await opfs()
    await commit(backend, change('a', file('1')))
    await backend.close()
    const journal = 'wardspace/default/journal-0'
    const whole = storage.bytes(journal) as Uint8Array
    storage.put(journal, new Uint8Array([...whole, 1, 2, 3]))
    const again = await opfs()
    expect(await textAt(again, 'a')).toBe('1')
    expect(storage.bytes(journal)).toEqual(whole)
    await again.close()
  })
})

describe('files layout', () => {
  it('closes once, and refuses later calls', async () => {
    browserStorage()
    const backend = await files()
    await commit(backend, change('a', file('1')))
    await backend.close()
    await backend.close()
    for (const late of [() => backend.stat(at('a')), () => commit(backend, change('a', file('2')))]) {
      await expect(late()).rejects.toMatchObject({
        code: 'BACKEND_ERROR',
        message: 'Cannot continue: the backend is closed',
      })
    }
  })

  it('writes staged files completely, or refuses with NO_SPACE', async () => {
    const storage = browserStorage({ sync: true })
    const backend = await files()
    await commit(backend, change('a', file('old')))
    storage.around = (step, name) => (step === 'writeSync' && name.startsWith('staged') ? 2 : undefined)
    await expect(commit(backend, change('a', file('newer')))).rejects.toMatchObject({ code: 'NO_SPACE' })
    storage.around = () => undefined
    expect(await textAt(backend, 'a')).toBe('old')
    expect(storage.names('wardspace/default/state'), 'no files remain').toEqual([])
    await backend.close()
  })

  it('completes a killed commit whose files are staged, in place already, or to be copied', async () => {
    const storage = browserStorage({ sync: true })
    const steps = encodeSteps([
      { do: 'directory', path: at('d') },
      { do: 'file', path: at('d/a'), staged: 'staged-1' },
      { do: 'file', path: at('d/b'), staged: 'staged-2' },
    ])
    storage.put('wardspace/default/state/staged-1', bytesOf('moved'))
    storage.put('wardspace/default/files/d/b', bytesOf('there'))
    storage.put('wardspace/default/state/journal', steps)
    const backend = await files()
    expect(await textAt(backend, 'd/a')).toBe('moved')
    expect(await textAt(backend, 'd/b')).toBe('there')
    expect(storage.names('wardspace/default/state')).toEqual([])
    await backend.close()
    // A browser without move() recovers the journal of a browser with it.
    const other = browserStorage()
    other.put('wardspace/default/state/staged-1', bytesOf('copied'))
    other.put('wardspace/default/state/journal', steps)
    const copied = await files()
    expect(await textAt(copied, 'd/a')).toBe('copied')
    expect(other.names('wardspace/default/state')).toEqual([])
    await copied.close()
  })

  it('fails to open with an unreadable journal or unknown steps', async () => {
    const storage = browserStorage({ sync: true })
    const steps = encodeSteps([{ do: 'file', path: at('a'), staged: 'staged-1' }])
    storage.put('wardspace/default/state/staged-1', bytesOf('1'))
    storage.put('wardspace/default/state/journal', steps)
    for (const [name, step] of [
      ['UnknownError', 'staged-1'],
      ['UnknownError', 'journal'],
    ] as const) {
      storage.around = failing(name, 'getFileHandle', step)
      await expect(files()).rejects.toMatchObject({
        code: 'BACKEND_ERROR',
        message: 'Cannot open ".": the storage failed (UnknownError)',
      })
    }
    storage.around = () => undefined
    const later = encodeSteps([{ do: 'no such step' as 'directory', path: at('a') }])
    storage.put('wardspace/default/state/journal', later)
    await expect(files()).rejects.toMatchObject({ message: 'Cannot open ".": the storage failed (RangeError)' })
    storage.put('wardspace/default/state/journal', steps)
    const backend = await files()
    expect(await textAt(backend, 'a')).toBe('1')
    await backend.close()
  })

  it('caches a limited number of file handles, and looks up the others again', async () => {
    const storage = browserStorage()
    for (let i = 0; i < 4_100; i++) storage.put(`wardspace/default/files/f${i}`, bytesOf(`${i}`))
    const backend = await files()
    expect(await backend.list(at(''))).toHaveLength(4_100)
    for (const i of [0, 4_095, 4_096, 4_099]) expect(await textAt(backend, `f${i}`)).toBe(`${i}`)
    await backend.close()
  })
})

describe('directoryHandle()', () => {
  const picked = async (parts: BrowserParts = {}) => {
    const storage = browserStorage(parts)
    pickedDirectories()
    const handle = await storage.root.getDirectoryHandle('picked', { create: true })
    return { storage, handle }
  }

  it('refuses other handles and malformed options', async () => {
    const { handle } = await picked()
    const misused = [
      [undefined, {}, 'directoryHandle(): needs a directory handle'],
      [{ kind: 'file' }, {}, 'directoryHandle(): needs a directory handle'],
      [
        handle,
        { lockTimeoutMs: -1 },
        'Option "lockTimeoutMs" of directoryHandle() must be a positive safe integer, not -1',
      ],
      [
        handle,
        { lockTimeoutMs: 0.5 },
        'Option "lockTimeoutMs" of directoryHandle() must be a positive safe integer, not 0.5',
      ],
    ] as const
    for (const [input, options, message] of misused) {
      const opening = directoryHandle(input as FileSystemDirectoryHandle, options)
      await expect(opening).rejects.toThrow(message)
      await expect(opening).rejects.toBeInstanceOf(TypeError)
    }
  })

  it('treats a handle without permission methods as granted, and one without requestPermission as unchanged', async () => {
    const { handle } = await picked()
    expect(await permissionOf(handle)).toBe('granted')
    const asking = { ...handle, queryPermission: async () => 'prompt' } as FileSystemDirectoryHandle
    expect(await askPermission(asking)).toBe('prompt')
    const denied = {
      ...asking,
      kind: 'directory',
      queryPermission: async () => 'denied',
      requestPermission: async () => 'granted',
    }
    expect(
      await askPermission(denied as FileSystemDirectoryHandle),
      'after a refusal, permission is not requested again',
    ).toBe('denied')
    await expect(directoryHandle(denied as FileSystemDirectoryHandle)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot open the folder: the browser does not permit it',
      details: { hint: expect.stringContaining('askPermission()') },
    })
  })

  it('is refused without Web Locks', async () => {
    const { handle } = await picked({ locks: undefined })
    await expect(directoryHandle(handle)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot open the folder: without Web Locks, tabs cannot be kept apart',
    })
  })

  it('detects case sensitivity from existing names', async () => {
    const { storage, handle } = await picked()
    const cases = async () => {
      const backend = await directoryHandle(handle)
      await backend.close()
      return backend.capabilities.caseSensitive
    }
    storage.put('picked/123', bytesOf(''))
    expect(await cases(), 'a name without letters proves nothing').toBe(false)
    storage.put('picked/a', bytesOf(''))
    storage.put('picked/A', bytesOf(''))
    expect(await cases(), 'two existing names').toBe(false)
    storage.put('picked/lower', bytesOf(''))
    expect(await cases(), 'LOWER does not exist').toBe(true)
    storage.around = (step, name) => {
      // Like a case-insensitive file system.
      if (step === 'getFileHandle' && name === 'LOWER') throw new DOMException('other', 'TypeMismatchError')
    }
    expect(await cases(), 'LOWER is there').toBe(false)
  })

  it('opens again after a failure, which it reports as one of the folder', async () => {
    const { storage, handle } = await picked()
    storage.around = failing('NotAllowedError', 'getFileHandle', 'journal')
    await expect(directoryHandle(handle, { lockTimeoutMs: 50 })).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: expect.stringContaining('the browser does not permit it'),
    })
    storage.around = failing('SecurityError', 'getDirectoryHandle', '.folders')
    await expect(directoryHandle(handle, { lockTimeoutMs: 50 })).rejects.toMatchObject({
      message: 'Cannot open the folder: the browser does not permit it',
    })
    storage.around = () => undefined
    const backend = await directoryHandle(handle, { lockTimeoutMs: 50 })
    await commit(backend, change('a', file('1')))
    expect(storage.bytes('picked/a')).toEqual(bytesOf('1'))
    await backend.close()
  })

  it('hides names that are not valid in a path, and refuses those that the storage does not support', async () => {
    const { storage, handle } = await picked()
    storage.put('picked/a:b', bytesOf(''))
    storage.put('picked/ok', bytesOf(''))
    const backend = await directoryHandle(handle, { caseSensitive: true })
    expect((await backend.list(at(''))).map(({ name }) => name)).toEqual(['ok'])
    storage.around = (_, name) => {
      if (name === 'con') throw new TypeError('Name is not allowed.')
    }
    await expect(commit(backend, change('con', file('')))).rejects.toMatchObject({
      code: 'PATH_REJECTED',
      message: 'Path "con" contains a name that this storage does not support',
    })
    await backend.close()
  })

  it('returns stored spellings, and the requested spelling of missing names', async () => {
    const { storage, handle } = await picked()
    storage.put('picked/Docs/File', bytesOf(''))
    const backend = await directoryHandle(handle, { caseSensitive: false })
    for (const [requestedName, spelled] of [
      ['', ''],
      ['Docs/File', 'Docs/File'],
      ['docs/file', 'Docs/File'],
      ['DOCS/New/Er', 'Docs/New/Er'],
    ] as const) {
      expect(await backend.canonical(requestedName as LogicalPath)).toBe(spelled)
    }
    await backend.close()
  })

  it('notices that another program removed a directory', async () => {
    const { storage, handle } = await picked()
    const backend = await directoryHandle(handle, { caseSensitive: true })
    await commit(backend, change('d', directory), change('d/a', file('1')), change('b', file('2')))
    expect(await textAt(backend, 'b')).toBe('2')
    expect(await backend.list(at('d'))).toHaveLength(1)
    storage.remove('picked/b')
    storage.remove('picked/d')
    expect(await backend.stat(at('b'))).toBe(undefined)
    expect(await backend.stat(at('d'))).toBe(undefined)
    await expect(backend.list(at('d'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await backend.close()
  })

  it('refuses a commit during which the folder changes, and keeps what it can', async () => {
    const { storage, handle } = await picked()
    const backend = await directoryHandle(handle, { caseSensitive: true })
    await commit(backend, change('d', directory), change('a', file('old')))
    // The directory disappears between the look-up and the step.
    const vanishing = (before: string) => {
      storage.around = (step, name) => {
        if (step === 'closeWritable' && name === before) storage.remove('picked/d')
      }
    }
    vanishing('journal')
    await expect(commit(backend, change('a', file('new')), change('d/x', file('1')))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    storage.around = () => undefined
    expect(await textAt(backend, 'a')).toBe('old')
    await commit(backend, change('d', directory))
    vanishing('journal')
    await expect(commit(backend, change('a', file('new')), change('d/sub', directory))).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
    })
    storage.around = () => undefined
    expect(await textAt(backend, 'a')).toBe('old')
    await commit(backend, change('d', directory), change('d/f', file('1')))
    // The file to remove is already gone, as requested.
    vanishing('journal')
    await commit(backend, change('d/f', null), change('a', file('new')))
    expect([...(await snapshot(backend)).keys()]).toEqual(['a'])
    await backend.close()
  })
  it('opens again when a directory that the journal needs has returned', async () => {
    const { storage, handle } = await picked()
    await (await directoryHandle(handle)).close()
    const [id] = storage.names('wardspace/.folders')
    storage.put(`wardspace/.folders/${id}/journal`, encodeSteps([{ do: 'directory', path: at('d/sub') }]))
    await expect(directoryHandle(handle)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot open ".": the storage failed (NotFoundError)',
    })
    await handle.getDirectoryHandle('d', { create: true })
    const backend = await directoryHandle(handle, { caseSensitive: true })
    expect([...(await snapshot(backend)).keys()]).toEqual(['d', 'd/sub'])
    await backend.close()
  })
})

describe('storageFailure', () => {
  it.each([
    ['QuotaExceededError', 'NO_SPACE', 'the storage of this site is full'],
    ['NotAllowedError', 'BACKEND_ERROR', 'the browser does not permit it'],
    ['SecurityError', 'BACKEND_ERROR', 'the browser does not permit it'],
    ['NoModificationAllowedError', 'BACKEND_ERROR', 'it is open elsewhere'],
    ['InvalidStateError', 'BACKEND_ERROR', 'it is open elsewhere'],
    ['NotReadableError', 'BACKEND_ERROR', 'it was changed while it was read'],
    ['DataError', 'BACKEND_ERROR', 'the storage failed (DataError)'],
    [undefined, 'BACKEND_ERROR', 'the storage failed'],
  ])('converts %s to %s: %s', (name, code, why) => {
    const error = name === undefined ? 'no error at all' : new DOMException('/home/user/profile', name)
    const reported = storageFailure('Cannot read "a"', error, 'a')
    expect(reported).toMatchObject({ code, message: `Cannot read "a": ${why}`, details: { path: 'a' } })
    expect(storageFailure('Cannot', reported), 'a ToolError stays unchanged').toBe(reported)
  })
})

describe('openChanges', () => {
  it('announces the paths, unless they are too many', async () => {
    const messages: (readonly string[] | undefined)[] = []
    const one = openChanges('x', undefined)
    const other = openChanges('x', ({ paths }) => messages.push(paths))
    const many = Array.from({ length: 1_001 }, (_, i) => change(`f${i}`, null))
    await vi.waitFor(
      () => {
        one.announce([change('b', null), change('a', null)])
        one.announce(many)
        expect(messages).toContainEqual(['a', 'b'])
        expect(messages).toContain(undefined)
      },
      { timeout: 60_000 },
    )
    one.close()
    other.close()
  })
})

describe('a lease between tabs', () => {
  const resourceOf = (value: string) => async () => ({ value, close() {} })

  it('fails if its holder does not answer in time, and if its storage cannot be opened', async () => {
    browserStorage()
    const one = localLease({ name: 'n', timeoutMs: 60_000, open: resourceOf('one') })
    expect(await one.acquire(async () => {})).toBe('one')
    expect(await one.acquire(async () => {}), 'the lease is already held').toBe('one')
    vi.stubGlobal('BroadcastChannel', undefined)
    const deaf = localLease({ name: 'n', timeoutMs: 20, open: resourceOf('deaf') })
    await expect(deaf.acquire(async () => {})).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot open the workspace: another tab holds it and does not answer',
    })
    await one.close()
    const broken = localLease({ name: 'n', timeoutMs: 60_000, open: () => Promise.reject(new Error('broken')) })
    await expect(broken.acquire(async () => {})).rejects.toThrow('broken')
    const next = localLease({ name: 'n', timeoutMs: 60_000, open: resourceOf('next') })
    expect(await next.acquire(async () => {}), 'the lease is free again').toBe('next')
    await next.close()
    await expect(next.acquire(async () => {})).rejects.toMatchObject({
      message: 'Cannot open the workspace: the backend is closed',
    })
  })
})

describe('worker of a packed workspace', () => {
  /** The page's view of a worker, connected to the worker's side. `drop` sees each message, and may suppress it. */
  function startedWorker({ drop = (_: PageMessage): boolean => false, starts = true } = {}) {
    const state = { terminated: 0, fail: () => {}, told: (_: WorkerMessage) => {} }
    const worker = {
      onmessage: null as ((event: { data: WorkerMessage }) => void) | null,
      onerror: null as (() => void) | null,
      postMessage(data: PageMessage) {
        if (!drop(data)) queueMicrotask(() => scope.onmessage?.({ data }))
      },
      terminate: () => (state.terminated += 1),
    }
    const scope = {
      onmessage: null as ((event: { readonly data: PageMessage }) => void) | null,
      postMessage: (data: WorkerMessage) => queueMicrotask(() => worker.onmessage?.({ data })),
    }
    state.fail = () => worker.onerror?.()
    state.told = (data) => worker.onmessage?.({ data })
    return {
      state,
      start: () => {
        if (starts) serveSlots(scope)
        return worker as unknown as Worker
      },
    }
  }

  it('serves a workspace', async () => {
    const storage = browserStorage({ sync: true, locks: undefined })
    const { state, start } = startedWorker()
    // The page has no synchronous handles.
    vi.stubGlobal('FileSystemFileHandle', { prototype: {} })
    vi.stubGlobal('Worker', class {})
    const backend = await opfs({ worker: start })
    expect(await backend.info()).toMatchObject({ access: 'sync', inWorker: true, warnings: [] })
    await commit(backend, change('a', file('2')))
    storage.around = failing('QuotaExceededError', 'flush')
    const flushed = backend.commit([change('b', file('1'))], { durability: 'durable' })
    await expect(flushed).rejects.toMatchObject({ code: 'NO_SPACE' })
    storage.around = () => undefined
    // Unexpected messages change nothing.
    state.told({ event: 'ready' })
    state.told({ event: 'wanted' })
    expect(await textAt(backend, 'a')).toBe('2')
    await backend.close()
    expect(state.terminated).toBe(1)
  })

  it('is not used if it does not start or does not answer in time', async () => {
    const storage = browserStorage()
    vi.stubGlobal('Worker', class {})
    const throwing = () => {
      throw new DOMException('not from here', 'SecurityError')
    }
    const backend = await opfs({ worker: throwing })
    expect(await backend.info()).toMatchObject({ access: 'async', inWorker: false })
    await backend.close()
    const options = { name: 'n', timeoutMs: 1_000, directory: storage.root }
    const failed = startedWorker({ starts: false })
    const failing = remoteLease(failed.start, options)
    failed.state.fail()
    expect(await failing).toBe(undefined)
    expect(failed.state.terminated).toBe(1)
    vi.useFakeTimers()
    const silent = startedWorker({ starts: false })
    const waiting = remoteLease(silent.start, options)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await waiting).toBe(undefined)
    expect(silent.state.terminated).toBe(1)
  })

  it('rejects pending requests if it fails, and is terminated if its start request fails', async () => {
    const storage = browserStorage({ sync: true, locks: undefined })
    const options = { name: 'n', timeoutMs: 1_000, directory: storage.root }
    const first = startedWorker({
      drop() {
        queueMicrotask(() => first.state.fail())
        return true
      },
    })
    await expect(remoteLease(first.start, options)).rejects.toThrow('The worker failed')
    expect(first.state.terminated).toBe(1)
    const second = startedWorker({ drop: (lockName) => lockName.do === 'acquire' })
    const lease = await remoteLease(second.start, options)
    const acquiring = lease?.acquire(async () => {})
    second.state.fail()
    await expect(acquiring).rejects.toThrow('The worker failed')
  })

  it('passes on refusals, and refuses every step after the lease is lost', async () => {
    const storage = browserStorage({ sync: true })
    const options = { name: 'n', timeoutMs: 20, directory: storage.root }
    const one = await remoteLease(startedWorker().start, options)
    let expected = 0
    // The page does not answer the request to give up the lease.
    const slots = await one?.acquire(() => {
      expected += 1
      return new Promise(() => {})
    })
    await slots?.write(0, 0, bytesOf('12345'), true)
    await slots?.truncate(0, 3)
    await slots?.flush(0)
    expect(await slots?.size(0)).toBe(3)
    expect(await slots?.read(0, 1, 9)).toEqual(bytesOf('23'))
    vi.stubGlobal('BroadcastChannel', undefined)
    const deaf = await remoteLease(startedWorker().start, options)
    await expect(deaf?.acquire(async () => {})).rejects.toMatchObject({
      name: 'ToolError',
      code: 'BACKEND_ERROR',
      message: 'Cannot open the workspace: another tab holds it and does not answer',
    })
    vi.unstubAllGlobals()
    browserStorage({ sync: true })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const channel = new BroadcastChannel('wardspace lease n')
    channel.postMessage('want')
    while (expected === 0) await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(10_000)
    channel.close()
    await expect(slots?.size(0)).rejects.toMatchObject({ name: 'LeaseLostError' })
    await one?.close()
  })
})
