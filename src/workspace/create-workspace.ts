import { type AuditSink, verifyAudit } from '../audit/audit-log.ts'
import { memorySink } from '../audit/sinks.ts'
import { isOverlay, overlay } from '../backends/overlay/index.ts'
import { callTool } from '../call/call-tool.ts'
import { approvePlans, isInPlanMode } from '../call/plan-mode.ts'
import { resumeCall } from '../call/resume.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { dialectToolsFor } from '../dialects/runtime/run-dialect-tool.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { ToolError, toFailure } from '../errors.ts'
import { classifyPath } from '../files/classify/index.ts'
import type { GitHost } from '../git/provider.ts'
import { memoryParking } from '../policy/parked-calls.ts'
import type { Tool } from '../tools/define-tool.ts'
import { createWorkspaceState, requireOwnName } from './create-state.ts'
import { modeOf, omitUndefined, openRun, recordStep, startRun } from './open-run.ts'
import { acceptOperation, checkoutOperation } from './operations.ts'
import type { DialectWorkspaceOptions, StateOptions, WorkspaceOptions } from './options.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import type { DialectWorkspace, ToolDescription, Workspace } from './types.ts'

export type { DialectWorkspaceOptions, RunOptions, WorkspaceOptions } from './options.ts'
export type { ToolResult } from './tool-types.ts'
export type {
  DialectRun,
  DialectWorkspace,
  Explanation,
  ToolDescription,
  UndoOptions,
  Workspace,
  WorkspaceRun,
} from './types.ts'

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
export function createWorkspace<const Extra extends readonly Tool[] = readonly []>(
  options: DialectWorkspaceOptions<Extra>,
): Promise<DialectWorkspace<Extra>>
export function createWorkspace<const Extra extends readonly Tool[] = readonly []>(
  options: WorkspaceOptions<Extra>,
): Promise<Workspace<Extra>>
export async function createWorkspace({
  dialect,
  ...options
}: WorkspaceOptions | DialectWorkspaceOptions): Promise<Workspace | DialectWorkspace> {
  if (dialect !== undefined && dialect.versions !== true && options.staleGuard === 'shown') {
    throw new TypeError(`The dialect "${dialect.name}" names no versions, which staleGuard 'shown' demands`)
  }
  const sinks = sinksOf(options)
  const workspace = createWorkspaceState(options, sinks)
  await requireOwnName(workspace)
  const recorder = recorderOf(workspace, options, dialect)
  if (recorder === undefined) return openWorkspace(workspace, options, dialect, sinks)
  const { approve } = recorder
  const asking = approve === undefined ? options : { ...options, approve }
  return openWorkspace(workspace, asking, dialect, sinks, () => {}, recorder)
}

/** `leave`: takes a fork out of those that its origin tells of changes. */
function openWorkspace(
  workspace: WorkspaceState,
  options: WorkspaceOptions,
  dialect: Dialect | undefined,
  sinks: readonly AuditSink[],
  leave = () => {},
  recorder?: Recorder,
): Workspace {
  const records = () => sinks.find((sink) => sink.records !== undefined)?.records?.() ?? []
  const run = startRun(workspace, options, options.run)
  return {
    ...openRun(workspace, run, undefined, dialect, sinks, recorder),
    ...toolsOf(workspace, dialect),
    get task() {
      return run.task
    },
    get plan() {
      return run.plan
    },
    get mode() {
      return modeOf(workspace, run)
    },
    run(other) {
      const opened = startRun(workspace, options, other)
      return openRun(workspace, opened, opened, dialect, sinks, recorder)
    },
    async fork(other = {}) {
      const above = overlay(workspace.backend, undefined, { closesLower: false })
      // What waits here must never be carried out there.
      const own = {
        ...options,
        backend: above,
        mounts: undefined,
        mode: isInPlanMode(workspace, run) ? ('plan' as const) : ('act' as const),
        parked: memoryParking(),
      }
      const forked = createWorkspaceState(own, sinks, workspace)
      workspace.commitListeners.add(above)
      return openWorkspace(forked, { ...options, run: other, parked: own.parked }, dialect, sinks, () =>
        workspace.commitListeners.delete(above),
      )
    },
    async commit({ reason, ...how } = {}) {
      try {
        const pending = isOverlay(workspace.backend) ? await workspace.backend.pending() : []
        return await callTool(workspace, run, acceptOperation(workspace, pending), omitUndefined({ reason }), how)
      } catch (error) {
        return toFailure(error)
      }
    },
    resume: (id, answer, how) =>
      recordStep(recorder, run, { type: 'resume', input: { id, answer } }, how, (options) =>
        resumeCall(workspace, run, id, answer, options),
      ),
    git: options.git?.open(gitHost(workspace, run)),
    approvePlan: ({ by } = {}) =>
      recordStep(recorder, run, { type: 'approvePlan', input: omitUndefined({ by }) }, undefined, () =>
        approvePlans(workspace, by),
      ),
    history: () => workspace.journal.history(),
    subscribe: workspace.events.subscribe,
    notifyExternalChange: (paths) =>
      workspace.events.emit({ type: 'changed', paths: paths && [...paths], listing: true }),
    auditRecords: records,
    verifyAudit: () => sinks.find((sink) => sink.records !== undefined)?.verify?.() ?? verifyAudit(records()),
    async close() {
      await Promise.all([...workspace.processes].map((each) => each.close()))
      // Everything is closed, whatever fails; then that is told.
      const [shell] = await Promise.allSettled([workspace.origin === undefined ? workspace.shell?.close() : undefined])
      const ends = await Promise.allSettled([
        ...[...workspace.artifacts].map((artifacts) => artifacts.flush()),
        ...(workspace.origin === undefined ? [workspace.audit.close()] : []),
        ...(recorder === undefined ? [] : [recorder.flush()]),
      ])
      leave()
      await workspace.backend.close()
      for (const end of [shell, ...ends]) if (end.status === 'rejected') throw end.reason
    },
  }
}

/** What git may do in a workspace: read what policy shows, and change files by the way that every change takes. */
function gitHost(workspace: WorkspaceState, run: RunState): GitHost {
  const policy = workspace.policy.forCall({ tool: 'git_add', input: {} })
  return {
    backend: workspace.backend,
    mayRead: (path) => policy.decide('file:read', path, classifyPath(path)) === 'allow',
    async change(changes, what) {
      const result = await callTool(workspace, run, checkoutOperation(changes, what), {})
      if (result.ok) return
      const { code, message, ok: _, ...details } = result
      throw new ToolError(code, message, details)
    },
    now: workspace.clock,
  }
}

/** What a model may be told of. */
function toolsOf(workspace: WorkspaceState, dialect: Dialect | undefined): Pick<Workspace, 'tools'> {
  if (dialect === undefined) return { tools: [...workspace.tools.values()].map(describe) }
  const mutates = (name: string) => workspace.tools.get(name)?.mutates === true
  const spoken = { dialect, tools: dialectToolsFor(dialect, (name) => workspace.tools.has(name), mutates) }
  return spoken as unknown as Pick<Workspace, 'tools'>
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

function recorderOf(
  workspace: WorkspaceState,
  { record, approve }: StateOptions,
  dialect: Dialect | undefined,
): Recorder | undefined {
  if (record === undefined) return undefined
  const {
    policy,
    tools,
    unavailableTools: withheld,
    isReadOnly: sealed,
    mode,
    limits,
    staleGuard,
    keepCwd,
    shell,
    clock,
  } = workspace
  const opened = {
    policy: policy.data,
    tools: [...tools.keys(), ...withheld.keys()],
    readOnly: sealed,
    ...{ mode, limits, staleGuard, keepCwd },
    ...(shell === undefined ? {} : { shell: shell.name }),
    ...(dialect === undefined ? {} : { dialect: dialect.name }),
  }
  return createRecorder({ write: record, workspace: opened, clock, approve })
}

function sinksOf({ audit }: WorkspaceOptions): readonly AuditSink[] {
  if (audit === undefined) return [memorySink()]
  return Array.isArray(audit) ? (audit as readonly AuditSink[]) : [audit as AuditSink]
}
