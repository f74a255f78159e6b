import { afterEach, describe, expect, it } from 'vitest'
import { directoryHandle } from '../../../src/backends/directory-handle/index.ts'
import { opfs } from '../../../src/backends/opfs/index.ts'
import { createWorkspace } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../../src/storage/backend.ts'
import type { FileChange } from '../../../src/workspace/files.ts'
import { until } from '../../until.ts'
import { filesOf, freshName, removeWorkspace, writeBeside } from './subjects.ts'

const hasObserver = 'FileSystemObserver' in globalThis
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const put = (path: string, text: string): Change => ({
  path: path as Path,
  expect: 'any',
  to: { type: 'file', bytes: new TextEncoder().encode(text) },
})

const relaxed = { durability: 'relaxed' } as const

async function openFilesLayout(): Promise<{ readonly backend: Backend; readonly beside: FileSystemDirectoryHandle }> {
  const name = freshName()
  const backend = await opfs({ name, layout: 'files' })
  closers.push(async () => {
    await backend.close()
    await removeWorkspace(name)
  })
  return { backend, beside: await filesOf(name) }
}

async function openPicked() {
  const name = freshName()
  const beside = await (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true })
  const backend = await directoryHandle(beside)
  closers.push(async () => {
    await backend.close()
    await (await navigator.storage.getDirectory()).removeEntry(name, { recursive: true })
  })
  return { backend, beside }
}

describe('watch in the storage of the browser', () => {
  it.each([
    ['opfs({ layout: "files" })', openFilesLayout],
    ['directoryHandle()', openPicked],
  ])('%s reports what other code writes, and not its own commits', async (_name, open) => {
    const { backend, beside } = await open()
    expect(backend.watch !== undefined).toBe(hasObserver)
    if (backend.watch === undefined) return
    await backend.commit([{ path: 'd' as Path, expect: 'any', to: { type: 'directory' } }, put('d/a', '1')], relaxed)
    const seen: string[] = []
    const end = await backend.watch('' as Path, (paths) => seen.push(...(paths ?? ['any'])))
    closers.push(end)
    await backend.commit([put('d/a', 'own'), put('own', '1')], relaxed)
    await backend.commit([{ path: 'own' as Path, expect: 'any', to: null }], relaxed)
    await writeBeside(await beside.getDirectoryHandle('d'), 'b', '2')
    await writeBeside(await beside.getDirectoryHandle('n', { create: true }), 'deep', '3')
    await until('other code', () => seen.includes('d/b') && seen.includes('n/deep'))
    // Chromium writes to a file beside the one that it replaces.
    expect(new Set(seen.filter((path) => !path.endsWith('.crswap')))).toEqual(new Set(['d/b', 'n', 'n/deep']))
    await beside.removeEntry('n', { recursive: true })
    seen.length = 0
    await until('the removal', () => seen.includes('n'))
    end()
    seen.length = 0
    await writeBeside(beside, 'late', '4')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(seen).toEqual([])
  })

  it.skipIf(!hasObserver)('shows a workspace no hidden path, and marks what others changed', async () => {
    const { backend, beside } = await openFilesLayout()
    const rules = [{ name: 'hide', action: 'deny', permissions: ['file:view'], paths: ['private/**'] }] as const
    const workspace = await createWorkspace({ backend, policy: { preset: 'autonomous', rules } })
    const end = new AbortController()
    const changes: FileChange[] = []
    const watching = await workspace.files.watch('.', { signal: end.signal })
    const reading = (async () => {
      for await (const change of watching) changes.push(change)
    })()
    await writeBeside(await beside.getDirectoryHandle('private', { create: true }), 'key', 'k')
    await workspace.files.write('own', '1')
    await writeBeside(beside, 'other', '2')
    await until('the change', () => changes.some(({ paths }) => paths?.includes('other')))
    end.abort()
    await reading
    expect(changes.filter(({ callId }) => callId !== undefined).map(({ paths }) => paths)).toEqual([['own']])
    const others = changes.filter(({ external }) => external === true)
    expect(others.flatMap(({ paths }) => paths).filter((path) => path?.startsWith('private/'))).toEqual([])
  })

  it('opfs() reports the commits of other tabs', async () => {
    const name = freshName()
    const [one, two] = [await opfs({ name }), await opfs({ name })]
    closers.push(async () => {
      await one.close()
      await two.close()
      await removeWorkspace(name)
    })
    const seen: string[] = []
    const watch = () =>
      (one.watch as NonNullable<Backend['watch']>)('d' as Path, (paths) => seen.push(...(paths ?? ['any'])))
    await expect(watch()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await one.commit([{ path: 'd' as Path, expect: 'any', to: { type: 'directory' } }], relaxed)
    closers.push(await watch())
    await one.commit([put('d/own', '1')], relaxed)
    await two.commit([put('beside', '1'), put('d/other', '2')], relaxed)
    await until('the commit of the other tab', () => seen.length > 0)
    expect(seen).toEqual(['d/other'])
  })
})
