import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { type Failure, ToolError, toFailure } from '../../errors.ts'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../../workspace/create-workspace.ts'
import { ignoreClosed, type ServedOrReason, type ServedState } from './served-workspace.ts'

/** A directory that a client names as one of those it works in. */
export interface ClientRoot {
  /** As the client wrote it: what it names must be judged. */
  readonly uri: string
  readonly name?: string
}

/** A root that is not served, and why. */
export interface RefusedRoot {
  readonly uri: string
  readonly why: string
}

/** What is served for a client's roots. */
export interface RootsOpened {
  readonly workspace: Workspace | DialectWorkspace
  /** Default: the workspace's own. */
  readonly run?: WorkspaceRun | DialectRun
  /** The client is told of each, in a message of its log. */
  readonly refused?: readonly RefusedRoot[]
}

/** Opens workspaces over the roots of a client. */
export interface ClientRoots {
  /**
   * Gives what to serve for these roots: `wardspace/mcp-roots` finds their directories. Called when the client has told its
   * roots, and again when they change, while no call of the client is under way; what it gave before may be closed then. A
   * client that has roots and names none gives an empty list. What it throws is told as the refusal of every call.
   */
  open(roots: readonly ClientRoot[]): Promise<RootsOpened>
  /** Milliseconds that the client may take to tell them. Default: 30 seconds. */
  readonly timeoutMs?: number
}

/** Keeps to the roots of one client. */
export interface RootsDesk {
  /** Asks the client for its roots, where it has any, and serves them. */
  ask(): void
}

/** Asks the client of `server` for its roots, and has `serving` serve them. */
export function createRootsDesk(
  server: Server,
  serving: ServedState,
  { open, timeoutMs = 30_000 }: ClientRoots,
): RootsDesk {
  // However often it changes its mind: those who have not been asked yet tell the latest.
  let isAsking = false

  async function opened(): Promise<ServedOrReason> {
    isAsking = false
    try {
      const { workspace, run = workspace, refused = [] } = await open(await rootsOf(server, timeoutMs))
      for (const { uri, why } of refused) warn(`The root ${JSON.stringify(uri)} is not served: ${why}`)
      return { workspace, run }
    } catch (error) {
      const failure = error instanceof ToolError ? toFailure(error) : notOpened
      warn(failure.message)
      return { failure }
    }
  }

  function warn(data: string): void {
    ignoreClosed(server.sendLoggingMessage({ level: 'warning', logger: 'roots', data }))
  }

  return {
    ask() {
      if (isAsking || server.getClientCapabilities()?.roots === undefined) return
      isAsking = true
      void serving.replace(opened)
    },
  }
}

/** One root that is none shall not hide the others, as it would by the protocol's own schema. */
const rootsTold = z.object({ roots: z.array(z.object({ uri: z.string(), name: z.string().optional() })) })

/** A client that says it has roots, and knows nothing of them when it is asked, has named none. */
async function rootsOf(server: Server, timeout: number): Promise<readonly ClientRoot[]> {
  try {
    const { roots } = await server.request({ method: 'roots/list' }, rootsTold, { timeout })
    return roots.map(({ uri, name }) => ({ uri, ...(name === undefined ? {} : { name }) }))
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === ErrorCode.MethodNotFound) return []
    throw new ToolError('BACKEND_ERROR', 'The client did not tell its roots', { hint: HINT })
  }
}

const HINT = 'Nothing can be reached until the client sends other roots. Report this to the user.'

const notOpened: Failure = {
  ok: false,
  code: 'BACKEND_ERROR',
  message: "The client's roots could not be opened",
  hint: HINT,
}
