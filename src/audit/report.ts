import { isForbidden, isRefusal } from '../errors.ts'
import { addAncestors, type Path } from '../paths/logical-path.ts'
import { compilePaths } from '../policy/match.ts'
import { isMutating } from '../policy/permissions.ts'
import { checkArgument, must, refuseSurplus } from '../util/check-options.ts'
import { type AuditEntry, HIDDEN_VERSION } from './record.ts'
import { isRecords } from './verify.ts'

/** A summary of a run, from its audit records alone. Plain data. Lists are in the order of the calls. */
export interface RunReport {
  readonly runId: string
  readonly actor: string
  /** Times of the first and the last record, as ISO 8601; `undefined` without records. */
  readonly from: string | undefined
  readonly to: string | undefined
  /** The last task. Its scope is the paths of an approved plan, if there is one. */
  readonly task: NonNullable<AuditEntry['task']> | undefined
  /** The last approved plan. */
  readonly plan: (NonNullable<AuditEntry['plan']> & { readonly callId: string; readonly by?: string }) | undefined
  readonly calls: {
    readonly carriedOut: number
    /** By the guard, the policy, the mode, a label or the person. */
    readonly refused: number
    /** Calls that ended because they need an approval. What was answered later is a call of its own. */
    readonly waited: number
    /** For any other reason: a missing file, a text that does not match, a limit, an error of the storage. */
    readonly failed: number
    /** Calls with an intent but no outcome: the program stopped, or the record could not be written. */
    readonly unfinished: readonly string[]
  }
  readonly read: readonly {
    readonly path: string
    /** The versions that the run was shown, if known. */
    readonly versions: readonly string[]
    readonly calls: readonly string[]
  }[]
  readonly written: readonly WrittenFile[]
  readonly diff: DiffTotals
  /** Every patch and edit that depended on a version or on existing text. */
  readonly patches: readonly {
    readonly callId: string
    readonly tool: string
    readonly paths: readonly string[]
    readonly metBase: boolean
    /** The error code, if the base was not met. */
    readonly code?: string
  }[]
  /** Attempts that guard, policy, mode or labels refused, including those of commands. */
  readonly forbidden: readonly {
    readonly callId: string
    readonly tool: string
    readonly paths: readonly string[]
    readonly code: string
    /** The rules that refused it. */
    readonly rules: readonly string[]
  }[]
  readonly approvals: readonly {
    readonly callId: string
    readonly tool: string
    readonly how: 'once' | 'run' | 'earlier' | 'denied' | 'required'
    readonly rules: readonly string[]
    readonly by?: string
    readonly paths: readonly string[]
  }[]
  /** `undefined` if the task has no scope. */
  readonly scope:
    | {
        readonly globs: readonly string[]
        /** Whether all paths that differ at the end are inside the scope. */
        readonly finalDiffInside: boolean
        /** Paths outside the scope that differ at the end. */
        readonly outside: readonly string[]
        /** Calls that changed, or tried to change, a path outside the scope that applied at the time. */
        readonly calls: readonly { readonly callId: string; readonly tool: string; readonly paths: readonly string[] }[]
      }
    | undefined
  /** Each time the label of the content shown to the model rose, with its origin. */
  readonly taint: readonly NonNullable<AuditEntry['taint']>[]
}

/** The extent of what a run changed. */
export interface DiffTotals {
  /** Files whose last version differs from the first. */
  readonly filesChanged: number
  /** Lines that its calls added and removed. A line that is changed twice counts twice. */
  readonly insertions: number
  readonly deletions: number
  /** Calls whose changes are not counted, because they were too large. */
  readonly uncounted: number
}

/** A file that a run changed, with its versions and the calls that changed it. */
export interface WrittenFile {
  readonly path: string
  /** Versions before the first change and after the last one; `null` means no file. */
  readonly from: string | null
  readonly to: string | null
  readonly changes: readonly {
    readonly callId: string
    readonly tool: string
    /** The reason that the agent stated. */
    readonly reason?: string
    readonly from: string | null
    readonly to: string | null
  }[]
}

/** An entry, whose time is a number, or its record, whose time is an ISO 8601 text. */
export type ReportedRecord = Omit<AuditEntry, 'timestamp'> & { readonly timestamp: number | string }

const baseCodes = new Set(['WRITE_CONFLICT', 'PATCH_CONFLICT', 'EDIT_NO_MATCH', 'EDIT_AMBIGUOUS'])
const versionedTools = new Set(['apply_patch', 'edit_file', 'replace_range', 'write_file'])

const isRecord = must(
  'a list of audit records',
  (record) => typeof Object(record).runId === 'string' && Array.isArray(Object(record).pathsWritten),
)

/** Returns the reports of all runs in some records, in the order of their first record. */
export function reportRuns(records: Iterable<ReportedRecord>): readonly RunReport[] {
  refuseSurplus('reportRuns()', 1, arguments)
  checkArgument('reportRuns()', 'records', records, isRecords)
  const runs = new Map<string, { readonly actor: string; readonly entries: ReportedRecord[] }>()
  for (const record of records) {
    const { runId, actor } = checkArgument('reportRuns()', 'records', record, isRecord)
    const run = runs.get(runId)
    if (run === undefined) runs.set(runId, { actor, entries: [record] })
    else run.entries.push(record)
  }
  return [...runs].map(([id, { actor, entries }]) => reportRun({ id, actor }, entries))
}

/** Returns the report of one run, from its records in order. */
export function reportRun(
  run: { readonly id: string; readonly actor: string; readonly task?: AuditEntry['task'] },
  entries: readonly ReportedRecord[],
): RunReport {
  const outcomes = entries.filter(({ phase }) => phase !== 'intent')
  const written = writtenFiles(outcomes)
  const task = entries.findLast((entry) => entry.task !== undefined)?.task ?? run.task
  return {
    runId: run.id,
    actor: run.actor,
    from: iso(entries[0]?.timestamp),
    to: iso(entries.at(-1)?.timestamp),
    task,
    plan: planOf(outcomes),
    calls: {
      carriedOut: outcomes.filter(tookEffect).length,
      ...countsOf(outcomes.filter((outcome) => !tookEffect(outcome))),
      unfinished: unfinishedCalls(entries),
    },
    read: readFiles(outcomes),
    written,
    diff: diffTotals(outcomes, written),
    patches: outcomes.filter(dependsOnVersion).map(patchOf),
    forbidden: outcomes.flatMap(forbiddenIn),
    approvals: outcomes.flatMap(approvalsOf),
    scope: scopeOf(entries, written, task?.scope),
    taint: risesOf(outcomes),
  }
}

/** Whether a call was carried out. A failure in the step `response` comes after the commit: only the result is missing. */
function tookEffect({ code, step }: ReportedRecord): boolean {
  return code === undefined || step === 'response'
}

/** Why calls were not carried out. */
function countsOf(outcomes: readonly ReportedRecord[]): Pick<RunReport['calls'], 'refused' | 'waited' | 'failed'> {
  const refused = outcomes.filter(isRefusal).length
  const waited = outcomes.filter(({ code }) => code === 'APPROVAL_REQUIRED').length
  return { refused, waited, failed: outcomes.length - refused - waited }
}

function patchOf(outcome: ReportedRecord): RunReport['patches'][number] {
  const { toolCallId: callId, toolName: tool, pathsWritten, pathsAsked = [], code } = outcome
  if (tookEffect(outcome)) return { callId, tool, paths: pathsWritten, metBase: true }
  return { callId, tool, paths: pathsAsked, metBase: false, ...(code === undefined ? {} : { code }) }
}

function diffTotals(outcomes: readonly ReportedRecord[], written: readonly WrittenFile[]): DiffTotals {
  const totals = { insertions: 0, deletions: 0, uncounted: 0 }
  for (const { lines, pathsWritten, code } of outcomes) {
    if (code !== undefined) continue
    if (lines === undefined && pathsWritten.length > 0) totals.uncounted += 1
    totals.insertions += lines?.insertions ?? 0
    totals.deletions += lines?.deletions ?? 0
  }
  // The versions of a secret file are not recorded.
  const changed = written.filter(({ from, to }) => from !== to || to === HIDDEN_VERSION)
  return { filesChanged: changed.length, ...totals }
}

function iso(timestamp: number | string | undefined): string | undefined {
  return typeof timestamp === 'number' ? new Date(timestamp).toISOString() : timestamp
}

function planOf(outcomes: readonly ReportedRecord[]): RunReport['plan'] {
  const entry = outcomes.findLast((outcome) => outcome.plan !== undefined && tookEffect(outcome))
  if (entry?.plan === undefined) return undefined
  const by = entry.approvals?.findLast((approval) => approval.by !== undefined)?.by
  return { ...entry.plan, callId: entry.toolCallId, ...(by === undefined ? {} : { by }) }
}

function unfinishedCalls(entries: readonly ReportedRecord[]): string[] {
  const open = new Set<string>()
  for (const { phase, toolCallId } of entries) {
    if (phase === 'intent') open.add(toolCallId)
    else open.delete(toolCallId)
  }
  return [...open]
}

function readFiles(outcomes: readonly ReportedRecord[]): RunReport['read'] {
  const files = new Map<string, { versions: Set<string>; calls: string[] }>()
  for (const { pathsRead, readSha256 = {}, oldSha256, toolCallId, code } of outcomes) {
    // A refused call was shown nothing.
    if (code !== undefined) continue
    for (const path of pathsRead) {
      const file = files.get(path) ?? { versions: new Set(), calls: [] }
      files.set(path, file)
      file.calls.push(toolCallId)
      // A call that changed a file had read its old version.
      const version = versionAt(readSha256, path) ?? versionAt(oldSha256, path)
      if (version !== null) file.versions.add(version)
    }
  }
  return [...files].map(([path, { versions, calls }]) => ({ path: path || '.', versions: [...versions], calls }))
}

function writtenFiles(outcomes: readonly ReportedRecord[]): WrittenFile[] {
  const files = new Map<string, WrittenFile['changes'][number][]>()
  for (const { pathsWritten, oldSha256, newSha256, toolCallId, toolName, reason } of outcomes.filter(tookEffect)) {
    for (const path of withoutParents(pathsWritten)) {
      const changes = files.get(path) ?? []
      files.set(path, changes)
      changes.push({
        callId: toolCallId,
        tool: toolName,
        ...(reason === undefined ? {} : { reason }),
        from: versionAt(oldSha256, path),
        to: versionAt(newSha256, path),
      })
    }
  }
  return [...files].map(([path, changes]) => ({
    path,
    from: changes[0]?.from ?? null,
    to: changes.at(-1)?.to ?? null,
    changes,
  }))
}

/** Removes directories that were created or deleted only because of the files in them. */
function withoutParents(paths: readonly string[]): readonly string[] {
  if (paths.length < 2) return paths
  const parents = new Set<Path>()
  for (const path of paths) addAncestors(parents, path as Path)
  return paths.filter((path) => path !== '' && !parents.has(path as Path))
}

function versionAt(versions: Readonly<Record<string, string | null>>, path: string): string | null {
  return Object.hasOwn(versions, path) ? (versions[path] ?? null) : null
}

/** Whether a call depended on a version or on text of a file. */
function dependsOnVersion(outcome: ReportedRecord): boolean {
  const { toolName, code, pathsWritten, oldSha256 } = outcome
  const failedOnBase = !tookEffect(outcome) && code !== undefined && baseCodes.has(code)
  if (!tookEffect(outcome) || !versionedTools.has(toolName)) return failedOnBase
  return pathsWritten.some((path) => versionAt(oldSha256, path) !== null) || toolName === 'apply_patch'
}

function forbiddenIn(entry: ReportedRecord): RunReport['forbidden'] {
  const { toolCallId, toolName, code, pathsAsked = [], policyDecision } = entry
  const ofCommand = (entry.refusals ?? []).map(({ path, code: inner }) => ({
    callId: toolCallId,
    tool: toolName,
    paths: [path],
    code: inner,
    rules: [],
  }))
  if (code === undefined || !isForbidden(entry)) return ofCommand
  const rules = policyDecision.rules.filter(({ action }) => action === 'deny').map(({ name }) => name)
  return [...ofCommand, { callId: toolCallId, tool: toolName, paths: pathsAsked, code, rules: [...new Set(rules)] }]
}

function approvalsOf(entry: ReportedRecord): RunReport['approvals'] {
  const { toolCallId, toolName, approvals = [], code, policyDecision, pathsAsked, pathsWritten } = entry
  const call = { callId: toolCallId, tool: toolName, paths: pathsAsked ?? pathsWritten }
  const answered = approvals.map(({ how, rules, by }) => ({ ...call, how, rules, ...(by === undefined ? {} : { by }) }))
  if (code !== 'APPROVAL_REQUIRED') return answered
  const rules = policyDecision.rules.filter(({ action }) => action === 'ask').map(({ name }) => name)
  return [...answered, { ...call, how: 'required', rules: [...new Set(rules)] }]
}

function scopeOf(
  entries: readonly ReportedRecord[],
  written: readonly WrittenFile[],
  globs: readonly string[] | undefined,
): RunReport['scope'] {
  if (globs === undefined) return undefined
  const inside = testOf(globs)
  const changed = written.filter(({ from, to }) => from !== to || from === HIDDEN_VERSION).map(({ path }) => path)
  const outside = changed.filter((path) => !inside(path))
  // A plan narrows the scope from its approval on, so each call is checked against the scope at its time.
  let currentScope: ((path: string) => boolean) | undefined
  const calls: { callId: string; tool: string; paths: string[] }[] = []
  for (const entry of entries) {
    const { task, phase, permission, toolCallId, toolName, pathsWritten, pathsAsked = [] } = entry
    if (task !== undefined) currentScope = task.scope === undefined ? undefined : testOf(task.scope)
    if (phase === 'intent' || currentScope === undefined) continue
    const isMutation = permission !== undefined && isMutating(permission) && !/^command:/.test(permission)
    // A copy does not change its source.
    const targets = toolName === 'copy_file' ? pathsAsked.slice(1) : pathsAsked
    const paths = tookEffect(entry) ? withoutParents(pathsWritten) : isMutation ? targets : []
    const outsidePaths = paths.filter((path) => !currentScope?.(path))
    if (outsidePaths.length > 0) calls.push({ callId: toolCallId, tool: toolName, paths: outsidePaths })
  }
  return { globs, finalDiffInside: outside.length === 0, outside, calls }
}

/** Returns a test for paths in a scope. An invalid scope covers nothing. */
function testOf(globs: readonly string[]): (path: string) => boolean {
  try {
    return compilePaths(globs, 'scope').matches
  } catch {
    return () => false
  }
}

function risesOf(outcomes: readonly ReportedRecord[]): RunReport['taint'] {
  const rises: NonNullable<AuditEntry['taint']>[] = []
  for (const { taint } of outcomes) {
    const last = rises.at(-1)
    if (taint !== undefined && (last?.callId !== taint.callId || last.label !== taint.label)) rises.push(taint)
  }
  return rises
}
