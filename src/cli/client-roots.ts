import type { ClientRoots } from '../adapters/mcp/index.ts'
import { placeClientRoots } from '../adapters/mcp-roots/index.ts'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../workspace/create-workspace.ts'
import { type Root, realPathOf } from './roots.ts'

/** What one client works in. */
export interface ServedWorkspace {
  readonly workspace: Workspace | DialectWorkspace
  readonly run: WorkspaceRun | DialectRun
  /** Ends what is the client's own of it. */
  close(): Promise<void>
}

/** What a client's roots are served from. */
export interface ServedRoots {
  /** What the command line grants; the client's roots can only narrow it. Left out, the client's word is the grant. */
  readonly granted: readonly Root[] | undefined
  /** Opens a workspace over other roots; without any, over those that it has without a client. */
  open(roots: readonly Root[] | undefined): Promise<ServedWorkspace>
  /** Is told what went wrong; the client is told less. */
  readonly onError: (error: unknown) => void
}

/** One client's workspace, as its roots come and go. */
export interface RootsOfClient {
  readonly roots: ClientRoots
  /** Closes what was opened last. */
  close(): Promise<void>
}

/**
 * Serves one client over its roots. The workspace before is closed first, so that there is one at a time over a file such as
 * the audit; `first` is what was served until the client told its roots.
 */
export function rootsOfClient(first: ServedWorkspace, served: ServedRoots): RootsOfClient {
  let current: ServedWorkspace | undefined = first
  let isOver: readonly Root[] | undefined = served.granted

  async function leave(): Promise<void> {
    const before = current
    current = undefined
    await before?.close()
  }

  return {
    roots: {
      async open(client) {
        try {
          const { roots, refused } = await placeClientRoots(client, served.granted)
          const wanted = roots.length === 0 || sameRoots(roots, served.granted) ? served.granted : roots
          if (current !== undefined && (wanted === isOver || sameRoots(wanted, isOver))) {
            return { ...current, refused }
          }
          await leave()
          const opened = await served.open(wanted === served.granted ? undefined : wanted)
          current = opened
          isOver = wanted
          return { ...opened, refused }
        } catch (error) {
          // What was served until now must not go on: the client no longer wants it.
          await leave()
          served.onError(error)
          throw error
        }
      },
    },
    close: leave,
  }
}

function sameRoots(some: readonly Root[] | undefined, others: readonly Root[] | undefined): boolean {
  const spelled = (roots: readonly Root[]) => roots.map(({ at, directory }) => `${at}\0${realPathOf(directory)}`).sort()
  return some !== undefined && others !== undefined && spelled(some).join('\n') === spelled(others).join('\n')
}
