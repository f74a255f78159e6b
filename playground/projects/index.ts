import { type Backend, ToolError } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { forgetHandle, handleOf, keepHandle } from './handles.ts'
import { type Holding, hold } from './holding.ts'
import { keptIn, keptInMemory } from './kept.ts'
import { hasPrivateStorage, privateDirectory, removePrivate } from './private-storage.ts'
import { createRegistry } from './registry.ts'
import { fillFrom } from './sources.ts'
import type { Elsewhere, Kept, OpenProject, ProjectInfo, Projects, Storage } from './types.ts'

/** What lives in this tab alone. */
interface InTab {
  info: ProjectInfo
  readonly backend: Backend
  readonly kept: Kept
}

/** The projects of this browser, and those of this tab. */
export function openProjects(): Projects {
  const registry = hasPrivateStorage() ? createRegistry() : undefined
  const inTab = new Map<string, InTab>()

  async function find(id: string): Promise<ProjectInfo> {
    const info = inTab.get(id)?.info ?? (await registry?.get(id))
    if (info === undefined) throw new ToolError('NOT_FOUND', `Cannot find the project "${id}"`)
    return info
  }

  async function note(info: ProjectInfo): Promise<void> {
    const here = inTab.get(info.id)
    if (here === undefined) await registry?.put(info)
    else here.info = info
  }

  return {
    async list() {
      const all = [...[...inTab.values()].map(({ info }) => info), ...((await registry?.list()) ?? [])]
      return all.sort((a, b) => b.openedAt - a.openedAt)
    },

    async create(source, { name, storage: wanted }, task = {}) {
      const storage = source.kind === 'directory' ? 'directory' : wanted
      const id = newId()
      const now = Date.now()
      const sample = source.kind === 'sample' ? { sample: source.id } : {}
      const info: ProjectInfo = { id, name, storage, ...sample, createdAt: now, openedAt: now }
      if (source.kind === 'directory') {
        await keepHandle(id, source.handle)
        await registry?.put(info)
        return { info, warnings: [] }
      }
      const backend = await openStored(storage, id)
      try {
        const warnings = await fillFrom(backend, source, task)
        if (storage === 'memory') inTab.set(id, { info, backend, kept: keptInMemory() })
        else {
          await backend.close()
          // Only now is there such a project: what was half made never was.
          await registry?.put(info)
        }
        return { info, warnings }
      } catch (error) {
        await backend.close()
        if (storage === 'opfs') await removePrivate('workspace', id)
        throw error
      }
    },

    async open(id, options = {}) {
      const info = { ...(await find(id)), openedAt: Date.now() }
      const opened = inTab.get(id)
      const project = opened === undefined ? await openShared(info, options) : openInTab(opened, info)
      if (project.writable) await note(info)
      return project
    },

    async rename(id, name) {
      await note({ ...(await find(id)), name })
    },

    async remove(id) {
      const { storage } = await find(id)
      const here = inTab.get(id)
      inTab.delete(id)
      await here?.backend.close()
      if (here !== undefined) return
      const held = await hold(id, { takeOver: true }, { letGo: async () => {}, free() {} })
      try {
        await registry?.remove(id)
        await removePrivate('playground', id)
        if (storage === 'opfs') await removePrivate('workspace', id)
        if (storage === 'directory') await forgetHandle(id)
      } finally {
        await held.release()
      }
    },
  }
}

function openInTab({ backend, kept }: InTab, info: ProjectInfo): OpenProject {
  // The files stay when the project is closed, since they are nowhere else.
  const own: Backend = { ...backend, close: async () => {} }
  return { info, backend: own, kept, writable: true, onElsewhere: () => () => {}, close: async () => {} }
}

/** A project that other tabs may open, too: one of them writes. */
async function openShared(info: ProjectInfo, options: { readonly takeOver?: boolean }): Promise<OpenProject> {
  const listeners = new Set<(event: Elsewhere) => void>()
  const tell = (event: Elsewhere): void => {
    for (const listener of listeners) listener(event)
  }
  const writing = new Set<Promise<unknown>>()
  let held: Holding | undefined
  const mayWrite = (): boolean => held?.writable === true
  const kept = keptIn(await privateDirectory(info.id, 'kept'), mayWrite)
  held = await hold(info.id, options, {
    async letGo() {
      tell({ kind: 'taken' })
      await Promise.allSettled([kept.settled(), ...writing])
    },
    free: () => tell({ kind: 'free' }),
  })
  const holding = held
  try {
    const stored = await openStored(info.storage, info.id, (paths) => tell({ kind: 'changed', paths }))
    const backend: Backend = {
      ...stored,
      commit(changes, how) {
        if (!mayWrite()) {
          const message = `Cannot change "${changes[0]?.path ?? ''}": another tab has the project`
          return Promise.reject(new ToolError('READ_ONLY', message))
        }
        const committed = stored.commit(changes, how)
        writing.add(committed)
        const done = (): void => void writing.delete(committed)
        committed.then(done, done)
        return committed
      },
    }
    return {
      info,
      backend,
      kept,
      get writable() {
        return mayWrite()
      },
      onElsewhere(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      async close() {
        await kept.settled()
        await stored.close()
        await holding.release()
      },
    }
  } catch (error) {
    await holding.release()
    throw error
  }
}

async function openStored(
  storage: Storage,
  id: string,
  onChange: (paths: readonly string[] | 'many') => void = () => {},
): Promise<Backend> {
  if (storage === 'memory') return memory()
  const told = (changed: { readonly paths: readonly string[] | undefined }): void => onChange(changed.paths ?? 'many')
  if (storage === 'opfs') {
    const { opfs } = await import('wardspace/backends/opfs')
    return opfs({ name: id, onChange: told })
  }
  const { askPermission, directoryHandle } = await import('wardspace/backends/directory-handle')
  const handle = await handleOf(id)
  await askPermission(handle)
  return directoryHandle(handle, { onChange: told })
}

function newId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => letters[byte % letters.length]).join('')
}
