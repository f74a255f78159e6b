import * as z from 'zod/mini'
import { fieldProblem, inEnglish } from '../../util/in-english.ts'
import { protocolError } from './errors.ts'
import type { AcpMethod, AcpParams } from './types.ts'

const text = z.string()
const count = z.optional(z.nullable(z.int().check(z.minimum(0))))
const ofSession = { sessionId: text }
const ofTerminal = z.object({ ...ofSession, terminalId: text })
const content = z.looseObject({
  type: text,
  path: z.optional(text),
  oldText: z.optional(z.nullable(text)),
  newText: z.optional(text),
  terminalId: z.optional(text),
})
const toolCall = z.looseObject({
  toolCallId: text,
  title: z.optional(z.nullable(text)),
  kind: z.optional(z.nullable(text)),
  content: z.optional(z.nullable(z.array(content))),
  locations: z.optional(z.nullable(z.array(z.looseObject({ path: text })))),
  rawInput: z.optional(z.unknown()),
})

/** The parameters of each method. The protocol lets a message have fields that a receiver does not know. */
const schemas: Readonly<Record<AcpMethod, z.ZodMiniType>> = {
  'fs/read_text_file': z.object({ ...ofSession, path: text, line: count, limit: count }),
  'fs/write_text_file': z.object({ ...ofSession, path: text, content: text }),
  'terminal/create': z.object({
    ...ofSession,
    command: text.check(z.minLength(1)),
    args: z.optional(z.array(text)),
    env: z.optional(z.array(z.object({ name: text.check(z.regex(/^[A-Za-z_]\w*$/)), value: text }))),
    cwd: z.optional(z.nullable(text)),
    outputByteLimit: count,
  }),
  'terminal/output': ofTerminal,
  'terminal/wait_for_exit': ofTerminal,
  'terminal/kill': ofTerminal,
  'terminal/release': ofTerminal,
  'session/request_permission': z.looseObject({
    ...ofSession,
    toolCall,
    options: z.array(z.looseObject({ optionId: text, name: text, kind: text })),
  }),
}

export const isAcpMethod = (method: string): method is AcpMethod => Object.hasOwn(schemas, method)

/** The methods that a workspace answers. */
export const acpMethods = Object.keys(schemas) as AcpMethod[]

/** Checks the parameters of a message. @throws AcpError that names the field */
export function checkParams<M extends AcpMethod>(method: M, params: unknown): AcpParams[M] {
  const { success, data, error } = schemas[method].safeParse(params, inEnglish)
  if (success) return data as AcpParams[M]
  const [{ path, message } = { path: [], message: 'has wrong parameters' }] = error.issues
  throw protocolError('invalid', fieldProblem(path.join('.') || method, message))
}
