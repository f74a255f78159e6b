import * as z from 'zod/mini'
import { ToolError } from '../../errors.ts'
import type { Tool } from '../../tools/define-tool.ts'

/**
 * Creates a tool that fails with the error of a dialect, so that the rejected call is recorded like any other. Errors other
 * than ToolError are reported without their text, which may contain physical paths; the text is in the cause.
 */
export function createRejectedCall(name: string, error: unknown): Tool {
  const reject = (): never => {
    throw toRejection(name, error)
  }
  return {
    name,
    title: name,
    description: '',
    input: z.object({}),
    output: z.object({}),
    permission: 'file:read',
    mutates: false,
    idempotent: true,
    plan: reject,
    draft: reject,
  }
}

/** Returns the error of a rejected call. An error that is no ToolError is a mistake of the dialect. */
export function toRejection(name: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error
  const kind = error instanceof Error && /^[A-Za-z]{1,40}$/.test(error.name) ? ` (${error.name})` : ''
  return new ToolError(
    'BACKEND_ERROR',
    `The dialect failed in its tool ${name.slice(0, 100)}${kind}`,
    { hint: 'This is an error of the dialect, not of the call. Report it to the user.' },
    { cause: error },
  )
}
