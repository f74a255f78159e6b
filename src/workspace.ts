import type * as z from 'zod'
import { policyOperation, reportOperation } from './about.ts'
import type { GuardedAccess, Permission } from './access.ts'
import { isOverlay, overlay } from './backends/overlay.ts'
import { refusingTool } from './dialect/refusing-tool.ts'
import { speak, spokenTools } from './dialect/speak.ts'
import type { Dialect, SpokenResult, SpokenTool } from './dialect.ts'
import { type Failure, ToolError, toFailure } from './errors.ts'
import { createEvents, type WorkspaceListener } from './events.ts'
import { createArtifacts } from './evidence/artifacts.ts'
import { type AuditCheck, type AuditRecord, type AuditSink, createAudit, verifyAudit } from './evidence/audit.ts'
import { type Checkpoint, createJournal, type WorkspaceHistory } from './evidence/journal.ts'
import { createLedger } from './evidence/ledger.ts'
import { type RunReport, reportRun } from './evidence/report.ts'
import { createShownReads } from './evidence/shown-reads.ts'
import { memorySink } from './evidence/sinks.ts'
import { classifyPath } from './files/classify.ts'
import { createDocumentCache } from './files/document.ts'
import { openFlow } from './flow.ts'
import type { GitHost, GitProvider, Repository } from './git/provider.ts'
import { createWorkspaceDiffs } from './git/workspace-diff.ts'
import type { Hooks } from './hooks.ts'
import { type Limits, resolveLimits } from './limits.ts'
import { acceptOperation, checkoutOperation, rollbackOperation, undoOperation } from './operations.ts'
import { type Path, parsePath, ROOT } from './paths/logical-path.ts'
import { type CallOptions, callTool, reach, type Success } from './pipeline.ts'
import { approvePlans, isPlanning } from './plan-mode.ts'
import { type ApprovalAnswer, type ApproveHandler, createApprovals } from './policy/approval.ts'
import { type MemoryPolicy, memoryPath } from './policy/memory.ts'
import { memoryParking, type ParkedCalls } from './policy/parked.ts'
import type { Plan } from './policy/plan.ts'
import { compilePolicy, type PolicyInput, type Verdict } from './policy/policy.ts'
import { createRates } from './policy/rate.ts'
import { compileLabels, createTaint, type Taint, type TaintOrigin } from './policy/taint.ts'
import { resolveToolSet, type ToolSet } from './policy/tool-sets.ts'
import { createRecorder, type RecordedStep, type Recorder, type RecordLine } from './recording.ts'
import { resumeCall } from './resume.ts'
import type { Core, Run, Task } from './run.ts'
import type { CommandVerdict } from './shells/command-line.ts'
import { createProcesses } from './shells/processes.ts'
import type { Shell } from './shells/shell.ts'
import type { Tool } from './tool.ts'
import { builtinTools, type ToolInput, type ToolName, type ToolOutput } from './tools/index.ts'
import type { Backend } from './vfs/backend.ts'
import { mounts } from './vfs/mounts.ts'
import { readOnly } from './vfs/read-only.ts'
import { createFiles, type WorkspaceFiles } from './workspace-files.ts'

/** What a workspace is made of: files, policy, and what may stand around them. */
export interface WorkspaceOptions {
  /** Where the files live. Either this or `mounts`. */
  readonly backend?: Backend
  /** Several backends in one tree, by path prefix; `''` is the root. */
  readonly mounts?: Readonly<Record<string, Backend>>
  /** A preset's name or a policy object. There is no default. */
  readonly policy: PolicyInput
  /** Which tools exist here. Default: all of them. */
  readonly tools?: ToolSet
  /**
   * Tools of the embedding program, made with `defineTool`, beside those of `tools`. They take the same steps: their plan is
   * guarded and judged, and what they draft is committed, recorded and undone like any change.
   *
   * @throws TypeError for a name that is not snake_case, or that another tool has
   */
  readonly ownTools?: readonly Tool[]
  /** Registers no mutating tool, and seals the backend. */
  readonly readOnly?: boolean
  /** `plan`: nothing is changed until the run's plan (`submit_plan`) is approved. Default: `act`. */
  readonly mode?: 'act' | 'plan'
  readonly limits?: Partial<Limits>
  /** Answers what policy asks. Without it such a call ends with `APPROVAL_REQUIRED` and waits in `parked`. */
  readonly approve?: ApproveHandler
  /** Where calls wait for their approval; see {@link Workspace.resume}. Default: in memory. */
  readonly parked?: ParkedCalls
  readonly hooks?: Hooks
  /** Where audit records go. Default: memory. */
  readonly audit?: AuditSink | readonly AuditSink[]
  /** Where full results and diffs are kept, as `RUN/NAME`: all of them once the workspace is closed. Default: in memory. */
  readonly artifacts?: Backend
  /** What replacing a file needs: its hash, or a whole reading (`hash`, the default), or both (`shown`). */
  readonly staleGuard?: 'hash' | 'shown'
  /**
   * Gives {@link Workspace.git}, and lets the commands of `bash()` change the repository: `git()` of `wardspace/git`. Diffs
   * need it not.
   */
  readonly git?: GitProvider
  /**
   * What runs commands, such as `bash()` of `wardspace/shells/bash`; it is closed with the workspace. Without one there are
   * no command tools.
   */
  readonly shell?: Shell
  /** Whether a command starts where the last one of its run ended. Default: false, at the root. */
  readonly keepCwd?: boolean
  /**
   * Takes a recording, line by line: how the workspace was opened, what its runs were asked and what came of it, without
   * secrets. `replay` repeats it. Forks, and what git does, are not recorded.
   */
  readonly record?: RecordLine
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
  /** Makes the ids of runs and approvals. Default: random. */
  readonly ids?: () => string
  /** The workspace's own first run. */
  readonly run?: RunOptions
  /** The undo history of an earlier workspace over the same files, from its {@link Workspace.history}. Run ids must differ. */
  readonly history?: WorkspaceHistory
  readonly dialect?: undefined
}

/** Options of a workspace whose tools have the names and shapes of a dialect. */
export interface SpokenWorkspaceOptions extends Omit<WorkspaceOptions, 'dialect'> {
  /** One of `wardspace/dialects/*`, or one of your own. */
  readonly dialect: Dialect
}

/** Who acts in a run, and for which task. */
export interface RunOptions {
  readonly id?: string
  /** Who acts, for the record. Default: `agent`. */
  readonly actor?: string
  readonly task?: Task
  /** Which notes it sees and stores, where the policy has the memory ACL: names that the notes carry, too. */
  readonly scopes?: readonly string[]
  /** The taint that the run had in another process: `taint.origin()` there. */
  readonly taint?: TaintOrigin
}

/** The result of a tool: its own fields with {@link Success}'s, or a {@link Failure}. */
export type ToolResult<N extends ToolName> = (Success & ToolOutput<N>) | Failure

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
export interface WorkspaceRun {
  readonly id: string
  readonly actor: string
  /** What it works on; an approved plan's paths are its scope. */
  readonly task: Task | undefined
  /** The plan that was approved, in plan mode. */
  readonly plan: Plan | undefined
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
  call<N extends ToolName>(name: N, input: ToolInput<N>, options?: CallOptions): Promise<ToolResult<N>>
  /** A tool by a name that only the run tells, as from a model: its input is checked by the tool's schema. */
  call(name: string, input: unknown, options?: CallOptions): Promise<Success | Failure>
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
export interface Workspace extends WorkspaceRun {
  readonly tools: readonly ToolDescription[]
  /** Opens another run, which shares the files and nothing else. */
  run(options?: RunOptions): WorkspaceRun
  /**
   * A workspace of its own over the same files, which shows what this one shows now and costs what it changes. It has the
   * same options, writes to the same audit, and starts with a run of its own. What this workspace does later does not
   * show there; what others do to the storage behind both does, as long as the fork has not changed it.
   */
  fork(run?: RunOptions): Promise<Workspace>
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
   * others do to the storage is told where {@link Workspace.changedOutside} is.
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
   * workspace.changedOutside(['src/app.ts'])
   */
  changedOutside(paths?: readonly string[]): void
  /** The audit records so far, of the first sink that keeps them. */
  auditRecords(): readonly AuditRecord[]
  /** Ends every run and command, writes what records wait, and closes shell, audit and backend. */
  close(): Promise<void>
}

/** A run whose `call` speaks a dialect. */
export interface SpokenRun extends Omit<WorkspaceRun, 'call'> {
  /** Calls a tool of the dialect, which is made of calls of this run's own. Like those it never rejects. */
  call(name: string, input: unknown, options?: CallOptions): Promise<SpokenResult>
  /** The workspace's own tools, for the embedding program. */
  readonly own: Pick<WorkspaceRun, 'call'>
}

/** A workspace whose tools have the names and shapes of a dialect. Everything else is as it is in any workspace. */
export interface SpokenWorkspace extends SpokenRun, Omit<Workspace, 'call' | 'tools' | 'run' | 'fork'> {
  /** The tools of the dialect that this workspace can serve. */
  readonly tools: readonly SpokenTool[]
  readonly dialect: Dialect
  /** Opens another run, which speaks the dialect, too. */
  run(options?: RunOptions): SpokenRun
  /** A copy-on-write workspace over the present state, which speaks the dialect, too. */
  fork(run?: RunOptions): Promise<SpokenWorkspace>
}

/**
 * Makes a workspace: one root of authority, and everything an agent may touch. With a `dialect`, its tools have the names
 * and shapes of another system.
 *
 * @throws TypeError for a misconfiguration
 * @example
 * const workspace = await createWorkspace({
 *   backend: memory({ 'src/app.ts': 'export const answer = 41\n' }),
 *   policy: 'autonomous',
 * })
 */
export function createWorkspace(options: SpokenWorkspaceOptions): Promise<SpokenWorkspace>
export function createWorkspace(options: WorkspaceOptions): Promise<Workspace>
export async function createWorkspace({
  dialect,
  ...options
}: WorkspaceOptions | SpokenWorkspaceOptions): Promise<Workspace | SpokenWorkspace> {
  if (dialect !== undefined && dialect.versions !== true && options.staleGuard === 'shown') {
    throw new TypeError(`The dialect "${dialect.name}" names no versions, which staleGuard 'shown' demands`)
  }
  const sinks = sinksOf(options)
  const core = createCore(options, sinks)
  await requireOwnName(core)
  const recorder = recorderOf(core, options, dialect)
  if (recorder === undefined) return openWorkspace(core, options, dialect, sinks)
  const { approve } = recorder
  const asking = approve === undefined ? options : { ...options, approve }
  return openWorkspace(core, asking, dialect, sinks, () => {}, recorder)
}

/** `leave`: takes a fork out of those that its origin tells of changes. */
function openWorkspace(
  core: Core,
  options: WorkspaceOptions,
  dialect: Dialect | undefined,
  sinks: readonly AuditSink[],
  leave = () => {},
  recorder?: Recorder,
): Workspace {
  const records = () => sinks.find((sink) => sink.records !== undefined)?.records?.() ?? []
  const run = startRun(core, options, options.run)
  return {
    ...openRun(core, run, undefined, dialect, sinks, recorder),
    ...toolsOf(core, dialect),
    get task() {
      return run.task
    },
    get plan() {
      return run.plan
    },
    get mode() {
      return modeOf(core, run)
    },
    run(other) {
      const opened = startRun(core, options, other)
      return openRun(core, opened, opened, dialect, sinks, recorder)
    },
    async fork(other = {}) {
      const above = overlay(core.backend, undefined, { closesLower: false })
      // What waits here must never be carried out there.
      const own = {
        ...options,
        backend: above,
        mounts: undefined,
        mode: isPlanning(core, run) ? ('plan' as const) : ('act' as const),
        parked: memoryParking(),
      }
      const forked = createCore(own, sinks, core)
      core.forks.add(above)
      return openWorkspace(forked, { ...options, run: other, parked: own.parked }, dialect, sinks, () =>
        core.forks.delete(above),
      )
    },
    async commit({ reason, ...how } = {}) {
      try {
        const pending = isOverlay(core.backend) ? await core.backend.pending() : []
        return await callTool(core, run, acceptOperation(core, pending), given({ reason }), how)
      } catch (error) {
        return toFailure(error)
      }
    },
    resume: (id, answer, how) =>
      noted(recorder, run, { type: 'resume', input: { id, answer } }, how, (options) =>
        resumeCall(core, run, id, answer, options),
      ),
    git: options.git?.open(gitHost(core, run)),
    approvePlan: ({ by } = {}) =>
      noted(recorder, run, { type: 'approvePlan', input: given({ by }) }, undefined, () => approvePlans(core, by)),
    history: () => core.journal.history(),
    subscribe: core.events.subscribe,
    changedOutside: (paths) => core.events.tell({ type: 'changed', paths: paths && [...paths], listing: true }),
    auditRecords: records,
    verifyAudit: () => sinks.find((sink) => sink.records !== undefined)?.verify?.() ?? verifyAudit(records()),
    async close() {
      await Promise.all([...core.processes].map((each) => each.close()))
      // Everything is closed, whatever fails; then that is told.
      const [shell] = await Promise.allSettled([core.origin === undefined ? core.shell?.close() : undefined])
      const ends = await Promise.allSettled([
        ...[...core.artifacts].map((artifacts) => artifacts.flush()),
        ...(core.origin === undefined ? [core.audit.close()] : []),
        ...(recorder === undefined ? [] : [recorder.flush()]),
      ])
      leave()
      await core.backend.close()
      for (const end of [shell, ...ends]) if (end.status === 'rejected') throw end.reason
    },
  }
}

/** What git may do in a workspace: read what policy shows, and change files by the way that every change takes. */
function gitHost(core: Core, run: Run): GitHost {
  const policy = core.policy.forCall({ tool: 'git_add', input: {} })
  return {
    backend: core.backend,
    mayRead: (path) => policy.decide('file:read', path, classifyPath(path)) === 'allow',
    async change(changes, what) {
      const result = await callTool(core, run, checkoutOperation(changes, what), {})
      if (result.ok) return
      const { code, message, ok: _, ...details } = result
      throw new ToolError(code, message, details)
    },
    now: core.clock,
  }
}

function createCore(options: CoreOptions, sinks: readonly AuditSink[], origin?: Core): Core {
  const policy = compilePolicy(options.policy)
  const { toolCallsPerMinute, ...policyLimits } = policy.data.limits ?? {}
  const limits = resolveLimits({ ...policyLimits, ...options.limits })
  const sealed = options.readOnly === true || policy.data.preset === 'readOnly'
  const own = ownToolsOf(options)
  const known: readonly Tool[] = [...builtinTools, ...own]
  const names = new Set(
    resolveToolSet(
      options.tools ?? 'full',
      known.map(({ name }) => name),
    ),
  )
  for (const { name } of own) names.add(name)
  // A named set holds what its mode needs.
  if (options.mode === 'plan' && typeof (options.tools ?? 'full') === 'string') names.add('submit_plan')
  const inSet = known.filter(({ name }) => names.has(name))
  const isReadOnly = policy.data.preset === 'readOnly'
  const withheld = new Map<string, ToolError>()
  for (const tool of inSet) {
    const why = reasonToWithhold(tool, { ...options, memory: policy.data.memory }, sealed, isReadOnly)
    if (why !== undefined) withheld.set(tool.name, why)
  }
  const registered = inSet.filter(({ name }) => !withheld.has(name))
  const backend = backendOf(options)
  for (const { file } of sinks) {
    if (file !== undefined && backend.holds?.(file) === true) {
      throw new TypeError(
        'The audit file lies inside the workspace, where an agent could reach it; choose another place',
      )
    }
  }
  const { directory } = options.parked ?? {}
  if (directory !== undefined && backend.holds?.(directory) === true) {
    throw new TypeError('Parked calls lie inside the workspace, where an agent could reach them; choose another place')
  }
  return {
    backend: sealed ? readOnly(backend) : backend,
    policy,
    labels: compileLabels(policy.data.labels),
    // A fork shows what this workspace shows now.
    carried: new Map(origin?.carried),
    tools: new Map(registered.map((tool) => [tool.name, tool])),
    withheld,
    limits,
    toolCallsPerMinute,
    audit: origin?.audit ?? createAudit({ sinks }),
    journal: createJournal(limits.journalBytes, origin === undefined ? options.history : undefined),
    forks: new Set(),
    processes: new Set(),
    artifacts: new Set(),
    origin,
    documents: createDocumentCache(limits.cacheBytes),
    diffs: createWorkspaceDiffs(backend),
    git: options.git,
    parking: options.parked ?? memoryParking(),
    waiting: new Map(),
    hooks: options.hooks ?? {},
    memory:
      policy.data.memory === undefined
        ? undefined
        : { path: memoryPath(policy.data.memory), acl: policy.data.memory.acl ?? false },
    staleGuard: options.staleGuard ?? 'hash',
    shell: options.shell,
    keepCwd: options.keepCwd ?? false,
    sealed,
    clock: options.clock ?? Date.now,
    submitted: new Map(),
    events: createEvents(),
    mode: options.mode ?? 'act',
  }
}

/** The rule that closes the notes names them: they must have no other name. */
async function requireOwnName({ backend, memory }: Core): Promise<void> {
  if (memory === undefined) return
  let path: string
  try {
    path = await backend.canonical(memory.path)
  } catch {
    path = ''
  }
  if (path !== memory.path) {
    throw new TypeError(`The memory ${JSON.stringify(memory.path)} is a link, or has another name on the storage`)
  }
}

/** Why a tool is not registered: what would change files in a read-only workspace, and commands that nothing runs. */
function reasonToWithhold(
  { name, mutates, permission }: Tool,
  { shell, mode, memory }: Pick<WorkspaceOptions, 'shell' | 'mode'> & { readonly memory: MemoryPolicy | undefined },
  sealed: boolean,
  isReadOnly: boolean,
): ToolError | undefined {
  const isCommand = permission.startsWith('command:')
  if (permission.startsWith('memory:') && memory === undefined) {
    return new ToolError('UNKNOWN_TOOL', `${name} needs a memory, and this workspace has none`)
  }
  if (name === 'memory_recall' && memory?.acl === true) {
    return new ToolError('UNKNOWN_TOOL', 'memory_recall knows no scopes, and the notes here are kept apart by them', {
      hint: 'Use memory_search and memory_get.',
    })
  }
  if (permission === 'plan:submit' && mode !== 'plan') {
    return new ToolError('UNKNOWN_TOOL', `${name} is a tool of plan mode, and this workspace is not in it`, {
      hint: 'Nothing has to be planned here: go on.',
    })
  }
  if (isCommand && shell === undefined) {
    return new ToolError('SHELL_UNAVAILABLE', `${name} needs a shell, and this workspace has none`)
  }
  if (permission === 'command:background' && shell?.capabilities.background !== true) {
    return new ToolError('SHELL_UNAVAILABLE', `The shell ${shell?.name} runs no commands in the background`)
  }
  if (!sealed || !mutates) return undefined
  // A shell whose every access is judged cannot change anything there.
  if (isCommand && !isReadOnly && shell?.capabilities.guarded === true) return undefined
  return new ToolError('READ_ONLY', `${name} changes files, and this workspace is read-only`)
}

function backendOf({ backend, mounts: parts }: CoreOptions): Backend {
  if (backend !== undefined && parts === undefined) return backend
  if (parts !== undefined && backend === undefined) return mounts(parts)
  throw new TypeError('createWorkspace needs either a backend or mounts')
}

/** The tools of the embedding program, each with a name of its own. */
function ownToolsOf({ ownTools = [] }: CoreOptions): readonly Tool[] {
  const taken = new Set<string>([...builtinTools.map(({ name }) => name), ...operations])
  for (const { name } of ownTools) {
    if (!/^[a-z][a-z0-9_]{0,63}$/.test(name)) {
      throw new TypeError(`The tool name ${JSON.stringify(name)} is none: use a to z, 0 to 9 and _`)
    }
    if (taken.has(name)) throw new TypeError(`There already is a tool "${name}"`)
    taken.add(name)
  }
  return ownTools
}

/** What the library does by itself is named like a tool: in rules and records. */
const operations = ['undo', 'rollback', 'commit', 'git_add', 'git_checkout']

function sinksOf({ audit }: WorkspaceOptions): readonly AuditSink[] {
  if (audit === undefined) return [memorySink()]
  return Array.isArray(audit) ? (audit as readonly AuditSink[]) : [audit as AuditSink]
}

function startRun(
  core: Core,
  options: WorkspaceOptions,
  { id, actor = 'agent', task, taint, scopes = [] }: RunOptions = {},
): Run {
  const ids = options.ids ?? (() => crypto.randomUUID())
  const runId = id ?? ids()
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(runId)) throw new TypeError('A run id is 1 to 100 of A-Z a-z 0-9 . _ -')
  const artifacts = createArtifacts(runId, { backend: options.artifacts })
  // What is in memory goes with its run.
  if (options.artifacts !== undefined) core.artifacts.add(artifacts)
  return {
    id: runId,
    actor,
    scopes: [...scopes],
    task,
    plan: undefined,
    ledger: createLedger(),
    shownReads: createShownReads(),
    rates: createRates({ limits: core.limits, toolCallsPerMinute: core.toolCallsPerMinute, clock: core.clock }),
    taint: createTaint(taint),
    approvals: createApprovals({ approve: options.approve, ids }),
    artifacts,
    shell: { cwd: ROOT, processes: createProcesses(core.limits.processes, core.processes) },
    calls: 0,
    recordedTask: undefined,
  }
}

/** `own`: the run whose calls alone can be taken back here. */
function openRun(
  core: Core,
  run: Run,
  own: Run | undefined,
  dialect: Dialect | undefined,
  sinks: readonly AuditSink[],
  recorder: Recorder | undefined,
): WorkspaceRun {
  recorder?.opened(run)
  const call = (name: string, input: unknown, callOptions?: CallOptions) =>
    noted(recorder, run, { type: 'call', name, input }, callOptions, (options) =>
      callTool(core, run, name, input, options),
    )
  const spoken = dialect === undefined ? undefined : speakOf(core, run, dialect, recorder)
  return {
    id: run.id,
    actor: run.actor,
    get task() {
      return run.task
    },
    get plan() {
      return run.plan
    },
    get mode() {
      return modeOf(core, run)
    },
    taint: run.taint,
    call: (spoken ?? call) as WorkspaceRun['call'],
    ...(spoken === undefined ? {} : { own: { call } }),
    async explain(name, input) {
      try {
        const call = await reach(core, run, name, input)
        const { verdict, accesses, line } = openFlow(core, run, run.id, name, true).enters(call)
        return { ok: true, verdict, accesses, ...(line === undefined ? {} : { line }) }
      } catch (error) {
        return toFailure(error)
      }
    },
    files: createFiles(call),
    checkpoint(label) {
      const checkpoint = core.journal.checkpoint({ label, at: core.clock(), runId: run.id })
      void recorder?.step(run, { type: 'checkpoint', input: given({ label }) }, undefined, async () => checkpoint)
      return checkpoint
    },
    checkpoints: () => core.journal.checkpoints().filter(({ runId }) => own === undefined || runId === own.id),
    rollback: (checkpoint, { reason, ...how } = {}) =>
      noted(recorder, run, { type: 'rollback', input: given({ id: checkpoint, reason }) }, how, (options) =>
        callTool(core, run, rollbackOperation(core, own), given({ checkpoint, reason }), options),
      ),
    undo: (callId, { reason, ...how } = {}) =>
      noted(recorder, run, { type: 'undo', input: given({ id: callId, reason }) }, how, (options) =>
        callTool(core, run, undoOperation(core, own), given({ callId, reason }), options),
      ),
    report: () => reportOf(run, sinks),
    consult: (subject, options) =>
      callTool(
        core,
        run,
        subject === 'policy' ? policyOperation(core, run) : reportOperation(() => keptReport(run, sinks)),
        {},
        options,
      ),
    async close() {
      await run.shell.processes.close()
      core.processes.delete(run.shell.processes)
    },
  }
}

function modeOf(core: Core, run: Run): 'act' | 'plan' {
  return isPlanning(core, run) ? 'plan' : 'act'
}

/** A run's `call` in a dialect. */
function speakOf(core: Core, run: Run, dialect: Dialect, recorder: Recorder | undefined): SpokenRun['call'] {
  const said = speak(dialect, {
    call: (name, input, options) => callTool(core, run, name, input, options),
    noteShown: run.ledger.note,
    shownVersion: (path) => shownVersion(core, run, path),
    refuse: async (name, why, options) => (await callTool(core, run, refusingTool(name, why), {}, options)) as Failure,
    whyNot(name) {
      if (core.tools.has(name)) return undefined
      return core.withheld.get(name) ?? new ToolError('UNKNOWN_TOOL', `${name} is not in this workspace's tool set`)
    },
  })
  return (name, input, callOptions) =>
    noted(recorder, run, { type: 'spoken', name, input }, callOptions, (options) => said(name, input, options))
}

/** The latest version of a file that a run was shown. Whether it may be touched is for the call that names it. */
async function shownVersion(core: Core, run: Run, asked: string): Promise<string> {
  let path: Path
  try {
    path = await core.backend.canonical(parsePath(asked))
  } catch {
    return NO_VERSION
  }
  return run.ledger.latest(path) ?? NO_VERSION
}

const NO_VERSION = '0'.repeat(64)

/** What a model may be told of. */
function toolsOf(core: Core, dialect: Dialect | undefined): Pick<Workspace, 'tools'> {
  if (dialect === undefined) return { tools: [...core.tools.values()].map(describe) }
  const mutates = (name: string) => core.tools.get(name)?.mutates === true
  const spoken = { dialect, tools: spokenTools(dialect, (name) => core.tools.has(name), mutates) }
  return spoken as unknown as Pick<Workspace, 'tools'>
}

/** What is asked, done and, where somebody wants that, recorded. */
function noted<R>(
  recorder: Recorder | undefined,
  run: Run,
  what: Pick<RecordedStep, 'type' | 'name' | 'input'>,
  options: CallOptions | undefined,
  act: (options?: CallOptions) => Promise<R>,
): Promise<R> {
  return recorder === undefined ? act(options) : recorder.step(run, what, options, act)
}

function recorderOf(core: Core, { record, approve }: CoreOptions, dialect: Dialect | undefined): Recorder | undefined {
  if (record === undefined) return undefined
  const { policy, tools, withheld, sealed, mode, limits, staleGuard, keepCwd, shell, clock } = core
  const workspace = {
    policy: policy.data,
    tools: [...tools.keys(), ...withheld.keys()],
    readOnly: sealed,
    ...{ mode, limits, staleGuard, keepCwd },
    ...(shell === undefined ? {} : { shell: shell.name }),
    ...(dialect === undefined ? {} : { dialect: dialect.name }),
  }
  return createRecorder({ write: record, workspace, clock, approve })
}

function reportOf(run: Run, sinks: readonly AuditSink[]): RunReport {
  const report = keptReport(run, sinks)
  if (report !== undefined) return report
  throw new TypeError('A report needs an audit sink that keeps its records, such as memorySink() or jsonlSink()')
}

/** `undefined` where no sink keeps the records. */
function keptReport({ id, actor, task }: Run, sinks: readonly AuditSink[]): RunReport | undefined {
  const kept = sinks.find((sink) => sink.records !== undefined)?.records?.()
  if (kept === undefined) return undefined
  return reportRun(
    { id, actor, task },
    kept.filter(({ runId }) => runId === id),
  )
}

/** Without what was left out. */
function given(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

/** Options of which a fork may leave some out. */
type CoreOptions = Omit<WorkspaceOptions, 'backend' | 'mounts'> & {
  readonly backend?: Backend | undefined
  readonly mounts?: WorkspaceOptions['mounts'] | undefined
}

function describe(tool: Tool): ToolDescription {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.input,
    outputSchema: tool.output,
    permission: tool.permission,
    mutates: tool.mutates,
    idempotent: tool.idempotent,
  }
}
