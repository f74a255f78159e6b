import { type Backend, ToolError } from 'wardspace'
import { memoryByteStore } from './byte-store.ts'
import { filesOf } from './files-of.ts'
import { forgetHandle, keepHandle } from './handles.ts'
import { forgetHandover } from './handover.ts'
import { openSharedProject } from './open-shared-project.ts'
import { openStoredProject } from './open-stored-project.ts'
import { hasPrivateStorage, removePrivate } from './private-storage.ts'
import { acquireProjectLock, type ProjectLockEvents } from './project-lock.ts'
import { createRegistry, type Registry } from './registry.ts'
import { forgetProject } from './remembered.ts'
import { removeUnfinished } from './remove-unfinished.ts'
import { type FillSource, fillFrom } from './sources.ts'
import type {
  ByteStore,
  Created,
  OpenProject,
  ProjectInfo,
  ProjectOptions,
  ProjectSource,
  Projects,
  Task,
} from './types.ts'

/** A project that exists in this tab only. */
interface TabProject {
  info: ProjectInfo
  readonly backend: Backend
  readonly kept: ByteStore
}

/** For a lock that is held while a project is created or removed. */
const noEvents: ProjectLockEvents = { onLost: async () => {}, onFree() {} }

/** Opens the projects of this browser and of this tab. */
export function openProjects(): Projects {
  const registry = hasPrivateStorage() ? createRegistry() : undefined
  if (registry !== undefined) void removeUnfinished(registry).catch(() => {})
  return new StoredProjects(registry)
}

class StoredProjects implements Projects {
  readonly #registry: Registry | undefined
  readonly #inTab = new Map<string, TabProject>()

  constructor(registry: Registry | undefined) {
    this.#registry = registry
  }

  async list(): Promise<readonly ProjectInfo[]> {
    const stored = (await this.#registry?.list()) ?? []
    return [...[...this.#inTab.values()].map(({ info }) => info), ...stored].sort((a, b) => b.openedAt - a.openedAt)
  }

  async lost() {
    return (await this.#registry?.lost()) ?? []
  }

  forget(id: string): void {
    forgetProject(id)
  }

  async create(source: ProjectSource, options: ProjectOptions, task: Task = {}): Promise<Created> {
    const storage = source.kind === 'directory' ? 'directory' : options.storage
    const id = newId()
    const now = Date.now()
    const sample = source.kind === 'sample' ? { sample: source.id } : {}
    const info: ProjectInfo = { id, name: options.name, storage, ...sample, createdAt: now, openedAt: now }
    if (source.kind !== 'directory') return this.#fillNew(info, source, task)
    await keepHandle(id, source.handle)
    await this.#registry?.put(info)
    return { info, warnings: [] }
  }

  async open(id: string, options: { readonly takeOver?: boolean } = {}): Promise<OpenProject> {
    const info = { ...(await this.#find(id)), openedAt: Date.now() }
    const inTab = this.#inTab.get(id)
    const project = inTab === undefined ? await openSharedProject(info, options) : openInTab(inTab, info)
    if (project.writable) await this.#update(info)
    return project
  }

  async rename(id: string, name: string): Promise<void> {
    await this.#update({ ...(await this.#find(id)), name })
  }

  async duplicate(id: string, name: string, task: Task = {}): Promise<Created> {
    const info = await this.#find(id)
    // A picked folder is copied into the browser, since the copy needs a place of its own.
    const storage = info.storage === 'directory' ? 'opfs' : info.storage
    const inTab = this.#inTab.get(id)
    const backend = inTab?.backend ?? (await openStoredProject(info.storage, id))
    try {
      return await this.create({ kind: 'files', files: filesOf(backend) }, { name, storage }, task)
    } finally {
      if (inTab === undefined) await backend.close()
    }
  }

  async remove(id: string): Promise<void> {
    const { storage } = await this.#find(id)
    const inTab = this.#inTab.get(id)
    if (inTab !== undefined) {
      this.#inTab.delete(id)
      return inTab.backend.close()
    }
    const lock = await acquireProjectLock(id, { takeOver: true }, noEvents)
    try {
      forgetProject(id)
      await this.#registry?.putUnfinished(id)
      await removePrivate('playground', id)
      forgetHandover(id)
      if (storage === 'opfs') await removePrivate('workspace', id)
      if (storage === 'directory') await forgetHandle(id)
      await this.#registry?.remove(id)
    } finally {
      await lock.release()
    }
  }

  async #find(id: string): Promise<ProjectInfo> {
    const info = this.#inTab.get(id)?.info ?? (await this.#registry?.get(id))
    if (info === undefined) throw new ToolError('NOT_FOUND', `Cannot find the project "${id}"`)
    return info
  }

  async #update(info: ProjectInfo): Promise<void> {
    const inTab = this.#inTab.get(info.id)
    if (inTab === undefined) await this.#registry?.put(info)
    else inTab.info = info
  }

  /** Creates a project in the private storage of the browser or in this tab, and fills it. */
  async #fillNew(info: ProjectInfo, source: FillSource, task: Task): Promise<Created> {
    const { id, storage } = info
    // Locked while it is filled: otherwise another tab would remove it as left behind by a closed tab.
    const lock = storage === 'opfs' ? await acquireProjectLock(id, {}, noEvents) : undefined
    if (storage === 'opfs') await this.#registry?.putUnfinished(id)
    const backend = await openStoredProject(storage, id)
    try {
      const warnings = await fillFrom(backend, source, task)
      if (storage === 'memory') this.#inTab.set(id, { info, backend, kept: memoryByteStore() })
      else {
        await backend.close()
        // A project that is half filled is never listed.
        await this.#registry?.put(info)
      }
      return { info, warnings }
    } catch (error) {
      await backend.close()
      if (storage === 'opfs') {
        await removePrivate('workspace', id)
        await this.#registry?.remove(id)
      }
      throw error
    } finally {
      await lock?.release()
    }
  }
}

function openInTab({ backend, kept }: TabProject, info: ProjectInfo): OpenProject {
  // Closing the project keeps its files, since no other copy exists.
  const unclosed: Backend = { ...backend, close: async () => {} }
  return { info, backend: unclosed, kept, writable: true, onElsewhere: () => () => {}, close: async () => {} }
}

function newId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  const random = crypto.getRandomValues(new Uint8Array(15))
  return `p${Array.from(random, (byte) => letters[byte % letters.length]).join('')}`
}
