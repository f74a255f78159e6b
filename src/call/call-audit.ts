import { type AuditEntry, HIDDEN_VERSION, shaMap } from '../audit/audit-log.ts'
import { type Failure, ToolError } from '../errors.ts'
import { classifyPath, isOrdinaryFile } from '../files/classify/index.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import { isMutating, type Permission } from '../policy/permissions.ts'
import type { WorkPlan } from '../policy/plan.ts'
import type { Verdict } from '../policy/policy.ts'
import type { RefusedAccess } from '../shells/types.ts'
import type { Receipt, Version } from '../storage/backend.ts'
import type { AuthorizedChanges, CallAudit, CallStep } from './state/call.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** What a record says of a call's effect. */
type Effect = Pick<AuditEntry, 'pathsWritten' | 'oldSha256' | 'newSha256' | 'artifactUris'>

/** Of what a caller wrote: the audit marks secrets in it and cuts it further. */
const MOST_TEXT = 10_000
const NO_PATHS: readonly never[] = Object.freeze([])
const NO_VERSIONS = Object.freeze({})
const nothing: Effect = {
  pathsWritten: NO_PATHS,
  oldSha256: NO_VERSIONS,
  newSha256: NO_VERSIONS,
  artifactUris: NO_PATHS,
}

/** Opens the record of a call. Nothing is written before the intent or the refusal. */
export function openCallAudit(
  workspace: WorkspaceState,
  run: RunState,
  toolName: string,
  options: { readonly step?: string; readonly via?: string },
): CallAudit {
  run.calls += 1
  const started = workspace.clock()
  const toolCallId = `${run.id}-${run.calls}`
  const shownName = String(toolName).slice(0, MOST_TEXT)
  let step: CallStep = 'input'
  let planned: readonly Access[] = NO_PATHS
  let accesses: readonly GuardedAccess[] = NO_PATHS
  let reason: string | undefined
  let verdict: Verdict | undefined
  let intended = false
  let versions: Map<Path, string> | undefined
  const approvals: NonNullable<AuditEntry['approvals']>[number][] = []
  let plan: WorkPlan | undefined
  let labels: Pick<AuditEntry, 'label' | 'taint'> | undefined
  let read: Path[] = []
  const refusals = new Map<string, RefusedAccess>()

  const record: CallAudit = {
    id: toolCallId,
    started,
    isCounted: false,
    warnings: [],
    enterStep: (next) => {
      step = next
    },
    setPlannedAccesses: (plan) => {
      planned = plan
    },
    setAccesses(reached, input) {
      accesses = reached
      reason = typeof input.reason === 'string' ? input.reason : undefined
    },
    addRead: (path) => {
      read.push(path)
    },
    addRefusal(refusal) {
      refusals.set(`${refusal.permission} ${refusal.path} ${refusal.code}`, refusal)
    },
    setVerdict: (decided) => {
      verdict = decided
    },
    addReadVersion: ({ path, sha256 }) => {
      versions ??= new Map()
      versions.set(path, hidden(path, sha256))
    },
    addApproval({ verdict }, how, by) {
      const rules = verdict.rules.filter(({ action }) => action === 'ask').map(({ name }) => name)
      approvals.push({ how, rules: [...new Set(rules)], ...(by === undefined ? {} : { by }) })
    },
    setPlan: (given) => {
      plan = given
    },
    setLabel(label, taint) {
      if (taint !== undefined) labels = { label, taint: { ...taint } }
    },
    async writeIntent({ changes: known }) {
      read = readPaths()
      try {
        const written = workspace.audit.record(entry('intent', started, intentOf(known)))
        if (written !== undefined) await written
        intended = true
      } catch {
        // A read changes nothing, so it may go on without its record; a mutation may not.
        if (known.length > 0 || plan !== undefined) {
          throw new ToolError('AUDIT_FAILED', 'The audit record could not be written, so nothing was changed')
        }
        warn()
      }
    },
    writeOutcome: ({ applied }, artifactUri) => append('outcome', outcomeOf(applied, artifactUri)),
    async writeRefusal(failure) {
      read = readPaths()
      await append(intended ? 'outcome' : 'refused', nothing, failure)
    },
  }

  function entry(phase: AuditEntry['phase'], timestamp: number, effect: Effect, failure?: Failure): AuditEntry {
    const refused = failure !== undefined
    return {
      phase,
      runId: run.id,
      stepId: options.step,
      toolCallId,
      toolName: shownName,
      via: options.via,
      actor: run.actor,
      timestamp,
      permission: (accesses.find((access) => isMutating(access.permission)) ?? accesses[0])?.permission,
      pathsAsked: refused ? planned.slice(0, 100).map(({ path }) => path.slice(0, MOST_TEXT)) : undefined,
      pathsRead: read,
      pathsSearched: pathsSearched(),
      pathsWritten: effect.pathsWritten,
      oldSha256: effect.oldSha256,
      newSha256: effect.newSha256,
      policyDecision: { decision: verdict?.decision ?? 'none', rules: rulesOf(verdict, failure) },
      reason,
      artifactUris: effect.artifactUris,
      durationMs: phase === 'intent' ? undefined : timestamp - started,
      code: failure?.code,
      step: refused ? step : undefined,
      label: labels?.label,
      taint: labels?.taint,
      task: taskOf(run),
      plan,
      approvals: approvals.length === 0 ? undefined : [...approvals],
      readSha256: phase === 'outcome' ? readVersions(effect) : undefined,
      refusals: refusals.size === 0 || phase === 'intent' ? undefined : [...refusals.values()].map(told),
    }
  }

  async function append(phase: AuditEntry['phase'], effect: Effect, failure?: Failure): Promise<void> {
    try {
      const written = workspace.audit.record(entry(phase, workspace.clock(), effect, failure))
      if (written !== undefined) await written
    } catch {
      warn()
    }
  }

  function readVersions({ pathsWritten }: Effect): AuditEntry['readSha256'] {
    if (versions === undefined) return undefined
    const seen = [...versions].filter(([path]) => !pathsWritten.includes(path))
    return seen.length === 0 ? undefined : shaMap(seen)
  }

  function warn(): void {
    const warning = 'The audit record of this call could not be written'
    if (!record.warnings.includes(warning)) record.warnings.push(warning)
  }

  /** Files that were read, and those that were asked for by name, each once and sorted. */
  function readPaths(): Path[] {
    const paths = [...read]
    for (const { permission, path, recursive } of accesses) if (!isMutating(permission) && !recursive) paths.push(path)
    return paths.length === 1 ? paths : [...new Set(paths)].sort()
  }

  /** Scopes, which are no files: what the call was shown of them is among the paths read. */
  function pathsSearched(): readonly Path[] | undefined {
    if (!accesses.some(({ recursive }) => recursive)) return undefined
    const scopes = accesses.filter(({ permission, recursive }) => recursive && !isMutating(permission))
    return scopes.length === 0 ? undefined : scopes.map(({ path }) => path)
  }

  return record
}

/** Without the message: it repeats what the codes say. */
function told({ permission, path, code }: RefusedAccess): { permission: Permission; path: string; code: string } {
  return { permission, path, code }
}

/** What decided: the rules of the verdict, and the sink where a flow was refused. */
function rulesOf(verdict: Verdict | undefined, failure: Failure | undefined): AuditEntry['policyDecision']['rules'] {
  const rules = verdict?.rules ?? NO_PATHS
  if (failure?.code !== 'TAINT_DENIED' || typeof failure.sink !== 'string') return rules
  return [{ name: failure.sink, action: 'deny', source: 'taint' }, ...rules]
}

/** What the run works on, with its first record and again whenever it is another. */
function taskOf(run: RunState): AuditEntry['task'] {
  const { task } = run
  if (task === run.recordedTask || task === undefined) return undefined
  run.recordedTask = task
  return { ...task, ...(task.scope === undefined ? {} : { scope: [...task.scope] }) }
}

function intentOf(known: AuthorizedChanges['changes']): Effect {
  if (known.length === 0) return nothing
  return {
    ...nothing,
    pathsWritten: known.map(({ change }) => change.path),
    oldSha256: shaMap(known.map(({ change }) => [change.path, expectedVersion(change)])),
  }
}

function outcomeOf(applied: Receipt['applied'], artifactUri: string | undefined): Effect {
  if (applied.length === 0) return artifactUri === undefined ? nothing : { ...nothing, artifactUris: [artifactUri] }
  return {
    pathsWritten: applied.map(({ path }) => path),
    oldSha256: shaMap(applied.map(({ path, before }) => [path, auditVersion(path, before)])),
    newSha256: shaMap(applied.map(({ path, after }) => [path, auditVersion(path, after)])),
    artifactUris: artifactUri === undefined ? NO_PATHS : [artifactUri],
  }
}

function auditVersion(path: Path, version: Version): string | null {
  return version?.type === 'file' ? hidden(path, version.sha256) : null
}

function hidden(path: Path, sha256: string): string {
  return !isOrdinaryFile(path) && classifyPath(path).redacted ? HIDDEN_VERSION : sha256
}

function expectedVersion({ path, expect }: AuthorizedChanges['changes'][number]['change']): string | null {
  return typeof expect === 'object' && 'sha256' in expect ? hidden(path, expect.sha256) : null
}
