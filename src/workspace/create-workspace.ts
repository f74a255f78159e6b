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
import type { CoreOptions, DialectWorkspaceOptions, WorkspaceOptions } from './options.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import type { DialectWorkspace, ToolDescription, Workspace } from './types.ts'

export type { DialectWorkspaceOptions, RunOptions, WorkspaceOptions } from './options.ts'
export type { ToolInputs, ToolNames, ToolOutputs, ToolResult } from './tool-types.ts'
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
  const core = createWorkspaceState(options, sinks)
  await requireOwnName(core)
  const recorder = recorderOf(core, options, dialect)
  if (recorder === undefined) return openWorkspace(core, options, dialect, sinks)
  const { approve } = recorder
  const asking = approve === undefined ? options : { ...options, approve }
  return openWorkspace(core, asking, dialect, sinks, () => {}, recorder)
}

/** `leave`: takes a fork out of those that its origin tells of changes. */
function openWorkspace(
  core: WorkspaceState,
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
        mode: isInPlanMode(core, run) ? ('plan' as const) : ('act' as const),
        parked: memoryParking(),
      }
      const forked = createWorkspaceState(own, sinks, core)
      core.forks.add(above)
      return openWorkspace(forked, { ...options, run: other, parked: own.parked }, dialect, sinks, () =>
        core.forks.delete(above),
      )
    },
    async commit({ reason, ...how } = {}) {
      try {
        const pending = isOverlay(core.backend) ? await core.backend.pending() : []
        return await callTool(core, run, acceptOperation(core, pending), omitUndefined({ reason }), how)
      } catch (error) {
        return toFailure(error)
      }
    },
    resume: (id, answer, how) =>
      recordStep(recorder, run, { type: 'resume', input: { id, answer } }, how, (options) =>
        resumeCall(core, run, id, answer, options),
      ),
    git: options.git?.open(gitHost(core, run)),
    approvePlan: ({ by } = {}) =>
      recordStep(recorder, run, { type: 'approvePlan', input: omitUndefined({ by }) }, undefined, () =>
        approvePlans(core, by),
      ),
    history: () => core.journal.history(),
    subscribe: core.events.subscribe,
    notifyExternalChange: (paths) => core.events.emit({ type: 'changed', paths: paths && [...paths], listing: true }),
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
function gitHost(core: WorkspaceState, run: RunState): GitHost {
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

/** What a model may be told of. */
function toolsOf(core: WorkspaceState, dialect: Dialect | undefined): Pick<Workspace, 'tools'> {
  if (dialect === undefined) return { tools: [...core.tools.values()].map(describe) }
  const mutates = (name: string) => core.tools.get(name)?.mutates === true
  const spoken = { dialect, tools: dialectToolsFor(dialect, (name) => core.tools.has(name), mutates) }
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
  core: WorkspaceState,
  { record, approve }: CoreOptions,
  dialect: Dialect | undefined,
): Recorder | undefined {
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

function sinksOf({ audit }: WorkspaceOptions): readonly AuditSink[] {
  if (audit === undefined) return [memorySink()]
  return Array.isArray(audit) ? (audit as readonly AuditSink[]) : [audit as AuditSink]
}
