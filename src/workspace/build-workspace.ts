import { type AuditSink, verifyAudit } from '../audit/audit-log.ts'
import { memorySink } from '../audit/sinks.ts'
import type { OverlayBackend } from '../backends/overlay/index.ts'
import { approvePlans } from '../call/approve-plans.ts'
import { callOptionTable, RefusedOptions } from '../call/call-options.ts'
import { hideTokens } from '../call/hide-tokens.ts'
import { isInPlanMode } from '../call/plan-mode.ts'
import { requireOpen } from '../call/require-open.ts'
import { policyCall, type RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { classifyPath } from '../files/classify/index.ts'
import type { GitHost } from '../git/provider.ts'
import type { WorkspaceHistory } from '../history/journal.ts'
import type { CallPolicy } from '../policy/evaluation.ts'
import { memoryParking } from '../policy/parked-calls.ts'
import { higher } from '../policy/taint.ts'
import type { Backend } from '../storage/backend.ts'
import type { Tool } from '../tools/define-tool.ts'
import { checkArgument, checkOptions, isListOf, isText, refuseSurplusOf } from '../util/check-options.ts'
import { createWorkspaceState, requireOwnName, type ToolSource } from './create-state.ts'
import type { OpenDialect } from './dialect-run.ts'
import { modeOf, omitUndefined, openRun, startRun } from './open-run.ts'
import { type RunOptions, runOptions, type StateOptions, type WorkspaceOptions } from './options.ts'
import type { Recorder } from './recorder.ts'
import { checkedStep, recordStep, type StepContext } from './run-step.ts'
import type { ToolDescription, Workspace, WorkspaceRun } from './types.ts'

/**
 * Builds a workspace from options whose types are checked.
 *
 * @param source the built-in tools of the entry that creates the workspace
 * @param dialect whose names and shapes the tools have
 * @throws TypeError for invalid options
 */
export async function buildWorkspace(
  options: Omit<WorkspaceOptions, 'dialect'>,
  source: ToolSource,
  dialect?: OpenDialect,
): Promise<Workspace> {
  const sinks = sinksOf(options)
  const backend = await backendOf(options)
  const workspace = await createWorkspaceState({ ...options, backend }, source, sinks, dialect)
  await requireOwnName(workspace)
  if (workspace.memory !== undefined) await (await import('./label-notes.ts')).labelNotes(workspace)
  const recorder = await recorderOf(workspace, options, dialect)
  if (recorder === undefined) return openWorkspace({ workspace, options, source, dialect, sinks })
  const { approve } = recorder
  const recordedOptions = approve === undefined ? options : { ...options, approve }
  return openWorkspace({ workspace, options: recordedOptions, source, dialect, sinks, recorder })
}

async function backendOf({ backend, mounts: parts }: StateOptions): Promise<Backend> {
  if (backend !== undefined && parts === undefined) return backend
  if (backend !== undefined)
    throw new TypeError('createWorkspace takes either a backend or mounts: mount the backend at ""')
  if (parts === undefined) throw new TypeError('createWorkspace needs either a backend or mounts')
  const { mounts } = await import('../storage/mounts.ts')
  return mounts(parts)
}

/** What a workspace is opened with. */
interface WorkspaceParts {
  readonly workspace: WorkspaceState
  readonly options: WorkspaceOptions
  readonly source: ToolSource
  readonly dialect: OpenDialect | undefined
  readonly sinks: readonly AuditSink[]
  readonly recorder?: Recorder
  /** Called on closing: removes a fork from the listeners of its origin. */
  readonly leave?: () => void
}

/** Opens a workspace over its state. */
function openWorkspace(parts: WorkspaceParts): Workspace {
  const { workspace, options, dialect, sinks, recorder, leave } = parts
  const records = () => sinks.find((sink) => sink.records !== undefined)?.records?.() ?? []
  const run = startRun(workspace, options, options.run ?? {})
  const context: StepContext = { workspace, run, recorder }
  return withoutSurplus<Workspace>({
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
    run(newOptions) {
      requireOpen(workspace)
      const newRun = startRun(workspace, options, checkOptions<RunOptions>('run()', newOptions, runOptions))
      return withoutSurplus(openRun(workspace, newRun, newRun, dialect, sinks, recorder))
    },
    fork: async (newOptions) => {
      requireOpen(workspace)
      const forkOptions = checkOptions<RunOptions>('fork()', newOptions, runOptions)
      return forkWorkspace(parts, run, forkOptions)
    },
    commit: async (options) => (await import('./commit-overlay.ts')).commitOverlay(workspace, run, options),
    merge: async (options) => (await import('./commit-overlay.ts')).mergeOverlay(workspace, run, options),
    resume: (id, answer, callOptions) =>
      checkedStep(context, { type: 'resume', input: { id, answer } }, callOptions, callOptionTable, async (options) => {
        const { resumeCall } = await import('../call/resume.ts')
        return hideTokens(await resumeCall(workspace, run, id, answer, options))
      }),
    git: whileOpen(workspace, options.git?.open(gitHost(workspace, run))),
    async approvePlan(planOptions) {
      const { by } = checkOptions<{ readonly by?: string }>('approvePlan()', planOptions, { by: isText })
      const step = { type: 'approvePlan', input: omitUndefined({ by }) } as const
      await recordStep(context, step, {}, () => approvePlans(workspace, by))
    },
    history: () => historyOf(workspace),
    subscribe: workspace.events.subscribe,
    notifyExternalChange(paths) {
      const changed =
        paths === undefined ? paths : checkArgument('notifyExternalChange()', 'paths', paths, isListOf(isText))
      workspace.events.emit({ type: 'changed', paths: changed, listing: true })
    },
    auditRecords: records,
    verifyAudit: () => sinks.find((sink) => sink.records !== undefined)?.verify?.() ?? verifyAudit(records()),
    close: async () => (await import('./close-parts.ts')).closeParts(workspace, recorder, leave),
  })
}

/** The methods that refuse a call for its options, which are their last parameter. */
const calls = /^(call|callTool|resume|consult|undo|rollback|commit|merge)$/

/** Makes the methods of a workspace or a run refuse surplus arguments. */
function withoutSurplus<R extends WorkspaceRun>(opened: R): R {
  const { own = {} } = opened as { readonly own?: object }
  for (const object of [opened, own]) {
    refuseSurplusOf(object, (name, error) => {
      if (!calls.test(name)) throw error
      return new RefusedOptions(error.message)
    })
  }
  return opened
}

/**
 * Opens a workspace over an overlay of the files. Its run starts with the taint of the run that makes it. It has its own parked
 * calls: a call that waits here must never run there.
 */
async function forkWorkspace(parts: WorkspaceParts, run: RunState, runOptions: RunOptions): Promise<Workspace> {
  const { workspace, options, source, dialect, sinks } = parts
  const above = await openFork(workspace)
  const forkOptions = {
    ...options,
    backend: above,
    mounts: undefined,
    mode: isInPlanMode(workspace, run) ? ('plan' as const) : ('act' as const),
    parked: memoryParking(),
  }
  const fork = await createWorkspaceState(forkOptions, source, sinks, dialect, workspace)
  const taint = higher(runOptions.taint, run.taint.origin())
  const forkRun = { ...runOptions, ...(taint === undefined ? {} : { taint }) }
  return openWorkspace({
    ...{ workspace: fork, source, dialect, sinks },
    options: { ...options, run: forkRun, parked: forkOptions.parked },
    leave: () => workspace.commitListeners.delete(above),
  })
}

/** Opens the overlay of a fork over the present state: commits wait until it is there. */
async function openFork({ backend, commitListeners }: WorkspaceState): Promise<OverlayBackend> {
  const opening = import('../backends/overlay/index.ts').then(({ overlay }) => {
    const above = overlay(backend, undefined, { closesLower: false })
    commitListeners.add(above)
    return above
  })
  const wait = { hold: () => opening.then(nothing, nothing) }
  commitListeners.add(wait)
  try {
    return await opening
  } finally {
    commitListeners.delete(wait)
  }
}

const nothing = () => {}

/** Returns the undo history, with the labels of the contents and names that the workspace has written, and its refusals beside secrets. */
function historyOf({ journal, fileLabels, nameLabels, secretRefusals }: WorkspaceState): WorkspaceHistory {
  return {
    ...journal.history(),
    ...(fileLabels.highest === undefined ? {} : { labels: [...fileLabels] }),
    ...(nameLabels.highest === undefined ? {} : { nameLabels: [...nameLabels] }),
    ...(secretRefusals.count === 0 ? {} : { secretRefusals: secretRefusals.count }),
  }
}

/** Makes the methods of a repository refuse once the workspace is closed. */
function whileOpen<R extends object | undefined>(workspace: WorkspaceState, repository: R): R {
  for (const [name, method] of Object.entries(repository ?? {})) {
    Reflect.set(repository as object, name, async (...args: unknown[]) => {
      requireOpen(workspace)
      return method(...args)
    })
  }
  return repository
}

/** Returns git's access to a workspace: it reads the files that policy shows, and its changes of files are calls. */
function gitHost(workspace: WorkspaceState, run: RunState): GitHost {
  let known: { readonly task: RunState['task']; readonly policy: CallPolicy } | undefined
  // The task of the run changes when a plan is approved.
  const policy = () => {
    if (known?.task !== run.task || known === undefined) {
      known = { task: run.task, policy: workspace.policy.forCall(policyCall(run, 'git_add', {}, undefined)) }
    }
    return known.policy
  }
  return {
    backend: workspace.backend,
    mayRead: (path) => policy().decide('file:read', path, classifyPath(path)) === 'allow',
    change: async (...checkout) => (await import('./git-operations.ts')).checkOut(workspace, run, ...checkout),
    push: async (request) => (await import('./git-operations.ts')).push(workspace, run, request),
    now: workspace.clock,
  }
}

/** Returns the tools that are listed to models. */
function toolsOf(workspace: WorkspaceState, dialect: OpenDialect | undefined): Pick<Workspace, 'tools'> {
  if (dialect === undefined) return { tools: [...workspace.tools.values()].map((tool) => describe(workspace, tool)) }
  const dialectTools = { dialect: dialect.dialect, tools: dialect.toolsOf(workspace) }
  return dialectTools as unknown as Pick<Workspace, 'tools'>
}

function describe(workspace: WorkspaceState, tool: Tool): ToolDescription {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: workspace.runnerOf(tool).inputSchema(tool),
    outputSchema: tool.output,
    permission: tool.permission,
    mutates: tool.mutates,
    idempotent: tool.idempotent,
  }
}

async function recorderOf(
  workspace: WorkspaceState,
  { record, approve }: StateOptions,
  dialect: OpenDialect | undefined,
): Promise<Recorder | undefined> {
  if (record === undefined) return undefined
  return (await import('./recorder.ts')).recorderOf(workspace, record, approve, dialect?.dialect.name)
}

function sinksOf({ audit }: WorkspaceOptions): readonly AuditSink[] {
  if (audit === undefined) return [memorySink()]
  const sinks: readonly AuditSink[] = [audit].flat()
  if (sinks.length === 0) throw new TypeError('Option "audit" of createWorkspace() has no sink')
  return sinks
}
