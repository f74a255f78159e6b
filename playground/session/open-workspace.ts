import {
  type AuditSink,
  type Backend,
  createWorkspace,
  type Workspace,
  type WorkspaceHistory,
  type WorkspaceOptions,
  type WorkspaceRun,
} from 'wardspace'
import { git } from 'wardspace/git'
import type { Tool } from 'wardspace/tool'
import type { OpenShell } from './shells.ts'
import type { SavedSettings, WorkspaceSettings } from './types.ts'

/** An open workspace and the agent's run in it. */
export interface Opened {
  readonly workspace: Workspace
  /** The agent's run. The person's run is the workspace's own. */
  readonly agent: WorkspaceRun
  readonly mode: WorkspaceSettings['mode']
  /** Description of the shell, for display. */
  readonly shell: Promise<string>
}

export interface OpenParts {
  readonly backend: Backend
  readonly audit: AuditSink
  readonly settings: WorkspaceSettings
  readonly shell: OpenShell
  readonly history: WorkspaceHistory | undefined
  /** Number of the opening. Part of the run ids, so that they are unique. */
  readonly time: number
  /** Refuses all changes. */
  readonly readOnly: boolean
  /** What the agent's run continues with. */
  readonly agent: SavedSettings['agent']
  readonly record?: (line: string) => void
  /** Tools beside the built-in ones. */
  readonly extraTools?: readonly Tool[]
}

/** How the ids of the agent's runs begin. */
export const AGENT_RUNS = 'agent-'

/** How the ids of the person's runs begin. */
export const PERSON_RUNS = 'person-'

/** The git of the page. */
export function openGit(): NonNullable<WorkspaceOptions['git']> {
  return git({ author: { name: 'Playground', email: 'playground@localhost' } })
}

/**
 * Opens the workspace over a project's files, which outlive it.
 *
 * @throws TypeError if the policy is invalid
 */
export async function openWorkspace(parts: OpenParts): Promise<Opened> {
  const { backend, audit, settings, shell, history, time, readOnly, agent, record, extraTools } = parts
  const workspace = await createWorkspace({
    backend: { ...backend, close: async () => {} },
    audit,
    policy: settings.policy,
    mode: settings.mode,
    shell: shell.shell,
    git: openGit(),
    keepCwd: true,
    ...(readOnly ? { readOnly } : {}),
    ...(history === undefined ? {} : { history }),
    ...(record === undefined ? {} : { record }),
    ...(extraTools === undefined ? {} : { extraTools }),
    run: { id: `${PERSON_RUNS}${time}`, actor: 'person' },
  })
  return {
    workspace,
    agent: workspace.run({ id: `${AGENT_RUNS}${time}`, actor: 'agent', ...agent }),
    mode: settings.mode,
    shell: shell.state,
  }
}
