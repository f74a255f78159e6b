import type { ExecResult, IFileSystem } from 'just-bash'
import { type CustomCommand, customCommand } from './custom-command.ts'
import { loadInterpreter } from './just-bash.ts'
import { nodeCommand } from './node-command.ts'
import { runScript } from './node-emulation/engine.ts'
import type { ScriptFiles } from './node-emulation/script.ts'
import { npmCommand } from './npm-command.ts'
import { runLine } from './run-line.ts'
import { sameThreadLimits } from './same-thread-limits.ts'
import {
  type FromThread,
  fromMessage,
  fsMethods,
  receivedStat,
  type Settled,
  type ThreadRequest,
  type ToThread,
  toMessage,
} from './thread-protocol.ts'
import { withoutFiles } from './virtual-paths.ts'

/*
 * Runs lines and scripts in a thread of its own, a Web Worker or a worker of Node, so that they can be ended whatever they
 * do. The thread has no files: it sends each access to the thread that started it.
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
  globalThis.process?.getBuiltinModule?.('node:worker_threads') as
    | { parentPort: (Port & { on(name: 'message', listener: (message: ToThread) => void): void }) | null }
    | undefined
)?.parentPort
const port: Port = nodePort ?? (globalThis as unknown as Port)

if (nodePort) nodePort.on('message', onMessage)
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
  const answer = await toMessage(async () => {
    const fs = remoteFs(job)
    if (message.type === 'script') {
      return runScript(message.script, fs as ScriptFiles, sameThreadLimits(message.timeoutMs, stop.signal))
    }
    const interpreter = await loadInterpreter()
    const limits = sameThreadLimits(message.request.timeoutMs, stop.signal)
    const commands = [
      ...message.commands.map((name) => remoteCommand(job, name).command),
      nodeCommand(
        (script, files) => runScript(script, files, limits),
        (error) => stop.abort(error),
      ),
      npmCommand(),
    ]
    return runLine(interpreter, message.request, { fs, commands, signal: stop.signal })
  })
  jobs.delete(job)
  port.postMessage({ type: 'done', job, answer })
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
  const statOf = (fs: string) => async (path: string) => receivedStat((await ask(job, { fs, args: [path] })) as object)
  return {
    ...Object.fromEntries(methods),
    stat: statOf('stat'),
    lstat: statOf('lstat'),
    ...withoutFiles,
  } as unknown as IFileSystem
}

/** A command that runs in the thread that has the files. */
function remoteCommand(job: number, command: string): CustomCommand {
  return customCommand(command, async (args, at) => {
    return (await ask(job, { command, args, ...at })) as ExecResult | undefined
  })
}
