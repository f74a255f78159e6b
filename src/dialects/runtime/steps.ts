import type * as z from 'zod'
import type { Success } from '../../call/state/call.ts'
import { type Failure, ToolError, toFailure } from '../../errors.ts'
import type { ToolInput, ToolName, ToolOutput } from '../../tools/index.ts'
import type { DialectTool, Steps } from './types.ts'

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
export function* call<N extends ToolName>(tool: N, input: ToolInput<N>): Steps<Success & ToolOutput<N>> {
  return (yield { tool, input, continueOnError: false }) as Success & ToolOutput<N>
}

/** As {@link call}, for a call whose refusal does not end the sequence. */
export function* tryCall<N extends ToolName>(tool: N, input: ToolInput<N>): Steps<(Success & ToolOutput<N>) | Failure> {
  return (yield { tool, input, continueOnError: true }) as (Success & ToolOutput<N>) | Failure
}

/** As {@link call}, for what the answer does not show: the run has not seen it. */
export function* callHidden<N extends ToolName>(tool: N, input: ToolInput<N>): Steps<Success & ToolOutput<N>> {
  const part = {}
  const result = yield { tool, input, continueOnError: false, parts: [part] }
  yield { unseen: part }
  return result as Success & ToolOutput<N>
}

/**
 * A whole sequence whose refusal does not end the one that it is a part of. What was read for it until then, the run has not
 * seen.
 */
export function* trySteps<R>(steps: Steps<R>): Steps<{ readonly ok: true; readonly value: R } | Failure> {
  const part = {}
  try {
    let next = steps.next()
    while (next.done !== true) {
      const step = next.value
      if (!('tool' in step)) {
        next = steps.next(yield step)
        continue
      }
      const result = (yield { ...step, continueOnError: true, parts: [part, ...(step.parts ?? [])] }) as
        | Success
        | Failure
      if (!result.ok && !step.continueOnError) {
        yield { unseen: part }
        return result
      }
      next = steps.next(result)
    }
    return { ok: true, value: next.value }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    yield { unseen: part }
    return toFailure(error)
  }
}

/**
 * The sha256 of the latest version of a file of which this run was shown anything: what a change by line numbers has to
 * expect. Where there is none, it is one that no file has, so that the call says by itself why it is refused.
 */
export function* lastShownVersion(path: string): Steps<string> {
  return (yield { shown: path }) as string
}

/** The fields of an input that may have been refused for being none. Of their types nothing is sure. */
export function fieldsOf<I>(input: unknown): Partial<I> {
  return typeof input === 'object' && input !== null ? input : {}
}

/** An input whose fields have other names where they had earlier ones; a field that is there already stays. */
export function renamedFields(input: unknown, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...fieldsOf<Record<string, unknown>>(input) }
  for (const [former, name] of Object.entries(names)) {
    if (!Object.hasOwn(fields, former) || Object.hasOwn(fields, name)) continue
    fields[name] = fields[former]
    delete fields[former]
  }
  return fields
}
