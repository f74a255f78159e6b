import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import type { Failure } from '../../errors.ts'

/** The protocol's own code for a resource that is not there. */
const RESOURCE_NOT_FOUND = -32002
/** A refusal by policy or state: one of those codes that the protocol leaves to servers. */
const REFUSED = -32003

const codes: Readonly<Partial<Record<Failure['code'], number>>> = {
  NOT_FOUND: RESOURCE_NOT_FOUND,
  INVALID_INPUT: ErrorCode.InvalidParams,
  PATH_REJECTED: ErrorCode.InvalidParams,
  BACKEND_ERROR: ErrorCode.InternalError,
}

/** A refusal where the protocol has no result that could carry it: its code and hint in words, and the whole of it as data. */
export function refusal(failure: Failure): Error {
  const { code, message, hint } = failure
  return protocolError(codes[code] ?? REFUSED, `${code}: ${message}\n${hint}`, { 'wardspace/failure': failure })
}

/** A request that the protocol does not allow. */
export function invalidParams(message: string): Error {
  return protocolError(ErrorCode.InvalidParams, message)
}

function protocolError(code: number, message: string, data?: Readonly<Record<string, unknown>>): Error {
  return Object.assign(new Error(message), { code, ...(data === undefined ? {} : { data }) })
}
