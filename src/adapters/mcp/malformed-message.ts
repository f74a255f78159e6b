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
/** The parameters of `tools/call`; a model writes the first two. */
const callFields = ['name', 'arguments', 'task', '_meta', 'inputResponses', 'requestState']

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
  const isResponse = 'result' in request || 'error' in request
  const unknown = unknownField(request, isResponse ? responseFields : requestFields)
  if (unknown !== undefined) return invalid(request, unknown)
  const isValid = isSpecType.JSONRPCMessage(request)
  if (isResponse) return isValid ? undefined : invalid(request, 'The response is not valid')
  const { method, params = {} } = request
  if (typeof method !== 'string') return invalid(request, '"method" must be a string')
  const reason = isObject(params) ? problemOf(method, params, isValid) : '"params" must be an object'
  if (reason === undefined) return undefined
  return answerTo(request, ProtocolErrorCode.InvalidParams, `Invalid ${method}: ${reason}`)
}

function problemOf(method: string, params: Readonly<Record<string, unknown>>, isValid: boolean): string | undefined {
  if (!isValid) return '"_meta" does not match the protocol'
  if ('arguments' in params && !isObject(params.arguments)) return '"arguments" must be an object'
  // The SDK would drop the field without a word.
  const prototype = isObject(params.arguments) ? prototypeField(params.arguments) : undefined
  if (prototype !== undefined) return `unknown field ${JSON.stringify(prototype)}`
  return method === 'tools/call' ? unknownField(params, callFields) : undefined
}

/** Returns the path of a field `__proto__` of the arguments, at any depth, or undefined when there is none. */
function prototypeField(args: object): string | undefined {
  const pending: (readonly [value: object, path: string])[] = [[args, 'arguments.']]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, path] = next
    if (Object.hasOwn(value, '__proto__')) return `${path}__proto__`
    for (const [key, field] of Object.entries(value)) {
      if (typeof field === 'object' && field !== null) pending.push([field, `${path}${key}.`])
    }
  }
  return undefined
}

function unknownField(message: object, fields: readonly string[]): string | undefined {
  const unknown = Object.keys(message).find((field) => !fields.includes(field))
  if (unknown === undefined) return undefined
  return `unknown field ${JSON.stringify(unknown)}${didYouMean(unknown, fields, 'the fields are')}`
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
