import { ToolError } from '../../errors.ts'
import type { Backend, Change } from '../../storage/backend.ts'
import { type Changed, openChanges } from './change-channel.ts'
import { openFiles } from './files.ts'
import { openFolder } from './folder.ts'
import { hasSyncHandles, openAsyncSlots, openSyncSlots } from './handle-slots.ts'
import type { Lease } from './lease.ts'
import { localLease } from './local-lease.ts'
import { openPacked } from './packed.ts'
import { remoteLease } from './remote-lease.ts'
import type { Slots } from './slots.ts'
import { storageFailure } from './storage-failure.ts'

export type { Changed } from './change-channel.ts'

/** Which workspace of the origin, and how it is laid out and shared. */
export interface OpfsOptions {
  /** Which workspace of this origin: letters, digits, `.`, `_` and `-`. Default: `default`. */
  readonly name?: string
  /**
   * `packed`: everything in one journal, the fastest, and a commit of many files is one write. Default.
   * `files`: each file a file, which other code can read under `wardspace/NAME/files`; no links and no permission bits.
   * Faster in a worker than on a page.
   */
  readonly layout?: 'packed' | 'files'
  /**
   * How the journal of `packed` is opened. `sync`: by synchronous handles, in a worker that is started for it unless this already is one.
   * `async`: by writable streams, slower by far. Default: `sync` where that works, else `async`, and `info()` says so.
   */
  readonly access?: 'sync' | 'async'
  /** Starts the worker, for a bundler that does not find it by itself: its module is `wardspace/backends/opfs-worker`. */
  readonly worker?: () => Worker
  /** Asks the browser to keep this storage when space is short. Some ask the user. Default: true. */
  readonly persist?: boolean
  /** How long to wait for another tab that uses this workspace, in milliseconds. Default: 30,000. */
  readonly lockTimeoutMs?: number
  /** How many bytes the files may have together: with `packed`, they are held in memory, too. Default: 512 MiB. */
  readonly maxBytes?: number
  /** The time of commits that tell none, in milliseconds since 1970. Default: the system's. */
  readonly clock?: () => number
  /** Told of what another tab has changed. */
  readonly onChange?: (changed: Changed) => void
}

/** Where and how a workspace is stored, and how much room there is. */
export interface OpfsInfo {
  readonly layout: 'packed' | 'files'
  readonly access: 'sync' | 'async'
  /** Whether the files are opened by a worker of their own. */
  readonly inWorker: boolean
  /** Whether the browser keeps the storage when space is short; undefined where it does not tell. */
  readonly persisted: boolean | undefined
  /** Bytes used by this origin, and bytes that it may use, as far as the browser tells. */
  readonly usage: number | undefined
  readonly quota: number | undefined
  /** What is not as it was asked for. */
  readonly warnings: readonly string[]
}

/** A backend in the browser's storage, which tells how it stands there. */
export interface OpfsBackend extends Backend {
  /** How much is stored, and whether the browser may drop it. */
  info(): Promise<OpfsInfo>
}

/**
 * The origin private file system of a browser as a backend: what is committed outlives the tab. Several tabs and workers
 * can use one workspace at the same time; of several that expect the same version, one wins.
 *
 * @throws TypeError for a malformed option. Rejects with a ToolError `BACKEND_ERROR` where the browser has no such storage,
 *   does not permit it, or where another tab holds the workspace and does not answer
 * @example
 * ```ts
 * const inBrowser = globalThis.navigator?.storage?.getDirectory !== undefined
 * const backend = inBrowser ? await opfs({ name: 'notes' }) : memory()
 * ```
 */
export async function opfs(options: OpfsOptions = {}): Promise<OpfsBackend> {
  const { name = 'default', lockTimeoutMs = 30_000, maxBytes = 512 * 1024 * 1024 } = options
  if (!/^(?!\.+$)[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw new TypeError('opfs(): the name must be 1 to 64 letters, digits, dots, underscores or hyphens')
  }
  for (const [key, value] of Object.entries({ lockTimeoutMs, maxBytes })) {
    if (!Number.isSafeInteger(value) || value <= 0) throw new TypeError(`opfs(): ${key} must be a positive integer`)
  }
  const warnings: string[] = []
  const home = await openHome(name)
  const persisted = options.persist === false ? undefined : await askToPersist()
  const layout = options.layout ?? 'packed'
  const changes = openChanges(name, options.onChange)
  const onCommit = (changed: readonly Change[]) => changes.tell(changed)
  try {
    const { backend, access, inWorker } =
      layout === 'files'
        ? await filesIn(home, { name, timeoutMs: lockTimeoutMs, onCommit })
        : await packedIn(home, { ...options, name, lockTimeoutMs, maxBytes, onCommit }, warnings)
    return {
      ...backend,
      async close() {
        await backend.close()
        changes.close()
      },
      async info() {
        const { usage, quota } = await navigator.storage.estimate()
        const kept = persisted ?? (await navigator.storage.persisted?.())
        return { layout, access, inWorker, persisted: kept, usage, quota, warnings }
      },
    }
  } catch (error) {
    changes.close()
    throw error
  }
}

interface Opened {
  readonly backend: Backend
  readonly access: 'sync' | 'async'
  readonly inWorker: boolean
}

/** What is common to both layouts, filled in. */
type Settings = OpfsOptions & {
  readonly name: string
  readonly lockTimeoutMs: number
  readonly maxBytes: number
  readonly onCommit: (changes: readonly Change[]) => void
}

async function packedIn(home: FileSystemDirectoryHandle, settings: Settings, warnings: string[]): Promise<Opened> {
  const { lease, access, inWorker } = await leaseFor(home, settings, warnings)
  const { maxBytes, onCommit, clock = Date.now } = settings
  try {
    return { backend: await openPacked(lease, { clock, random, maxBytes, onCommit }), access, inWorker }
  } catch (error) {
    await lease.close()
    throw error
  }
}

function random(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] as number
}

async function filesIn(
  home: FileSystemDirectoryHandle,
  {
    name,
    timeoutMs,
    onCommit,
  }: { readonly name: string; readonly timeoutMs: number; readonly onCommit: Settings['onCommit'] },
): Promise<Opened> {
  requireLocks()
  const files = await home.getDirectoryHandle('files', { create: true })
  const state = await home.getDirectoryHandle('state', { create: true })
  const lease = localLease({ name: `files ${name}`, timeoutMs, open: async () => ({ value: state, close() {} }) })
  try {
    const backend = await openFiles(lease, openFolder(files, { isPrivate: true }), {
      caseSensitive: true,
      canMove: true,
      onCommit,
    })
    return { backend, access: hasSyncHandles() ? 'sync' : 'async', inWorker: false }
  } catch (error) {
    await lease.close()
    throw error
  }
}

async function openHome(name: string): Promise<FileSystemDirectoryHandle> {
  if (typeof globalThis.navigator?.storage?.getDirectory !== 'function') {
    throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: there is no origin private file system here', {
      hint: 'It needs a browser, and a page that came over https or from localhost.',
    })
  }
  try {
    const root = await navigator.storage.getDirectory()
    const all = await root.getDirectoryHandle('wardspace', { create: true })
    return await all.getDirectoryHandle(name, { create: true })
  } catch (error) {
    throw storageFailure('Cannot open the workspace', error)
  }
}

/** The browser's answer; undefined where it cannot be asked, as in a worker. */
async function askToPersist(): Promise<boolean | undefined> {
  try {
    return await navigator.storage.persist?.()
  } catch {
    return undefined
  }
}

interface Access {
  readonly lease: Lease
  readonly access: 'sync' | 'async'
  readonly inWorker: boolean
}

/** The fastest way to the storage that this thread has. By what is there, never by the name of a browser. */
async function leaseFor(directory: FileSystemDirectoryHandle, options: Settings, warnings: string[]): Promise<Access> {
  const { access, name, lockTimeoutMs: timeoutMs } = options
  const local = (open: typeof openSyncSlots) =>
    localLease<Slots>({
      name,
      timeoutMs,
      async open() {
        const { slots, close } = await open(directory)
        return { value: slots, close }
      },
    })
  if (access !== 'async') {
    if (hasSyncHandles()) return { lease: local(openSyncSlots), access: 'sync', inWorker: false }
    if (typeof Worker !== 'undefined') {
      const lease = await remoteLease(options.worker ?? startWorker, { name, timeoutMs, directory })
      if (lease !== undefined) return { lease, access: 'sync', inWorker: true }
    }
    warnings.push('No worker could be started: every commit copies the whole journal')
    if (access === 'sync') {
      throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: no worker could be started', {
        hint: 'Give opfs() a worker made from wardspace/backends/opfs-worker, or leave `access` out.',
      })
    }
  }
  requireLocks()
  return { lease: local(openAsyncSlots), access: 'async', inWorker: false }
}

/** Only exclusive handles keep tabs apart without Web Locks. */
function requireLocks(): void {
  if (globalThis.navigator?.locks !== undefined) return
  throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: without Web Locks, tabs cannot be kept apart')
}

// Written so that bundlers find the worker and put it beside what they make.
function startWorker(): Worker {
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
}
