import { createArtifacts } from '../audit/artifacts.ts'
import type { AuditSink } from '../audit/audit-log.ts'
import { type RunReport, reportRun } from '../audit/report.ts'
import { callTool, evaluateCall } from '../call/call-tool.ts'
import { isInPlanMode } from '../call/plan-mode.ts'
import type { CallOptions } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { openTaintTracker } from '../call/taint-tracker.ts'
import { createRejectedCall } from '../dialects/runtime/rejected-call.ts'
import { createDialectCall } from '../dialects/runtime/run-dialect-tool.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { type Failure, ToolError, toFailure } from '../errors.ts'
import { createReadHistory } from '../history/read-history.ts'
import { type Path, parsePath, ROOT } from '../paths/logical-path.ts'
import { createApprovals } from '../policy/approval.ts'
import { checkGlob } from '../policy/match.ts'
import { createRates } from '../policy/rate-limits.ts'
import { createTaint } from '../policy/taint.ts'
import { createProcesses } from '../shells/shared/background-processes.ts'
import { createFiles } from './files.ts'
import { policyOperation, reportOperation } from './introspection.ts'
import { rollbackOperation, undoOperation } from './operations.ts'
import type { RunOptions, WorkspaceOptions } from './options.ts'
import type { RecordedStep, Recorder } from './recorder.ts'
import type { DialectRun, WorkspaceRun } from './types.ts'

/** `own`: the run whose calls alone can be taken back here. */
export function openRun(
  workspace: WorkspaceState,
  run: RunState,
  own: RunState | undefined,
  dialect: Dialect | undefined,
  sinks: readonly AuditSink[],
  recorder: Recorder | undefined,
): WorkspaceRun {
  recorder?.opened(run)
  const callOwn = (name: string, input: unknown, callOptions?: CallOptions) =>
    recordStep(recorder, run, { type: 'call', name, input }, callOptions, (options) =>
      callTool(workspace, run, name, input, options),
    )
  const spoken = dialect === undefined ? undefined : speakOf(workspace, run, dialect, recorder)
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
      return modeOf(workspace, run)
    },
    taint: run.taint,
    call: (spoken ?? callOwn) as WorkspaceRun['call'],
    callTool: (spoken ?? callOwn) as WorkspaceRun['callTool'],
    ...(spoken === undefined ? {} : { own: { call: callOwn, callTool: callOwn } }),
    async explain(name, input) {
      try {
        const call = await evaluateCall(workspace, run, name, input)
        const { verdict, accesses, line } = openTaintTracker(workspace, run, run.id, name, true).beginCall(call)
        return { ok: true, verdict, accesses, ...(line === undefined ? {} : { line }) }
      } catch (error) {
        return toFailure(error)
      }
    },
    files: createFiles(callOwn),
    checkpoint(label) {
      const checkpoint = workspace.journal.checkpoint({ label, at: workspace.clock(), runId: run.id })
      void recorder?.step(
        run,
        { type: 'checkpoint', input: omitUndefined({ label }) },
        undefined,
        async () => checkpoint,
      )
      return checkpoint
    },
    checkpoints: () => workspace.journal.checkpoints().filter(({ runId }) => own === undefined || runId === own.id),
    rollback: (checkpoint, { reason, ...how } = {}) =>
      recordStep(
        recorder,
        run,
        { type: 'rollback', input: omitUndefined({ id: checkpoint, reason }) },
        how,
        (options) =>
          callTool(workspace, run, rollbackOperation(workspace, own), omitUndefined({ checkpoint, reason }), options),
      ),
    undo: (callId, { reason, ...how } = {}) =>
      recordStep(recorder, run, { type: 'undo', input: omitUndefined({ id: callId, reason }) }, how, (options) =>
        callTool(workspace, run, undoOperation(workspace, own), omitUndefined({ callId, reason }), options),
      ),
    report: () => reportOf(run, sinks),
    consult: (subject, options) =>
      callTool(
        workspace,
        run,
        subject === 'policy' ? policyOperation(workspace, run) : reportOperation(() => keptReport(run, sinks)),
        {},
        options,
      ),
    async close() {
      await run.shell.processes.close()
      workspace.processes.delete(run.shell.processes)
    },
  }
}

export function startRun(
  workspace: WorkspaceState,
  options: WorkspaceOptions,
  { id, actor = 'agent', task, taint, scopes = [] }: RunOptions = {},
): RunState {
  const ids = options.ids ?? (() => crypto.randomUUID())
  const runId = id ?? ids()
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(runId)) throw new TypeError('A run id is 1 to 100 of A-Z a-z 0-9 . _ -')
  for (const [index, glob] of (task?.scope ?? []).entries()) checkGlob(glob, '', `task.scope[${index}]`)
  const artifacts = createArtifacts(runId, { backend: options.artifacts })
  // What is in memory goes with its run.
  if (options.artifacts !== undefined) workspace.artifacts.add(artifacts)
  return {
    id: runId,
    actor,
    scopes: [...scopes],
    task,
    plan: undefined,
    readHistory: createReadHistory(),
    rates: createRates({
      limits: workspace.limits,
      toolCallsPerMinute: workspace.toolCallsPerMinute,
      clock: workspace.clock,
    }),
    taint: createTaint(taint),
    approvals: createApprovals({ approve: options.approve, ids }),
    artifacts,
    shell: { cwd: ROOT, processes: createProcesses(workspace.limits.processes, workspace.processes) },
    calls: 0,
    recordedTask: undefined,
  }
}

export function modeOf(workspace: WorkspaceState, run: RunState): 'act' | 'plan' {
  return isInPlanMode(workspace, run) ? 'plan' : 'act'
}

/** What is asked, done and, where somebody wants that, recorded. */
export function recordStep<R>(
  recorder: Recorder | undefined,
  run: RunState,
  what: Pick<RecordedStep, 'type' | 'name' | 'input'>,
  options: CallOptions | undefined,
  act: (options?: CallOptions) => Promise<R>,
): Promise<R> {
  return recorder === undefined ? act(options) : recorder.step(run, what, options, act)
}

/** Without what was left out. */
export function omitUndefined(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

/** A run's `call` in a dialect. */
function speakOf(
  workspace: WorkspaceState,
  run: RunState,
  dialect: Dialect,
  recorder: Recorder | undefined,
): DialectRun['call'] {
  const said = createDialectCall(dialect, {
    callTool: (name, input, options) => callTool(workspace, run, name, input, options),
    noteShown: run.readHistory.noteVersion,
    shownVersion: (path) => shownVersion(workspace, run, path),
    rejectCall: async (name, why, options) =>
      (await callTool(workspace, run, createRejectedCall(name, why), {}, options)) as Failure,
    unavailableReason(name) {
      if (workspace.tools.has(name)) return undefined
      return (
        workspace.unavailableTools.get(name) ??
        new ToolError('UNKNOWN_TOOL', `${name} is not in this workspace's tool set`)
      )
    },
  })
  return (name, input, callOptions) =>
    recordStep(recorder, run, { type: 'spoken', name, input }, callOptions, (options) => said(name, input, options))
}

/** The latest version of a file that a run was shown. Whether it may be touched is for the call that names it. */
async function shownVersion(workspace: WorkspaceState, run: RunState, asked: string): Promise<string> {
  let path: Path
  try {
    path = await workspace.backend.canonical(parsePath(asked))
  } catch {
    return NO_VERSION
  }
  return run.readHistory.latestVersion(path) ?? NO_VERSION
}

const NO_VERSION = '0'.repeat(64)

function reportOf(run: RunState, sinks: readonly AuditSink[]): RunReport {
  const report = keptReport(run, sinks)
  if (report !== undefined) return report
  throw new TypeError('A report needs an audit sink that keeps its records, such as memorySink() or jsonlSink()')
}

/** `undefined` where no sink keeps the records. */
function keptReport({ id, actor, task }: RunState, sinks: readonly AuditSink[]): RunReport | undefined {
  const kept = sinks.find((sink) => sink.records !== undefined)?.records?.()
  if (kept === undefined) return undefined
  return reportRun(
    { id, actor, task },
    kept.filter(({ runId }) => runId === id),
  )
}
