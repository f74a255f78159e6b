import type * as z from 'zod'
import type { DialectTool, Step, Steps } from '../dialect.ts'
import { type Failure, ToolError, toFailure } from '../errors.ts'
import type { Success } from '../pipeline.ts'
import type { ToolInput, ToolName, ToolOutput } from '../tools/index.ts'

/** A dialect's tool, with the type of its input taken from its schema. */
export function defineDialectTool<I extends z.ZodObject>(tool: DialectTool<I>): DialectTool {
  return tool as unknown as DialectTool
}

/**
 * Calls a tool of the workspace within a dialect's tool. A refusal ends the sequence, and is told in the dialect's form.
 *
 * @example
 * const greet = defineDialectTool({
 *   name: 'greet',
 *   description: 'Write a greeting.',
 *   input: z.object({ file: z.string() }),
 *   uses: ['write_file'],
 *   *steps({ file }, place) {
 *     const written = yield* call('write_file', { path: place.inward(file), content: 'Hello\n' })
 *     return { output: `${written.bytesWritten} bytes` }
 *   },
 * })
 */
export function* call<N extends ToolName>(
  tool: N,
  input: ToolInput<N>,
): Generator<Step, Success & ToolOutput<N>, Success | Failure> {
  return (yield { tool, input, goesOn: false }) as Success & ToolOutput<N>
}

/** As {@link call}, for a call whose refusal does not end the sequence. */
export function* attempt<N extends ToolName>(
  tool: N,
  input: ToolInput<N>,
): Generator<Step, (Success & ToolOutput<N>) | Failure, Success | Failure> {
  return (yield { tool, input, goesOn: true }) as (Success & ToolOutput<N>) | Failure
}

/** A whole sequence whose refusal does not end the one that it is a part of. */
export function* settled<R>(steps: Steps<R>): Steps<{ readonly ok: true; readonly value: R } | Failure> {
  try {
    let next = steps.next()
    while (next.done !== true) {
      const result = yield { ...next.value, goesOn: true }
      if (!result.ok && !next.value.goesOn) return result
      next = steps.next(result)
    }
    return { ok: true, value: next.value }
  } catch (error) {
    if (error instanceof ToolError) return toFailure(error)
    throw error
  }
}
