import { type Backend, ToolError } from 'wardspace'
import { memoryByteStore } from './byte-store.ts'
import { forgetHandle, keepHandle } from './handles.ts'
import { openSharedProject } from './open-shared-project.ts'
import { openStoredProject } from './open-stored-project.ts'
import { hasPrivateStorage, removePrivate } from './private-storage.ts'
import { acquireProjectLock } from './project-lock.ts'
import { createRegistry } from './registry.ts'
import { removeUnfinished } from './remove-unfinished.ts'
import { type FillSource, fillFrom } from './sources.ts'
import type { ByteStore, Created, OpenProject, ProjectInfo, Projects, Task } from './types.ts'

/** What lives in this tab alone. */
interface InTab {
  info: ProjectInfo
  readonly backend: Backend
  readonly kept: ByteStore
}

/** Answers other tabs while a project is created or removed. */
const ignoreOtherTabs = { letGo: async () => {}, free() {} }

/** The projects of this browser, and those of this tab. */
export function openProjects(): Projects {
  const registry = hasPrivateStorage() ? createRegistry() : undefined
  const inTab = new Map<string, InTab>()
  if (registry !== undefined) void removeUnfinished(registry).catch(() => {})

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

  /** Creates a project in the private storage of the browser or in this tab. */
  async function createStored(info: ProjectInfo, source: FillSource, task: Task): Promise<Created> {
    const { id, storage } = info
    // Locked while it is filled: otherwise another tab would remove it as left behind by a closed tab.
    const lock = storage === 'opfs' ? await acquireProjectLock(id, {}, ignoreOtherTabs) : undefined
    const backend = await openStoredProject(storage, id)
    try {
      const warnings = await fillFrom(backend, source, task)
      if (storage === 'memory') inTab.set(id, { info, backend, kept: memoryByteStore() })
      else {
        await backend.close()
        // Registered last, so that a project that is half filled is never listed.
        await registry?.put(info)
      }
      return { info, warnings }
    } catch (error) {
      await backend.close()
      if (storage === 'opfs') await removePrivate('workspace', id)
      throw error
    } finally {
      await lock?.release()
    }
  }

  return {
    async list() {
      const all = [...[...inTab.values()].map(({ info }) => info), ...((await registry?.list()) ?? [])]
      return all.sort((a, b) => b.openedAt - a.openedAt)
    },

    async create(source, { name, storage: chosen }, task = {}) {
      const storage = source.kind === 'directory' ? 'directory' : chosen
      const id = newId()
      const now = Date.now()
      const sample = source.kind === 'sample' ? { sample: source.id } : {}
      const info: ProjectInfo = { id, name, storage, ...sample, createdAt: now, openedAt: now }
      if (source.kind !== 'directory') return createStored(info, source, task)
      await keepHandle(id, source.handle)
      await registry?.put(info)
      return { info, warnings: [] }
    },

    async open(id, options = {}) {
      const info = { ...(await find(id)), openedAt: Date.now() }
      const opened = inTab.get(id)
      const project = opened === undefined ? await openSharedProject(info, options) : openInTab(opened, info)
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
      const lock = await acquireProjectLock(id, { takeOver: true }, ignoreOtherTabs)
      try {
        await registry?.remove(id)
        await removePrivate('playground', id)
        if (storage === 'opfs') await removePrivate('workspace', id)
        if (storage === 'directory') await forgetHandle(id)
      } finally {
        await lock.release()
      }
    },
  }
}

function openInTab({ backend, kept }: InTab, info: ProjectInfo): OpenProject {
  // The files stay when the project is closed, since they are nowhere else.
  const own: Backend = { ...backend, close: async () => {} }
  return { info, backend: own, kept, writable: true, onElsewhere: () => () => {}, close: async () => {} }
}

function newId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  const random = crypto.getRandomValues(new Uint8Array(15))
  return `p${Array.from(random, (byte) => letters[byte % letters.length]).join('')}`
}
