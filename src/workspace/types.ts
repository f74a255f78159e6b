import type * as z from 'zod'
import type { AuditCheck, AuditRecord } from '../audit/audit-log.ts'
import type { RunReport } from '../audit/report.ts'
import type { CallOptions, Success } from '../call/state/call.ts'
import type { WorkspaceListener } from '../call/state/events.ts'
import type { Task } from '../call/state/run-state.ts'
import type { Dialect, DialectResult, DialectToolInfo } from '../dialects/runtime/types.ts'
import type { Failure } from '../errors.ts'
import type { Repository } from '../git/provider.ts'
import type { Checkpoint, WorkspaceHistory } from '../history/journal.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { ApprovalAnswer } from '../policy/approval.ts'
import type { Permission } from '../policy/permissions.ts'
import type { WorkPlan } from '../policy/plan.ts'
import type { Verdict } from '../policy/policy.ts'
import type { Taint } from '../policy/taint.ts'
import type { CommandVerdict } from '../shells/analysis/index.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { WorkspaceFiles } from './files.ts'
import type { RunOptions } from './options.ts'
import type { ToolInputs, ToolResult } from './tool-types.ts'

/** One tool as a model or a protocol may be told of it. */
export interface ToolDescription {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: z.ZodObject
  readonly outputSchema: z.ZodObject
  readonly permission: Permission
  readonly mutates: boolean
  readonly idempotent: boolean
}

/** What would happen to a call: the verdict with its rules and accesses, or the refusal that comes before it. */
export type Explanation =
  | {
      readonly ok: true
      readonly verdict: Verdict
      readonly accesses: readonly GuardedAccess[]
      /** Of a command: what its line would start, and what speaks against it. */
      readonly line?: CommandVerdict
    }
  | Failure

/** One agent's session in a workspace. Ledger, rates, approvals and artifacts are its own. */
export interface WorkspaceRun<Extra extends readonly Tool[] = readonly []> {
  readonly id: string
  readonly actor: string
  /** What it works on; an approved plan's paths are its scope. */
  readonly task: Task | undefined
  /** The plan that was approved, in plan mode. */
  readonly plan: WorkPlan | undefined
  /** `plan`: nothing is changed until the run's plan is approved. */
  readonly mode: 'act' | 'plan'
  /** The highest label that has reached the model in this run, and what brought it. */
  readonly taint: Pick<Taint, 'label' | 'origin' | 'origins'>
  /**
   * Calls a tool. Never rejects for anything that a model, a file or a backend can cause.
   *
   * @example
   * const file = await workspace.call('read_file', { path: 'src/app.ts' })
   * if (file.ok) console.log(file.content, file.sha256)
   */
  call<N extends keyof ToolInputs<Extra>>(
    name: N,
    input: ToolInputs<Extra>[N],
    options?: CallOptions,
  ): Promise<ToolResult<N, Extra>>
  /**
   * Calls a tool whose name is known at run time only, for example from a model. The same steps as {@link WorkspaceRun.call};
   * the tool's schema checks the input.
   */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<Success | Failure>
  /** The verdict on a call with its accesses and rules; nothing is executed and nothing counted. */
  explain(name: string, input: unknown): Promise<Explanation>
  /** Guarded files for the embedding program's own use: the same steps as any call. */
  readonly files: WorkspaceFiles
  /** Notes the present state, to come back to. */
  checkpoint(label?: string): Checkpoint
  /** The checkpoints so far, oldest first: a run's own, or all of the workspace. */
  checkpoints(): readonly Checkpoint[]
  /**
   * Takes back everything that was done since a checkpoint, as one call that is judged, audited and can itself be undone. A
   * run takes back its own calls, the workspace those of all runs. What anyone else has changed in between is a
   * `WRITE_CONFLICT` with `paths`, and then nothing is taken back.
   */
  rollback(checkpoint: string, options?: UndoOptions): Promise<Success | Failure>
  /**
   * Takes back one call, by the `callId` of its result; an undo too. Later calls stay, and so a path that any of them, or
   * someone else, has changed since is a `WRITE_CONFLICT` with `paths`. A directory that the call made stays if others have put
   * something into it. The history lives in memory, bounded by the limit `journalBytes`: `LIMIT_EXCEEDED` for what lies
   * too far back.
   *
   * @example
   * const edited = await workspace.call('edit_file', { path: 'a.txt', oldText: 'a', newText: 'b' })
   * if (edited.ok) await workspace.undo(edited.callId)
   */
  undo(callId: string, options?: UndoOptions): Promise<Success | Failure>
  /**
   * What this run did, from the audit: what was read, changed, tried and approved, why, and from which versions.
   *
   * @throws TypeError where no sink keeps its records, as `memorySink` and `jsonlSink` do
   * @example
   * console.log(reportMarkdown(workspace.report()))
   */
  report(): RunReport
  /**
   * Reads the policy or the report as a call that is judged and recorded: for whoever is shown what an agent is shown. The
   * fields are `text`, JSON, and of the report `markdown`.
   */
  consult(subject: 'policy' | 'report', options?: CallOptions): Promise<Success | Failure>
  /** Ends what the run has started in the background. It starts nothing more. */
  close(): Promise<void>
}

/** How something is taken back. */
export interface UndoOptions extends CallOptions {
  /** For the audit. */
  readonly reason?: string
}

/** A workspace: its first run, and what concerns all of them. */
export interface Workspace<Extra extends readonly Tool[] = readonly []> extends WorkspaceRun<Extra> {
  readonly tools: readonly ToolDescription[]
  /** Opens another run, which shares the files and nothing else. */
  run(options?: RunOptions): WorkspaceRun<Extra>
  /**
   * A workspace of its own over the same files, which shows what this one shows now and costs what it changes. It has the
   * same options, writes to the same audit, and starts with a run of its own. What this workspace does later does not
   * show there; what others do to the storage behind both does, as long as the fork has not changed it.
   */
  fork(run?: RunOptions): Promise<Workspace<Extra>>
  /**
   * Applies what was changed here to what lies below: for a fork, and for a workspace over an overlay. All or nothing, under
   * the same guard, policy, approval and audit. What was changed below since is a `WRITE_CONFLICT`.
   */
  commit(options?: UndoOptions): Promise<Success | Failure>
  /**
   * The repository of the workspace, where the option `git` was given: for the embedding program, never for a model. What it
   * writes into the files is judged, recorded and can be undone like any call, as `git_checkout`; `.git` itself it writes
   * by a capability of its own.
   */
  readonly git: Repository | undefined
  /**
   * Answers a call that ended with `APPROVAL_REQUIRED`, by its `approvalId`: carries it out, or refuses it. Another
   * process may do so, if both are given the same `parked`.
   *
   * An approval is for what was seen: a file that changed since is a `WRITE_CONFLICT`, and a call that would do
   * something else now waits for a new approval. Each call can be resumed once: a second time it is `NOT_FOUND`. It runs
   * as the run that made it where that was opened here, else as this workspace's own.
   *
   * @example
   * const result = await workspace.call('delete_file', { path: 'a.txt' })
   * if (!result.ok && result.code === 'APPROVAL_REQUIRED') await workspace.resume(String(result.approvalId), 'allow')
   */
  resume(id: string, answer: ApprovalAnswer, options?: CallOptions): Promise<Success | Failure>
  /**
   * Ends plan mode, and approves the plan of every run that waits. Calls may change files at once; the promise tells that it
   * is recorded.
   *
   * @example
   * await workspace.call('submit_plan', { plan: 'Correct the answer', paths: ['src/**'] })
   * await workspace.approvePlan({ by: 'reviewer' })
   */
  approvePlan(how?: { readonly by?: string }): Promise<void>
  /**
   * The undo history so far, with the checkpoints: data that the next workspace over these files takes as `history`, so that
   * `undo` and `rollback` reach back over a restart.
   *
   * @example
   * const files = memory({ 'a.txt': 'one\n' })
   * const before = await createWorkspace({ backend: files, policy: 'autonomous' })
   * const start = before.checkpoint()
   * await before.call('append_file', { path: 'a.txt', content: 'two\n' })
   * const after = await createWorkspace({ backend: files, policy: 'autonomous', history: before.history() })
   * await after.rollback(start.id)
   */
  history(): WorkspaceHistory
  /** Checks the chain of the audit records, where a sink keeps them. */
  verifyAudit(): AuditCheck
  /**
   * Tells of what calls change, whichever run makes them, and of the end of plan mode; gives the way to be told no more. What
   * others do to the storage is told where {@link Workspace.notifyExternalChange} is.
   *
   * @example
   * const stop = workspace.subscribe((event) => {
   *   if (event.type === 'changed') console.log(event.paths)
   * })
   * stop()
   */
  subscribe(listener: WorkspaceListener): () => void
  /**
   * Passes on to those who listen that others have changed the storage, as the `onChange` of `opfs()` or a watcher tells it:
   * it changes nothing, and calls find out by themselves. Without paths, anything may be another now.
   *
   * @example
   * workspace.notifyExternalChange(['src/app.ts'])
   */
  notifyExternalChange(paths?: readonly string[]): void
  /** The audit records so far, of the first sink that keeps them. */
  auditRecords(): readonly AuditRecord[]
  /** Ends every run and command, writes what records wait, and closes shell, audit and backend. */
  close(): Promise<void>
}

/** A run whose calls have the tool names and shapes of a dialect. */
export interface DialectRun<Extra extends readonly Tool[] = readonly []>
  extends Omit<WorkspaceRun, 'call' | 'callTool'> {
  /** Calls a tool of the dialect, which makes calls of the workspace's own tools. Never rejects, like those. */
  call(name: string, input: unknown, options?: CallOptions): Promise<DialectResult>
  /** The same as {@link DialectRun.call}. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<DialectResult>
  /** The workspace's own tools, for the embedding program. */
  readonly own: Pick<WorkspaceRun<Extra>, 'call' | 'callTool'>
}

/** A workspace whose tools have the names and shapes of a dialect. Everything else works as in any workspace. */
export interface DialectWorkspace<Extra extends readonly Tool[] = readonly []>
  extends DialectRun<Extra>,
    Omit<Workspace, 'call' | 'callTool' | 'tools' | 'run' | 'fork'> {
  /** The tools of the dialect that this workspace can serve. */
  readonly tools: readonly DialectToolInfo[]
  readonly dialect: Dialect
  /** Opens another run, which speaks the dialect, too. */
  run(options?: RunOptions): DialectRun<Extra>
  /** A copy-on-write workspace over the present state, which speaks the dialect, too. */
  fork(run?: RunOptions): Promise<DialectWorkspace<Extra>>
}
