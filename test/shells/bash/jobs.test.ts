import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ToolError } from '../../../src/errors.ts'
import type { ThreadEvents } from '../../../src/shells/bash/start-thread.ts'
import { startNodeThread, threadKind } from '../../../src/shells/bash/start-thread.ts'
import { startWebThread } from '../../../src/shells/bash/start-web-thread.ts'
import { createThreads, type JobOptions } from '../../../src/shells/bash/thread-pool.ts'
import type { FromThread, ToThread } from '../../../src/shells/bash/thread-protocol.ts'

/** A thread that does nothing and records the messages to it. */
function recordingThread(events: ThreadEvents) {
  const messages: ToThread[] = []
  const thread = { events, messages, isHeld: true, isKilled: false, isDeaf: false }
  return Object.assign(thread, {
    post(message: ToThread) {
      if (thread.isDeaf && 'answer' in message && 'value' in message.answer) throw new Error('could not be cloned')
      messages.push(message)
    },
    hold(isBusy: boolean) {
      thread.isHeld = isBusy
    },
    kill() {
      thread.isKilled = true
      queueMicrotask(() => events.onEnd())
    },
  })
}

const result = { stdout: 'done', stderr: '', exitCode: 0 }
const request = { line: '', root: '/workspace', cwd: '/', env: {}, timeoutMs: 1000 }

function open() {
  const started: ReturnType<typeof recordingThread>[] = []
  const threads = createThreads((events) => {
    started.push(recordingThread(events))
    return started.at(-1) as ReturnType<typeof recordingThread>
  })
  const begin = (options: Partial<JobOptions> = {}) =>
    threads
      .run(
        { type: 'line', request, commands: [] },
        { timeoutMs: 1000, signal: new AbortController().signal, serve: async () => undefined, ...options },
      )
      .then(
        (value) => value,
        (error: Error & { code?: string }) => `${error.code} ${error.message}`,
      )
  const say = async (thread: number, message: FromThread) => {
    started[thread]?.events.onMessage(message)
    await vi.advanceTimersByTimeAsync(0)
  }
  return { threads, started, begin, say }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('jobs in threads', () => {
  it('get their own threads up to the maximum, then share the least busy one', async () => {
    const { started, begin, say } = open()
    const jobs = [begin(), begin(), begin(), begin(), begin()]
    expect(started.map(({ messages }) => messages.length)).toEqual([2, 1, 1, 1])
    await say(0, { type: 'done', job: 1, answer: { value: result } })
    expect(await jobs[0]).toEqual(result)
    expect(started[0]?.isHeld).toBe(true)
    await say(0, { type: 'done', job: 5, answer: { value: result } })
    // Messages of an ended job are ignored.
    await say(0, { type: 'done', job: 5, answer: { error: { message: 'late', is: 'system' } } })
    await say(0, { type: 'ask', job: 5, question: 1, asked: { fs: 'readFile', args: [] } })
    expect(await jobs[4]).toEqual(result)
    expect(started[0]).toMatchObject({ isHeld: false, messages: [{ job: 1 }, { job: 5 }] })
    void begin()
    expect(started).toHaveLength(4)
    expect(started[0]?.messages).toHaveLength(3)
  })

  it('get answers, and an error if an answer fails or cannot be cloned', async () => {
    const { started, begin, say } = open()
    const refused = new ToolError('POLICY_DENIED', 'no', { path: 'x' })
    const job = begin({
      serve: async (request) => {
        if ('fs' in request && request.fs === 'readFile') throw refused
        return 'served'
      },
    })
    const ask = (fs: string, question: number) => say(0, { type: 'ask', job: 1, question, asked: { fs, args: [] } })
    await ask('exists', 1)
    await ask('readFile', 2)
    const [thread] = started
    if (thread !== undefined) thread.isDeaf = true
    await ask('exists', 3)
    expect(thread?.messages.slice(1)).toMatchObject([
      { question: 1, answer: { value: 'served' } },
      { question: 2, answer: { error: { is: 'tool', code: 'POLICY_DENIED', message: 'no', details: { path: 'x' } } } },
      { question: 3, answer: { error: { is: 'system', message: 'the answer cannot be sent to the thread' } } },
    ])
    await say(0, {
      type: 'done',
      job: 1,
      answer: { error: { is: 'tool', code: 'LIMIT_EXCEEDED', message: 'too much' } },
    })
    expect(await job).toBe('LIMIT_EXCEEDED too much')
  })

  it('are ended with their thread on a timeout, and the other jobs of the thread get an error', async () => {
    const { started, begin, say } = open()
    const jobs = [begin({ timeoutMs: 100 }), begin(), begin(), begin(), begin()]
    await vi.advanceTimersByTimeAsync(349)
    expect(started[0]?.isKilled).toBe(false)
    await vi.advanceTimersByTimeAsync(2)
    expect(await jobs[0]).toMatch(/^COMMAND_TIMEOUT /)
    expect(await jobs[4]).toBe('ABORTED The command was stopped, with another one that had to be ended')
    expect(started.map(({ isKilled }) => isKilled)).toEqual([true, false, false, false])
    expect(started[0]?.messages.at(-1)).toEqual({ type: 'stop', job: 1 })
    // Messages of a dead thread and its later end are ignored.
    await say(0, { type: 'done', job: 5, answer: { value: result } })
    started[0]?.events.onEnd()
    void begin()
    expect(started).toHaveLength(5)
  })

  it('get a grace period after an abort', async () => {
    const { started, begin, say, threads } = open()
    const stop = new AbortController()
    const [first, second] = [begin({ signal: stop.signal }), begin({ signal: stop.signal })]
    stop.abort(new ToolError('COMMAND_TIMEOUT', 'the line is late'))
    expect(await first).toBe('COMMAND_TIMEOUT the line is late')
    await say(0, { type: 'done', job: 1, answer: { error: { message: 'stopped', is: 'system' } } })
    await vi.advanceTimersByTimeAsync(1000)
    expect(started.map(({ isKilled }) => isKilled)).toEqual([false, true])
    expect(await second).toBe('COMMAND_TIMEOUT the line is late')
    expect(await begin({ signal: AbortSignal.abort() })).toBe('ABORTED The command was stopped')
    const last = begin()
    threads.close()
    threads.close()
    expect(await last).toMatch(/^ABORTED /)
    expect(started[0]?.isKilled).toBe(true)
  })

  it('get an error if their thread ends by itself, also while a request is served', async () => {
    const { started, begin, say } = open()
    let answer = (_: unknown) => {}
    const first = begin({ serve: () => new Promise((resolve) => (answer = resolve)) })
    await say(0, { type: 'ready' })
    await say(0, { type: 'ask', job: 1, question: 1, asked: { fs: 'exists', args: [] } })
    started[0]?.events.onEnd()
    answer('late')
    await vi.advanceTimersByTimeAsync(5000)
    expect(started[0]?.messages).toHaveLength(1)
    expect(await first).toBe(
      'LIMIT_EXCEEDED The command was stopped: its thread failed, perhaps because of its memory limit',
    )
    const second = begin()
    started[1]?.events.onEnd()
    expect(await second).toBe('SHELL_UNAVAILABLE The worker that runs commands cannot be started')
  })
})

describe('threads of the platform', () => {
  it('create a Web Worker by the given function and report its failure once', () => {
    const worker = Object.assign(new EventTarget(), { postMessage: vi.fn(), terminate: vi.fn() })
    const events = { onMessage: vi.fn(), onEnd: vi.fn() }
    const thread = startWebThread(() => worker as unknown as Worker, events)
    worker.dispatchEvent(new MessageEvent('message', { data: { type: 'ready' } }))
    const failure = new Event('error', { cancelable: true })
    worker.dispatchEvent(failure)
    expect(failure.defaultPrevented).toBe(true)
    thread.post({ type: 'stop', job: 1 })
    thread.hold(true)
    thread.kill()
    expect(events.onMessage).toHaveBeenCalledExactlyOnceWith({ type: 'ready' })
    expect(events.onEnd).toHaveBeenCalledOnce()
    expect(worker.postMessage).toHaveBeenCalledExactlyOnceWith({ type: 'stop', job: 1 })
    expect(worker.terminate).toHaveBeenCalledOnce()
  })

  it('are Web Workers or workers of Node if available, and absent otherwise', () => {
    try {
      expect(threadKind()).toBe('node')
      vi.stubGlobal('Worker', function none() {})
      expect(threadKind()).toBe('web')
      vi.stubGlobal('Worker', undefined)
      vi.stubGlobal('process', undefined)
      expect(threadKind()).toBeUndefined()
      expect(() => startNodeThread({ onMessage() {}, onEnd() {} })).toThrow('This platform has no threads')
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
