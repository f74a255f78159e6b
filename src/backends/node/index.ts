import { resolve, sep } from 'node:path'
import { ToolError } from '../../errors.ts'
import { display, nameOf, type Path, quote, ROOT } from '../../paths/logical-path.ts'
import { isAtOrBelow } from '../../paths/physical.ts'
import type { Backend, Capabilities } from '../../storage/backend.ts'
import { storageError } from '../../storage/storage-error.ts'
import { canonicalOnDisk, readLinkAt } from './canonical.ts'
import { isMissing } from './errno.ts'
import { listDirectory } from './list-directory.ts'
import { readContent } from './read-content.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { openRoot } from './root.ts'
import { scanFiles } from './scan-files.ts'
import { statOf } from './stat.ts'
import { statDirectories } from './stat-directories.ts'
import { physicalOf, statePath } from './state-directory.ts'
import { refuseTempNames } from './temp-names.ts'
import { walkTree } from './walk-tree.ts'
import { openWriter } from './writer.ts'

/** Where the lock and the journal lie, and how long a commit waits. */
export interface NodeOptions {
  /**
   * Where lock, journal and the log of temporary files are kept, outside the root; all processes that share a root must give
   * the same. Default: `$XDG_STATE_HOME/wardspace` or `~/.local/state/wardspace`. Nothing is made there before the first
   * commit.
   */
  readonly stateDir?: string
  /** How long a commit waits for the lock, in milliseconds. Default: 30,000. */
  readonly lockTimeoutMs?: number
  /** Forces the way of checking paths that platforms without `/proc` get. For tests. */
  readonly grounding?: 'recheck'
}

/**
 * A real directory as a backend. Nothing outside of it is reached, also when others swap links in while it works (on Linux;
 * the threat model says what holds on macOS and Windows). Commits are durable, exclude each other between processes, and
 * are finished or taken back after a kill, when the root is opened or the lock taken next.
 *
 * The directory is held open until `close()`: if it is moved or replaced, every call is refused. Temporary files lie beside
 * what they replace, under `.wardspace-<32 hex digits>.tmp`, which no tool can see or name.
 *
 * @throws TypeError if the root is no readable directory, belongs to the operating system, or holds the state directory
 * @example
 * ```ts
 * const backend = nodeBackend('./repo')
 * ```
 */
export function nodeBackend(root: string, options: NodeOptions = {}): Backend {
  const { lockTimeoutMs = 30_000 } = options
  if (!Number.isSafeInteger(lockTimeoutMs) || lockTimeoutMs <= 0) {
    throw new TypeError('node(): lockTimeoutMs must be a positive integer')
  }
  const opened = openRoot(root, options.grounding)
  const { ground } = opened
  const modes = process.platform !== 'win32'
  let writer: ReturnType<typeof openWriter>
  try {
    writer = openWriter(opened, { statePath: statePath(opened, options.stateDir), lockTimeoutMs, modes })
  } catch (error) {
    ground.close()
    throw error
  }
  const capabilities: Capabilities = Object.freeze({
    links: true,
    modes,
    times: 'own',
    caseSensitive: opened.caseSensitive,
    authority: 'shared',
    persistent: true,
    atomic: 'set',
  })
  let isReady = false
  let closing: Promise<void> | undefined

  /** Runs a read: after recovery, again while descriptors are short, with the system's errors translated. */
  async function reading<T>(
    verb: string,
    path: Path,
    action: () => T | Promise<T>,
    how?: { readonly once: boolean },
  ): Promise<T> {
    if (closing !== undefined)
      throw new ToolError('BACKEND_ERROR', `Cannot ${verb} ${quote(display(path))}: the backend is closed`)
    refuseTempNames(path)
    try {
      if (!isReady) {
        await writer.ready()
        isReady = true
      }
      return await (how?.once ? action() : retryOnDescriptorLimit(action))
    } catch (error) {
      throw storageError(verb, path, error)
    }
  }

  return {
    capabilities,

    canonical(path, how) {
      return reading('resolve', path as Path, () => canonicalOnDisk(opened, path, how?.noFollow ?? false))
    },

    stat(path) {
      return reading('look at', path, () => {
        try {
          const look = ground.look(path)
          look.close()
          return statOf(look.stat, modes)
        } catch (error) {
          if (isMissing(error)) return undefined
          throw error
        }
      })
    },

    list(path) {
      return reading('list', path, () => listDirectory(ground, path))
    },

    read(path, range) {
      return reading('read', path, () => readContent(ground, path, range, modes))
    },

    readLink(path) {
      return reading('read link', path, () => {
        const look = ground.look(path)
        look.close()
        if (nameOf(path) === '' || !look.stat.isSymbolicLink()) {
          throw new ToolError('INVALID_INPUT', `Cannot read link ${quote(display(path))}: it is no link`, {
            path: display(path),
          })
        }
        return readLinkAt(ground, path)
      })
    },

    async commit(changes, how) {
      if (!isReady && closing === undefined) {
        await writer.ready()
        isReady = true
      }
      return writer.commit(changes, how)
    },

    async scan(paths, visit) {
      let thrown: { error: unknown } | undefined
      // What a visitor throws is its own business, and no failure of the storage.
      const guarded: typeof visit = (path, bytes, stat) => {
        try {
          return visit(path, bytes, stat)
        } catch (error) {
          thrown = { error }
          return false
        }
      }
      await reading('scan', ROOT, () => scanFiles(ground, paths, guarded, modes), { once: true })
      if (thrown !== undefined) throw thrown.error
    },

    async walk(start, visitor) {
      const thrown = await reading('list', start, () => walkTree(ground, start, visitor), { once: true })
      if (thrown !== undefined) throw thrown.error
    },

    statDirectories(directories, known) {
      return reading('look at', '' as Path, () => statDirectories(ground, directories, known, modes))
    },

    containsPhysicalPath(physicalPath) {
      return isAtOrBelow(physicalOf(resolve(physicalPath)), ground.physical, sep)
    },

    close() {
      closing ??= writer.close().finally(() => ground.close())
      return closing
    },
  }
}
