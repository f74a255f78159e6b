import type { CallOptions } from '../call/state/call.ts'
import type { RunState, Task } from '../call/state/run-state.ts'
import { redact } from '../files/secrets/index.ts'
import type { ApproveHandler, HandlerAnswer } from '../policy/approval.ts'

/** How a recorded workspace was opened, as far as that is data. The first line of a recording. */
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
  /** Whether somebody was asked for approvals: the answers are entries of their own. */
  readonly asks: boolean
  /** The name of the shell, where there was one. */
  readonly shell?: string
  /** The name of the dialect, where calls were in one. */
  readonly dialect?: string
}

/** A run that was opened. */
export interface RecordedRun {
  readonly type: 'run'
  readonly run: {
    readonly id: string
    readonly actor: string
    readonly task?: Task
    readonly scopes: readonly string[]
  }
}

/** What was asked of a run, and what came of it. */
export interface RecordedStep {
  readonly type: 'call' | 'spoken' | 'undo' | 'rollback' | 'checkpoint' | 'resume' | 'approvePlan'
  readonly runId: string
  /** Of a call: the tool; of one in a dialect (`spoken`) the dialect's. */
  readonly name?: string
  readonly input: unknown
  readonly result: unknown
  /** Milliseconds since 1970 at its beginning, by the workspace's clock. */
  readonly at: number
  /** What the approver of this very call answered, in the order of the questions. */
  readonly answers?: readonly HandlerAnswer[]
  /** The input held a secret, which stands here as a mark: the step cannot be repeated as it was. */
  readonly redacted?: true
}

/** What the workspace's approver answered, in the order of the questions. */
export interface RecordedAnswer {
  readonly type: 'answer'
  readonly answer: HandlerAnswer
}

/** One line of a recording. */
export type Recorded = RecordedWorkspace | RecordedRun | RecordedAnswer | RecordedStep

/** Takes the lines of a recording in their order: JSON, without line ends. */
export type RecordLine = (line: string) => void | Promise<void>

/** Writes down what is asked of a workspace and what comes of it, without secrets. */
export interface Recorder {
  opened(run: Pick<RunState, 'id' | 'actor' | 'task' | 'scopes'>): void
  /** The workspace's approver, whose answers are noted. */
  readonly approve: ApproveHandler | undefined
  step<R>(
    run: RunState,
    what: Pick<RecordedStep, 'type' | 'name' | 'input'>,
    options: CallOptions | undefined,
    act: (options: CallOptions) => Promise<R>,
  ): Promise<R>
  /** Waits until every line is written. */
  flush(): Promise<void>
}

export interface RecorderOptions {
  readonly write: RecordLine
  readonly workspace: Omit<RecordedWorkspace, 'type' | 'version' | 'asks'>
  readonly clock: () => number
  /** The workspace's own approver. */
  readonly approve: ApproveHandler | undefined
}

/** A recorder that begins its recording. A line that cannot be written ends it: what follows would be of another story. */
export function createRecorder({ write, workspace, clock, approve }: RecorderOptions): Recorder {
  // Steps that overlap are written in the order in which they began.
  const waiting: { line?: string }[] = []
  let writing: Promise<void> = Promise.resolve()
  let failed = false

  function put(slot: { line?: string }, entry: Recorded): void {
    slot.line = JSON.stringify(entry)
    while (waiting[0]?.line !== undefined) {
      const { line = '' } = waiting.shift() as { line?: string }
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
    waiting.push(slot)
    return slot
  }

  function noting(
    asked: ApproveHandler | undefined,
    note: (answer: HandlerAnswer) => void,
  ): ApproveHandler | undefined {
    if (asked === undefined) return undefined
    return async (...request) => {
      const answer = await asked(...request)
      // As it was said: what is none refuses the call, then and in the replay.
      note(answer as HandlerAnswer)
      return answer
    }
  }

  put(begin(), { type: 'workspace', version: 1, asks: approve !== undefined, ...workspace })

  return {
    approve: noting(approve, (answer) => put(begin(), { type: 'answer', answer: withoutSecrets(answer).value })),
    opened({ id, actor, task, scopes }) {
      const run = { id, actor, scopes, ...(task === undefined ? {} : { task }) }
      put(begin(), { type: 'run', run: withoutSecrets(run).value })
    },
    async step(run, what, given = {}, act) {
      const slot = begin()
      const at = clock()
      const answers: HandlerAnswer[] = []
      const own = noting(given.approve, (answer) => answers.push(answer))
      const result = await act(own === undefined ? given : { ...given, approve: own })
      const input = withoutSecrets(what.input)
      put(slot, {
        ...what,
        runId: run.id,
        input: input.value,
        result: withoutSecrets(result).value,
        at,
        ...(answers.length === 0 ? {} : { answers: withoutSecrets(answers).value }),
        ...(input.changed ? { redacted: true } : {}),
      })
      return result
    },
    async flush() {
      await writing
      if (failed) throw new Error('The recording could not be written')
    },
  }
}

/** Every text with its secrets marked. */
function withoutSecrets<T>(value: T): { value: T; changed: boolean } {
  let changed = false
  function clean(part: unknown): unknown {
    if (typeof part === 'string') {
      const { text } = redact(part)
      changed ||= text !== part
      return text
    }
    if (Array.isArray(part)) return part.map(clean)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([field, item]) => [clean(field), clean(item)]))
  }
  return { value: clean(value) as T, changed }
}
