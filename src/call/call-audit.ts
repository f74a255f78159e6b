import { type AuditEntry, HIDDEN_VERSION, shaMap } from '../audit/audit-log.ts'
import type { AuditedPush } from '../audit/record.ts'
import { type Failure, ToolError } from '../errors.ts'
import { classifyPath, isOrdinaryFile } from '../files/classify/index.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import type { Verdict } from '../policy/evaluation.ts'
import { isMutating } from '../policy/permissions.ts'
import type { WorkPlan } from '../policy/plan.ts'
import type { RefusedAccess } from '../shells/types.ts'
import type { Receipt, Version } from '../storage/backend.ts'
import type { AuthorizedChanges, CallAudit, CallStep } from './state/call.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** The fields of a record that describe the effect of a call. */
type Effect = Pick<AuditEntry, 'pathsWritten' | 'oldSha256' | 'newSha256'>

/** Characters to keep of a text that a caller wrote. The audit redacts secrets in it and cuts it further. */
const MAX_TEXT_LENGTH = 10_000
const NO_PATHS: readonly never[] = Object.freeze([])
const NO_VERSIONS = Object.freeze({})
const NO_EFFECT: Effect = { pathsWritten: NO_PATHS, oldSha256: NO_VERSIONS, newSha256: NO_VERSIONS }

/** Opens the audit of a call. Nothing is written before the intent or the refusal. */
export function openCallAudit(
  workspace: WorkspaceState,
  run: RunState,
  toolName: string,
  options: { readonly step?: string; readonly via?: string },
): CallAudit {
  return new OpenCallAudit(workspace, run, toolName, options)
}

class OpenCallAudit implements CallAudit {
  declare readonly id: string
  declare readonly started: number
  readonly warnings: string[] = []
  isCounted = false
  step: CallStep = 'input'
  planned: readonly Access[] = NO_PATHS
  verdict: Verdict | undefined
  plan: WorkPlan | undefined
  readonly #audit: WorkspaceState['audit']
  readonly #clock: WorkspaceState['clock']
  readonly #run: RunState
  readonly #toolName: string
  readonly #options: { readonly step?: string; readonly via?: string }
  #accesses: readonly GuardedAccess[] = NO_PATHS
  #reason: string | undefined
  #labels: Pick<AuditEntry, 'label' | 'taint'> | undefined
  #isIntentWritten = false
  #effect = NO_EFFECT
  #artifactUri: string | undefined
  #lines: AuditEntry['lines']
  #read: Path[] = []
  #readVersions: Map<Path, string> | undefined
  #checks: AuditEntry['checks']
  readonly #approvals: NonNullable<AuditEntry['approvals']>[number][] = []
  readonly #pushes: AuditedPush[] = []
  #refusals: Map<string, RefusedAccess> | undefined

  constructor(
    { audit, clock }: WorkspaceState,
    run: RunState,
    toolName: string,
    options: { readonly step?: string; readonly via?: string },
  ) {
    run.calls += 1
    this.#audit = audit
    this.#clock = clock
    this.#run = run
    this.#toolName = String(toolName).slice(0, MAX_TEXT_LENGTH)
    this.#options = options
    this.started = clock()
    this.id = `${run.id}-${run.calls}`
  }

  setAccesses(accesses: readonly GuardedAccess[], { reason }: Readonly<Record<string, unknown>>): void {
    this.#accesses = accesses
    this.#reason = typeof reason === 'string' ? reason : undefined
  }

  addRead(path: Path): void {
    this.#read.push(path)
  }

  addRefusal(refusal: RefusedAccess): void {
    this.#refusals ??= new Map()
    this.#refusals.set(`${refusal.permission} ${refusal.path} ${refusal.code}`, refusal)
  }

  addReadVersion({ path, sha256 }: { readonly path: Path; readonly sha256: string }): void {
    this.#readVersions ??= new Map()
    this.#readVersions.set(path, hidden(path, sha256))
  }

  addApproval(...[{ verdict }, approval, by]: Parameters<CallAudit['addApproval']>): void {
    const rules = verdict.rules.filter(({ action }) => action === 'ask').map(({ name }) => name)
    this.#approvals.push({ how: approval, rules: [...new Set(rules)], ...(by === undefined ? {} : { by }) })
  }

  setChecks(checks: AuditEntry['checks']): void {
    this.#checks = checks
    this.#read = this.#readPaths()
  }

  setLabel(...[label, taint]: Parameters<CallAudit['setLabel']>): void {
    if (taint !== undefined) this.#labels = { label, taint: { ...taint } }
  }

  writeIntent({ changes }: Pick<AuthorizedChanges, 'changes'>): void | Promise<void> {
    this.#read = this.#readPaths()
    const entry = this.#entry('intent', this.started, intentOf(changes))
    // A read changes nothing, so it may go on without its record. A mutation may not.
    return this.#write(entry, changes.length === 0 && this.plan === undefined)
  }

  async writePush(push: AuditedPush): Promise<void> {
    this.#pushes.push(push)
    try {
      await this.#audit.record(this.#entry('intent', this.#clock(), NO_EFFECT))
      this.#isIntentWritten = true
    } catch {
      this.#pushes.pop()
      throw new ToolError('AUDIT_FAILED', 'The audit record could not be written, so nothing was pushed')
    }
  }

  setEffect({ applied }: Receipt): void {
    this.#effect = outcomeOf(applied)
  }

  setOutput(artifactUri: string | undefined, lines: AuditEntry['lines']): void {
    this.#artifactUri = artifactUri
    this.#lines = lines
  }

  writeOutcome(failure?: Failure): void | Promise<void> {
    if (failure !== undefined) this.#read = this.#readPaths()
    const phase = failure === undefined || this.#isIntentWritten ? 'outcome' : 'refused'
    return this.#write(this.#entry(phase, this.#clock(), this.#effect, failure), true)
  }

  /** Passes an entry to the audit. Returns no promise if every sink takes the entry at once. */
  #write(entry: AuditEntry, mayFail: boolean): void | Promise<void> {
    let completion: void | Promise<void>
    try {
      completion = this.#audit.record(entry)
    } catch {
      return this.#noteUnwritten(mayFail)
    }
    if (completion === undefined) this.#noteWritten(entry)
    else
      return completion.then(
        () => this.#noteWritten(entry),
        () => this.#noteUnwritten(mayFail),
      )
  }

  #noteWritten({ phase }: AuditEntry): void {
    if (phase === 'intent') this.#isIntentWritten = true
  }

  #noteUnwritten(mayFail: boolean): void {
    if (mayFail) this.#warn()
    else throw new ToolError('AUDIT_FAILED', 'The audit record could not be written, so nothing was changed')
  }

  #warn(): void {
    const warning = 'The audit record of this call could not be written'
    if (!this.warnings.includes(warning)) this.warnings.push(warning)
  }

  #entry(phase: AuditEntry['phase'], timestamp: number, effect: Effect, failure?: Failure): AuditEntry {
    const accesses = this.#accesses
    const isRefused = failure !== undefined
    return {
      phase,
      runId: this.#run.id,
      stepId: this.#options.step,
      toolCallId: this.id,
      toolName: this.#toolName,
      via: this.#options.via,
      actor: this.#run.actor,
      timestamp,
      permission: (accesses.find((access) => isMutating(access.permission)) ?? accesses[0])?.permission,
      pathsAsked: isRefused ? this.planned.slice(0, 100).map(({ path }) => path.slice(0, MAX_TEXT_LENGTH)) : undefined,
      // A step that goes on after a cancelled call may add more.
      pathsRead: isRefused ? [...this.#read] : this.#read,
      pathsSearched: this.#pathsSearched(),
      pathsWritten: effect.pathsWritten,
      oldSha256: effect.oldSha256,
      newSha256: effect.newSha256,
      policyDecision: { decision: this.verdict?.decision ?? 'none', rules: rulesOf(this.verdict, failure) },
      reason: this.#reason,
      artifactUris: this.#artifactUri === undefined ? NO_PATHS : [this.#artifactUri],
      lines: this.#lines,
      durationMs: phase === 'intent' ? undefined : timestamp - this.started,
      code: failure?.code,
      step: isRefused ? this.step : undefined,
      label: this.#labels?.label,
      taint: this.#labels?.taint,
      task: taskOf(this.#run),
      plan: this.plan,
      approvals: this.#approvals.length === 0 ? undefined : [...this.#approvals],
      readSha256: phase === 'outcome' ? this.#versionsBeside(effect) : undefined,
      pushes: this.#pushes.length === 0 ? undefined : [...this.#pushes],
      checks: this.#checks,
      refusals:
        this.#refusals === undefined || phase === 'intent'
          ? undefined
          : Array.from(this.#refusals.values(), refusalEntry),
    }
  }

  /** The versions that the call read of files that it did not write. */
  #versionsBeside({ pathsWritten }: Effect): AuditEntry['readSha256'] {
    if (this.#readVersions === undefined) return undefined
    const versions = [...this.#readVersions]
    const beside = pathsWritten.length === 0 ? versions : versions.filter(([path]) => !pathsWritten.includes(path))
    return beside.length === 0 ? undefined : shaMap(beside)
  }

  /** Files that were read, and files that the plan names for reading: each once, sorted. */
  #readPaths(): Path[] {
    const paths = [...this.#read]
    for (const { permission, path, recursive } of this.#accesses) {
      if (!isMutating(permission) && !recursive) paths.push(path)
    }
    return paths.length === 1 ? paths : [...new Set(paths)].sort()
  }

  /** The scopes of a listing or search. The files shown from them are among the paths read. */
  #pathsSearched(): readonly Path[] | undefined {
    if (!this.#accesses.some(({ recursive }) => recursive)) return undefined
    const scopes = this.#accesses.filter(({ permission, recursive }) => recursive && !isMutating(permission))
    return scopes.length === 0 ? undefined : scopes.map(({ path }) => path)
  }
}

/** The refusal without its message, which repeats the code. */
function refusalEntry({ permission, path, code }: RefusedAccess): Omit<RefusedAccess, 'message'> {
  return { permission, path, code }
}

/** The rules that decided, and the sink if labelled content was refused there. */
function rulesOf(verdict: Verdict | undefined, failure: Failure | undefined): AuditEntry['policyDecision']['rules'] {
  const rules = verdict?.rules ?? NO_PATHS
  if (failure?.code !== 'TAINT_DENIED' || typeof failure.sink !== 'string') return rules
  return [{ name: failure.sink, action: 'deny', source: 'taint' }, ...rules]
}

/** The task of the run, in its first record and again after each change. */
function taskOf(run: RunState): AuditEntry['task'] {
  const { task } = run
  if (task === run.recordedTask || task === undefined) return undefined
  run.recordedTask = task
  return { ...task, ...(task.scope === undefined ? {} : { scope: [...task.scope] }) }
}

function intentOf(changes: AuthorizedChanges['changes']): Effect {
  if (changes.length === 0) return NO_EFFECT
  return {
    pathsWritten: changes.map(({ change }) => change.path),
    oldSha256: shaMap(changes.map(({ change }) => [change.path, expectedVersion(change)])),
    newSha256: NO_VERSIONS,
  }
}

function outcomeOf(applied: Receipt['applied']): Effect {
  if (applied.length === 0) return NO_EFFECT
  return {
    pathsWritten: applied.map(({ path }) => path),
    oldSha256: shaMap(applied.map(({ path, before }) => [path, auditVersion(path, before)])),
    newSha256: shaMap(applied.map(({ path, after }) => [path, auditVersion(path, after)])),
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
