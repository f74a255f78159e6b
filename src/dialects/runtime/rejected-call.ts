import * as z from 'zod'
import { ToolError } from '../../errors.ts'
import type { Tool } from '../../tools/define-tool.ts'

/**
 * A call that a dialect refuses by itself, as a tool that refuses it: so it is recorded like any refusal. What is no
 * ToolError is told without its text.
 */
export function createRejectedCall(name: string, why: unknown): Tool {
  const refuse = (): never => {
    throw why instanceof ToolError ? why : failed
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
    plan: refuse,
    draft: refuse,
  }
}

const failed = new ToolError('BACKEND_ERROR', 'The dialect failed in an unexpected way', {
  hint: 'Report this to the user.',
})
