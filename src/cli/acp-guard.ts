import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { sep } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { protocolError } from '../adapters/acp/errors.ts'
import { type AcpClient, type AcpError, acpClient } from '../adapters/acp/index.ts'
import { isAcpMethod } from '../adapters/acp/params.ts'
import type { AcpPermissionRequest, AcpPermissionResponse } from '../adapters/acp/types.ts'
import { isAtOrBelow } from '../paths/physical.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../policy/approval.ts'
import { approvalParts } from '../policy/approval-text.ts'
import type { Workspace } from '../workspace/create-workspace.ts'
import { answeredLines } from './answered-lines.ts'

/** The path of the workspace in the messages that are answered here, if that of the machine has another form. */
const OTHER_ROOT = '/workspace'

type Id = string | number | null
type Params = Readonly<Record<string, unknown>>
interface Message {
  readonly id?: Id
  readonly method?: string
  readonly params?: Params | undefined
  readonly result?: unknown
  readonly error?: unknown
}

export interface AcpGuardOptions {
  /** The editor, on stdio. */
  readonly host: { readonly stdin: Readable; readonly stdout: Writable }
  readonly agent: { readonly stdin: Writable; readonly stdout: Readable }
  readonly workspace: Workspace
  /** The path of the workspace on this machine, as it was given and with links followed. */
  readonly roots: readonly string[]
  readonly report: (text: string) => void
}

/** A session, with its terminals. */
interface Session {
  readonly client: AcpClient
  readonly cwd: string
}

/**
 * Passes messages between an editor and an agent. Requests of the agent for files, terminals and permissions are answered by the
 * workspace. The editor gets nothing of an agent but what is listed here, so that no other request goes around the workspace.
 */
export class AcpGuard {
  readonly disconnected: Promise<void>
  readonly #options: AcpGuardOptions
  /** The path of the workspace in the messages that are answered here. */
  readonly #root: string
  /** Whether a file that does not exist is read as an empty one. */
  #missingFile: 'error' | 'empty' = 'error'
  readonly #sessions = new Map<string, Session>()
  /** The working directories of sessions that the agent has not opened yet, by the request that opens them. */
  readonly #opening = new Map<Id, string>()
  /** Requests of the editor that the agent has not answered. */
  readonly #waiting = new Set<Id>()
  /** Requests of this guard that the editor has not answered. Nobody else can know their ids. */
  readonly #asked = new Map<Id, (message: Message) => void>()
  /** Requests of the agent that are not answered. */
  readonly #running = new Map<Id, AbortController>()
  /** The request of the agent that asks for an approval. */
  readonly #caller = new AsyncLocalStorage<{ readonly sessionId: string; readonly params: Params }>()

  constructor(options: AcpGuardOptions) {
    this.#options = options
    const [root = ''] = options.roots
    this.#root = /^(\/[^/]+)+$/.test(root) ? root : OTHER_ROOT
    const { host, agent, report } = options
    const editor = createInterface({ input: answeredLines(host.stdin, { output: host.stdout, report }) })
    editor.on('line', (line) => this.#fromEditor(JSON.parse(line) as Message))
    this.disconnected = new Promise((resolve) => editor.once('close', resolve))
    createInterface({ input: answeredLines(agent.stdout, { output: agent.stdin, report }) }).on('line', (line) =>
      this.#fromAgent(JSON.parse(line) as Message),
    )
  }

  /** Asks the person at the editor for the approval of an operation. */
  async approve(request: ApprovalRequest, signal?: AbortSignal): Promise<ApprovalAnswer> {
    const caller = this.#caller.getStore()
    if (caller === undefined) return { deny: 'no session of the editor belongs to the call' }
    const { outcome } = await this.#ask(
      approvalRequest(caller.sessionId, request, this.#options.roots[0] ?? ''),
      signal,
    )
    const chosen = outcome.outcome === 'selected' ? outcome.optionId : undefined
    if (chosen === 'once') return 'allow'
    return chosen === 'run' ? 'allow-run' : { deny: 'refused in the editor' }
  }

  /** Stops all terminals, and reads no more of the editor. */
  async close(): Promise<void> {
    const { stdin } = this.#options.host
    stdin.unpipe()
    stdin.pause()
    await Promise.all([...this.#sessions.values()].map(({ client }) => client.close()))
  }

  #fromEditor(message: Message): void {
    const { id, method, params } = message
    const asked = this.#asked.get(id ?? null)
    if (method === undefined && asked !== undefined) {
      this.#asked.delete(id ?? null)
      asked(message)
      return
    }
    const outside = this.#outside(params)
    if (method !== undefined && id !== undefined && outside === undefined) this.#waiting.add(id)
    if (method === undefined || id === undefined) this.#toAgent(message)
    else if (outside !== undefined) {
      this.#toEditor({
        id,
        error: errorOf('invalid', `${outside} is outside the root that the agent was started with`),
      })
    } else if (method === 'initialize') void this.#initialize(message)
    else {
      if (typeof params?.cwd === 'string') this.#noteDirectory(id, params.cwd, params.sessionId)
      this.#toAgent(message)
    }
  }

  /** Tells the agent what the workspace can do, in place of what the editor can. */
  async #initialize(message: Message): Promise<void> {
    const { fs, terminal } = await acpClient(this.#options.workspace).capabilities()
    const given = message.params?.clientCapabilities as object | undefined
    this.#toAgent({ ...message, params: { ...message.params, clientCapabilities: { ...given, fs, terminal } } })
  }

  #noteDirectory(id: Id, cwd: string, sessionId: unknown): void {
    if (typeof sessionId === 'string') this.#open(sessionId, cwd)
    else this.#opening.set(id, cwd)
  }

  #fromAgent(message: Message): void {
    const { id, method, params } = message
    if (method === undefined) {
      const cwd = this.#opening.get(id ?? null)
      const { sessionId, agentInfo } = Object(message.result) as {
        readonly sessionId?: unknown
        readonly agentInfo?: { readonly name?: unknown }
      }
      // It does not recognize the error of a missing file, and would not create one.
      if (agentInfo?.name === 'gemini-cli') this.#missingFile = 'empty'
      if (!this.#waiting.delete(id ?? null)) return
      if (this.#opening.delete(id ?? null) && typeof sessionId === 'string') this.#open(sessionId, cwd ?? '')
      this.#toEditor(message)
    } else if (id === undefined) this.#noticeOfAgent(method, message)
    else if (isAcpMethod(method)) void this.#answer(id, method, params ?? {})
    else if (method === 'elicitation/create') this.#toEditor(message)
    else this.#toAgent({ id, error: errorOf('unknown', method) })
  }

  #noticeOfAgent(method: string, message: Message): void {
    if (method === '$/cancel_request') {
      const running = this.#running.get((message.params?.requestId ?? null) as Id)
      if (running === undefined) this.#toEditor(message)
      else running.abort()
    } else if (method === 'session/update' || method === 'elicitation/complete') this.#toEditor(message)
  }

  async #answer(id: Id, method: Parameters<AcpClient['answer']>[0], params: Params): Promise<void> {
    const stop = new AbortController()
    this.#running.set(id, stop)
    try {
      const session = this.#sessions.get(String(params.sessionId))
      if (session === undefined) throw protocolError('missing', 'the session')
      const result = await this.#caller.run({ sessionId: String(params.sessionId), params }, () =>
        session.client.answer(method, this.#inward(params, session), stop.signal),
      )
      this.#toAgent({ id, result })
    } catch (error) {
      this.#toAgent({ id, error: fieldsOf(error as AcpError) })
    } finally {
      this.#running.delete(id)
    }
  }

  /** Opens a session with terminals and a run of its own: an approval for the run of another session does not cover it. */
  #open(sessionId: string, cwd: string): void {
    if (this.#sessions.has(sessionId)) return
    const client = acpClient(this.#options.workspace.run({ actor: 'acp' }), {
      root: this.#root,
      missingFile: this.#missingFile,
      // The editor gets the request with the agent's own paths.
      permission: (request, { signal }) =>
        this.#ask((this.#caller.getStore()?.params ?? request) as unknown as AcpPermissionRequest, signal),
    })
    this.#sessions.set(sessionId, { client, cwd: this.#path(cwd) })
  }

  /** Sends a permission request to the editor, with an id of its own. */
  async #ask(request: AcpPermissionRequest, signal: AbortSignal | undefined): Promise<AcpPermissionResponse> {
    const id = randomUUID()
    const answered = new Promise<Message>((resolve) => this.#asked.set(id, resolve))
    const cancel = () => this.#toEditor({ method: '$/cancel_request', params: { requestId: id } })
    signal?.addEventListener('abort', cancel, { once: true })
    this.#toEditor({ id, method: 'session/request_permission', params: request as unknown as Params })
    const { result } = await answered
    signal?.removeEventListener('abort', cancel)
    const { outcome } = Object(result) as Partial<AcpPermissionResponse>
    return outcome === undefined ? { outcome: { outcome: 'cancelled' } } : { outcome }
  }

  /** Returns a path of this machine as one of the workspace. A path outside of it stays as it is, and is refused. */
  #path(path: string): string {
    const root = this.#options.roots.find((one) => isAtOrBelow(path, one, sep))
    if (root === undefined) return path
    const rest = path.slice(root.length)
    return this.#root + (sep === '/' ? rest : rest.replaceAll(sep, '/'))
  }

  #isInside(path: string): boolean {
    return this.#options.roots.some((root) => isAtOrBelow(path, root, sep))
  }

  /** Returns the parameters of the agent with paths of the workspace. */
  #inward(params: Params, { cwd }: Session): Params {
    const placed = this.#placed(params)
    const call = Object(params.toolCall) as { readonly [field: string]: unknown }
    const list = (items: unknown) => (Array.isArray(items) ? items.map((item) => this.#placed(item)) : items)
    const rawInput = this.#placedTexts(call.rawInput)
    const toolCall = { ...call, content: list(call.content), locations: list(call.locations), rawInput }
    return { cwd, ...placed, ...(params.toolCall === undefined ? {} : { toolCall }) }
  }

  /** Returns an object whose fields `path` and `cwd` are paths of the workspace. */
  #placed(item: Params): Params {
    const fields = Object.entries(Object(item) as Params).map(([name, value]) => [
      name,
      (name === 'path' || name === 'cwd') && typeof value === 'string' ? this.#path(value) : value,
    ])
    return Object.fromEntries(fields) as Params
  }

  /** Returns the input of an agent's own tool, in which each text and each name may be a path of the workspace. */
  #placedTexts(value: unknown): unknown {
    if (typeof value === 'string') return this.#path(value)
    if (Array.isArray(value)) return value.map((item) => this.#placedTexts(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [this.#path(name), this.#placedTexts(field)]),
    )
  }

  /** Returns a directory of a request of the editor that is not in the root. */
  #outside(params: Params | undefined): string | undefined {
    const more = Array.isArray(params?.additionalDirectories) ? params.additionalDirectories : []
    const directories = [params?.cwd, ...more].filter((path) => typeof path === 'string')
    return directories.find((path) => !this.#isInside(path) || path.split(/[\\/]/).includes('..'))
  }

  #toEditor(message: Message): void {
    this.#options.host.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message }, shownTerminal)}\n`)
  }

  #toAgent(message: Message): void {
    this.#options.agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}

/** Replaces a terminal of the workspace, which the editor does not have, by a text. */
function shownTerminal(_: string, value: unknown): unknown {
  const { type, terminalId } = Object(value) as { type?: unknown; terminalId?: unknown }
  if (type !== 'terminal' || typeof terminalId !== 'string') return value
  return { type: 'content', content: { type: 'text', text: 'The command runs in the workspace.' } }
}

function errorOf(...args: Parameters<typeof protocolError>): Message['error'] {
  return fieldsOf(protocolError(...args))
}

function fieldsOf({ code, message, data }: AcpError): Message['error'] {
  return { code, message, data }
}

/** Returns a block of Markdown from which no text can escape. */
function fenced(language: string, text: string): string {
  const fence = '`'.repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

/** Returns the permission request for an approval of the workspace. */
function approvalRequest(sessionId: string, request: ApprovalRequest, root: string): AcpPermissionRequest {
  const paths = [...new Set(request.accesses.map(({ asked }) => asked))].filter((path) => path !== '')
  const { call, diff } = approvalParts(request)
  const texts = [fenced('text', call), ...(diff === '' ? [] : [fenced('diff', diff)])]
  const toolCall = {
    toolCallId: `wardspace-${request.id}`,
    title: call.split('\n')[0] ?? request.tool,
    kind: request.tool === 'run_command' ? 'execute' : 'edit',
    status: 'pending',
    content: [{ type: 'content', content: { type: 'text', text: texts.join('\n\n') } }],
    locations: paths.map((path) => ({ path: `${root}/${path}` })),
  }
  return {
    sessionId,
    toolCall,
    options: [
      { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'run', name: 'Allow for this run', kind: 'allow_always' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  }
}
