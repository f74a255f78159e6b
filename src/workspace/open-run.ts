import { createArtifacts } from '../audit/artifacts.ts'
import type { AuditRecord, AuditSink } from '../audit/audit-log.ts'
import type { RunReport } from '../audit/report.ts'
import { callOptionTable, checkCallOptions } from '../call/call-options.ts'
import { callTool } from '../call/call-tool.ts'
import { contextOfFiles } from '../call/files-context.ts'
import { hideTokens } from '../call/hide-tokens.ts'
import { isInPlanMode } from '../call/plan-mode.ts'
import { refuseUncalled } from '../call/refuse-uncalled.ts'
import { requireOpen } from '../call/require-open.ts'
import type { CallOptions, ResultOf } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import { createReadHistory } from '../history/read-history.ts'
import { ROOT } from '../paths/logical-path.ts'
import type { Approvals, ApprovalsOptions } from '../policy/approval.ts'
import { checkGlob } from '../policy/path-patterns.ts'
import { createRates } from '../policy/rate-limits.ts'
import { createTaint } from '../policy/taint.ts'
import { isText } from '../util/check-options.ts'
import { memoizeAsync } from '../util/memoize-async.ts'
import type { OpenDialect } from './dialect-run.ts'
import { createFiles } from './files.ts'
import type { RunOptions, WorkspaceOptions } from './options.ts'
import type { Recorder } from './recorder.ts'
import { checkedStep, operationOptions, type StepContext, toToolName, undoOptionTable } from './run-step.ts'
import type { Consulted, RollbackOptions, UndoOptions, Workspace, WorkspaceRun } from './types.ts'

/**
 * Opens the interface of a run.
 *
 * @param undoScope the run whose calls `undo` and `rollback` may revert; without it, the calls of all runs
 */
export function openRun(
  workspace: WorkspaceState,
  run: RunState,
  undoScope: RunState | undefined,
  dialect: OpenDialect | undefined,
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
  const callOwn = (rawName: unknown, input: unknown, options?: CallOptions) =>
    callWithNames(rawName, input, options).then(hideTokens)
  const inDialect = dialect?.openRun(context)
  const loadFiles = memoizeAsync(async () => (await import('./file-methods.ts')).openFiles(context))
  const files = createFiles(run.rates, loadFiles)
  contextOfFiles.set(files, context)
  const explainOwn = async (name: unknown, input: unknown) => {
    const { explainCall } = await import('./explain-call.ts')
    return explainCall(workspace, run, toToolName(name), input)
  }
  const explain = (name: unknown, input: unknown) =>
    inDialect?.explain(toToolName(name), input) ?? explainOwn(name, input)
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
    call: (inDialect?.call ?? callOwn) as WorkspaceRun['call'],
    callTool: (inDialect?.call ?? callOwn) as WorkspaceRun['callTool'],
    ...(inDialect === undefined
      ? {}
      : { own: { call: callOwn, callTool: callOwn, explain: explainOwn, explainTool: explainOwn } }),
    explain,
    explainTool: explain,
    // The embedding program gets the true names.
    files,
    checkpoint(label) {
      requireOpen(workspace)
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
    consult: (subject, options) => consult(context, subject, options, (show) => findReport(run, sinks, show)),
    async close() {
      await run.shell.processes.close()
      workspace.processes.delete(run.shell.processes)
    },
  }
}

/** Reads the policy or the report as a call. */
async function consult(
  { workspace, run }: StepContext,
  subject: unknown,
  options: unknown,
  report: (show: (record: AuditRecord) => AuditRecord) => Promise<RunReport | undefined>,
): Promise<ResultOf<Consulted>> {
  try {
    if (subject !== 'policy' && subject !== 'report') {
      throw new ToolError('INVALID_INPUT', 'consult() takes "policy" or "report"')
    }
    const { policyOperation, reportOperation } = await import('./introspection.ts')
    const operation = subject === 'policy' ? policyOperation(workspace, run) : reportOperation(workspace, run, report)
    const result = await callTool(
      workspace,
      run,
      operation,
      {},
      checkCallOptions('consult()', options, operationOptions),
    )
    return result as ResultOf<Consulted>
  } catch (error) {
    return refuseUncalled({ workspace, run }, 'consult', error)
  }
}

/** Creates the methods of a run that revert calls. */
function createReverts(context: StepContext, undoScope: RunState | undefined): Pick<Workspace, 'rollback' | 'undo'> {
  const { workspace, run } = context
  const methods = {
    rollback: (id: string, options?: RollbackOptions) =>
      checkedStep(
        context,
        { type: 'rollback', input: { id } },
        options,
        undoScope === undefined ? { ...undoOptionTable, runId: isText } : undoOptionTable,
        async (callOptions, further) => {
          const { rollbackOperation } = await import('./operations.ts')
          return callTool(
            workspace,
            run,
            rollbackOperation(workspace, undoScope),
            { checkpoint: id, ...further },
            callOptions,
          )
        },
      ),
    undo: (id: string, options?: UndoOptions) =>
      checkedStep(context, { type: 'undo', input: { id } }, options, undoOptionTable, async (callOptions, reason) => {
        const { undoOperation } = await import('./operations.ts')
        return callTool(workspace, run, undoOperation(workspace, undoScope), { callId: id, ...reason }, callOptions)
      }),
  }
  return methods as Pick<Workspace, 'rollback' | 'undo'>
}

/** Creates the state of a new run. */
export function startRun(
  workspace: WorkspaceState,
  options: WorkspaceOptions,
  { id, actor = 'agent', task, taint, plan, scopes = [] }: RunOptions,
): RunState {
  if (scopes.length > 0 && workspace.memory !== undefined && workspace.memory.acl !== true) {
    throw new TypeError('Scopes need memory.acl in the policy')
  }
  const ids = options.ids ?? (() => crypto.randomUUID())
  const runId = id ?? ids()
  if (workspace.runIds.has(runId)) throw new TypeError(`Another run has the id "${runId}"`)
  for (const [index, glob] of (task?.scope ?? []).entries()) checkGlob(glob, '', `task.scope[${index}]`)
  const artifacts = createArtifacts(runId, { backend: options.artifacts })
  // Artifacts in memory end with their run; only stored ones are flushed when the workspace closes.
  if (options.artifacts !== undefined) workspace.artifacts.add(artifacts)
  workspace.runIds.add(runId)
  return {
    id: runId,
    actor,
    scopes: [...scopes],
    task,
    plan,
    readHistory: createReadHistory(),
    seenVersions: new Set(),
    rates: createRates({
      limits: workspace.limits,
      toolCallsPerMinute: workspace.toolCallsPerMinute,
      clock: workspace.clock,
    }),
    taint: createTaint(taint),
    approvals: runApprovals({ approve: options.approve, ids }),
    artifacts,
    shell: { cwd: ROOT, processes: workspace.openProcesses(workspace.processes) },
    calls: 0,
    recordedTask: undefined,
  }
}

function runApprovals(options: ApprovalsOptions): RunState['approvals'] {
  let opened: Approvals | undefined
  return {
    hasHandler: options.approve !== undefined,
    get opened() {
      return opened
    },
    async open() {
      const { createApprovals } = await import('../policy/approval.ts')
      opened ??= createApprovals(options)
      return opened
    },
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

/** @throws TypeError if no sink keeps its records */
async function reportOf(run: RunState, sinks: readonly AuditSink[]): Promise<RunReport> {
  const report = await findReport(run, sinks)
  if (report !== undefined) return report
  throw new TypeError('A report needs an audit sink that keeps its records, such as memorySink() or jsonlSink()')
}

/** Returns the report of a run, or `undefined` if no sink keeps its records. */
async function findReport(
  { id, actor, task }: RunState,
  sinks: readonly AuditSink[],
  show = (record: AuditRecord) => record,
): Promise<RunReport | undefined> {
  const records = sinks.find((sink) => sink.records !== undefined)?.records?.()
  if (records === undefined) return undefined
  // The report shows the run as it is now, and not when its code is loaded.
  const ofRun = records.filter(({ runId }) => runId === id)
  const { reportRun } = await import('../audit/report.ts')
  return reportRun({ id, actor, task }, ofRun.map(show))
}
