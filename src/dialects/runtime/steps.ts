import type { ResultOf, Success, SuccessOf } from '../../call/state/call.ts'
import { type Failure, ToolError, toFailure } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import type { ToolInput, ToolName, ToolOutput } from '../../tools/index.ts'
import { checkArgument, isObjectValue, isObjectWith, refuseSurplus, requireText } from '../../util/check-options.ts'
import type { ObjectSchema } from '../../util/object-schema.ts'
import type { DialectTool, Steps } from './types.ts'

/**
 * Defines a tool of a dialect. The type of the input comes from its schema, and the type of the state from the third
 * parameter of `steps`.
 */
export function defineDialectTool<I extends ObjectSchema, S = unknown>(
  tool: DialectTool<I, S>,
): DialectTool<ObjectSchema, S> {
  refuseSurplus('defineDialectTool()', 1, arguments)
  checkArgument('defineDialectTool()', 'tool', tool, isObjectValue)
  return tool as unknown as DialectTool<ObjectSchema, S>
}

/**
 * Calls a built-in tool of the workspace. If it fails, the steps end, and its error is the result in the dialect's form.
 *
 * @example
 * const greet = defineDialectTool({
 *   name: 'greet',
 *   description: 'Write a greeting.',
 *   input: z.object({ file: z.string() }),
 *   uses: ['write_file'],
 *   *steps({ file }, pathMapping) {
 *     const written = yield* call('write_file', { path: pathMapping.inward(file), content: 'Hello\n' })
 *     return { output: `${written.bytesWritten} bytes` }
 *   },
 * })
 */
export function* call<N extends ToolName>(tool: N, input: ToolInput<N>): Steps<SuccessOf<ToolOutput<N>>> {
  requireText('call()', 'tool', tool)
  return (yield { tool, input, continueOnError: false }) as SuccessOf<ToolOutput<N>>
}

/**
 * Calls a tool by a name that the types do not know, such as an own tool of the workspace (`extraTools`). Otherwise the
 * same as {@link call}.
 *
 * @example
 * const deploy = defineDialectTool({
 *   name: 'Deploy',
 *   description: 'Deploy the site.',
 *   input: z.object({ to: z.string() }),
 *   uses: ['deploy_site'],
 *   *steps({ to }) {
 *     const { summary } = yield* callTool('deploy_site', { target: to })
 *     return { output: summary }
 *   },
 * })
 */
export function* callTool(name: string, input: unknown): Steps<Success> {
  requireText('callTool()', 'name', name)
  return (yield { tool: name, input, continueOnError: false }) as Success
}

/** The same as {@link call}, but returns the error of a call that fails, and the steps go on. */
export function* tryCall<N extends ToolName>(tool: N, input: ToolInput<N>): Steps<ResultOf<ToolOutput<N>>> {
  requireText('tryCall()', 'tool', tool)
  return (yield { tool, input, continueOnError: true }) as ResultOf<ToolOutput<N>>
}

/**
 * The same as {@link call}, for a result that the answer does not show: it does not count as seen by the run, and the
 * caller's ranges and limits do not apply to it.
 */
export function* callHidden<N extends ToolName>(tool: N, input: ToolInput<N>): Steps<SuccessOf<ToolOutput<N>>> {
  requireText('callHidden()', 'tool', tool)
  const part = {}
  const result = yield { tool, input, continueOnError: false, isNarrowed: true, parts: [part] }
  yield { unseen: part }
  return result as SuccessOf<ToolOutput<N>>
}

/**
 * Returns an input with the safety fields of the caller, such as ranges and limits, for several calls that together give
 * one result. Make them with {@link callNarrowed}.
 */
export function* narrowInput<N extends ToolName, I extends ToolInput<N>>(tool: N, input: I): Steps<I & ToolInput<N>> {
  requireText('narrowInput()', 'tool', tool)
  return (yield { narrow: tool, input }) as I & ToolInput<N>
}

/**
 * The same as {@link call}, without the safety fields of the caller; see {@link narrowInput}. Yield `{ unseen: part }` if the
 * answer does not show the result.
 */
export function* callNarrowed<N extends ToolName>(
  tool: N,
  input: ToolInput<N>,
  part: object = {},
): Steps<SuccessOf<ToolOutput<N>>> {
  requireText('callNarrowed()', 'tool', tool)
  return (yield { tool, input, continueOnError: false, isNarrowed: true, parts: [part] }) as SuccessOf<ToolOutput<N>>
}

/** Records an access to the null device, which policy evaluates by its tool alone. Nothing is read and nothing changes. */
export function* useNullDevice(access: 'read' | 'write'): Steps<void> {
  yield { nullDevice: access }
}

/**
 * Runs a part of the steps. If a call in it fails, or it throws a ToolError, returns the error, and the steps go on. What
 * the part had read until then does not count as seen by the run.
 */
export function* trySteps<R>(steps: Steps<R>): Steps<{ readonly ok: true; readonly value: R } | Failure> {
  checkArgument('trySteps()', 'steps', steps, isObjectWith('steps', 'next'))
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
 * Runs a part of the steps whose readings may return media, which the answer then shows: `read_file` has `media` if the caller
 * takes it. Without this, an image is refused as binary.
 */
export function* takingMedia<R>(steps: Steps<R>): Steps<R> {
  checkArgument('takingMedia()', 'steps', steps, isObjectWith('steps', 'next'))
  let next = steps.next()
  while (next.done !== true) {
    const step = next.value
    next = steps.next(yield 'tool' in step ? { ...step, takesMedia: true } : step)
  }
  return next.value
}

/**
 * Returns the sha256 of the version of a file that the run was shown last, for a change by line numbers to expect. If the
 * run was shown none, returns a hash that no file has, so that the change fails and explains why.
 */
export function* lastShownVersion(path: string): Steps<string> {
  requireText('lastShownVersion()', 'path', path)
  return (yield { shown: path }) as string
}

/**
 * Returns a limit that the workspace sets, or the tool's own value. For values that no input field has; see `limits` of
 * {@link DialectTool}.
 */
export function* limitOr(limit: keyof Limits, otherwise: number): Steps<number> {
  requireText('limitOr()', 'limit', limit)
  const set = yield { limit }
  return typeof set === 'number' ? set : otherwise
}

/** Returns the fields of an unchecked input, or none if it is not an object. Their values can be of any type. */
export function fieldsOf<I>(input: unknown): Partial<I> {
  return typeof input === 'object' && input !== null ? input : {}
}

/**
 * Returns a copy of the input with former field names replaced.
 *
 * @throws ToolError `INVALID_INPUT` for a field that is there under two names
 */
export function renamedFields(input: unknown, names: Readonly<Record<string, string>>): Record<string, unknown> {
  checkArgument('renamedFields()', 'names', names, isObjectValue)
  const fields: Record<string, unknown> = { ...fieldsOf<Record<string, unknown>>(input) }
  for (const [former, name] of Object.entries(names)) {
    if (!Object.hasOwn(fields, former)) continue
    if (fields[name] !== undefined && fields[former] !== undefined) throw namedTwice(former, name)
    if (fields[former] !== undefined) fields[name] = fields[former]
    delete fields[former]
  }
  return fields
}

/** Returns the error for two fields that say the same. */
export function namedTwice(former: string, name: string): ToolError {
  return new ToolError('INVALID_INPUT', `Invalid input: ${former} and ${name} say the same; give one of them`, {
    field: former,
    hint: `Leave out "${former}" or "${name}" and call again.`,
  })
}

/**
 * Refuses fields that a call has, but cannot use, such as the fields of another command of the same tool.
 *
 * @throws ToolError `INVALID_INPUT` with the first of them that is not `undefined`
 */
export function refuseUnused(use: string, fields: Readonly<Record<string, unknown>>): void {
  checkArgument('refuseUnused()', 'fields', fields, isObjectValue)
  requireText('refuseUnused()', 'use', use)
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    throw new ToolError('INVALID_INPUT', `Invalid input: ${field} has no effect on ${use}`, {
      field,
      hint: `Leave out "${field}" and call again.`,
    })
  }
}
