import type { CallOptions } from '../call/state/call.ts'
import type { RunState, Task } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import type { TakenMedia } from '../files/media/types.ts'
import { redact } from '../files/secrets/index.ts'
import type { ApproveHandler, HandlerAnswer } from '../policy/approval.ts'
import type { WorkPlan } from '../policy/plan.ts'
import { withMediaDigests } from './media-digests.ts'

/** The options of the recorded workspace that are data. The first line of a recording. */
export interface RecordedWorkspace {
  readonly type: 'workspace'
  readonly version: 1
  readonly policy: unknown
  readonly tools: readonly string[]
  readonly readOnly: boolean
  readonly mode: 'act' | 'plan'
  readonly limits: Readonly<Record<string, number>>
  readonly staleGuard: 'hash' | 'shown'
  readonly keepCwd: boolean
  /** Whether the workspace had an approver. Its answers are separate entries. */
  readonly asks: boolean
  /** The name of the shell, if the workspace had one. */
  readonly shell?: string
  /** The name of the dialect, if the workspace had one. */
  readonly dialect?: string
}

/** A run that was opened. */
export interface RecordedRun {
  readonly type: 'run'
  readonly run: {
    readonly id: string
    readonly actor: string
    readonly task?: Task
    readonly plan?: WorkPlan
    readonly scopes: readonly string[]
  }
}

/** A call or operation of a run, with its result. */
export interface RecordedStep {
  readonly type: 'call' | 'spoken' | 'undo' | 'rollback' | 'checkpoint' | 'resume' | 'approvePlan'
  readonly runId: string
  /** The name of the tool, for a `call`; the name of the dialect's tool, for `spoken`. */
  readonly name?: string
  readonly input: unknown
  readonly result: unknown
  /** Start time in milliseconds since 1970, from the clock of the workspace. */
  readonly at: number
  /** The answers of the approver that was passed with the call, in order. */
  readonly answers?: readonly HandlerAnswer[]
  /** The media that the caller took. Of their data, the result has the hash. */
  readonly media?: TakenMedia
  /** The message about the options of the caller, if they were invalid and refused the step. */
  readonly refusedOptions?: string
  /** The input contained a secret, which is replaced by a mark. The step cannot be repeated. */
  readonly redacted?: true
}

/** One answer of the workspace's approver. Answers are recorded in the order of the requests. */
export interface RecordedAnswer {
  readonly type: 'answer'
  readonly answer: HandlerAnswer
}

/** One line of a recording. */
export type Recorded = RecordedWorkspace | RecordedRun | RecordedAnswer | RecordedStep

/** Receives the lines of a recording in order: JSON, without line ends. */
export type RecordLine = (line: string) => void | Promise<void>

/** Records the calls of a workspace and their results, without secrets. */
export interface Recorder {
  opened(run: Pick<RunState, 'id' | 'actor' | 'task' | 'plan' | 'scopes'>): void
  /** The workspace's approver. Its answers are recorded. */
  readonly approve: ApproveHandler | undefined
  step<R>(
    run: RunState,
    step: Pick<RecordedStep, 'type' | 'name' | 'input' | 'refusedOptions'>,
    options: CallOptions | undefined,
    act: (options: CallOptions) => Promise<R>,
  ): Promise<R>
  /** Waits until every line is written. @throws Error if a line could not be written */
  flush(): Promise<void>
}

export interface RecorderOptions {
  readonly write: RecordLine
  readonly workspace: Omit<RecordedWorkspace, 'type' | 'version' | 'asks'>
  readonly clock: () => number
  /** The approver of the workspace. */
  readonly approve: ApproveHandler | undefined
}

/** Opens the recorder of a workspace. `dialect` is the name of its dialect. */
export function recorderOf(
  workspace: WorkspaceState,
  write: RecorderOptions['write'],
  approve: ApproveHandler | undefined,
  dialect: string | undefined,
): Recorder {
  const { policy, tools, unavailableTools, isReadOnly, mode, limits, staleGuard, keepCwd, shell, clock } = workspace
  const options = {
    policy: policy.data,
    tools: [...tools.keys(), ...unavailableTools.keys()],
    // The policy is recorded, too.
    readOnly: isReadOnly && policy.data.preset !== 'readOnly',
    ...{ mode, limits, staleGuard, keepCwd },
    ...(shell === undefined ? {} : { shell: shell.name }),
    ...(dialect === undefined ? {} : { dialect }),
  }
  return createRecorder({ write, workspace: options, clock, approve })
}

/** Creates a recorder and records the workspace. After a line that cannot be written, none is written, because a later one could not be replayed. */
function createRecorder({ write, workspace, clock, approve }: RecorderOptions): Recorder {
  // Overlapping steps are written in the order in which they began.
  const slots: { line?: string }[] = []
  let writing: Promise<void> = Promise.resolve()
  let failed = false

  function put(slot: { line?: string }, entry: Recorded): void {
    slot.line = JSON.stringify(entry)
    while (slots[0]?.line !== undefined) {
      const { line = '' } = slots.shift() as { line?: string }
      writing = writing.then(async () => {
        if (failed) return
        try {
          await write(line)
        } catch {
          failed = true
        }
      })
    }
  }

  function begin(): { line?: string } {
    const slot = {}
    slots.push(slot)
    return slot
  }

  function recordAnswers(
    handler: ApproveHandler | undefined,
    note: (answer: HandlerAnswer) => void,
  ): ApproveHandler | undefined {
    if (handler === undefined) return undefined
    return async (...request) => {
      const answer = await handler(...request)
      // Recorded as it was given: an invalid answer refuses the call now, and again in the replay.
      note(answer as HandlerAnswer)
      return answer
    }
  }

  put(begin(), { type: 'workspace', version: 1, asks: approve !== undefined, ...workspace })

  return {
    approve: recordAnswers(approve, (answer) => put(begin(), { type: 'answer', answer: withoutSecrets(answer).value })),
    opened({ id, actor, task, plan, scopes }) {
      const run = { id, actor, scopes, ...(task && { task }), ...(plan && { plan }) }
      put(begin(), { type: 'run', run: withoutSecrets(run).value })
    },
    async step(run, step, options = {}, act) {
      const slot = begin()
      const at = clock()
      const answers: HandlerAnswer[] = []
      const callApprove = recordAnswers(options.approve, (answer) => answers.push(answer))
      const result = await act(callApprove === undefined ? options : { ...options, approve: callApprove })
      const [input, name] = [withoutSecrets(step.input), withoutSecrets(step.name)]
      const hasMedia = options.media !== undefined && options.media !== false
      put(slot, {
        ...step,
        ...(name.changed ? { name: name.value } : {}),
        ...(step.refusedOptions === undefined ? {} : { refusedOptions: withoutSecrets(step.refusedOptions).value }),
        runId: run.id,
        input: input.value,
        result: withoutSecrets(hasMedia ? withMediaDigests(result) : result).value,
        ...(hasMedia ? { media: options.media } : {}),
        at,
        ...(answers.length === 0 ? {} : { answers: withoutSecrets(answers).value }),
        ...(input.changed || name.changed ? { redacted: true } : {}),
      })
      return result
    },
    async flush() {
      await writing
      if (failed) throw new Error('The recording could not be written')
    },
  }
}

/**
 * Replaces the secrets in every text by marks. `changed`: there were some, or JSON cannot represent the value, which
 * is then recorded as `null`.
 */
function withoutSecrets<T>(value: T): { value: T; changed: boolean } {
  let changed = false
  function clean(part: unknown): unknown {
    if (typeof part === 'string') {
      const { text } = redact(part)
      changed ||= text !== part
      return text
    }
    if (Array.isArray(part)) return part.map(clean)
    if (typeof part === 'bigint') throw new TypeError('JSON has no bigint')
    if (typeof part === 'function') return undefined
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([field, item]) => [clean(field), clean(item)]))
  }
  try {
    const cleaned = clean(value) as T
    // A field may name its value as a password. Each text is cleaned before, because line ends are escaped in JSON.
    const json = JSON.stringify(cleaned) ?? ''
    const { text } = redact(json)
    return text === json ? { value: cleaned, changed } : { value: JSON.parse(text), changed: true }
  } catch {
    // A cycle, a bigint, a field that cannot be read, or no JSON without its secrets.
    return { value: null as T, changed: true }
  }
}
