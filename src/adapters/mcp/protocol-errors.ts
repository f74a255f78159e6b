import type { Failure } from '../../errors.ts'
import { type JSONRPCMessage, ProtocolErrorCode } from './sdk.ts'

/** The code for a missing resource until 2025-11-25. The SDK sends `-32602`, as later versions of the protocol require. */
const RESOURCE_NOT_FOUND = -32002
/** A refusal by policy or state, from the range of codes for servers. */
const REFUSED = -32003

const FAILURE = 'wardspace/failure'

const codes: Readonly<Partial<Record<Failure['code'], number>>> = {
  NOT_FOUND: RESOURCE_NOT_FOUND,
  INVALID_INPUT: ProtocolErrorCode.InvalidParams,
  PATH_REJECTED: ProtocolErrorCode.InvalidParams,
  BACKEND_ERROR: ProtocolErrorCode.InternalError,
}

/** Returns a refusal as an error, for requests whose results cannot contain it: code and hint as text, the complete refusal as data. */
export function failureError(failure: Failure): Error {
  const { code, message, hint } = failure
  return protocolError(codes[code] ?? REFUSED, `${code}: ${message}\n${hint}`, { [FAILURE]: failure })
}

/** Returns the error for invalid parameters. */
export function invalidParams(message: string): Error {
  return protocolError(ProtocolErrorCode.InvalidParams, message)
}

function protocolError(code: number, message: string, data?: Readonly<Record<string, unknown>>): Error {
  return Object.assign(new Error(message), { code, ...(data === undefined ? {} : { data }) })
}

/** Returns the message with the code that clients until 2025-11-25 expect for a missing resource. */
export function withLegacyCode(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const data = message.error.data as { readonly [FAILURE]?: Failure } | undefined
  if (data?.[FAILURE]?.code !== 'NOT_FOUND') return message
  return { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } }
}
