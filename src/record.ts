import { type Access, type GuardedAccess, isMutating, type Permission } from './access.ts'
import { type Failure, ToolError, toFailure } from './errors.ts'
import { type AuditEntry, shaMap } from './evidence/audit.ts'
import type { JudgedChanges } from './judge-changes.ts'
import type { Path } from './paths/logical-path.ts'
import type { Verdict } from './policy/policy.ts'
import type { Core, Run } from './run.ts'
import type { Receipt, Version } from './vfs/backend.ts'

/** The steps of a call, as the audit names the one where a call was refused. */
export type Step =
  | 'input'
  | 'plan'
  | 'guard'
  | 'limits'
  | 'policy'
  | 'hooks'
  | 'draft'
  | 'approval'
  | 'commit'
  | 'response'

/** The evidence of one call while it lives: two records for a call that was carried out, one for a call that was not. */
export interface CallRecord {
  /** Whether the call was counted against the rates. */
  counted: boolean
  readonly warnings: string[]
  at(step: Step): void
  plans(planned: readonly Access[]): void
  reaches(accesses: readonly GuardedAccess[], input: Readonly<Record<string, unknown>>): void
  reads(path: Path): void
  judged(verdict: Verdict): void
  /** @throws ToolError `AUDIT_FAILED`: then nothing may be changed */
  intent(changes: JudgedChanges): Promise<void>
  outcome(receipt: Receipt, artifactUri: string | undefined): Promise<void>
  refused(error: unknown): Promise<Failure>
}

/** Opens the record of a call. Nothing is written before the intent or the refusal. */
export function openRecord(core: Core, run: Run, toolName: string, options: { readonly step?: string }): CallRecord {
  run.calls += 1
  const started = core.clock()
  let step: Step = 'input'
  let planned: readonly Access[] = []
  let accesses: readonly GuardedAccess[] = []
  let permission: Permission | undefined
  let reason: string | undefined
  let verdict: Verdict | undefined
  let intended = false
  const pathsRead = new Set<Path>()
  const common = {
    runId: run.id,
    ...(options.step === undefined ? {} : { stepId: options.step }),
    toolCallId: `${run.id}-${run.calls}`,
    toolName: String(toolName).slice(0, 100),
    actor: run.actor,
  }

  const record: CallRecord = {
    counted: false,
    warnings: [],
    at: (next) => {
      step = next
    },
    plans: (plan) => {
      planned = plan
    },
    reaches(reached, input) {
      accesses = reached
      permission = (reached.find((access) => isMutating(access.permission)) ?? reached[0])?.permission
      reason = typeof input.reason === 'string' ? input.reason : undefined
    },
    reads: (path) => pathsRead.add(path),
    judged: (decided) => {
      verdict = decided
    },
    async intent({ known }) {
      const oldSha256 = shaMap(known.map(({ change }) => [change.path, expectedVersion(change.expect)]))
      try {
        await core.audit.record({
          phase: 'intent',
          ...common,
          timestamp: started,
          ...given(),
          pathsRead: readPaths(),
          pathsWritten: known.map(({ change }) => change.path),
          oldSha256,
          newSha256: {},
          policyDecision: decision(),
          artifactUris: [],
        })
        intended = true
      } catch (error) {
        // A read changes nothing, so it may go on without its record; a mutation may not.
        if (known.length > 0) throw auditFailed(error)
        warn()
      }
    },
    async outcome(receipt, artifactUri) {
      const { applied } = receipt
      await append({
        phase: 'outcome',
        pathsWritten: applied.map(({ path }) => path),
        oldSha256: shaMap(applied.map(({ path, before }) => [path, versionOf(before)])),
        newSha256: shaMap(applied.map(({ path, after }) => [path, versionOf(after)])),
        artifactUris: artifactUri === undefined ? [] : [artifactUri],
      })
    },
    async refused(error) {
      const failure = toFailure(error)
      await append({
        phase: intended ? 'outcome' : 'refused',
        code: failure.code,
        step,
        pathsAsked: planned.slice(0, 100).map(({ path }) => path.slice(0, 300)),
        pathsWritten: [],
        oldSha256: {},
        newSha256: {},
        artifactUris: [],
      })
      return failure
    },
  }

  type Rest = Pick<
    AuditEntry,
    'phase' | 'pathsWritten' | 'oldSha256' | 'newSha256' | 'artifactUris' | 'code' | 'step' | 'pathsAsked'
  >

  async function append(entry: Rest): Promise<void> {
    try {
      await core.audit.record({
        ...common,
        timestamp: core.clock(),
        ...given(),
        pathsRead: readPaths(),
        policyDecision: decision(),
        durationMs: core.clock() - started,
        ...entry,
      })
    } catch {
      warn()
    }
  }

  function warn(): void {
    const warning = 'The audit record of this call could not be written'
    if (!record.warnings.includes(warning)) record.warnings.push(warning)
  }

  function given() {
    return { ...(permission === undefined ? {} : { permission }), ...(reason === undefined ? {} : { reason }) }
  }

  function readPaths(): string[] {
    const paths = new Set<string>(pathsRead)
    for (const access of accesses) if (!isMutating(access.permission)) paths.add(access.path)
    return [...paths].sort()
  }

  function decision(): AuditEntry['policyDecision'] {
    return { decision: verdict?.decision ?? 'none', rules: verdict?.rules ?? [] }
  }

  return record
}

function versionOf(version: Version): string | null {
  return version?.type === 'file' ? version.sha256 : null
}

function expectedVersion(expect: JudgedChanges['known'][number]['change']['expect']): string | null {
  return typeof expect === 'object' && 'sha256' in expect ? expect.sha256 : null
}

function auditFailed(error: unknown): ToolError {
  return error instanceof ToolError && error.code === 'AUDIT_FAILED'
    ? error
    : new ToolError('AUDIT_FAILED', 'The audit record could not be written, so nothing was changed')
}
