import { didYouMean } from '../../util/check-options.ts'
import { isSpecType, ProtocolErrorCode } from './sdk.ts'

/** An answer of JSON-RPC to a message that cannot be handled. `id` is `null` if the message has no valid one. */
export interface MalformedAnswer {
  readonly jsonrpc: '2.0'
  readonly id: string | number | null
  readonly error: { readonly code: number; readonly message: string }
}

const requestFields = ['jsonrpc', 'id', 'method', 'params']
const responseFields = ['jsonrpc', 'id', 'result', 'error']

/** The parameters of the methods whose input a model or a program writes. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  'tools/call': ['name', 'arguments', 'task', '_meta', 'inputResponses', 'requestState'],
}

/** Returns the answer to a text that is not a message. */
export function unparsableAnswer(reason: string): MalformedAnswer {
  return answerTo({}, ProtocolErrorCode.ParseError, `The message cannot be parsed: ${reason}`)
}

/** Whether a message is a notification or a response, which have no answer. */
export function hasNoAnswer(message: unknown): boolean {
  if (!isObject(message)) return false
  return 'result' in message || 'error' in message || (typeof message.method === 'string' && !('id' in message))
}

/** Returns the answer to a message that is not a valid request, notification or response. `undefined` for a valid one. */
export function malformedAnswer(message: unknown): MalformedAnswer | undefined {
  if (Array.isArray(message))
    return invalid({}, 'The message must be an object, not a list: send one message at a time')
  if (!isObject(message)) return invalid({}, 'The message must be an object')
  const request = message
  if (request.jsonrpc !== '2.0') return invalid(request, '"jsonrpc" must be "2.0"')
  if ('id' in request && !isId(request.id)) return invalid(request, '"id" must be a string or a whole number')
  if ('result' in request || 'error' in request) {
    const isValid = isSpecType.JSONRPCMessage(request)
    return (
      unknownField(request, responseFields) ?? (isValid ? undefined : invalid(request, 'The response is not valid'))
    )
  }
  if (typeof request.method !== 'string') {
    const help = 'method' in request ? '' : nearestOf('method', request)
    return invalid(request, `"method" must be a string${help}`)
  }
  return unknownField(request, requestFields) ?? malformedParameters(request, request.method)
}

function malformedParameters(request: Readonly<Record<string, unknown>>, method: string): MalformedAnswer | undefined {
  const { params = {} } = request
  const refuse = (reason: string) => answerTo(request, ProtocolErrorCode.InvalidParams, `Invalid ${method}: ${reason}`)
  if (!isObject(params)) return refuse('"params" must be an object')
  // What is left are the fields of every method.
  if (!isSpecType.JSONRPCMessage(request)) return refuse('"_meta" does not match the protocol')
  const fields = parameters[method]
  if (fields === undefined) return undefined
  const unknown = Object.keys(params).find((field) => !fields.includes(field))
  if (unknown !== undefined) {
    return refuse(
      `unknown field ${JSON.stringify(unknown)}${didYouMean(unknown, fields.slice(0, 2), 'the fields are')}`,
    )
  }
  if (typeof params.name !== 'string') return refuse('"name" must be the name of a tool')
  if (params.arguments !== undefined && !isObject(params.arguments)) return refuse('"arguments" must be an object')
  return undefined
}

function unknownField(
  request: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): MalformedAnswer | undefined {
  const unknown = Object.keys(request).find((field) => !fields.includes(field))
  if (unknown === undefined) return undefined
  return invalid(request, `Unknown field ${JSON.stringify(unknown)}${didYouMean(unknown, fields, 'the fields are')}`)
}

/** Returns the end of a message with the misspelled name of a missing field. */
function nearestOf(field: string, request: object): string {
  const misspelled = Object.keys(request).find((key) => !requestFields.includes(key) && didYouMean(key, [field]) !== '')
  return misspelled === undefined ? '' : `, not ${JSON.stringify(misspelled)}`
}

function invalid(request: Readonly<Record<string, unknown>>, message: string): MalformedAnswer {
  return answerTo(request, ProtocolErrorCode.InvalidRequest, message)
}

function answerTo({ id }: Readonly<Record<string, unknown>>, code: number, message: string): MalformedAnswer {
  return { jsonrpc: '2.0', id: isId(id) ? id : null, error: { code, message } }
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
