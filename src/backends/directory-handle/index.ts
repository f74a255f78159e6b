import { ToolError } from '../../errors.ts'
import type { Backend } from '../../storage/backend.ts'
import { type Changed, openChanges } from '../opfs/change-channel.ts'
import { openFiles } from '../opfs/files.ts'
import { Folder } from '../opfs/folder.ts'
import { localLease } from '../opfs/local-lease.ts'
import { storageFailure } from '../opfs/storage-failure.ts'
import { directoryId } from './directory-id.ts'

export type { Changed } from '../opfs/change-channel.ts'

/** How names are compared in the picked folder, and how it is shared with other tabs. */
export interface DirectoryHandleOptions {
  /**
   * Whether names that differ in letter case are two in this folder. Default: found out from the names that are there;
   * where they do not tell, every name is looked up among those of its directory, which is always right, and slower.
   */
  readonly caseSensitive?: boolean
  /** How long to wait for another tab that uses this folder, in milliseconds. Default: 30,000. */
  readonly lockTimeoutMs?: number
  /** Told of what another tab has changed. What other programs change is not told. */
  readonly onChange?: (changed: Changed) => void
}

/**
 * A folder that a person picked (`showDirectoryPicker()`), or any other directory handle, as a backend. Journal and staged
 * files are kept in the origin's private file system: nothing found in the folder is replayed, and nothing but what was
 * committed is written there. Handles can be stored in IndexedDB; after a reload, permission must be given again: see
 * {@link askPermission}.
 *
 * Rejects with a ToolError `BACKEND_ERROR` where permission is missing.
 *
 * @throws TypeError for a malformed option
 */
export async function directoryHandle(
  handle: FileSystemDirectoryHandle,
  options: DirectoryHandleOptions = {},
): Promise<Backend> {
  const { lockTimeoutMs = 30_000 } = options
  if (handle?.kind !== 'directory') throw new TypeError('directoryHandle(): needs a directory handle')
  if (!Number.isSafeInteger(lockTimeoutMs) || lockTimeoutMs <= 0) {
    throw new TypeError('directoryHandle(): lockTimeoutMs must be a positive integer')
  }
  if ((await permissionOf(handle)) !== 'granted') {
    throw new ToolError('BACKEND_ERROR', 'Cannot open the folder: the browser does not permit it', {
      hint: 'The person in charge must give permission for this folder again: askPermission(), from a click.',
    })
  }
  if (globalThis.navigator?.locks === undefined) {
    throw new ToolError('BACKEND_ERROR', 'Cannot open the folder: without Web Locks, tabs cannot be kept apart')
  }
  try {
    const name = `folder ${await directoryId(handle)}`
    const state = await stateFor(name)
    const caseSensitive = options.caseSensitive ?? (await tellsCases(handle))
    const changes = openChanges(name, options.onChange)
    const lease = localLease({ name, timeoutMs: lockTimeoutMs, open: async () => ({ value: state, close() {} }) })
    try {
      const backend = await openFiles(lease, new Folder(handle, { isPrivate: false }), {
        caseSensitive,
        // What is staged lies in another file system.
        canMove: false,
        onCommit: (changed) => changes.announce(changed),
      })
      return {
        ...backend,
        async close() {
          await backend.close()
          changes.close()
        },
      }
    } catch (error) {
      await lease.close()
      changes.close()
      throw error
    }
  } catch (error) {
    throw storageFailure('Cannot open the folder', error)
  }
}

/** The part of a handle that only some browsers have: where it is missing, there is nothing to be asked. */
interface Permitted {
  queryPermission?(how: { readonly mode: 'readwrite' }): Promise<PermissionState>
  requestPermission?(how: { readonly mode: 'readwrite' }): Promise<PermissionState>
}

/** Whether a folder may be read and written: `prompt` where the person must be asked again, as after a reload. */
export async function permissionOf(handle: FileSystemDirectoryHandle): Promise<PermissionState> {
  return (await (handle as Permitted).queryPermission?.({ mode: 'readwrite' })) ?? 'granted'
}

/** Asks the person for the folder again, where that is needed. Browsers take it only from a click or a key. */
export async function askPermission(handle: FileSystemDirectoryHandle): Promise<PermissionState> {
  const present = await permissionOf(handle)
  if (present !== 'prompt') return present
  return (await (handle as Permitted).requestPermission?.({ mode: 'readwrite' })) ?? present
}

async function stateFor(name: string): Promise<FileSystemDirectoryHandle> {
  let directory = await navigator.storage.getDirectory()
  for (const part of ['wardspace', '.folders', name]) {
    directory = await directory.getDirectoryHandle(part, { create: true })
  }
  return directory
}

/** Whether the names that are there prove that letter case counts; without a proof it is taken not to. */
async function tellsCases(handle: FileSystemDirectoryHandle): Promise<boolean> {
  const names = new Set<string>()
  for await (const name of handle.keys()) names.add(name)
  for (const name of names) {
    const other = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
    if (other === name || names.has(other)) continue
    const found = await handle.getFileHandle(other).catch((error: Error) => error)
    return found instanceof Error && found.name === 'NotFoundError'
  }
  return false
}
