import type { ExecResult, IFileSystem } from 'just-bash'
import type { Path } from '../../paths/logical-path.ts'
import { nodeModule } from '../../util/node-module.ts'
import { batchOutput } from './batched-output.ts'
import type { StartJudge } from './command-hooks.ts'
import { type CustomCommand, customCommand } from './custom-command.ts'
import { loadInterpreter } from './just-bash.ts'
import { lineOutput } from './live-output.ts'
import type { ScriptRunner } from './node-command.ts'
import type { ScriptFiles, ScriptResult } from './node-emulation/script.ts'
import { receivedStat } from './observed-stat.ts'
import { createPersonInput, enteredText } from './person-input.ts'
import { type LineRequest, runLine } from './run-line.ts'
import { interpreterCommands, runScript } from './same-thread.ts'
import { sameThreadLimits } from './same-thread-limits.ts'
import type { OpenSearch, SearchBatch } from './search-files.ts'
import { startNodeThread } from './start-thread.ts'
import { createThreads, type Threads } from './thread-pool.ts'
import {
  type FromThread,
  fromMessage,
  fsMethods,
  PROCESS_ARGUMENT,
  type Settled,
  type ThreadRequest,
  type ToThread,
  toMessage,
} from './thread-protocol.ts'
import { withoutFiles } from './virtual-paths.ts'
import { watchProcess } from './watch-process.ts'

/*
 * Runs lines and scripts in a Web Worker, a process of Node or a worker of Node, so that they can be ended at any time.
 * It has no files: it sends each access to the program that started it. In a process, scripts run in a worker, which has the
 * larger stack that they need.
 */

interface Job {
  readonly stop: AbortController
  readonly answers: Map<number, (answer: Settled) => void>
}

const jobs = new Map<number, Job>()
let questionCount = 0

interface Port {
  postMessage(message: FromThread): void
}

const nodePort = (
  nodeModule('worker_threads') as
    | { parentPort: (Port & { on(name: 'message', listener: (message: ToThread) => void): void }) | null }
    | undefined
)?.parentPort
const nodeProcess = !nodePort && globalThis.process?.argv?.[2] === PROCESS_ARGUMENT ? globalThis.process : undefined
const port: Port =
  nodePort ??
  (nodeProcess
    ? { postMessage: (message) => void nodeProcess.send?.(message, undefined, {}, () => {}) }
    : (globalThis as unknown as Port))
const reportBusy = nodeProcess && watchProcess()
const scriptThreads = nodeProcess && createThreads(startNodeThread)

if (nodePort) nodePort.on('message', onMessage)
else if (nodeProcess) nodeProcess.on('message', onMessage)
else globalThis.addEventListener('message', (event) => onMessage((event as MessageEvent<ToThread>).data))
port.postMessage({ type: 'ready' })

function onMessage(message: ToThread): void {
  const { job } = message
  if (message.type === 'stop') jobs.get(job)?.stop.abort()
  else if (message.type === 'answer') {
    const answers = jobs.get(job)?.answers
    const settle = answers?.get(message.question)
    answers?.delete(message.question)
    settle?.(message.answer)
  } else void start(message)
}

async function start(message: Extract<ToThread, { type: 'line' | 'script' }>): Promise<void> {
  const { job } = message
  const stop = new AbortController()
  jobs.set(job, { stop, answers: new Map() })
  reportBusy?.(true)
  const output = batchOutput((pieces) => port.postMessage({ type: 'output', job, pieces }))
  const onOutput = message.isLive ? output.add : undefined
  const answer = await toMessage(async () => {
    const fs = remoteFs(job)
    const input = message.asks
      ? createPersonInput(async (options = {}) => {
          // What was printed before is on the screen while the person enters something.
          output.flush()
          return (await ask(job, { input: options })) as string | undefined
        })
      : undefined
    if (message.type === 'script') {
      const limits = sameThreadLimits(message.timeoutMs, stop.signal)
      return runScript(message.script, fs as ScriptFiles, limits, { onOutput, input })
    }
    const interpreter = await loadInterpreter()
    const live = lineOutput(interpreter, onOutput)
    const limits = sameThreadLimits(message.request.timeoutMs, stop.signal)
    const runner: ScriptRunner =
      scriptThreads === undefined
        ? (script, files, streams) => runScript(script, files, limits, streams)
        : threadRunner(scriptThreads, job, limits.deadline, stop.signal)
    const commands = [
      ...interpreterCommands({
        root: message.request.root,
        runner,
        endLine: (error) => stop.abort(error),
        search: remoteSearch(job),
        live,
        input,
      }),
      ...message.commands.map((name) => remoteCommand(job, name).command),
    ]
    const judge = remoteJudge(job, message.request)
    return runLine(interpreter, message.request, { fs, commands, judge, signal: stop.signal, live, input })
  })
  output.flush()
  jobs.delete(job)
  if (jobs.size === 0) reportBusy?.(false)
  port.postMessage({ type: 'done', job, answer })
}

/** Runs the scripts of a line in a worker. Its accesses go on to the program that has the files. */
function threadRunner(threads: Threads, job: number, deadline: number, signal: AbortSignal): ScriptRunner {
  return (script, _files, { onOutput, input }) => {
    const timeoutMs = Math.max(1, Math.ceil(deadline - performance.now()))
    const serve = async (request: ThreadRequest) =>
      'input' in request ? enteredText(await input?.next(request.input)) : ask(job, request)
    const start = {
      type: 'script',
      script,
      timeoutMs,
      isLive: onOutput !== undefined,
      asks: input !== undefined,
    } as const
    return threads.run(start, { timeoutMs, signal, serve, onOutput }) as Promise<ScriptResult>
  }
}

async function ask(job: number, request: ThreadRequest): Promise<unknown> {
  const answers = jobs.get(job)?.answers
  /* v8 ignore if -- @preserve: a safety net; the interpreter makes no access after its line has ended */
  if (answers === undefined) throw new Error('The command has ended')
  questionCount += 1
  const question = questionCount
  const answer = await new Promise<Settled>((resolve) => {
    answers.set(question, resolve)
    port.postMessage({ type: 'ask', job, question, asked: request })
  })
  if ('value' in answer) return answer.value
  const { ends } = await loadInterpreter()
  throw fromMessage(answer.error, ends)
}

function remoteFs(job: number): IFileSystem {
  const methods = fsMethods.map((fs) => [fs, (...args: unknown[]) => ask(job, { fs, args })] as const)
  // Messages arrive in their order, so the file counts as read before anything that the line writes next.
  const note = (paths: readonly Path[]): void => void ask(job, { fs: 'noteMetadata', args: [paths] }).catch(() => {})
  const statOf = (fs: string) => async (path: string) =>
    receivedStat((await ask(job, { fs, args: [path] })) as object, note)
  return {
    ...Object.fromEntries(methods),
    stat: statOf('stat'),
    lstat: statOf('lstat'),
    ...withoutFiles,
  } as unknown as IFileSystem
}

/** Decides about what starts in the thread that has the policy. */
function remoteJudge(job: number, { judges }: LineRequest): StartJudge | undefined {
  if (judges === undefined) return undefined
  return {
    refusal: async (start) => (await ask(job, { start })) as string | undefined,
    ...(judges.operators
      ? { refusalOfOperators: async (operators) => (await ask(job, { operators })) as string | undefined }
      : {}),
  }
}

let searchCount = 0

/** Reads the files of a search from the thread that has them. */
function remoteSearch(job: number): OpenSearch {
  return (request) => {
    searchCount += 1
    const search = searchCount
    return {
      async next() {
        const value = (await ask(job, { search, ...request })) as SearchBatch | undefined
        return value === undefined ? { done: true, value } : { done: false, value }
      },
    }
  }
}

/** A command that runs in the thread that has the files. */
function remoteCommand(job: number, command: string): CustomCommand {
  return customCommand(command, async (args, at) => {
    return (await ask(job, { command, args, ...at })) as ExecResult | undefined
  })
}
