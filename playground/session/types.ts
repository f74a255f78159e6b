import type { ReadonlySignal } from '@preact/signals'
import type {
  AuditRecord,
  Backend,
  Checkpoint,
  Failure,
  PolicyInput,
  RunOptions,
  Success,
  Workspace,
  WorkspaceRun,
} from 'wardspace'
import type { Approvals, PendingApproval, Timeline, TimelineEntry } from 'wardspace/ui'
import type { FileChanges } from './change-files-tool.ts'
import type { Recording } from './recordings.ts'
import type { ShellLines } from './terminal-shell.ts'
import type { WebTools } from './web-tools.ts'

/** The part of an open project that a session needs. */
export interface SessionProject {
  readonly info: { readonly id: string; readonly name: string }
  readonly backend: Backend
  /** False while another tab has the project. */
  readonly writable?: boolean
  /** Data kept beside the project's files, never among them. */
  readonly kept: {
    load(name: string): Promise<unknown>
    save(name: string, json: unknown): Promise<void>
  }
}

/** Settings of a workspace. A change reopens the workspace over the same files. */
export interface WorkspaceSettings {
  readonly policy: PolicyInput
  readonly mode: 'act' | 'plan'
  readonly shell: 'bash' | 'webcontainer'
}

/** Settings as they are saved, with what the agent's next run continues with. */
export interface SavedSettings extends WorkspaceSettings {
  readonly time: number
  readonly agent: Pick<RunOptions, 'task' | 'taint' | 'plan'>
}

/** A state of the files that the slider can restore. */
export interface HistoryPoint extends Pick<Checkpoint, 'id' | 'at'> {
  readonly label: string
  /** Whether the person created it. The others are created after each change. */
  readonly named: boolean
}

/** An open project without its display: the workspace and its history. */
export interface Session {
  readonly project: SessionProject
  /** The current workspace. A change of the settings opens another one over the same files. */
  readonly workspace: ReadonlySignal<Workspace>
  readonly settings: ReadonlySignal<WorkspaceSettings>
  /** Applies settings. Rejects with a TypeError if the policy is invalid; then nothing has changed. */
  change(settings: Partial<WorkspaceSettings>): Promise<void>
  /**
   * The agent's run in the current workspace. Each call appears in the timeline, and its approvals are asked of the
   * person.
   */
  readonly agentRun: ReadonlySignal<WorkspaceRun>
  /**
   * Makes a call by the person, who is not asked for approvals and not bound by plan mode. If the policy for the agent
   * refuses it and no agent is working, only the built-in protections of files apply.
   */
  call(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Success | Failure>
  /** Makes a call by the person. If the policy refuses it and no agent is working, the person acts as owner of the files. */
  callAsOwner(tool: string, input: unknown): Promise<Success | Failure>
  /** Changes several files in one step as the owner of the files, unless an agent is working. */
  changeFiles(changes: FileChanges): Promise<Success | Failure>
  /**
   * Saves a file for the person. If the policy refuses and no agent is working, it is saved as the owner of the files,
   * to whom a policy for agents does not apply. `null` requires that the file does not exist.
   */
  save(path: string, content: string, expectedSha256: string | null): Promise<Success | Failure>
  /** Opens a run for a new task, which the report names. It does not inherit what the previous run has read. */
  beginTask(text: string): Promise<void>
  /** Returns the task and the taint of the agent's run. */
  agentState(): SavedSettings['agent']
  /** Opens a run that continues with a task and a taint. */
  resumeRun(agent: SavedSettings['agent']): Promise<void>
  /** Offers the tools to the browser's own agent if the person wants that. */
  readonly webTools: WebTools
  /** What runs commands, with the reason for a fallback; for display. */
  readonly shell: ReadonlySignal<string>
  /** The lines of the person's terminal. */
  readonly lines: ShellLines
  readonly timeline: ReadonlySignal<readonly TimelineEntry[]>
  /** The same, for the element that shows it. */
  readonly callTimeline: Timeline
  readonly approvals: ReadonlySignal<readonly PendingApproval[]>
  /** The same, with the approvals of everything that is like an approved call until the task ends or the policy changes. */
  readonly approvalQueue: Approvals
  readonly audit: ReadonlySignal<readonly AuditRecord[]>
  /** Oldest first. */
  readonly history: ReadonlySignal<readonly HistoryPoint[]>
  /** The point that matches the current files; undefined after a change. */
  readonly position: ReadonlySignal<string | undefined>
  /** The point that is being restored. */
  readonly target: ReadonlySignal<string | undefined>
  /** Creates a named checkpoint of the current files. */
  checkpoint(label: string): Promise<void>
  /** Restores the files of a point, earlier or later. Of several at once, the last is restored. */
  moveTo(point: string): Promise<Success | Failure>
  /** Reverts the calls of one run since a point before it. Refuses with the paths that others have changed since. */
  takeBack(runId: string, point: string): Promise<Success | Failure>
  undo(callId: string): Promise<Success | Failure>
  /** Counts changes of the files, for views that must refresh. */
  readonly revision: ReadonlySignal<number>
  /** The current recording, if any. */
  readonly recording: ReadonlySignal<Recording | undefined>
  /** Starts a recording in a newly opened workspace. */
  startRecording(): Promise<void>
  stopRecording(): Promise<Recording | undefined>
  /** Saves pending changes immediately. */
  flush(): Promise<void>
  /** Saves the state of the session beside the same files elsewhere. */
  copyTo(kept: SessionProject['kept']): Promise<void>
  /** Reason of the last failed save; undefined after a successful one. */
  readonly trouble: ReadonlySignal<string | undefined>
  close(): Promise<void>
}
