import { RefusedOptions } from '../call/call-options.ts'
import type { CallOptions } from '../call/state/call.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import {
  checkArgument,
  checkOptions,
  isListOf,
  isObjectValue,
  type OptionTable,
  refuseSurplus,
  requireText,
} from '../util/check-options.ts'
import {
  createWorkspace,
  type DialectRun,
  type DialectWorkspace,
  type Workspace,
  type WorkspaceOptions,
  type WorkspaceRun,
} from './create-workspace.ts'
import { withMediaDigests } from './media-digests.ts'
import { workspaceOptions } from './options.ts'
import type { Recorded, RecordedStep, RecordedWorkspace } from './recorder.ts'

/** The options that a recording does not contain: the same files with the same history, and everything that is code. */
export type ReplayOptions = Pick<
  WorkspaceOptions,
  'backend' | 'mounts' | 'shell' | 'hooks' | 'checks' | 'git' | 'history' | 'extraTools'
> & {
  readonly dialect?: Dialect
}

const { backend, mounts, shell, hooks, checks, git, history, extraTools, dialect } = workspaceOptions
const optionTable: OptionTable<ReplayOptions> = {
  ...{ backend, mounts, shell, hooks, checks, git, history, extraTools, dialect },
}

/** The result of a replay: the number of equal steps, and the first step whose result differs. */
export type Replay =
  | { readonly ok: true; readonly steps: number }
  | {
      readonly ok: false
      /** Number of equal steps before it. */
      readonly steps: number
      readonly step: RecordedStep
      /** `secret`: its input contained a secret, which recordings omit, so it cannot be repeated. */
      readonly why: 'different' | 'secret'
      /** The first field that differs. */
      readonly field?: string
      readonly recorded?: unknown
      readonly replayed?: unknown
    }

/**
 * Parses the lines of a recording.
 *
 * @throws TypeError that names the first invalid line
 */
export function parseRecording(text: string): readonly Recorded[] {
  refuseSurplus('parseRecording()', 1, arguments)
  requireText('parseRecording()', 'text', text)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      const entry = parseLine(line)
      const isFirst = entry?.type === 'workspace'
      if (entry === undefined || isFirst !== (index === 0) || (isFirst && entry.version !== 1)) {
        throw new TypeError(`Line ${index + 1} is not part of a recording of version 1`)
      }
      return entry
    })
}

/**
 * Repeats a recording on the same files and stops at the first step whose result differs. The clock returns the recorded
 * time of each step. Times, durations and the ids of approvals are not compared. The replay changes the files of the
 * backend; pass an overlay to keep them unchanged.
 *
 * @throws TypeError for an invalid recording, or if the recorded workspace had a shell or a dialect that is missing here
 * @example
 * const lines = []
 * const files = { 'a.txt': 'one\n' }
 * const recorded = await createWorkspace({ backend: memory(files), policy: 'autonomous', record: (line) => void lines.push(line) })
 * await recorded.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
 * await recorded.close()
 * console.log(await replay(parseRecording(lines.join('\n')), { backend: memory(files) })) // { ok: true, steps: 1 }
 */
export async function replay(entries: readonly Recorded[], requested: ReplayOptions): Promise<Replay> {
  refuseSurplus('replay()', 2, arguments)
  checkArgument('replay()', 'entries', entries, isListOf(isObjectValue))
  const options = checkOptions<ReplayOptions>('replay()', requested, optionTable)
  const [first, second, ...steps] = entries
  if (first?.type !== 'workspace' || second?.type !== 'run')
    throw new TypeError('A recording must begin with its workspace and a run')
  if (first.shell !== undefined && options.shell === undefined) {
    throw new TypeError(`The recorded workspace had the shell "${first.shell}": pass it to the replay`)
  }
  if (first.dialect !== options.dialect?.name) {
    throw new TypeError(
      first.dialect === undefined
        ? 'The recorded workspace had no dialect: pass none to the replay'
        : `The recorded workspace had the dialect "${first.dialect}": pass it to the replay`,
    )
  }
  let now = 0
  const answers = steps.flatMap((entry) => (entry.type === 'answer' ? [entry.answer] : []))
  const approve = () => answers.shift() ?? noFurtherAnswer
  const workspace = await createAnyWorkspace({
    ...options,
    ...optionsOf(first),
    ...(first.asks ? { approve } : {}),
    clock: () => now,
    run: second.run,
  })
  const runs = new Map<string, WorkspaceRun | DialectRun>([[second.run.id, workspace]])
  const approvals = new Map<string, string>()
  let equalSteps = 0
  try {
    for (const entry of steps) {
      if (entry.type === 'run') {
        runs.set(entry.run.id, workspace.run(entry.run))
        continue
      }
      if (entry.type === 'answer') continue
      if (entry.type === 'workspace') throw new TypeError('A recording must contain one workspace only')
      const run = runs.get(entry.runId)
      if (run === undefined) throw new TypeError(`The recording contains no run ${JSON.stringify(entry.runId)}`)
      if (entry.redacted === true) return { ok: false, steps: equalSteps, step: entry, why: 'secret' }
      now = entry.at
      const repeated: unknown = JSON.parse(JSON.stringify((await repeat(workspace, run, entry, approvals)) ?? null))
      const replayed = entry.media === undefined ? repeated : withMediaDigests(repeated)
      noteApproval(approvals, entry.result, replayed)
      const difference = firstDifference(entry.result ?? null, replayed, '')
      if (difference !== undefined)
        return { ok: false, steps: equalSteps, step: entry, why: 'different', ...difference }
      equalSteps += 1
    }
    return { ok: true, steps: equalSteps }
  } finally {
    await workspace.close()
  }
}

/** Creates a workspace with or without a dialect. */
const createAnyWorkspace = createWorkspace as (
  options: Omit<WorkspaceOptions, 'dialect'> & { readonly dialect?: Dialect | undefined },
) => Promise<Workspace | DialectWorkspace>

function parseLine(line: string): Recorded | undefined {
  try {
    const entry = JSON.parse(line) as Recorded
    const { run = {}, answers = [] } = entry as { run?: unknown; answers?: unknown }
    const isWhole = entryTypes.has(entry.type) && typeof run === 'object' && Array.isArray(answers)
    return isWhole && (entry.type === 'run') === 'run' in entry ? entry : undefined
  } catch {
    return undefined
  }
}

const entryTypes: ReadonlySet<unknown> = new Set([
  ...['workspace', 'run', 'answer', 'call', 'undo', 'rollback', 'checkpoint', 'resume', 'approvePlan', 'spoken'],
])

function optionsOf(
  recorded: RecordedWorkspace,
): Pick<WorkspaceOptions, 'policy' | 'tools' | 'readOnly' | 'mode' | 'limits' | 'staleGuard' | 'keepCwd'> {
  const { policy, tools, readOnly, mode, limits, staleGuard, keepCwd } = recorded
  return { policy: policy as WorkspaceOptions['policy'], tools, readOnly, mode, limits, staleGuard, keepCwd }
}

const noFurtherAnswer = { deny: 'The recording has no further answer' }

async function repeat(
  workspace: Workspace | DialectWorkspace,
  run: WorkspaceRun | DialectRun,
  { type, name = '', input, answers = [], result, refusedOptions, media }: RecordedStep,
  approvals: ReadonlyMap<string, string>,
): Promise<unknown> {
  const remaining = [...answers]
  const isRefused = refusedOptions !== undefined
  const options: CallOptions = isRefused
    ? (new RefusedOptions(refusedOptions) as CallOptions)
    : {
        ...(media === undefined ? {} : { media }),
        ...(remaining.length === 0 ? {} : { approve: () => remaining.shift() ?? noFurtherAnswer }),
        // A call that was cancelled when it was recorded is cancelled again.
        ...(failureOf(result)?.code === 'ABORTED' ? { signal: AbortSignal.abort() } : {}),
      }
  const { id = '', reason, runId, label, answer, by } = (input ?? {}) as Readonly<Record<string, string | undefined>>
  const given = { ...(reason === undefined ? {} : { reason }), ...(runId === undefined ? {} : { runId }) }
  const undoOptions = isRefused ? options : { ...given, ...options }
  if (type === 'spoken') return run.callTool(name, input, options)
  if (type === 'call') return ('own' in run ? run.own : run).callTool(name, input, options)
  if (type === 'undo') return run.undo(id, undoOptions)
  if (type === 'rollback') return run.rollback(id, undoOptions)
  if (type === 'checkpoint') return run.checkpoint(label)
  if (type === 'approvePlan') return workspace.approvePlan(by === undefined ? {} : { by })
  return workspace.resume(approvals.get(id) ?? id, answer as Parameters<Workspace['resume']>[1], options)
}

/** Maps the id of a recorded approval to the id of the same approval in the replay. */
function noteApproval(approvals: Map<string, string>, recorded: unknown, replayed: unknown): void {
  const recordedId = failureOf(recorded)?.approvalId
  const replayedId = failureOf(replayed)?.approvalId
  if (typeof recordedId === 'string' && typeof replayedId === 'string') approvals.set(recordedId, replayedId)
}

/** Returns the failure of a result, also of the result of a dialect. */
function failureOf(result: unknown): { readonly code?: unknown; readonly approvalId?: unknown } | null {
  const { failure = result } = (result ?? {}) as { failure?: unknown }
  return failure as { code?: unknown } | null
}

/** Fields that depend on the clock or on chance, with their names in dialects. They are not compared. */
const volatileFields: ReadonlySet<string> = new Set([
  'durationMs',
  'modifiedAt',
  'approvalId',
  'retryAfterMs',
  'at',
  'expiresAt',
  ...['duration_ms', 'modified_at', 'approval_id', 'retry_after_ms', 'expires_at'],
])

function firstDifference(
  recorded: unknown,
  replayed: unknown,
  field: string,
): { field: string; recorded: unknown; replayed: unknown } | undefined {
  if (typeof recorded !== 'object' || typeof replayed !== 'object' || recorded === null || replayed === null) {
    return canonicalJson(recorded) === canonicalJson(replayed) ? undefined : { field, recorded, replayed }
  }
  const [a, b] = [recorded as Record<string, unknown>, replayed as Record<string, unknown>]
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (volatileFields.has(key)) continue
    const difference = firstDifference(a[key] ?? null, b[key] ?? null, field === '' ? key : `${field}.${key}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

export type {
  Recorded,
  RecordedAnswer,
  RecordedRun,
  RecordedStep,
  RecordedWorkspace,
  RecordLine,
} from './recorder.ts'
