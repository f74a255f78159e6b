import { type AuditSink, createAudit } from '../audit/audit-log.ts'
import { createEvents } from '../call/state/events.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import { createDocumentCache } from '../files/text/document.ts'
import { openWorkspaceDiffs } from '../git/open-diffs.ts'
import { createJournal, type WorkspaceHistory } from '../history/journal.ts'
import { resolveLimits } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Policy } from '../policy/evaluation.ts'
import type { Label } from '../policy/labels.ts'
import type { MemoryPolicy } from '../policy/memory-policy.ts'
import { memoryParking } from '../policy/parked-calls.ts'
import { FileLabels, isLabel } from '../policy/taint.ts'
import type { Backend } from '../storage/backend.ts'
import { readOnly } from '../storage/read-only.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { OpenDialect } from './dialect-run.ts'
import {
  openBackgroundCommands,
  openChecks,
  openLabels,
  openOwnTools,
  openPolicy,
  requireNoIdleOptions,
} from './open-parts.ts'
import type { StateOptions } from './options.ts'

/** The built-in tools that a workspace can have. */
export interface ToolSource {
  readonly builtin: readonly Tool[]
  /**
   * Returns the names of the tools that the workspace has.
   *
   * @param registry the names of all its built-in and own tools
   * @throws TypeError for an invalid set
   */
  select(registry: readonly string[]): readonly string[]
}

/**
 * Creates the state of a workspace from its options.
 *
 * @param dialect whose tools the policy may name
 * @param origin the workspace that this one is a fork of
 * @throws TypeError for invalid options
 */
export async function createWorkspaceState(
  options: StateOptions & { readonly backend: Backend },
  source: ToolSource,
  sinks: readonly AuditSink[],
  dialect: OpenDialect | undefined,
  origin?: WorkspaceState,
): Promise<WorkspaceState> {
  if (dialect !== undefined) {
    // An own tool replaces the built-in tool of its name.
    const toolsByName = new Map([...source.builtin, ...(options.extraTools ?? [])].map((tool) => [tool.name, tool]))
    dialect.requireTools([...toolsByName.values()])
  }
  const { policy, memory, requireKnownTools } = await openPolicy(options.policy, dialect)
  const { backend, extraTools = [] } = options
  const { toolCallsPerMinute, ...policyLimits } = policy.data.limits ?? {}
  const limitChanges = { ...policyLimits, ...options.limits }
  const limits = resolveLimits(limitChanges)
  const isReadOnly = options.readOnly === true || policy.data.preset === 'readOnly'
  const ownTools = await openOwnTools(extraTools, limits)
  const { tools, unavailableTools } = selectTools(options, source, ownTools.names, policy)
  requireKnownTools(extraTools)
  const labels = await openLabels(policy.data)
  for (const { file } of sinks) {
    if (file !== undefined && backend.containsPhysicalPath?.(file) === true) {
      throw new TypeError(
        'The audit file is inside the workspace, where an agent could change it; choose another location',
      )
    }
  }
  const { directory } = options.parked ?? {}
  if (directory !== undefined && backend.containsPhysicalPath?.(directory) === true) {
    throw new TypeError(
      'The parked calls are inside the workspace, where an agent could change them; choose another location',
    )
  }
  const checks = await openChecks(options.checks)
  await requireNoIdleOptions(options, [...tools.keys(), ...unavailableTools.keys()])
  return {
    backend: isReadOnly ? readOnly(backend) : backend,
    policy,
    ...labels,
    // A fork starts with the labels of its origin.
    fileLabels: new FileLabels(origin === undefined ? earlierLabels(options.history?.labels) : origin.fileLabels),
    nameLabels: new FileLabels(origin === undefined ? earlierLabels(options.history?.nameLabels) : origin.nameLabels),
    tools,
    unavailableTools,
    ownTools: new Set(extraTools),
    runnerOf: ownTools.runnerOf,
    limits,
    limitChanges,
    toolCallsPerMinute,
    audit: origin?.audit ?? createAudit({ sinks }),
    journal: createJournal(limits.journalBytes, origin === undefined ? options.history : undefined),
    runIds: origin?.runIds ?? new Set(options.history?.entries.map(({ runId }) => runId)),
    secretRefusals: origin?.secretRefusals ?? { count: options.history?.secretRefusals ?? 0 },
    commitListeners: new Set(),
    openProcesses: await openBackgroundCommands(options.shell, limits),
    processes: new Set(),
    ends: new Set(),
    artifacts: new Set(),
    origin,
    ...{ documents: createDocumentCache(limits.cacheBytes), withoutSecrets: new Map(), secretScans: new Map() },
    diffs: openWorkspaceDiffs(backend),
    git: options.git,
    parkedCalls: options.parked ?? memoryParking(),
    parkedRuns: new Map(),
    hooks: options.hooks ?? {},
    checks,
    memory,
    staleGuard: options.staleGuard ?? 'hash',
    shell: options.shell,
    keepCwd: options.keepCwd ?? false,
    isReadOnly,
    clock: options.clock ?? Date.now,
    submittedPlans: new Map(),
    events: createEvents(),
    ...{ mode: options.mode ?? 'act', isClosed: false },
  }
}

/** @throws TypeError for a label that does not exist */
function earlierLabels(labels: WorkspaceHistory['labels'] = []): readonly (readonly [Path, Label])[] {
  return labels.map(([path, label]) => {
    if (isLabel(label)) return [path, label]
    throw new TypeError('The option history is not a result of workspace.history()')
  })
}

/**
 * Requires that the notes have one name only: the rule that protects them names their path.
 *
 * @throws TypeError if the path of the notes is a link, or has a different name in the storage
 */
export async function requireOwnName({ backend, memory }: WorkspaceState): Promise<void> {
  if (memory === undefined) return
  let path: string
  try {
    path = await backend.canonical(memory.path)
  } catch {
    path = ''
  }
  if (path !== memory.path) {
    throw new TypeError(
      `The memory path ${JSON.stringify(memory.path)} is a link, or has a different name in the storage`,
    )
  }
}

/** Selects the available tools of the workspace's set, and the reason for each unavailable one. */
function selectTools(
  options: StateOptions,
  { builtin, select }: ToolSource,
  ownNames: ReadonlySet<string>,
  { data: { preset, memory } }: Policy,
): Pick<WorkspaceState, 'tools' | 'unavailableTools'> {
  const { extraTools = [], tools: set = 'full', mode } = options
  // An own tool replaces the built-in tool of its name.
  const registry = [...builtin.filter(({ name }) => !ownNames.has(name)), ...extraTools]
  const registryNames = registry.map(({ name }) => name)
  const names = new Set([...select(registryNames), ...ownNames])
  // A named set contains the tool that its mode needs.
  if (mode === 'plan' && typeof set === 'string') names.add('submit_plan')
  const tools = new Map<string, Tool>()
  const unavailableTools = new Map<string, ToolError>()
  for (const tool of registry) {
    if (!names.has(tool.name)) continue
    const isOwn = ownNames.has(tool.name)
    const reason = reasonUnavailable(tool, isOwn, options, memory, preset === 'readOnly')
    if (reason === undefined) tools.set(tool.name, tool)
    else unavailableTools.set(tool.name, reason)
  }
  return { tools, unavailableTools }
}

/** Returns the reason why a tool is unavailable in this workspace, or `undefined` if it is available. */
function reasonUnavailable(
  tool: Tool,
  isOwn: boolean,
  { shell, mode, readOnly: isSealed }: StateOptions,
  memory: MemoryPolicy | undefined,
  isReadOnlyPolicy: boolean,
): ToolError | undefined {
  const { name, mutates, permission } = tool
  const isCommand = permission.startsWith('command:')
  if (permission.startsWith('memory:') && memory === undefined) {
    return new ToolError('UNKNOWN_TOOL', `${name} needs a memory, and this workspace has none`)
  }
  if (name === 'memory_recall' && !isOwn && memory?.acl === true) {
    return new ToolError(
      'UNKNOWN_TOOL',
      'memory_recall ignores scopes, and the memory of this workspace is divided by scopes',
      {
        hint: 'Use memory_search and memory_get.',
      },
    )
  }
  if (permission === 'plan:submit' && mode !== 'plan') {
    return new ToolError('UNKNOWN_TOOL', `${name} is a tool of plan mode, and this workspace is not in plan mode`, {
      hint: 'No plan is needed here. Continue without one.',
    })
  }
  if (isCommand && shell === undefined) {
    return new ToolError('SHELL_UNAVAILABLE', `${name} needs a shell, and this workspace has none`, {
      hint: 'Work without commands. In code, a shell is added by createWorkspace({ shell: bash() }).',
    })
  }
  if (permission === 'command:background' && shell?.capabilities.background !== true) {
    return new ToolError('SHELL_UNAVAILABLE', `The shell ${shell?.name} cannot run commands in the background`)
  }
  if (!mutates || (isSealed !== true && !isReadOnlyPolicy)) return undefined
  // With `readOnly`, a shell whose every access is evaluated cannot change anything.
  if (isCommand && !isReadOnlyPolicy && shell?.capabilities.guarded === true) return undefined
  return new ToolError('READ_ONLY', `${name} changes files, and this workspace is read-only`)
}
