import { ToolError } from '../../errors.ts'
import type { ScriptResult } from './node-emulation/script.ts'
import { GRACE_MS, type LineResult, tooLate } from './run-line.ts'
import type { Thread, ThreadEvents } from './start-thread.ts'
import { type Asked, type FromThread, fromMessage, type ToThread, toMessage } from './thread-protocol.ts'

/** Jobs in threads that can be ended. */
export interface Threads {
  /** Runs a job to its end. What is late, or called off and does not notice, is ended with its thread. */
  run(job: Begin, how: JobHow): Promise<LineResult | ScriptResult>
  /** Ends all of them. */
  close(): void
}

type Omitted<T> = T extends unknown ? Omit<T, 'job'> : never
export type Begin = Omitted<Extract<ToThread, { type: 'line' | 'script' }>>

export interface JobHow {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Answers what the job asks for. */
  serve(asked: Asked): Promise<unknown>
}

interface Running {
  readonly how: JobHow
  end(result: { value: LineResult | ScriptResult } | { error: unknown }): void
}

interface Own {
  readonly thread: Thread
  readonly jobs: Map<number, Running>
  isReady: boolean
  isDead: boolean
}

const MOST_THREADS = 4

/** Jobs share few threads: a job gets one of its own while there are any. */
export function createThreads(start: (events: ThreadEvents) => Thread): Threads {
  const threads = new Set<Own>()
  let count = 0

  function open(): Own {
    const own: Own = {
      thread: start({ onMessage: (message) => void onMessage(own, message), onEnd: () => end(own) }),
      jobs: new Map(),
      isReady: false,
      isDead: false,
    }
    threads.add(own)
    own.thread.hold(false)
    return own
  }

  async function onMessage(own: Own, message: FromThread): Promise<void> {
    if (message.type === 'ready') {
      own.isReady = true
      return
    }
    const { job } = message
    const running = own.jobs.get(job)
    if (message.type === 'done') {
      running?.end('value' in message.answer ? message.answer : { error: fromMessage(message.answer.error, Error) })
      own.jobs.delete(job)
      if (own.jobs.size === 0) own.thread.hold(false)
      return
    }
    if (running === undefined) return
    const answer = await toMessage(() => running.how.serve(message.asked))
    if (own.isDead) return
    const { question } = message
    try {
      own.thread.post({ type: 'answer', job, question, answer })
    } catch {
      // What cannot travel is told as a failure: whoever waits must not wait for ever.
      own.thread.post({
        type: 'answer',
        job,
        question,
        answer: { error: { message: 'it cannot be told', is: 'system' } },
      })
    }
  }

  /** A thread is gone: by us, or by itself. */
  function end(own: Own, why?: ToolError): void {
    if (own.isDead) return
    own.isDead = true
    threads.delete(own)
    const error =
      why ??
      (own.isReady
        ? new ToolError('LIMIT_EXCEEDED', 'The command was stopped: its thread failed, perhaps for want of memory')
        : new ToolError('SHELL_UNAVAILABLE', 'The worker that runs commands cannot be started', {
            hint: 'Tell the person in charge: bash({ worker }) says how a build names its file.',
          }))
    for (const running of own.jobs.values()) running.end({ error })
    own.jobs.clear()
  }

  function kill(own: Own): void {
    own.thread.kill()
    end(own, new ToolError('ABORTED', 'The command was stopped, with another one that had to be ended'))
  }

  function choose(): Own {
    const byLoad = [...threads].sort((a, b) => a.jobs.size - b.jobs.size)
    const [least] = byLoad
    return least === undefined || (least.jobs.size > 0 && threads.size < MOST_THREADS) ? open() : least
  }

  return {
    run(begin, how) {
      const { timeoutMs, signal } = how
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(reasonOf(signal))
        const own = choose()
        count += 1
        const job = count
        let isOver = false
        const late = setTimeout(() => giveUp(tooLate(timeoutMs), 0), timeoutMs + GRACE_MS)
        const onAbort = () => giveUp(reasonOf(signal), GRACE_MS)
        signal.addEventListener('abort', onAbort, { once: true })

        function end(result: { value: LineResult | ScriptResult } | { error: unknown }): void {
          if (isOver) return
          isOver = true
          clearTimeout(late)
          signal.removeEventListener('abort', onAbort)
          if ('value' in result) resolve(result.value)
          else reject(result.error)
        }

        /** Whoever waits is told at once; the thread gets a moment to end the job by itself. */
        function giveUp(error: unknown, patienceMs: number): void {
          end({ error })
          own.thread.post({ type: 'stop', job })
          setTimeout(() => {
            if (own.jobs.has(job)) kill(own)
          }, patienceMs)
        }

        own.jobs.set(job, { how, end })
        own.thread.hold(true)
        own.thread.post({ ...begin, job })
      })
    },
    close() {
      for (const own of [...threads]) kill(own)
    },
  }
}

function reasonOf({ reason }: AbortSignal): unknown {
  return reason instanceof ToolError ? reason : new ToolError('ABORTED', 'The command was stopped')
}
