import { type AuditSink, createAudit } from '../audit/audit-log.ts'
import { createEvents } from '../call/state/events.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import { createDocumentCache } from '../files/text/document.ts'
import { createWorkspaceDiffs } from '../git/workspace-diff.ts'
import { createJournal } from '../history/journal.ts'
import { resolveLimits } from '../limits.ts'
import { type MemoryPolicy, memoryPath } from '../policy/memory-policy.ts'
import { memoryParking } from '../policy/parked-calls.ts'
import { compilePolicy } from '../policy/policy.ts'
import { compileLabels } from '../policy/taint.ts'
import type { Backend } from '../storage/backend.ts'
import { mounts } from '../storage/mounts.ts'
import { readOnly } from '../storage/read-only.ts'
import type { Tool } from '../tools/define-tool.ts'
import { builtinTools } from '../tools/index.ts'
import { resolveToolSet } from '../tools/tool-sets.ts'
import type { StateOptions, WorkspaceOptions } from './options.ts'

export function createWorkspaceState(
  options: StateOptions,
  sinks: readonly AuditSink[],
  origin?: WorkspaceState,
): WorkspaceState {
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
    if (file !== undefined && backend.containsPhysicalPath?.(file) === true) {
      throw new TypeError(
        'The audit file lies inside the workspace, where an agent could reach it; choose another place',
      )
    }
  }
  const { directory } = options.parked ?? {}
  if (directory !== undefined && backend.containsPhysicalPath?.(directory) === true) {
    throw new TypeError('Parked calls lie inside the workspace, where an agent could reach them; choose another place')
  }
  return {
    backend: sealed ? readOnly(backend) : backend,
    policy,
    labels: compileLabels(policy.data.labels),
    // A fork shows what this workspace shows now.
    fileLabels: new Map(origin?.fileLabels),
    tools: new Map(registered.map((tool) => [tool.name, tool])),
    unavailableTools: withheld,
    limits,
    toolCallsPerMinute,
    audit: origin?.audit ?? createAudit({ sinks }),
    journal: createJournal(limits.journalBytes, origin === undefined ? options.history : undefined),
    commitListeners: new Set(),
    processes: new Set(),
    artifacts: new Set(),
    origin,
    documents: createDocumentCache(limits.cacheBytes),
    diffs: createWorkspaceDiffs(backend),
    git: options.git,
    parkedCalls: options.parked ?? memoryParking(),
    parkedRuns: new Map(),
    hooks: options.hooks ?? {},
    memory:
      policy.data.memory === undefined
        ? undefined
        : { path: memoryPath(policy.data.memory), acl: policy.data.memory.acl ?? false },
    staleGuard: options.staleGuard ?? 'hash',
    shell: options.shell,
    keepCwd: options.keepCwd ?? false,
    isReadOnly: sealed,
    clock: options.clock ?? Date.now,
    submittedPlans: new Map(),
    events: createEvents(),
    mode: options.mode ?? 'act',
  }
}

/** The rule that closes the notes names them: they must have no other name. */
export async function requireOwnName({ backend, memory }: WorkspaceState): Promise<void> {
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

function backendOf({ backend, mounts: parts }: StateOptions): Backend {
  if (backend !== undefined && parts === undefined) return backend
  if (parts !== undefined && backend === undefined) return mounts(parts)
  throw new TypeError('createWorkspace needs either a backend or mounts')
}

/** The tools of the embedding program, each with a name of its own. */
function ownToolsOf({ extraTools: ownTools = [] }: StateOptions): readonly Tool[] {
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
