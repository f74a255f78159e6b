import type { Dialect } from '../dialects/runtime/types.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import {
  createWorkspace,
  type DialectRun,
  type DialectWorkspace,
  type Workspace,
  type WorkspaceOptions,
  type WorkspaceRun,
} from './create-workspace.ts'
import type { Recorded, RecordedStep, RecordedWorkspace } from './recorder.ts'

/** What a replay needs beside the recording: the same files, with the same history if they had one, and what is no data. */
export type ReplayOptions = Pick<
  WorkspaceOptions,
  'backend' | 'mounts' | 'shell' | 'hooks' | 'git' | 'history' | 'extraTools'
> & {
  readonly dialect?: Dialect
}

/** Whether every step came out as it was recorded, or the first that did not. */
export type Replay =
  | { readonly ok: true; readonly steps: number }
  | {
      readonly ok: false
      /** Steps before it that came out the same. */
      readonly steps: number
      readonly step: RecordedStep
      /** `secret`: its input held a secret, which no recording keeps. */
      readonly why: 'different' | 'secret'
      /** The first field that differs. */
      readonly field?: string
      readonly recorded?: unknown
      readonly replayed?: unknown
    }

/**
 * The lines of a recording, read.
 *
 * @throws TypeError that names the first line which is none of a recording
 */
export function parseRecording(text: string): readonly Recorded[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      const entry = parseLine(line)
      const isFirst = entry?.type === 'workspace'
      if (entry === undefined || isFirst !== (index === 0) || (isFirst && entry.version !== 1)) {
        throw new TypeError(`Line ${index + 1} is none of a recording, or of another version`)
      }
      return entry
    })
}

/**
 * Repeats a recording on the same files and stops at the first step that comes out otherwise. The clock stands where it
 * stood at each step; times, durations and the ids of approvals are not compared. It changes the files that it is given:
 * give it an overlay to leave them as they are.
 *
 * @throws TypeError for what is no recording, or needs a shell or a dialect that was not given
 * @example
 * const lines = []
 * const files = { 'a.txt': 'one\n' }
 * const recorded = await createWorkspace({ backend: memory(files), policy: 'autonomous', record: (line) => void lines.push(line) })
 * await recorded.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
 * await recorded.close()
 * console.log(await replay(parseRecording(lines.join('\n')), { backend: memory(files) })) // { ok: true, steps: 1 }
 */
export async function replay(entries: readonly Recorded[], options: ReplayOptions): Promise<Replay> {
  const [first, second, ...rest] = entries
  if (first?.type !== 'workspace' || second?.type !== 'run')
    throw new TypeError('A recording begins with its workspace')
  if (first.shell !== undefined && options.shell === undefined) {
    throw new TypeError(`The recorded workspace had a shell, "${first.shell}": give one to the replay`)
  }
  if (first.dialect !== options.dialect?.name) {
    throw new TypeError(
      first.dialect === undefined
        ? 'The recorded calls were in no dialect: give none to the replay'
        : `The recorded calls were in the dialect "${first.dialect}": give it to the replay`,
    )
  }
  const time = { now: 0 }
  const answers = rest.flatMap((entry) => (entry.type === 'answer' ? [entry.answer] : []))
  const approve = () => answers.shift() ?? noFurtherAnswer
  const workspace = await openAny({
    ...options,
    ...optionsOf(first),
    ...(first.asks ? { approve } : {}),
    clock: () => time.now,
    run: second.run,
  })
  const runs = new Map<string, WorkspaceRun | DialectRun>([[second.run.id, workspace]])
  const approvals = new Map<string, string>()
  let steps = 0
  try {
    for (const entry of rest) {
      if (entry.type === 'run') {
        runs.set(entry.run.id, workspace.run(entry.run))
        continue
      }
      if (entry.type === 'answer') continue
      if (entry.type === 'workspace') throw new TypeError('A recording is of one workspace')
      const run = runs.get(entry.runId)
      if (run === undefined)
        throw new TypeError(`The recording names a run ${JSON.stringify(entry.runId)} that it never opened`)
      if (entry.redacted === true) return { ok: false, steps, step: entry, why: 'secret' }
      time.now = entry.at
      const replayed: unknown = JSON.parse(JSON.stringify((await repeat(workspace, run, entry, approvals)) ?? null))
      noteApproval(approvals, entry.result, replayed)
      const difference = firstDifference(entry.result ?? null, replayed, '')
      if (difference !== undefined) return { ok: false, steps, step: entry, why: 'different', ...difference }
      steps += 1
    }
    return { ok: true, steps }
  } finally {
    await workspace.close()
  }
}

/** In a dialect or in none. */
const openAny = createWorkspace as (
  options: Omit<WorkspaceOptions, 'dialect'> & { readonly dialect?: Dialect | undefined },
) => Promise<Workspace | DialectWorkspace>

function parseLine(line: string): Recorded | undefined {
  try {
    const entry = JSON.parse(line) as Recorded | null
    return typeof entry === 'object' && entry !== null && types.has(entry.type) ? entry : undefined
  } catch {
    return undefined
  }
}

const types: ReadonlySet<unknown> = new Set([
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
  { type, name = '', input, answers = [], result }: RecordedStep,
  approvals: ReadonlyMap<string, string>,
): Promise<unknown> {
  const given = [...answers]
  const options = {
    ...(given.length === 0 ? {} : { approve: () => given.shift() ?? noFurtherAnswer }),
    // A call that was cancelled then is cancelled now.
    ...(failureOf(result)?.code === 'ABORTED' ? { signal: AbortSignal.abort() } : {}),
  }
  const { id = '', reason, label, answer, by } = (input ?? {}) as Readonly<Record<string, string | undefined>>
  const why = reason === undefined ? {} : { reason }
  if (type === 'spoken') return run.callTool(name, input, options)
  if (type === 'call') return ('own' in run ? run.own : run).callTool(name, input, options)
  if (type === 'undo') return run.undo(id, { ...why, ...options })
  if (type === 'rollback') return run.rollback(id, { ...why, ...options })
  if (type === 'checkpoint') return run.checkpoint(label)
  if (type === 'approvePlan') return workspace.approvePlan(by === undefined ? {} : { by })
  return workspace.resume(approvals.get(id) ?? id, answer as Parameters<Workspace['resume']>[1], options)
}

/** The approval of the replay that stands for one of the recording. */
function noteApproval(approvals: Map<string, string>, recorded: unknown, replayed: unknown): void {
  const then = failureOf(recorded)?.approvalId
  const now = failureOf(replayed)?.approvalId
  if (typeof then === 'string' && typeof now === 'string') approvals.set(then, now)
}

/** A refusal, also where a dialect told it. */
function failureOf(result: unknown): { readonly code?: unknown; readonly approvalId?: unknown } | null {
  const { failure = result } = (result ?? {}) as { failure?: unknown }
  return failure as { code?: unknown } | null
}

/** What a clock or chance decides, also where a dialect tells it. */
const passing: ReadonlySet<string> = new Set([
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
  const [then, now] = [recorded as Record<string, unknown>, replayed as Record<string, unknown>]
  for (const key of new Set([...Object.keys(then), ...Object.keys(now)])) {
    if (passing.has(key)) continue
    const difference = firstDifference(then[key] ?? null, now[key] ?? null, field === '' ? key : `${field}.${key}`)
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
