import { ToolError } from '../../errors.ts'
import { errorText } from '../sandbox/target.ts'

/** The codes of JSON-RPC and of the protocol. */
const codes = { invalid: -32602, missing: -32002, refused: -32603, unknown: -32601, cancelled: -32800 } as const

const messages = {
  invalid: 'Invalid params',
  missing: 'Resource not found',
  refused: 'Internal error',
  unknown: 'Method not found',
  cancelled: 'Request cancelled',
} as const

/** An error of the protocol: a number as its code, and data for the agent. */
export class AcpError extends Error {
  override readonly name = 'AcpError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Returns an error of the protocol, with the text as its `details`. */
export function protocolError(kind: keyof typeof codes, details: string, more: object = {}): AcpError {
  const message = kind === 'refused' ? details : `${messages[kind]}: ${details}`
  return new AcpError(codes[kind], message, { details, ...more })
}

/** Returns the error of the protocol for anything that was thrown: for a refusal its text for a model, and its code. */
export function toProtocolError(error: unknown, path?: string): AcpError {
  if (error instanceof AcpError) return error
  if (!(error instanceof ToolError)) return protocolError('refused', 'The request failed')
  const more = { refusal: error.code }
  // Agents recognize this error as that of a missing file.
  if (error.code === 'NOT_FOUND' && path !== undefined) return protocolError('missing', path, more)
  const kind = kinds[error.code] ?? 'refused'
  return protocolError(kind, errorText(error), more)
}

const kinds: Readonly<Partial<Record<ToolError['code'], keyof typeof codes>>> = {
  ABORTED: 'cancelled',
  INVALID_INPUT: 'invalid',
  PATH_REJECTED: 'invalid',
}
