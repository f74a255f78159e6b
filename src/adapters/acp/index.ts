/** The client side of the Agent Client Protocol: a workspace answers the file, terminal and permission requests of an agent. */

import { commandLine } from '../../dialects/codex/shell-line.ts'
import { sliceLines } from '../../files/text/lines.ts'
import { anySignal } from '../../util/abort.ts'
import { isFunction, isOneOf, type OptionTable, refuseSurplus } from '../../util/check-options.ts'
import type { Explanation } from '../../workspace/types.ts'
import { hasTool } from '../model/has-tool.ts'
import { isErrorClass } from '../sandbox/error-class.ts'
import { runLine } from '../sandbox/run-line.ts'
import { hasCode, openTarget, type SandboxOptions, type SandboxTarget, sandboxTable } from '../sandbox/target.ts'
import { AcpError, protocolError, toProtocolError } from './errors.ts'
import { acpMethods, checkParams, isAcpMethod } from './params.ts'
import { announcedCalls, answerWith, requireDistinct } from './permissions.ts'
import { Terminals } from './terminals.ts'
import type { AcpMethod, AcpParams, AcpPermissionRequest, AcpPermissionResponse, AcpResults } from './types.ts'

export type { SandboxCaller, SandboxOptions, SandboxTarget } from '../sandbox/target.ts'
export { AcpError } from './errors.ts'
export type * from './types.ts'

/** A workspace or a run, with or without a dialect. */
export type AcpTarget =
  | (Exclude<SandboxTarget, { readonly own: unknown }> & AcpExplainer)
  | (Extract<SandboxTarget, { readonly own: unknown }> & { readonly own: AcpExplainer })

/** Returns the verdict on a call, as `workspace.explainTool` does. */
export interface AcpExplainer {
  /** Returns the verdict on a call that is not made. */
  explainTool(name: string, input: unknown): Promise<Explanation>
}

/** Options of {@link acpClient}. */
export interface AcpOptions extends SandboxOptions {
  /**
   * Answers a permission request of the agent whose operations no rule denies, by asking a person. Default: operations that the
   * request names are allowed, because each of them is judged when it is made; a request that names none is rejected.
   */
  readonly permission?: (
    request: AcpPermissionRequest,
    options: { readonly signal?: AbortSignal },
  ) => AcpPermissionResponse | Promise<AcpPermissionResponse>
  /**
   * What the agent gets for a file that does not exist: the error of the protocol, or an empty text, as some editors answer and Gemini
   * CLI needs to create a file. Default: `error`
   */
  readonly missingFile?: 'error' | 'empty'
  /** `RequestError` of the SDK, so that an agent gets the codes of refusals. Default: {@link AcpError} */
  readonly RequestError?: new (
    code: number,
    message: string,
    data?: unknown,
  ) => Error
}

/** What the SDK passes to a handler. */
export interface AcpContext {
  readonly params: unknown
  readonly signal?: AbortSignal
}

/** What a client says of itself in `initialize`. */
export interface AcpCapabilities {
  fs: { readTextFile: true; writeTextFile: true }
  terminal: boolean
}

/** Answers the requests of one agent. */
export interface AcpClient {
  /** Returns the `clientCapabilities` of `initialize`. `terminal`: whether the workspace has a shell. */
  capabilities(): Promise<AcpCapabilities>
  /** Answers a request. @throws AcpError, or the `RequestError` of the options */
  answer<M extends AcpMethod>(method: M, params: unknown, signal?: AbortSignal): Promise<AcpResults[M]>
  /** Adds a handler for each method to a `client()` of the SDK, and returns it. */
  addTo<App extends AcpApp>(app: App): App
  /**
   * Stops all commands, and cancels requests that are not answered, such as those that wait for an approval. Afterwards, only requests
   * about its terminals are answered. Call it when the agent has disconnected.
   */
  close(): Promise<void>
}

/** A `client()` of the SDK. */
export interface AcpApp {
  /** Adds the handler of a method. */
  onRequest(method: never, handler: never): unknown
}

/** The largest number of operations of a permission request: the verdict on each takes time. */
const MAX_CALLS = 1000

const optionTable: OptionTable<AcpOptions> = {
  ...sandboxTable,
  permission: isFunction,
  missingFile: isOneOf('error', 'empty'),
  RequestError: isErrorClass,
}

/**
 * Lets an agent of the Agent Client Protocol work in a workspace or a run: `fs/read_text_file`, `fs/write_text_file`, terminals and
 * `session/request_permission`, each operation with guard, policy, approval, audit and undo. Paths are absolute, below `root`. A
 * terminal runs one command line; its output is there when the line has ended.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const guarded = acpClient(workspace)
 * const { content } = await guarded.answer('fs/read_text_file', { sessionId: 's', path: '/workspace/src/app.ts' })
 */
export function acpClient(target: AcpTarget, requested?: AcpOptions): AcpClient {
  refuseSurplus('acpClient()', 2, arguments)
  const open = openTarget('acpClient()', target, requested, optionTable)
  const { permission, missingFile = 'error', RequestError = AcpError } = open.given
  const terminals = new Terminals()
  const own: AcpExplainer = 'own' in target ? target.own : target
  const ended = new AbortController()
  const handlers: {
    readonly [M in AcpMethod]: (params: AcpParams[M], signal?: AbortSignal) => Promise<AcpResults[M]>
  } = {
    async 'fs/read_text_file'({ path, line, limit }, signal) {
      const content = await open.files.readText(open.inward(path), signal && { signal }).catch((error: unknown) => {
        if (missingFile === 'empty' && hasCode(error, 'NOT_FOUND')) return ''
        throw error
      })
      return { content: sliceLines(content, line ?? 1, limit ?? Number.POSITIVE_INFINITY).content }
    },
    async 'fs/write_text_file'({ path, content }, signal) {
      await open.files.write(open.inward(path), content, signal && { signal })
      return {}
    },
    async 'terminal/create'(params) {
      const line = terminalLine(params)
      const cwd = open.inward(params.cwd ?? open.root)
      return { terminalId: terminals.create(params, (signal) => runLine(open, line, { cwd, signal })) }
    },
    'terminal/output': async (params) => terminals.output(params),
    'terminal/wait_for_exit': (params, signal) => terminals.wait(params, signal),
    async 'terminal/kill'(params) {
      await terminals.kill(params)
      return {}
    },
    async 'terminal/release'(params) {
      await terminals.release(params)
      return {}
    },
    async 'session/request_permission'(request, signal) {
      const { options } = request
      requireDistinct(options)
      const calls = announcedCalls(request.toolCall, open.inward)
      if (calls.length > MAX_CALLS) throw protocolError('invalid', `A request names more than ${MAX_CALLS} operations`)
      for (const { tool, input } of calls) {
        if (isDenied(await own.explainTool(tool, input))) return answerWith('reject_once', options)
      }
      if (permission === undefined) return answerWith(calls.length > 0 ? 'allow_once' : 'reject_once', options)
      const { outcome } = await permission(request, signal ? { signal } : {})
      const isOffered = outcome.outcome === 'selected' && options.some(({ optionId }) => optionId === outcome.optionId)
      return { outcome: isOffered ? outcome : { outcome: 'cancelled' } }
    },
  }

  async function answer<M extends AcpMethod>(method: M, params: unknown, signal?: AbortSignal): Promise<AcpResults[M]> {
    try {
      if (!isAcpMethod(method)) throw protocolError('unknown', String(method))
      const whole = signalOf(method, signal, ended.signal)
      return await handlers[method](checkParams(method, params), whole)
    } catch (error) {
      const { code, message, data } = toProtocolError(error, (Object(params) as { path?: string }).path)
      throw new RequestError(code, message, data)
    }
  }

  return {
    answer,
    async capabilities() {
      return { fs: { readTextFile: true, writeTextFile: true }, terminal: await hasTool(own, 'run_command') }
    },
    addTo(app) {
      for (const method of acpMethods) {
        const handler = ({ params, signal }: AcpContext) => answer(method, params, signal)
        app.onRequest(method as never, handler as never)
      }
      return app
    },
    async close() {
      ended.abort()
      await terminals.close()
    },
  }
}

/** Returns the signal of a request: its own, and the end of the client, after which only requests about terminals are answered. */
function signalOf(method: AcpMethod, own: AbortSignal | undefined, ended: AbortSignal): AbortSignal | undefined {
  if (/^terminal\/(?!create$)/.test(method)) return own
  if (ended.aborted) throw protocolError('refused', 'The client is closed: the agent has disconnected')
  return anySignal(own, ended)
}

/** Whether a rule, a protection or the path itself refuses a call. That it would find nothing to do is no refusal. */
function isDenied(explained: Explanation): boolean {
  if (explained.ok) return explained.verdict.decision === 'deny'
  return !['NOT_FOUND', 'IS_DIRECTORY', 'NOT_A_DIRECTORY'].includes(explained.code)
}

/** Returns the line of a terminal: a command line if it has no arguments, and otherwise a program with its arguments. */
function terminalLine({ command, args = [], env = [] }: AcpParams['terminal/create']): string {
  const line = args.length === 0 ? command : commandLine([command, ...args])
  if (env.length === 0) return line
  return `export ${env.map(({ name, value }) => `${name}=${commandLine([value])}`).join(' ')}\n${line}`
}
