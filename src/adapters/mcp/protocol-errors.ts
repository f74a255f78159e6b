import type * as z from 'zod/mini'
import type { Failure } from '../../errors.ts'
import { inClientWords } from './client-words.ts'
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
  const shown = inClientWords(failure)
  const { code, message, hint } = shown
  return protocolError(codes[code] ?? REFUSED, `${code}: ${message}\n${hint}`, { [FAILURE]: shown })
}

/** Returns the error for invalid parameters. */
export function invalidParams(message: string): Error {
  return protocolError(ProtocolErrorCode.InvalidParams, message)
}

/**
 * Refuses a cursor, which a list that is always complete never gives.
 *
 * @throws Error of the protocol
 */
export function requireNoCursor(cursor: string | undefined): void {
  if (cursor === undefined) return
  throw invalidParams('Unknown cursor: the list is complete without one')
}

function protocolError(code: number, message: string, data?: Readonly<Record<string, unknown>>): Error {
  return Object.assign(new Error(message), { code, ...(data === undefined ? {} : { data }) })
}

/** Returns an error of the SDK about invalid parameters in plain words: it has the issues of the schema as JSON. */
export function withPlainWords(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const [, issues] = /^[^[]*(\[\s*\{[\s\S]*\}\s*\])$/.exec(message.error.message) ?? []
  if (issues === undefined) return message
  try {
    const problems = (JSON.parse(issues) as z.core.$ZodIssue[]).map((issue) => {
      const field = issue.path.filter((part) => part !== 'params').join('.')
      return field === '' ? issue.message : `${JSON.stringify(field)}: ${issue.message}`
    })
    const text = `Invalid parameters: ${problems.join('; ')}`
    return { ...message, error: { ...message.error, code: ProtocolErrorCode.InvalidParams, message: text } }
  } catch {
    return message
  }
}

/** Returns the message with the code that clients until 2025-11-25 expect for a missing resource. */
export function withLegacyCode(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const data = message.error.data as { readonly [FAILURE]?: Failure } | undefined
  if (data?.[FAILURE]?.code !== 'NOT_FOUND') return message
  return { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } }
}
