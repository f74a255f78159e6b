import type { ClientRoots } from '../adapters/mcp/index.ts'
import { placeClientRoots } from '../adapters/mcp-roots/index.ts'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../workspace/create-workspace.ts'
import { type Root, realPathOf } from './roots.ts'

/** The workspace and the run of one client. */
export interface ServedWorkspace {
  readonly workspace: Workspace | DialectWorkspace
  readonly run: WorkspaceRun | DialectRun
  /** Closes what belongs to this client only. */
  close(): Promise<void>
}

/** How the roots of a client are served. */
export interface ServedRoots {
  /** Roots of the command line; the client's roots can only narrow them. Default: the client's roots are served as they are. */
  readonly granted: readonly Root[] | undefined
  /** Opens a workspace over these roots. Default: over the roots of the command line. */
  open(roots: readonly Root[] | undefined): Promise<ServedWorkspace>
  /** Called with every error. The client gets fewer details. */
  readonly onError: (error: unknown) => void
}

/** The workspace of one client, which changes with the client's roots. */
export interface RootsOfClient {
  readonly roots: ClientRoots
  /** Closes the current workspace. */
  close(): Promise<void>
}

/**
 * Serves one client over its roots. The previous workspace is closed before the next one opens, because only one at a time
 * may write a file such as the audit. `first` is served until the client has sent its roots.
 */
export function rootsOfClient(first: ServedWorkspace, served: ServedRoots): RootsOfClient {
  let current: ServedWorkspace | undefined = first
  let currentRoots: readonly Root[] | undefined = served.granted

  async function closeCurrent(): Promise<void> {
    const closing = current
    current = undefined
    await closing?.close()
  }

  return {
    roots: {
      async open(client) {
        try {
          const { roots, refused } = await placeClientRoots(client, served.granted)
          const target = roots.length === 0 || sameRoots(roots, served.granted) ? served.granted : roots
          if (current !== undefined && (target === currentRoots || sameRoots(target, currentRoots))) {
            return { ...current, refused }
          }
          await closeCurrent()
          const opened = await served.open(target === served.granted ? undefined : target)
          current = opened
          currentRoots = target
          return { ...opened, refused }
        } catch (error) {
          // The client has dropped the previous roots, so they must not be served any longer.
          await closeCurrent()
          served.onError(error)
          throw error
        }
      },
    },
    close: closeCurrent,
  }
}

function sameRoots(some: readonly Root[] | undefined, others: readonly Root[] | undefined): boolean {
  const keyOf = (roots: readonly Root[]) => roots.map(({ at, directory }) => `${at}\0${realPathOf(directory)}`).sort()
  return some !== undefined && others !== undefined && keyOf(some).join('\n') === keyOf(others).join('\n')
}
