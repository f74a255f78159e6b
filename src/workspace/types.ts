import type { AuditCheck, AuditRecord } from '../audit/audit-log.ts'
import type { RunReport } from '../audit/report.ts'
import type { CallOptions, ResultOf, Success } from '../call/state/call.ts'
import type { WorkspaceListener } from '../call/state/events.ts'
import type { Task } from '../call/state/run-state.ts'
import type { Dialect, DialectResult, DialectToolInfo } from '../dialects/runtime/types.ts'
import type { Failure } from '../errors.ts'
import type { Repository } from '../git/provider.ts'
import type { Checkpoint, WorkspaceHistory } from '../history/journal.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { ApprovalAnswer } from '../policy/approval.ts'
import type { Verdict } from '../policy/evaluation.ts'
import type { Permission } from '../policy/permissions.ts'
import type { WorkPlan } from '../policy/plan.ts'
import type { Taint } from '../policy/taint.ts'
import type { CommandVerdict } from '../shells/analysis/index.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { BuiltinTool } from '../tools/index.ts'
import type { ObjectSchema } from '../util/object-schema.ts'
import type { WorkspaceFiles } from './files.ts'
import type { RunOptions } from './options.ts'
import type { ToolInputs, ToolResult } from './tool-types.ts'

/** A tool as it is described to a model or over a protocol. */
export interface ToolDescription {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  readonly permission: Permission
  readonly mutates: boolean
  readonly idempotent: boolean
}

/** What would happen to a call: the verdict with its rules and the accesses of its plan, or a refusal that no rule decides. */
export type Explanation =
  | {
      readonly ok: true
      readonly verdict: Verdict
      /** In a denied call a write has `file:write`, as in its refusal: `create` or `replace` would show whether a hidden file exists. */
      readonly accesses: readonly (Omit<GuardedAccess, 'permission'> & {
        /** What the call would do there. */
        readonly permission: Permission | 'file:write'
      })[]
      /** Of a command: the commands that its line would run, and the reasons against them. */
      readonly line?: CommandVerdict
    }
  | Failure

/** One agent's session in a workspace, with its own read history, rates, approvals and artifacts. */
export interface WorkspaceRun<Extra extends readonly Tool[] = readonly [], Builtin extends Tool = BuiltinTool> {
  readonly id: string
  readonly actor: string
  /** The task of the run. The paths of an approved plan become its scope. */
  readonly task: Task | undefined
  /** The approved plan, in plan mode. */
  readonly plan: WorkPlan | undefined
  /** `plan`: the run cannot change files until its plan is approved. */
  readonly mode: 'act' | 'plan'
  /** The highest label of content that this run has read, and its origin. */
  readonly taint: Pick<Taint, 'label' | 'origin' | 'origins'>
  /**
   * Calls a tool. Input and result are typed by the name of the tool. Never rejects for anything that a model, a file or a
   * backend can cause.
   *
   * @example
   * const file = await workspace.call('read_file', { path: 'src/app.ts' })
   * if (file.ok) console.log(file.content, file.sha256)
   */
  call<N extends keyof ToolInputs<Extra, Builtin>>(
    name: N,
    input: ToolInputs<Extra, Builtin>[N],
    options?: CallOptions,
  ): Promise<ToolResult<N, Extra, Builtin>>
  /**
   * Calls a tool whose name is known at run time only, for example from a model. The same steps as {@link WorkspaceRun.call};
   * the tool's schema checks the input.
   */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<Success | Failure>
  /**
   * Returns the verdict on a call with its accesses and rules. Nothing is executed, counted or recorded. The input is typed by
   * the name of the tool.
   *
   * The call of a built-in tool is prepared on the present files, so the verdict covers every path that it would change. If it
   * would fail before policy evaluates that, the verdict is that on the paths of the input. The verdict on a command or an own
   * tool is that before it starts. Hooks and limits of rates do not take part. It is for the embedding program: it names the paths
   * that links lead to, hidden ones included, and is not for a model.
   *
   * @example
   * const explained = await workspace.explain('write_file', { path: 'docs/a.md', content: '' })
   * if (explained.ok) console.log(explained.verdict.decision)
   */
  explain<N extends keyof ToolInputs<Extra, Builtin>>(
    name: N,
    input: ToolInputs<Extra, Builtin>[N],
  ): Promise<Explanation>
  /** The same as {@link WorkspaceRun.explain}, for a tool whose name is known at run time only. */
  explainTool(name: string, input: unknown): Promise<Explanation>
  /** Guarded files for the embedding program. Each method takes the same steps as any call. */
  readonly files: WorkspaceFiles
  /** Marks the present state for `rollback`. */
  checkpoint(label?: string): Checkpoint
  /** The checkpoints, oldest first: of a run its own, of the workspace all. */
  checkpoints(): readonly Checkpoint[]
  /**
   * Reverts everything since a checkpoint, as one call that is evaluated, audited and can itself be undone. A run reverts
   * its own calls, the workspace those of all runs. Returns a `WRITE_CONFLICT` with `paths`, and reverts nothing, if others
   * changed the files since.
   */
  rollback(checkpoint: string, options?: UndoOptions): Promise<ResultOf<Reverted>>
  /**
   * Reverts one call, by the `callId` of its result. An undo can be reverted too. Later calls stay, so a path that changed
   * since fails with `WRITE_CONFLICT` and `paths`. A directory that the call created stays if it is not empty. The history is kept in memory,
   * bounded by the limit `journalBytes`: an older call fails with `LIMIT_EXCEEDED`.
   *
   * @example
   * const edited = await workspace.call('edit_file', { path: 'a.txt', oldText: 'a', newText: 'b' })
   * if (edited.ok) await workspace.undo(edited.callId)
   */
  undo(callId: string, options?: UndoOptions): Promise<ResultOf<Reverted>>
  /**
   * Returns the report of this run, from the audit: what was read, changed, tried and approved, why, and from which
   * versions.
   *
   * @throws TypeError if no sink keeps its records, as `memorySink` and `jsonlSink` do
   * @example
   * console.log(reportMarkdown(await workspace.report()))
   */
  report(): Promise<RunReport>
  /**
   * Reads the policy or the report as a call that is evaluated and recorded, for clients that see only what an agent may
   * see. The result has the field `text`, JSON, and for the report `markdown`.
   */
  consult(
    subject: 'policy' | 'report',
    options?: Omit<CallOptions, 'media' | 'onProgress'>,
  ): Promise<ResultOf<Consulted>>
  /** Ends the background commands of the run. It can start no others. */
  close(): Promise<void>
}

/** The result fields of {@link WorkspaceRun.consult}. */
export type Consulted = { readonly text: string; readonly markdown?: string }

/** The result fields of an undo or a rollback. */
export type Reverted = {
  /** The restored paths. */
  readonly paths: readonly string[]
  /** Directories that stay, because they contain other files. */
  readonly kept: readonly string[]
}

/** The options of an operation. It returns no media and reports no progress, as calls of tools do. */
export type OperationOptions = Omit<CallOptions, 'media' | 'onProgress'>

/** Options of an undo, a rollback or a commit. */
export interface UndoOptions extends OperationOptions {
  /** Recorded in the audit. */
  readonly reason?: string
}

/** Options of a rollback of a workspace. */
export type RollbackOptions = NonNullable<Parameters<Workspace['rollback']>[1]>

/** A workspace: its first run, and the operations that concern all runs. */
export interface Workspace<Extra extends readonly Tool[] = readonly [], Builtin extends Tool = BuiltinTool>
  extends WorkspaceRun<Extra, Builtin> {
  readonly tools: readonly ToolDescription[]
  rollback(
    checkpoint: string,
    options?: UndoOptions & {
      /** Reverts only the calls of this run. A file that others have changed since is a `WRITE_CONFLICT`. Default: the calls of all runs. */
      readonly runId?: string
    },
  ): Promise<ResultOf<Reverted>>
  /** Opens another run, which shares only the files. */
  run(options?: RunOptions): WorkspaceRun<Extra, Builtin>
  /**
   * Opens a copy-on-write workspace over the present state. It has the same options and the same audit, and starts with a
   * run of its own. Later changes of this workspace do not show in the fork. Changes that others make to the storage do,
   * except in files that the fork has changed.
   */
  fork(run?: RunOptions): Promise<Workspace<Extra, Builtin>>
  /**
   * Applies the changes of a fork, or of a workspace over an overlay, to the files below it: all or none, under the same
   * guard, policy, approval and audit. Returns a `WRITE_CONFLICT` if those files changed since.
   *
   * With `merge`, files that changed on both sides are merged by lines, as `git merge-file` does. If some cannot be merged,
   * nothing changes, and the `WRITE_CONFLICT` has them as `conflicts`. Pass their contents as `resolve`.
   *
   * The workspace of which this is a fork can undo it. Of a workspace over an overlay, it cannot be undone.
   *
   * @example
   * const fork = await workspace.fork()
   * // ... both change src/app.ts ...
   * const result = await fork.commit({ merge: true })
   * if (!result.ok && result.conflicts !== undefined) console.log(result.conflicts[0]?.text)
   */
  commit(
    options?: UndoOptions & {
      /** Merges files that changed on both sides. Default: false, such files are a `WRITE_CONFLICT`. */
      readonly merge?: boolean
      /** The contents of files that cannot be merged, by path; `null` deletes the file. Needs `merge`. */
      readonly resolve?: Readonly<Record<string, string | Uint8Array | null>>
    },
  ): Promise<ResultOf<Pick<Reverted, 'paths'> & { readonly merged?: readonly string[] }>>
  /** The same as {@link Workspace.commit} with the option `merge`. `merged` names the files that changed on both sides. */
  merge(options?: Omit<NonNullable<Parameters<Workspace['commit']>[0]>, 'merge'>): ReturnType<Workspace['commit']>
  /**
   * The repository of the workspace, if it was created with the option `git`. For the embedding program, never for a model.
   * Its changes of files are evaluated, recorded and undone like any call, as `git_checkout`. It writes `.git` by a
   * capability of its own.
   */
  readonly git: Repository | undefined
  /**
   * Answers a call that ended with `APPROVAL_REQUIRED`, by its `approvalId`: runs or refuses it. Another process can do so
   * with the same `parked` option.
   *
   * An approval covers what was shown: a file that changed since is a `WRITE_CONFLICT`, and a call that would now do
   * something else needs a new approval. Each call can be resumed once; the second time is `NOT_FOUND`. The call belongs to
   * the run that made it if that run was opened here, else to this workspace's own run.
   *
   * @example
   * const result = await workspace.call('delete_file', { path: 'a.txt' })
   * if (!result.ok && result.code === 'APPROVAL_REQUIRED') await workspace.resume(result.approvalId ?? '', 'allow')
   */
  resume(id: string, answer: ApprovalAnswer, options?: CallOptions): Promise<Success | Failure>
  /**
   * Ends plan mode, and approves the submitted plan of every run. Calls may change files at once. The promise resolves when
   * the approvals are recorded.
   *
   * @example
   * await workspace.call('submit_plan', { plan: 'Correct the answer', paths: ['src/**'] })
   * await workspace.approvePlan({ by: 'reviewer' })
   */
  approvePlan(options?: { readonly by?: string }): Promise<void>
  /**
   * Returns the undo history with the checkpoints, as data. A later workspace over these files takes it as `history`, so
   * that `undo` and `rollback` work across a restart.
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
  /** Verifies the hash chain of the audit records, if a sink keeps them. */
  verifyAudit(): AuditCheck
  /**
   * Subscribes to file changes made by calls of any run, and to the end of plan mode. Returns an unsubscribe function.
   * Changes by others are reported with {@link Workspace.notifyExternalChange}.
   *
   * @example
   * const stop = workspace.subscribe((event) => {
   *   if (event.type === 'changed') console.log(event.paths)
   * })
   * stop()
   */
  subscribe(listener: WorkspaceListener): () => void
  /**
   * Notifies the subscribers that others have changed the storage, as reported by the `onChange` of `opfs()` or by a watcher.
   * Calls need no notification. Without paths, any file may have changed.
   *
   * @example
   * workspace.notifyExternalChange(['src/app.ts'])
   */
  notifyExternalChange(paths?: readonly string[]): void
  /** The audit records of the first sink that keeps them. */
  auditRecords(): readonly AuditRecord[]
  /**
   * Ends every run and command, flushes the records, and closes shell, audit and backend. Calls are then refused with
   * `BACKEND_ERROR`, also those of forks, and so are those that wait for an approval. Records, reports and the history remain.
   */
  close(): Promise<void>
}

/** The members that are typed by tool, with their untyped forms. A dialect has others of the same names. */
export type TypedCalls = 'call' | 'callTool' | 'explain' | 'explainTool'

/** A run whose calls have the tool names and shapes of a dialect. */
export interface DialectRun<Extra extends readonly Tool[] = readonly [], Builtin extends Tool = BuiltinTool>
  extends Omit<WorkspaceRun, TypedCalls> {
  /** Calls a tool of the dialect, which makes calls of the workspace's own tools. Never rejects, like those. */
  call(name: string, input: unknown, options?: CallOptions): Promise<DialectResult>
  /** The same as {@link DialectRun.call}. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<DialectResult>
  /**
   * Returns the verdict on the calls that a tool of the dialect makes, up to the first one whose result it needs. Any other
   * name is a tool of the workspace.
   */
  explain(name: string, input: unknown): Promise<Explanation>
  /** The same as {@link DialectRun.explain}. */
  explainTool(name: string, input: unknown): Promise<Explanation>
  /** The workspace's own tools, for the embedding program. */
  readonly own: Pick<WorkspaceRun<Extra, Builtin>, TypedCalls>
}

/** A workspace whose tools have the names and shapes of a dialect. Everything else works as in any workspace. */
export interface DialectWorkspace<Extra extends readonly Tool[] = readonly [], Builtin extends Tool = BuiltinTool>
  extends Omit<DialectRun<Extra, Builtin>, 'rollback'>,
    Omit<Workspace, TypedCalls | 'tools' | 'run' | 'fork'> {
  /** The tools of the dialect that this workspace can serve. */
  readonly tools: readonly DialectToolInfo[]
  readonly dialect: Dialect
  /** Opens another run with the dialect. */
  run(options?: RunOptions): DialectRun<Extra, Builtin>
  /** Opens a copy-on-write workspace with the dialect over the present state. */
  fork(run?: RunOptions): Promise<DialectWorkspace<Extra, Builtin>>
}
