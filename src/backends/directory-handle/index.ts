import { ToolError } from '../../errors.ts'
import type { Backend } from '../../storage/backend.ts'
import {
  checkArgument,
  checkOptions,
  isBoolean,
  isFunction,
  isPositive,
  must,
  refuseSurplus,
} from '../../util/check-options.ts'
import { type Changed, openChanges } from '../opfs/change-channel.ts'
import { openFiles } from '../opfs/files.ts'
import { Folder } from '../opfs/folder.ts'
import { localLease } from '../opfs/local-lease.ts'
import { storageFailure } from '../opfs/storage-failure.ts'
import { directoryId } from './directory-id.ts'

export type { Changed } from '../opfs/change-channel.ts'

/** Options of {@link directoryHandle}. */
export interface DirectoryHandleOptions {
  /**
   * Whether names that differ only in letter case are different in this folder. Default: detected from existing names. If
   * they do not show it, every name is looked up among those of its directory, which is always correct but slower.
   */
  readonly caseSensitive?: boolean
  /** Maximum wait for another tab that uses this folder, in milliseconds. Default: 30,000. */
  readonly lockTimeoutMs?: number
  /** Called with changes made by other tabs, but not with those of other programs. */
  readonly onChange?: (changed: Changed) => void
}

/**
 * Opens a folder that the user picked (`showDirectoryPicker()`), or any other directory handle, as a backend. The journal
 * and staged files are stored in the origin private file system, so nothing in the folder is replayed, and only committed
 * changes are written there. Handles can be stored in IndexedDB; after a reload, the user must give permission again, see
 * {@link askPermission}.
 *
 * @throws TypeError for a malformed option. Rejects with a ToolError `BACKEND_ERROR` if permission is missing
 */
export async function directoryHandle(
  handle: FileSystemDirectoryHandle,
  requested?: DirectoryHandleOptions,
): Promise<Backend> {
  refuseSurplus('directoryHandle()', 2, arguments)
  const options = checkOptions<DirectoryHandleOptions>('directoryHandle()', requested, {
    caseSensitive: isBoolean,
    lockTimeoutMs: isPositive,
    onChange: isFunction,
  })
  const { lockTimeoutMs = 30_000 } = options
  if (handle?.kind !== 'directory') throw new TypeError('directoryHandle(): needs a directory handle')
  if ((await permissionOf(handle)) !== 'granted') {
    throw new ToolError('BACKEND_ERROR', 'Cannot open the folder: the browser does not permit it', {
      hint: 'The user must give permission for this folder again: call askPermission() from a click.',
    })
  }
  if (globalThis.navigator?.locks === undefined) {
    throw new ToolError('BACKEND_ERROR', 'Cannot open the folder: without Web Locks, tabs cannot be kept apart')
  }
  try {
    const name = `folder ${await directoryId(handle)}`
    const state = await stateFor(name)
    const caseSensitive = options.caseSensitive ?? (await detectCaseSensitivity(handle))
    const changes = openChanges(name, options.onChange)
    const lease = localLease({ name, timeoutMs: lockTimeoutMs, open: async () => ({ value: state, close() {} }) })
    try {
      const backend = await openFiles(lease, new Folder(handle, { isPrivate: false }), {
        caseSensitive,
        // Staged files are in another file system.
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

/** Methods that only some browsers have. Without them, no permission is needed. */
interface PermissionMethods {
  queryPermission?(options: { readonly mode: 'readwrite' }): Promise<PermissionState>
  requestPermission?(options: { readonly mode: 'readwrite' }): Promise<PermissionState>
}

const isDirectoryHandle = must('a directory handle', (handle) => Object(handle).kind === 'directory')

/** Returns whether a folder may be read and written; `prompt` if the user must be asked again, as after a reload. */
export async function permissionOf(handle: FileSystemDirectoryHandle): Promise<PermissionState> {
  refuseSurplus('permissionOf()', 1, arguments)
  checkArgument('permissionOf()', 'handle', handle, isDirectoryHandle)
  return (await (handle as PermissionMethods).queryPermission?.({ mode: 'readwrite' })) ?? 'granted'
}

/** Asks the user for permission again if needed. Browsers allow that only in response to a click or a key press. */
export async function askPermission(handle: FileSystemDirectoryHandle): Promise<PermissionState> {
  refuseSurplus('askPermission()', 1, arguments)
  checkArgument('askPermission()', 'handle', handle, isDirectoryHandle)
  const current = await permissionOf(handle)
  if (current !== 'prompt') return current
  return (await (handle as PermissionMethods).requestPermission?.({ mode: 'readwrite' })) ?? current
}

async function stateFor(name: string): Promise<FileSystemDirectoryHandle> {
  let directory = await navigator.storage.getDirectory()
  for (const part of ['wardspace', '.folders', name]) {
    directory = await directory.getDirectoryHandle(part, { create: true })
  }
  return directory
}

/** Whether existing names prove that names are case-sensitive; false without proof. */
async function detectCaseSensitivity(handle: FileSystemDirectoryHandle): Promise<boolean> {
  const names = new Set<string>()
  for await (const name of handle.keys()) names.add(name)
  for (const name of names) {
    const other = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
    if (other === name || names.has(other)) continue
    const result = await handle.getFileHandle(other).catch((error: Error) => error)
    return result instanceof Error && result.name === 'NotFoundError'
  }
  return false
}
