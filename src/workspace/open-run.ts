import { createArtifacts } from '../audit/artifacts.ts'
import type { AuditSink } from '../audit/audit-log.ts'
import { type RunReport, reportRun } from '../audit/report.ts'
import { callOptionTable, checkCallOptions } from '../call/call-options.ts'
import { callTool, evaluateCall } from '../call/call-tool.ts'
import { hideTokens } from '../call/hide-tokens.ts'
import { isInPlanMode } from '../call/plan-mode.ts'
import { refuseUncalled } from '../call/refuse-uncalled.ts'
import type { CallOptions, ResultOf } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { openTaintTracker } from '../call/taint-tracker.ts'
import { explainDialectCall, hasDialectTool } from '../dialects/runtime/explain-dialect-call.ts'
import { createNullDeviceCall } from '../dialects/runtime/null-device.ts'
import { createRejectedCall } from '../dialects/runtime/rejected-call.ts'
import { type CallExplanation, createDialectCall, type DialectHost } from '../dialects/runtime/run-dialect-tool.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { type Failure, ToolError, toFailure } from '../errors.ts'
import { createReadHistory } from '../history/read-history.ts'
import { type Path, parsePath, ROOT } from '../paths/logical-path.ts'
import { createApprovals } from '../policy/approval.ts'
import { checkGlob } from '../policy/match.ts'
import { createRates } from '../policy/rate-limits.ts'
import { createTaint } from '../policy/taint.ts'
import { createProcesses } from '../shells/shared/background-processes.ts'
import type { Tool } from '../tools/define-tool.ts'
import { builtinTools } from '../tools/index.ts'
import { isText } from '../util/check-options.ts'
import { createFiles } from './files.ts'
import { policyOperation, reportOperation } from './introspection.ts'
import { rollbackOperation, undoOperation } from './operations.ts'
import type { RunOptions, WorkspaceOptions } from './options.ts'
import type { Recorder } from './recorder.ts'
import { checkedStep, recordStep, type StepContext, undoOptionTable } from './run-step.ts'
import type { Consulted, DialectRun, UndoOptions, WorkspaceRun } from './types.ts'

/**
 * Opens the interface of a run.
 *
 * @param undoScope the run whose calls `undo` and `rollback` may revert; without it, the calls of all runs
 */
export function openRun(
  workspace: WorkspaceState,
  run: RunState,
  undoScope: RunState | undefined,
  dialect: Dialect | undefined,
  sinks: readonly AuditSink[],
  recorder: Recorder | undefined,
): WorkspaceRun {
  recorder?.opened(run)
  const context: StepContext = { workspace, run, recorder }
  const callWithNames = (rawName: unknown, input: unknown, options?: CallOptions) => {
    const name = toToolName(rawName)
    return checkedStep(context, { type: 'call', name, input }, options, callOptionTable, (callOptions) =>
      callTool(workspace, run, name, input, callOptions),
    )
  }
  const callOwn = async (...args: Parameters<typeof callWithNames>) => hideTokens(await callWithNames(...args))
  const host = createDialectHost(workspace, run)
  const dialectCall = dialect === undefined ? undefined : openDialectCall(context, dialect, host)
  const explainOwn = (name: unknown, input: unknown) => explainCall(workspace, run, toToolName(name), input)
  const explain = (name: string, input: unknown) =>
    dialect !== undefined && hasDialectTool(dialect, name)
      ? explainDialectCall(dialect, host, name, input)
      : explainOwn(name, input)
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
    call: (dialectCall ?? callOwn) as WorkspaceRun['call'],
    callTool: (dialectCall ?? callOwn) as WorkspaceRun['callTool'],
    ...(dialectCall === undefined
      ? {}
      : { own: { call: callOwn, callTool: callOwn, explain: explainOwn, explainTool: explainOwn } }),
    explain,
    explainTool: explain,
    // The embedding program gets the true names.
    files: createFiles(callWithNames),
    checkpoint(label) {
      if (label !== undefined) isText(label, 'label', 'checkpoint()')
      const checkpoint = workspace.journal.checkpoint({ label, at: workspace.clock(), runId: run.id })
      void recorder?.step(
        run,
        { type: 'checkpoint', input: omitUndefined({ label }) },
        undefined,
        async () => checkpoint,
      )
      return checkpoint
    },
    checkpoints: () =>
      workspace.journal.checkpoints().filter(({ runId }) => undoScope === undefined || runId === undoScope.id),
    ...createReverts(context, undoScope),
    report: () => reportOf(run, sinks),
    consult: (subject, options) => consult(context, subject, options, () => findReport(run, sinks)),
    async close() {
      await run.shell.processes.close()
      workspace.processes.delete(run.shell.processes)
    },
  }
}

/** Returns the verdict on a call, or the refusal before it. */
async function explainCall(
  workspace: WorkspaceState,
  run: RunState,
  name: string,
  input: unknown,
): ReturnType<WorkspaceRun['explain']> {
  try {
    return await evaluateExplained(workspace, run, name, input, undefined)
  } catch (error) {
    return toFailure(error)
  }
}

async function evaluateExplained(
  workspace: WorkspaceState,
  run: RunState,
  tool: string | Tool,
  input: unknown,
  dialectTools: readonly string[] | undefined,
): Promise<CallExplanation> {
  const call = await evaluateCall(workspace, run, tool, input, { options: { dialectTools } })
  const { verdict, accesses, line } = openTaintTracker(workspace, run, run.id, call.tool.name, true).beginCall(call)
  return { ok: true, verdict, accesses, ...(line === undefined ? {} : { line }) }
}

/** Reads the policy or the report as a call. */
async function consult(
  { workspace, run }: StepContext,
  subject: unknown,
  options: unknown,
  report: () => RunReport | undefined,
): Promise<ResultOf<Consulted>> {
  try {
    if (subject !== 'policy' && subject !== 'report') {
      throw new ToolError('INVALID_INPUT', 'consult() takes "policy" or "report"')
    }
    const operation = subject === 'policy' ? policyOperation(workspace, run) : reportOperation(report)
    const result = await callTool(workspace, run, operation, {}, checkCallOptions('consult()', options))
    return result as ResultOf<Consulted>
  } catch (error) {
    return refuseUncalled({ workspace, run }, 'consult', error)
  }
}

/** Creates the methods of a run that revert calls. */
function createReverts(context: StepContext, undoScope: RunState | undefined): Pick<WorkspaceRun, 'rollback' | 'undo'> {
  const { workspace, run } = context
  const methods = {
    rollback: (id: string, options?: UndoOptions) =>
      checkedStep(context, { type: 'rollback', input: { id } }, options, undoOptionTable, (callOptions, reason) =>
        callTool(workspace, run, rollbackOperation(workspace, undoScope), { checkpoint: id, ...reason }, callOptions),
      ),
    undo: (id: string, options?: UndoOptions) =>
      checkedStep(context, { type: 'undo', input: { id } }, options, undoOptionTable, (callOptions, reason) =>
        callTool(workspace, run, undoOperation(workspace, undoScope), { callId: id, ...reason }, callOptions),
      ),
  }
  return methods as Pick<WorkspaceRun, 'rollback' | 'undo'>
}

/** Creates the state of a new run. */
export function startRun(
  workspace: WorkspaceState,
  options: WorkspaceOptions,
  { id, actor = 'agent', task, taint, scopes = [] }: RunOptions,
): RunState {
  const ids = options.ids ?? (() => crypto.randomUUID())
  const runId = id ?? ids()
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(runId))
    throw new TypeError('A run id must have 1 to 100 of the characters A-Z a-z 0-9 . _ -')
  for (const [index, glob] of (task?.scope ?? []).entries()) checkGlob(glob, '', `task.scope[${index}]`)
  const artifacts = createArtifacts(runId, { backend: options.artifacts })
  // Artifacts in memory end with their run; only stored ones are flushed when the workspace closes.
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

/** Returns the mode of a run. It is `act` once the plan of the run is approved. */
export function modeOf(workspace: WorkspaceState, run: RunState): 'act' | 'plan' {
  return isInPlanMode(workspace, run) ? 'plan' : 'act'
}

/** Returns a copy without the fields that are `undefined`. */
export function omitUndefined(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

/** Returns the `call` of a run in a dialect. */
function openDialectCall(context: StepContext, dialect: Dialect, host: DialectHost): DialectRun['call'] {
  const call = createDialectCall(dialect, host)
  return async (rawName, input, options) => {
    const name = toToolName(rawName)
    const step = { type: 'spoken', name, input } as const
    let checked: CallOptions
    try {
      checked = checkCallOptions('call()', options)
    } catch (error) {
      const refused = { ...step, refusedOptions: toFailure(error).message }
      return recordStep(context, refused, {}, () => call(name, input, {}, error))
    }
    return recordStep(context, step, checked, (callOptions) => call(name, input, callOptions))
  }
}

/** Returns what a dialect needs of a run. */
function createDialectHost(workspace: WorkspaceState, run: RunState): DialectHost {
  return {
    callTool: (name, input, options) => callTool(workspace, run, name, input, options),
    explain: (tool, input, dialectTools) => evaluateExplained(workspace, run, tool, input, dialectTools),
    noteShown: run.readHistory.noteVersion,
    shownVersion: (path) => shownVersion(workspace, run, path),
    useNullDevice: (access, options) => callTool(workspace, run, createNullDeviceCall(access), {}, options),
    rejectCall: async (name, reason, options) =>
      (await callTool(workspace, run, createRejectedCall(name, reason), {}, options)) as Failure,
    fieldsOf(name) {
      const tool = workspace.tools.get(name)
      // An own tool in place of a built-in one decides by its own schema what it accepts.
      return tool && builtinTools.some((builtin) => Object.is(builtin, tool))
        ? Object.keys(tool.input.shape)
        : undefined
    },
    mutates: (name) => workspace.tools.get(name)?.mutates === true,
    unavailableReason(name) {
      if (workspace.tools.has(name)) return undefined
      return (
        workspace.unavailableTools.get(name) ??
        new ToolError('UNKNOWN_TOOL', `${name} is not in this workspace's tool set`)
      )
    },
  }
}

/** Returns the name of a tool as text, whatever the caller passed. */
function toToolName(name: unknown): string {
  return typeof name === 'string' ? name : `(${typeof name})`
}

/** Returns the latest version of a file that the run was shown. Policy applies to the call that uses it, not here. */
async function shownVersion(workspace: WorkspaceState, run: RunState, requestedPath: string): Promise<string> {
  let path: Path
  try {
    path = await workspace.backend.canonical(parsePath(requestedPath))
  } catch {
    return NO_VERSION
  }
  return run.readHistory.latestVersion(path) ?? NO_VERSION
}

const NO_VERSION = '0'.repeat(64)

function reportOf(run: RunState, sinks: readonly AuditSink[]): RunReport {
  const report = findReport(run, sinks)
  if (report !== undefined) return report
  throw new TypeError('A report needs an audit sink that keeps its records, such as memorySink() or jsonlSink()')
}

/** Returns the report of a run, or `undefined` if no sink keeps its records. */
function findReport({ id, actor, task }: RunState, sinks: readonly AuditSink[]): RunReport | undefined {
  const records = sinks.find((sink) => sink.records !== undefined)?.records?.()
  if (records === undefined) return undefined
  return reportRun(
    { id, actor, task },
    records.filter(({ runId }) => runId === id),
  )
}
