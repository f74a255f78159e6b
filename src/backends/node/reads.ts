import { ToolError } from '../../errors.ts'
import { display, nameOf, type Path, quote, ROOT } from '../../paths/logical-path.ts'
import type { Backend } from '../../storage/backend.ts'
import { storageError } from '../../storage/storage-error.ts'
import { canonicalOnDisk, readLinkAt } from './canonical.ts'
import { isMissing } from './errno.ts'
import { listDirectory } from './list-directory.ts'
import { readContent } from './read-content.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import type { Root } from './root.ts'
import { scanFiles } from './scan-files.ts'
import { statOf } from './stat.ts'
import { statDirectories } from './stat-directories.ts'
import { refuseTempNames } from './temp-names.ts'
import { walkTree } from './walk-tree.ts'

/** The reads of the node backend. */
export type DiskReads = Required<
  Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan' | 'walk' | 'statDirectories'>
>

/** When reads may run. */
export interface ReadGate {
  readonly isClosed: boolean
  /** Whether {@link ReadGate.recover} has succeeded, so that reads need not wait for it. */
  readonly isReady: boolean
  /** Recovers what a killed process left. */
  recover(): Promise<void>
}

/** Creates the reads of a root. They start after recovery and throw only ToolErrors. */
export function diskReads(root: Root, modes: boolean, gate: ReadGate): DiskReads {
  const { access } = root

  async function run<T>(action: string, path: Path, read: () => T | Promise<T>): Promise<T> {
    if (gate.isClosed) {
      throw new ToolError('BACKEND_ERROR', `Cannot ${action} ${quote(display(path))}: the backend is closed`)
    }
    refuseTempNames(path)
    try {
      if (!gate.isReady) await gate.recover()
      return await read()
    } catch (error) {
      throw storageError(action, path, error)
    }
  }

  /** Repeats the read while the process is out of descriptors. */
  const runRetrying = <T>(action: string, path: Path, read: () => T | Promise<T>): Promise<T> =>
    run(action, path, () => retryOnDescriptorLimit(read))

  return {
    canonical: (path, options) =>
      runRetrying('resolve', path as Path, () => canonicalOnDisk(root, path, options?.noFollow ?? false)),
    stat: (path) => runRetrying('look at', path, () => statAt(root, path, modes)),
    list: (path) => runRetrying('list', path, () => listDirectory(access, path)),
    read: (path, range) => runRetrying('read', path, () => readContent(access, path, range, modes)),
    readLink: (path) => runRetrying('read link', path, () => linkAt(root, path)),

    async scan(paths, visit, maxBytes) {
      let failure: { error: unknown } | undefined
      // What a visitor throws is not a failure of the storage.
      const guarded: typeof visit = (path, bytes, stat) => {
        try {
          return visit(path, bytes, stat)
        } catch (error) {
          failure = { error }
          return false
        }
      }
      await run('scan', ROOT, () => scanFiles(access, paths, { visit: guarded, modes, maxBytes }))
      if (failure !== undefined) throw failure.error
    },

    async walk(start, visitor) {
      const failure = await run('list', start, () => walkTree(access, start, visitor))
      if (failure !== undefined) throw failure.error
    },

    statDirectories: (directories, previous) =>
      runRetrying('look at', ROOT, () => statDirectories(access, directories, previous, modes)),
  }
}

function statAt({ access }: Root, path: Path, modes: boolean) {
  try {
    const entry = access.look(path)
    entry.close()
    return statOf(entry.stat, modes)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function linkAt({ access }: Root, path: Path): string {
  const entry = access.look(path)
  entry.close()
  if (nameOf(path) === '' || !entry.stat.isSymbolicLink()) {
    throw new ToolError('INVALID_INPUT', `Cannot read link ${quote(display(path))}: it is not a link`, {
      path: display(path),
    })
  }
  return readLinkAt(access, path)
}
