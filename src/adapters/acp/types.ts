/** What a workspace answers of the Agent Client Protocol, version 1: https://agentclientprotocol.com/protocol/v1/schema */

/** One operation that an agent announces or reports. */
export interface AcpToolCall {
  readonly toolCallId: string
  readonly title?: string | null
  readonly kind?: string | null
  readonly content?: readonly AcpContent[] | null
  readonly locations?: readonly { readonly path: string; readonly line?: number | null }[] | null
  readonly rawInput?: unknown
}

/** A part of a tool call: of the type `diff` it has a path and texts, of the type `terminal` an id. */
export interface AcpContent {
  readonly type: string
  readonly path?: string
  readonly oldText?: string | null
  readonly newText?: string
  readonly terminalId?: string
}

/** An answer that a person can choose. */
export interface AcpPermissionOption {
  readonly optionId: string
  readonly name: string
  readonly kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'
}

/** `session/request_permission`: the agent asks before it does something. */
export interface AcpPermissionRequest {
  readonly sessionId: string
  readonly toolCall: AcpToolCall
  readonly options: readonly AcpPermissionOption[]
}

/** The chosen option, or that the turn was cancelled. */
export interface AcpPermissionResponse {
  readonly outcome: { outcome: 'cancelled' } | { outcome: 'selected'; optionId: string }
}

/** How a command ended: `exitCode`, or the signal that stopped it. */
export interface AcpExitStatus {
  exitCode: number | null
  signal: string | null
}

/** Parameters of a request of a session. */
export interface AcpSessionParams {
  readonly sessionId: string
}

/** Parameters of a request about a terminal. */
export interface AcpTerminalParams extends AcpSessionParams {
  readonly terminalId: string
}

/** The parameters of each method. */
export interface AcpParams {
  'fs/read_text_file': AcpSessionParams & {
    readonly path: string
    readonly line?: number | null
    readonly limit?: number | null
  }
  'fs/write_text_file': AcpSessionParams & { readonly path: string; readonly content: string }
  'terminal/create': AcpSessionParams & {
    readonly command: string
    readonly args?: readonly string[]
    readonly env?: readonly { readonly name: string; readonly value: string }[]
    readonly cwd?: string | null
    readonly outputByteLimit?: number | null
  }
  'terminal/output': AcpTerminalParams
  'terminal/wait_for_exit': AcpTerminalParams
  'terminal/kill': AcpTerminalParams
  'terminal/release': AcpTerminalParams
  'session/request_permission': AcpPermissionRequest
}

/** The result of each method. */
export interface AcpResults {
  'fs/read_text_file': { content: string }
  'fs/write_text_file': Record<string, never>
  'terminal/create': { terminalId: string }
  'terminal/output': { output: string; truncated: boolean; exitStatus?: AcpExitStatus }
  'terminal/wait_for_exit': AcpExitStatus
  'terminal/kill': Record<string, never>
  'terminal/release': Record<string, never>
  'session/request_permission': AcpPermissionResponse
}

/** A method of the client that a workspace answers. */
export type AcpMethod = keyof AcpParams
