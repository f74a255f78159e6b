import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../../workspace/create-workspace.ts'

/** A root of a client: a directory that it works in. */
export interface ClientRoot {
  /** The URI as the client sent it. It is not trusted. */
  readonly uri: string
  readonly name?: string
}

/** A root that is not served, with the reason. */
export interface RefusedRoot {
  readonly uri: string
  readonly why: string
}

/** The workspace for the roots of a client. */
export interface OpenedRoots {
  readonly workspace: Workspace | DialectWorkspace
  /** Default: the workspace's own. */
  readonly run?: WorkspaceRun | DialectRun
  /** Each is reported to the client as a log message. */
  readonly refused?: readonly RefusedRoot[]
}

/** Opens workspaces over the roots of a client. */
export interface ClientRoots {
  /**
   * Returns the workspace for these roots. `wardspace/mcp-roots` finds their directories. Called when the client has sent its roots,
   * and again when they change, while no call of the client is running; the previous workspace can be closed then. The list is
   * empty if the client supports roots but has none. If it throws, every call is refused with that error.
   */
  open(roots: readonly ClientRoot[]): Promise<OpenedRoots>
  /** Milliseconds that the client has to send its roots. Default: 30,000. */
  readonly timeoutMs?: number
}
