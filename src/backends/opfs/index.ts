import { ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import type { Backend, Change } from '../../storage/backend.ts'
import {
  checkOptions,
  isBoolean,
  isClock,
  isFunction,
  isOneOf,
  isPositive,
  isText,
  type OptionTable,
  refuseIdle,
  refuseSurplus,
} from '../../util/check-options.ts'
import { type Changed, openChanges } from './change-channel.ts'
import { openFiles } from './files.ts'
import { Folder } from './folder.ts'
import { hasSyncHandles, openAsyncSlots, openSyncSlots } from './handle-slots.ts'
import type { Lease } from './lease.ts'
import { localLease } from './local-lease.ts'
import { openPacked } from './packed.ts'
import { remoteLease } from './remote-lease.ts'
import type { Slots } from './slots.ts'
import { storageFailure } from './storage-failure.ts'

export type { Changed } from './change-channel.ts'

/** Options of {@link opfs}: the workspace, its layout and how it is shared. */
export interface OpfsOptions {
  /** Name of the workspace in this origin: letters, digits, `.`, `_` and `-`. Default: `default`. */
  readonly name?: string
  /**
   * `packed`: everything in one journal; the fastest, a commit of many files is one write. Default.
   * `files`: one file each, which other code can read under `wardspace/NAME/files`; without links and permission bits.
   * Faster in a worker than on a page.
   */
  readonly layout?: 'packed' | 'files'
  /**
   * How the journal of `packed` is opened. `sync`: with synchronous handles, in a worker that is started unless this
   * thread is one. `async`: with writable streams, which is much slower. Default: `sync` if it works, otherwise `async`
   * with a warning in `info()`.
   */
  readonly access?: 'sync' | 'async'
  /** Starts the worker, for bundlers that do not detect it. Its module is `wardspace/backends/opfs-worker`. */
  readonly worker?: () => Worker
  /** Asks the browser to keep this storage when space is short. Some browsers ask the user. Default: true. */
  readonly persist?: boolean
  /** Maximum wait for another tab that uses this workspace, in milliseconds. Default: 30,000. */
  readonly lockTimeoutMs?: number
  /** Maximum total size of the files in bytes, for `packed`. Default: 512 MiB. */
  readonly maxBytes?: number
  /** Time of commits that do not specify one, for `packed`, in milliseconds since 1970. Default: the system clock. */
  readonly clock?: () => number
  /** Called with changes made by other tabs. */
  readonly onChange?: (changed: Changed) => void
}

/** Where and how a workspace is stored, and how much space there is. */
export interface OpfsInfo {
  readonly layout: 'packed' | 'files'
  readonly access: 'sync' | 'async'
  /** Whether a separate worker opens the files. */
  readonly inWorker: boolean
  /** Whether the browser keeps the storage when space is short. Undefined when it does not report that. */
  readonly persisted: boolean | undefined
  /** Bytes used by this origin, and bytes that it may use, if the browser reports them. */
  readonly usage: number | undefined
  readonly quota: number | undefined
  /** Requested features that are not available. */
  readonly warnings: readonly string[]
}

/** A backend in the storage of the browser. */
export interface OpfsBackend extends Backend {
  /** Reports how much is stored, and whether the browser may delete it. */
  info(): Promise<OpfsInfo>
}

const optionTable: OptionTable<OpfsOptions> = {
  name: isText,
  layout: isOneOf('packed', 'files'),
  access: isOneOf('sync', 'async'),
  worker: isFunction,
  persist: isBoolean,
  lockTimeoutMs: isPositive,
  maxBytes: isPositive,
  clock: isClock,
  onChange: isFunction,
}

/**
 * Opens a backend in the origin private file system of a browser. Commits persist when the tab is closed. Several tabs and
 * workers can use one workspace at the same time; of several commits that expect the same version, one succeeds.
 *
 * @throws TypeError for a malformed option. Rejects with a ToolError `BACKEND_ERROR` if the browser has no such storage or
 *   does not permit it, or if another tab holds the workspace and does not answer
 * @example
 * const inBrowser = globalThis.navigator?.storage?.getDirectory !== undefined
 * const backend = inBrowser ? await opfs({ name: 'notes' }) : memory()
 */
export async function opfs(requested?: OpfsOptions): Promise<OpfsBackend> {
  refuseSurplus('opfs()', 1, arguments)
  const options = checkOptions<OpfsOptions>('opfs()', requested, optionTable)
  const { name = 'default', lockTimeoutMs = 30_000, maxBytes = 512 * 1024 * 1024 } = options
  if (options.layout === 'files') {
    const problem = 'with layout: "files"; leave it out, or use layout: "packed"'
    refuseIdle('opfs()', options, ['access', 'worker', 'maxBytes', 'clock'], problem)
  }
  if (options.access === 'async')
    refuseIdle('opfs()', options, ['worker'], 'with access: "async"; leave out one of them')
  if (!/^(?!\.+$)[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw new TypeError('opfs(): the name must be 1 to 64 letters, digits, dots, underscores or hyphens')
  }
  const warnings: string[] = []
  const home = await openHome(name)
  const persisted = options.persist === false ? undefined : await requestPersistence()
  const layout = options.layout ?? 'packed'
  const changes = openChanges(name, options.onChange)
  const onCommit = (changed: readonly Change[]) => changes.announce(changed)
  try {
    const { backend, access, inWorker } =
      layout === 'files'
        ? await filesIn(home, { name, timeoutMs: lockTimeoutMs, onCommit })
        : await packedIn(home, { ...options, name, lockTimeoutMs, maxBytes, onCommit }, warnings)
    return {
      ...(layout === 'packed' && changes.watch !== undefined && { watch: watchPresent(backend, changes.watch) }),
      ...backend,
      async close() {
        await backend.close()
        changes.close()
      },
      async info() {
        const { usage, quota } = await navigator.storage.estimate()
        const isPersisted = persisted ?? (await navigator.storage.persisted?.())
        return { layout, access, inWorker, persisted: isPersisted, usage, quota, warnings }
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

/** The options with their defaults. */
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
    const backend = await openFiles(lease, new Folder(files, { isPrivate: true }), {
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
      hint: 'It needs a browser, and a page served over https or from localhost.',
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
async function requestPersistence(): Promise<boolean | undefined> {
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

/** Chooses the fastest access to the storage in this thread, by feature detection. */
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

/** Without Web Locks, only exclusive handles exclude other tabs. */
function requireLocks(): void {
  if (globalThis.navigator?.locks !== undefined) return
  throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: without Web Locks, tabs cannot be kept apart')
}

// In the form that bundlers detect.
function startWorker(): Worker {
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
}

type Watch = NonNullable<Backend['watch']>

/** Returns a watch that rejects for a path without an entry. */
function watchPresent(backend: Pick<Backend, 'stat'>, watch: Watch): Watch {
  return async (path, ...rest) => {
    if ((await backend.stat(path)) !== undefined) return watch(path, ...rest)
    throw new ToolError('NOT_FOUND', `Cannot watch ${quote(path)}: it does not exist`, { path })
  }
}
