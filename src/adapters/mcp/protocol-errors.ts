import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import type { Failure } from '../../errors.ts'

/** The protocol's code for a missing resource. */
const RESOURCE_NOT_FOUND = -32002
/** A refusal by policy or state, from the range of codes for servers. */
const REFUSED = -32003

const codes: Readonly<Partial<Record<Failure['code'], number>>> = {
  NOT_FOUND: RESOURCE_NOT_FOUND,
  INVALID_INPUT: ErrorCode.InvalidParams,
  PATH_REJECTED: ErrorCode.InvalidParams,
  BACKEND_ERROR: ErrorCode.InternalError,
}

/** Returns a refusal as an error, for requests whose results cannot contain it: code and hint as text, the complete refusal as data. */
export function failureError(failure: Failure): Error {
  const { code, message, hint } = failure
  return protocolError(codes[code] ?? REFUSED, `${code}: ${message}\n${hint}`, { 'wardspace/failure': failure })
}

/** Returns the error for invalid parameters. */
export function invalidParams(message: string): Error {
  return protocolError(ErrorCode.InvalidParams, message)
}

function protocolError(code: number, message: string, data?: Readonly<Record<string, unknown>>): Error {
  return Object.assign(new Error(message), { code, ...(data === undefined ? {} : { data }) })
}
