import { resolve, sep } from 'node:path'
import { isAtOrBelow } from '../../paths/physical.ts'
import type { Backend, Capabilities } from '../../storage/backend.ts'
import { checkOptions, isOneOf, isPositive, isText } from '../../util/check-options.ts'
import { diskReads, type ReadGate } from './reads.ts'
import { openRoot } from './root.ts'
import { physicalOf, statePath } from './state-directory.ts'
import type { TreeWatches } from './watch-tree.ts'
import { openWriter } from './writer.ts'

/** Options of {@link nodeBackend}. */
export interface NodeOptions {
  /**
   * Directory for the lock, the journal and the log of temporary files, outside the root. All processes that share a root
   * must use the same one. Default: `$XDG_STATE_HOME/wardspace` or `~/.local/state/wardspace`. It is created by the first
   * commit.
   */
  readonly stateDir?: string
  /** How long a commit waits for the lock, in milliseconds. Default: 30,000. */
  readonly lockTimeoutMs?: number
  /** Forces the path checks of platforms without `/proc`. For tests. */
  readonly grounding?: 'recheck'
}

/** Opens a directory on disk as a backend: {@link nodeBackend}, which can also be watched. */
export function openDisk(root: string, options?: NodeOptions, watches?: TreeWatches): Backend {
  const {
    lockTimeoutMs = 30_000,
    stateDir,
    grounding,
  } = checkOptions<NodeOptions>('nodeBackend()', options, {
    stateDir: isText,
    lockTimeoutMs: isPositive,
    grounding: isOneOf('recheck'),
  })
  const opened = openRoot(root, grounding)
  const { access } = opened
  const modes = process.platform !== 'win32'
  let writer: ReturnType<typeof openWriter>
  try {
    writer = openWriter(opened, {
      statePath: statePath(opened, stateDir),
      lockTimeoutMs,
      modes,
      onCommitted: watches?.note,
    })
  } catch (error) {
    access.close()
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
  const gate: ReadGate = {
    get isClosed() {
      return closing !== undefined
    },
    get isReady() {
      return isReady
    },
    async recover() {
      await writer.ready()
      isReady = true
    },
  }

  const reads = diskReads(opened, modes, gate)

  return {
    capabilities,
    ...reads,
    ...watches?.method(access, reads, writer.inTurn),

    async commit(changes, options) {
      if (!isReady && closing === undefined) await gate.recover()
      return writer.commit(changes, options)
    },

    async stage(path) {
      if (!isReady && closing === undefined) await gate.recover()
      return writer.stage(path)
    },

    containsPhysicalPath(physicalPath) {
      return isAtOrBelow(physicalOf(resolve(physicalPath)), access.physical, sep)
    },

    close() {
      watches?.close()
      closing ??= writer.close().finally(() => access.close())
      return closing
    },
  }
}
