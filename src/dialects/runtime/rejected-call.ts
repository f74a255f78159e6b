import * as z from 'zod'
import { ToolError } from '../../errors.ts'
import type { Tool } from '../../tools/define-tool.ts'

/**
 * Creates a tool that fails with the error of a dialect, so that the rejected call is recorded like any other. An error that
 * is no ToolError is reported without its text, which may hold physical paths.
 */
export function createRejectedCall(name: string, error: unknown): Tool {
  const reject = (): never => {
    throw error instanceof ToolError ? error : unexpectedError
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

const unexpectedError = new ToolError('BACKEND_ERROR', 'The dialect failed in an unexpected way', {
  hint: 'Report this to the user.',
})
