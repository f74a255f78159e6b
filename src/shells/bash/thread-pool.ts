import { ToolError } from '../../errors.ts'
import { runAfter } from '../../util/timers.ts'
import type { OutputListener } from './live-output.ts'
import type { ScriptResult } from './node-emulation/script.ts'
import { GRACE_MS, type LineResult, tooLate } from './run-line.ts'
import type { Thread, ThreadEvents } from './start-thread.ts'
import { type FromThread, fromMessage, type JobStart, type ThreadRequest, toMessage } from './thread-protocol.ts'

/** Runs jobs in threads, which can be ended whatever they do. */
export interface Threads {
  /**
   * Runs a job to its end.
   *
   * @throws ToolError `COMMAND_TIMEOUT`, `ABORTED`, `LIMIT_EXCEEDED` if its thread fails, `SHELL_UNAVAILABLE` if no thread
   * starts
   */
  run(job: JobStart, options: JobOptions): Promise<LineResult | ScriptResult>
  /** Ends all threads. */
  close(): void
}

export interface JobOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Answers a request of the job. */
  serve(request: ThreadRequest): Promise<unknown>
  /** Called with output of the job as it comes, if the job is live. */
  readonly onOutput?: OutputListener | undefined
}

type JobResult = { readonly value: LineResult | ScriptResult } | { readonly error: unknown }

interface Job {
  readonly options: JobOptions
  passOutput: OutputListener
  end(result: JobResult): void
}

/** A thread of the pool, with its jobs by number. */
interface PooledThread {
  readonly thread: Thread
  readonly jobs: Map<number, Job>
  isReady: boolean
  isDead: boolean
}

const MAX_THREADS = 4

/** Creates a pool of at most 4 threads. A job gets a thread of its own while there are any left. */
export function createThreads(start: (events: ThreadEvents) => Thread): Threads {
  const pool = new Set<PooledThread>()
  let jobCount = 0

  function open(): PooledThread {
    const pooled: PooledThread = {
      thread: start({
        onMessage: (message) => void onMessage(pooled, message),
        onEnd: () => {
          pool.delete(pooled)
          fail(pooled, failureOf(pooled))
        },
      }),
      jobs: new Map(),
      isReady: false,
      isDead: false,
    }
    pool.add(pooled)
    pooled.thread.hold(false)
    return pooled
  }

  function kill(pooled: PooledThread): void {
    pooled.thread.kill()
    pool.delete(pooled)
    fail(pooled, new ToolError('ABORTED', 'The command was stopped, with another one that had to be ended'))
  }

  /** The thread with the fewest jobs, or a new one if that is busy. */
  function choose(): PooledThread {
    const [least] = [...pool].sort((a, b) => a.jobs.size - b.jobs.size)
    return least === undefined || (least.jobs.size > 0 && pool.size < MAX_THREADS) ? open() : least
  }

  return {
    async run(job, options) {
      if (options.signal.aborted) throw reasonOf(options.signal)
      jobCount += 1
      let pooled: PooledThread
      try {
        pooled = choose()
      } catch {
        throw notStarted()
      }
      return runJob(pooled, job, jobCount, options, () => kill(pooled))
    },
    close() {
      for (const pooled of [...pool]) kill(pooled)
    },
  }
}

function runJob(
  { thread, jobs }: PooledThread,
  start: JobStart,
  job: number,
  options: JobOptions,
  kill: () => void,
): Promise<LineResult | ScriptResult> {
  const { timeoutMs, signal } = options
  return new Promise((resolve, reject) => {
    let isOver = false
    const late = runAfter(timeoutMs + GRACE_MS, () => giveUp(tooLate(timeoutMs), 0))
    const onAbort = () => giveUp(reasonOf(signal), GRACE_MS)
    signal.addEventListener('abort', onAbort, { once: true })

    function end(result: JobResult): void {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      signal.removeEventListener('abort', onAbort)
      if ('value' in result) resolve(result.value)
      else reject(result.error)
    }

    /** Rejects the caller immediately; the thread gets a grace period to end the job itself. */
    function giveUp(error: unknown, graceMs: number): void {
      end({ error })
      thread.post({ type: 'stop', job })
      runAfter(graceMs, () => {
        if (jobs.has(job)) kill()
      })
    }

    const passOutput: OutputListener = (stream, text) => {
      if (!isOver) options.onOutput?.(stream, text)
    }

    jobs.set(job, { options, passOutput, end })
    thread.hold(true)
    thread.post({ ...start, job })
  })
}

async function onMessage(pooled: PooledThread, message: FromThread): Promise<void> {
  const { thread, jobs } = pooled
  if (message.type === 'ready') {
    pooled.isReady = true
    return
  }
  const { job: id } = message
  const job = jobs.get(id)
  if (message.type === 'output') {
    for (const { stream, text } of message.pieces) job?.passOutput(stream, text)
    return
  }
  if (message.type === 'done') {
    job?.end('value' in message.answer ? message.answer : { error: fromMessage(message.answer.error, Error) })
    jobs.delete(id)
    if (jobs.size === 0) thread.hold(false)
    return
  }
  if (job === undefined) return
  const answer = await toMessage(() => job.options.serve(message.asked))
  if (pooled.isDead) return
  const { question } = message
  try {
    thread.post({ type: 'answer', job: id, question, answer })
  } catch {
    // An answer that cannot be cloned is sent as a failure: the job would wait for ever.
    const error = { message: 'the answer cannot be sent to the thread', is: 'system' } as const
    thread.post({ type: 'answer', job: id, question, answer: { error } })
  }
}

/** Ends the jobs of a thread that was killed or has failed. */
function fail(pooled: PooledThread, error: ToolError): void {
  if (pooled.isDead) return
  pooled.isDead = true
  for (const job of pooled.jobs.values()) job.end({ error })
  pooled.jobs.clear()
}

function failureOf({ isReady }: PooledThread): ToolError {
  if (isReady) {
    return new ToolError(
      'LIMIT_EXCEEDED',
      'The command was stopped: its thread failed, perhaps because of its memory limit',
    )
  }
  return notStarted()
}

function notStarted(): ToolError {
  return new ToolError('SHELL_UNAVAILABLE', 'The worker that runs commands cannot be started', {
    hint: 'Report this to the user: bash({ worker }) tells a build where the file of the worker is.',
  })
}

function reasonOf({ reason }: AbortSignal): unknown {
  return reason instanceof ToolError ? reason : new ToolError('ABORTED', 'The command was stopped')
}
