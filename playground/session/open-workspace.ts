import {
  type AuditSink,
  type Backend,
  createWorkspace,
  type RunOptions,
  type Workspace,
  type WorkspaceHistory,
  type WorkspaceRun,
} from 'wardspace'
import { git } from 'wardspace/git'
import type { OpenShell } from './shells.ts'
import type { WorkspaceSettings } from './types.ts'

/** A workspace as it is open now, and the agent's run in it. */
export interface Opened {
  readonly workspace: Workspace
  /** The person's own run is the workspace's first. */
  readonly agent: WorkspaceRun
  /** What runs its commands; for people. */
  readonly shell: Promise<string>
}

export interface OpenParts {
  readonly backend: Backend
  readonly audit: AuditSink
  readonly settings: WorkspaceSettings
  readonly shell: OpenShell
  readonly history: WorkspaceHistory | undefined
  /** Which time the project is opened: runs of different times have different names. */
  readonly time: number
  /** Nothing may be changed here. */
  readonly readOnly: boolean
  /** What the agent's run goes on with. */
  readonly agent: Pick<RunOptions, 'task' | 'taint'>
  readonly record?: (line: string) => void
}

/**
 * Opens the workspace over a project's files, which outlive it.
 *
 * @throws TypeError that says what is wrong with the policy
 */
export async function openWorkspace(parts: OpenParts): Promise<Opened> {
  const { backend, audit, settings, shell, history, time, readOnly, agent, record } = parts
  const workspace = await createWorkspace({
    backend: { ...backend, close: async () => {} },
    audit,
    policy: settings.policy,
    mode: settings.mode,
    shell: shell.shell,
    git: git({ author: { name: 'Playground', email: 'playground@localhost' } }),
    keepCwd: true,
    ...(readOnly ? { readOnly } : {}),
    ...(history === undefined ? {} : { history }),
    ...(record === undefined ? {} : { record }),
    run: { id: `person-${time}`, actor: 'person' },
  })
  return { workspace, agent: workspace.run({ id: `agent-${time}`, actor: 'agent', ...agent }), shell: shell.state }
}
