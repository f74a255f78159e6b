import type { ReadonlySignal } from '@preact/signals'
import type {
  ApprovalAnswer,
  ApprovalRequest,
  AuditRecord,
  Backend,
  Checkpoint,
  Failure,
  PolicyInput,
  Success,
  Workspace,
  WorkspaceRun,
} from 'wardspace'
import type { Recording } from './recordings.ts'
import type { WebTools } from './web-tools.ts'

/** What a session needs of an open project. */
export interface SessionProject {
  readonly info: { readonly id: string; readonly name: string }
  readonly backend: Backend
  /** Data kept beside the project's files, never among them. */
  readonly kept: {
    load(name: string): Promise<unknown>
    save(name: string, json: unknown): Promise<void>
  }
}

/** What decides how a workspace is opened. A change of it opens the workspace again over the same files. */
export interface WorkspaceSettings {
  readonly policy: PolicyInput
  readonly mode: 'act' | 'plan'
  readonly shell: 'bash' | 'webcontainer'
}

/** Who made a call. */
export type Actor = 'agent' | 'person' | 'browser'

/** One call as the timeline shows it. Plain data, so that it can be kept. */
export interface TimelineEntry {
  readonly key: string
  readonly actor: Actor
  readonly tool: string
  readonly input: unknown
  /** The caller's own name for it. */
  readonly step?: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly state: 'running' | 'waiting' | 'done'
  readonly durationMs?: number
  /** What the caller, such as the model, was given: nothing else reached it. */
  readonly result?: Success | Failure
  /** What the audit says happened: the outcome, or the refusal. */
  readonly record?: AuditRecord
}

/** A call that waits for the person's answer. */
export interface PendingApproval {
  readonly request: ApprovalRequest
  /** The timeline entry that waits. */
  readonly entry: string
  readonly since: number
  answer(answer: ApprovalAnswer): void
}

/** A state of the files that the slider can go to. */
export interface HistoryPoint extends Pick<Checkpoint, 'id' | 'at'> {
  readonly label: string
  /** Made by the person, and not after each change. */
  readonly named: boolean
}

/** What was printed in the terminal, in its order. */
export interface ShellLine {
  readonly kind: 'command' | 'output' | 'error' | 'notice'
  readonly text: string
}

/** One open project without any screen: its workspace, and what happened in it. */
export interface Session {
  readonly project: SessionProject
  /** The workspace as it is open now. A change of the settings opens another one over the same files. */
  readonly workspace: ReadonlySignal<Workspace>
  readonly settings: ReadonlySignal<WorkspaceSettings>
  /** Rejects with a TypeError that says what is wrong with the policy; then nothing changed. */
  change(settings: Partial<WorkspaceSettings>): Promise<void>
  /**
   * The agent's run in the present workspace: an ordinary run, of which every call stands in the timeline and asks the
   * person what policy asks.
   */
  readonly agentRun: ReadonlySignal<WorkspaceRun>
  /** Calls by the person: on the timeline, judged, and never asked about. */
  call(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Success | Failure>
  /**
   * The person's own saving: where the policy refuses it and no agent is at work, it is done as the owner of the files,
   * for whom a policy for agents is not meant. `null`: there must be no such file.
   */
  save(path: string, content: string, expectedSha256: string | null): Promise<Success | Failure>
  /** Opens a run for a new task, which the report then names. What the former one has read stays with that one. */
  beginTask(text: string): Promise<void>
  /** The tools, offered to the browser's own agent where the person wants that. */
  readonly webTools: WebTools
  /** What runs commands, and why where it is not what was chosen; for people. */
  readonly shell: ReadonlySignal<string>
  readonly timeline: ReadonlySignal<readonly TimelineEntry[]>
  readonly approvals: ReadonlySignal<readonly PendingApproval[]>
  readonly audit: ReadonlySignal<readonly AuditRecord[]>
  /** Oldest first. */
  readonly history: ReadonlySignal<readonly HistoryPoint[]>
  /** The point whose files are there now; undefined where something changed since. */
  readonly position: ReadonlySignal<string | undefined>
  /** Notes the present state under a name. */
  checkpoint(label: string): Promise<void>
  /** Brings the files to what they were at a point, earlier or later. */
  moveTo(point: string): Promise<Success | Failure>
  undo(callId: string): Promise<Success | Failure>
  /** Counts every change of the files; for what has to look again. */
  readonly revision: ReadonlySignal<number>
  /** What is being recorded; undefined while nothing is. */
  readonly recording: ReadonlySignal<Recording | undefined>
  /** Records everything from here on, in a workspace opened for it. */
  startRecording(): Promise<void>
  stopRecording(): Promise<Recording | undefined>
  /** Saves at once what waits to be saved. */
  flush(): Promise<void>
  /** Why something could not be saved; undefined while all is. */
  readonly trouble: ReadonlySignal<string | undefined>
  close(): Promise<void>
}
