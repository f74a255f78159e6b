import type { QuickJSAsyncContext, QuickJSAsyncRuntime, QuickJSHandle } from 'quickjs-emscripten'
import { ToolError } from '../../../errors.ts'
import { runAfter } from '../../../util/timers.ts'
import { describeError } from './guest-values.ts'
import { makeEngine, runJob } from './quickjs.ts'
import type { ScriptStreams, TestReport } from './script.ts'

export interface EngineLimits {
  /** When the script is stopped, by `performance.now()`. */
  readonly deadline: number
  readonly memoryBytes: number
  readonly outputBytes: number
  readonly signal: AbortSignal
}

/** Far more interrupt checks than an engine makes in a millisecond. */
const TURNS_PER_MS = 20
const MIN_TURNS = 10_000

/** In bytes. The engine's frames are on the host's stack, several for each frame of the script. */
const MAX_STACK = 160 * 1024

/** Creates the engine of one script, with its limits. */
export async function createScriptContext(
  limits: EngineLimits,
  streams: Required<ScriptStreams>,
): Promise<ScriptContext> {
  const engine = await makeEngine()
  const runtime = engine.newRuntime()
  runtime.setMemoryLimit(limits.memoryBytes)
  runtime.setMaxStackSize(MAX_STACK)
  return new ScriptContext(runtime, limits, streams)
}

/** One script in its engine: output, exit code, and what ends it. */
export class ScriptContext {
  readonly context: QuickJSAsyncContext
  /** Set once the script has ended. */
  exitCode: number | undefined
  tests: TestReport | undefined
  readonly #runtime: QuickJSAsyncRuntime
  readonly #limits: EngineLimits
  readonly #streams: Required<ScriptStreams>
  /** The input that the script waits for. */
  #entered: Promise<{ readonly text: string | undefined }> | undefined
  readonly #output = { 1: [] as string[], 2: [] as string[], length: 0 }
  /** On platforms whose clock stands still while code runs, such as workerd, the engine's turns replace time. */
  readonly #maxTurns: number
  #turns = 0

  constructor(runtime: QuickJSAsyncRuntime, limits: EngineLimits, streams: Required<ScriptStreams>) {
    this.#streams = streams
    this.context = runtime.newContext()
    this.#runtime = runtime
    this.#limits = limits
    this.#maxTurns = Math.max(MIN_TURNS, (limits.deadline - performance.now()) * TURNS_PER_MS)
    runtime.setInterruptHandler(() => {
      this.#turns += 1
      return this.exitCode !== undefined || this.#output.length > limits.outputBytes || this.#isLate()
    })
  }

  get stdout(): string {
    return this.#output[1].join('')
  }

  get stderr(): string {
    return this.#output[2].join('')
  }

  write(fd: 1 | 2, text: string): void {
    this.#output[fd].push(text)
    this.#output.length += text.length
    this.#streams.onOutput?.(fd === 1 ? 'stdout' : 'stderr', text)
  }

  #isLate(): boolean {
    const { signal, deadline } = this.#limits
    return this.#turns > this.#maxTurns || signal.aborted || performance.now() > deadline
  }

  /** @throws ToolError if the script was ended from outside: `ABORTED`, `COMMAND_TIMEOUT`, `LIMIT_EXCEEDED` */
  requireRunning(): void {
    if (this.exitCode !== undefined) return
    const { signal, outputBytes } = this.#limits
    if (signal.aborted) throw new ToolError('ABORTED', 'The script was stopped')
    if (this.#isLate()) throw new ToolError('COMMAND_TIMEOUT', 'The script took too long')
    if (this.#output.length > outputBytes) throw new ToolError('LIMIT_EXCEEDED', 'The script produced too much output')
  }

  /** Evaluates code. Returns `undefined` if it throws, which ends the script. */
  async evaluate(code: string, name: string, type: 'global' | 'module' = 'global'): Promise<QuickJSHandle | undefined> {
    try {
      const result = await this.context.evalCodeAsync(code, name, { type, strict: false })
      if (!result.error) return result.value
      this.#fail(result.error)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      // The host's own stack overflowed: this engine is unusable, and the script has failed.
      this.write(2, 'Uncaught:\nRangeError: Maximum call stack size exceeded\n')
      this.exitCode = 1
    }
    return undefined
  }

  /** Ends the script with an error that it did not catch. */
  #fail(error: QuickJSHandle): void {
    this.requireRunning()
    if (this.exitCode !== undefined) return
    this.write(2, `Uncaught:\n${describeError(this.context, error)}\n\nNode.js v20.19.0\n`)
    this.exitCode = 1
  }

  /** Runs the event loop until nothing is left: promise jobs, then the registered tests, then timers and input. */
  async drain(main: QuickJSHandle | undefined): Promise<void> {
    let areTestsStarted = false
    for (;;) {
      await this.#runJobs()
      if (this.exitCode !== undefined) return
      if (main !== undefined) {
        const state = this.context.getPromiseState(main)
        if (state.type === 'rejected') return this.#fail(state.error)
      }
      if (!areTestsStarted) {
        areTestsStarted = true
        await this.evaluate('__ward.startTests()', '<tests>')
      } else if (!(await this.#runNext())) return
    }
  }

  async #runJobs(): Promise<void> {
    while (this.exitCode === undefined && this.#runtime.hasPendingJob()) {
      const failure = await runJob(this.context)
      /* v8 ignore if -- @preserve: an error in a job rejects its promise; only a failure of the engine itself comes here */
      if (failure !== undefined) this.#fail(failure)
      this.requireRunning()
    }
    this.requireRunning()
  }

  /** Waits for the next timer or input, and runs what waits for it. Returns false if nothing does, or after the end of the script. */
  async #runNext(): Promise<boolean> {
    const wait = await this.evaluate('__ward.wait()', '<timers>')
    const isWanted = await this.evaluate('__ward.wantsInput()', '<input>')
    if (wait === undefined || isWanted === undefined || this.exitCode !== undefined) return false
    const ms = this.context.getNumber(wait)
    if (this.context.dump(isWanted) === true) {
      this.#entered ??= (this.#streams.input as NonNullable<ScriptStreams['input']>).next().then((text) => ({ text }))
      const due = pause(ms < 0 ? Number.POSITIVE_INFINITY : ms, this.#limits)
      const entered = await Promise.race([this.#entered, due])
      this.requireRunning()
      if (entered !== undefined) {
        this.#entered = undefined
        await this.evaluate(`__ward.enter(${JSON.stringify(entered.text ?? null)})`, '<input>')
        return true
      }
    } else if (ms < 0) return false
    else if (ms > 0) await pause(ms, this.#limits)
    this.requireRunning()
    await this.evaluate('__ward.fire()', '<timers>')
    return true
  }
}

/** Waits, at most until the deadline or an abort. */
async function pause(ms: number, { deadline, signal }: EngineLimits): Promise<undefined> {
  await new Promise<void>((resolve) => {
    const timer = runAfter(Math.max(0, Math.min(ms, deadline - performance.now() + 1)), done)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
