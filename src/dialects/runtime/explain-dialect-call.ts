import { type Failure, ToolError, toFailure } from '../../errors.ts'
import { createNullDeviceCall } from './null-device.ts'
import { recordPaths } from './path-mapping.ts'
import { toRejection } from './rejected-call.ts'
import { requireKnownFields, requireStep, requireSteps } from './require-answer.ts'
import {
  type CallExplanation,
  type DialectHost,
  parseDialectInput,
  requireDeclared,
  requireTool,
} from './run-dialect-tool.ts'
import { callerNames } from './safety-fields.ts'
import { namesOf, toDialectError } from './translate-error.ts'
import type { Dialect } from './types.ts'

/** Whether a dialect has a tool with that name. */
export function hasDialectTool({ tools }: Dialect, name: string): boolean {
  return tools.some((tool) => namesOf(tool).includes(name))
}

/**
 * Returns the verdict on a call in a dialect. Nothing is executed: the steps are followed to the first call that changes
 * something, that policy does not allow, or whose result the next step needs.
 */
export async function explainDialectCall(
  dialect: Dialect,
  host: DialectHost,
  name: string,
  input: unknown,
): Promise<CallExplanation | Failure> {
  const pathMapping = recordPaths(dialect.pathMapping)
  let { fields = {} } = dialect
  let workspaceTool: string | undefined
  try {
    const tool = requireTool(dialect, name, host)
    fields = callerNames(dialect, tool)
    const { parsed, safety, names } = parseDialectInput(dialect, tool, input, host.limits)
    fields = names
    const dialectCall = () => host.describeCall(namesOf(tool), parsed, pathMapping.translations)
    const steps = requireSteps(tool, tool.steps(parsed, pathMapping, dialect.createState?.()))
    let explained: CallExplanation = { ok: true, verdict: noCalls, accesses: [] }
    let next = steps.next()
    while (next.done !== true) {
      const step = requireStep(tool, next.value)
      if ('narrow' in step) next = steps.next(safety.narrow(step.narrow, step.input) as object)
      else if ('limit' in step) next = steps.next(host.limits[step.limit] ?? '')
      else if ('shown' in step) next = steps.next(await host.shownVersion(step.shown))
      else if ('nullDevice' in step) {
        explained = await host.explain(createNullDeviceCall(step.nullDevice), {}, dialectCall())
        if (explained.verdict.decision !== 'allow') break
        next = steps.next('')
      } else if (!('tool' in step)) next = steps.next('')
      else {
        workspaceTool = step.tool
        requireDeclared(tool, step.tool)
        requireKnownFields(tool, step, host.fieldsOf(step.tool))
        const isChange = host.mutates(step.tool)
        if (isChange) safety.requireEffectOn(step.tool)
        const stepInput = step.isNarrowed === true ? step.input : safety.narrow(step.tool, step.input)
        const { verdict, accesses, line } = await host.explain(step.tool, stepInput, dialectCall())
        explained = { ok: true, verdict, accesses: [...explained.accesses, ...accesses], ...(line && { line }) }
        if (isChange || verdict.decision !== 'allow' || !step.continueOnError) break
        next = steps.next(toFailure(new ToolError('NOT_FOUND', 'Nothing was read')))
      }
    }
    return explained.verdict === noCalls
      ? { ...explained, verdict: (await host.explainAlone(tool.name, dialectCall())) ?? noCalls }
      : explained
  } catch (error) {
    const failure = toFailure(toRejection(name, error))
    const { message, hint, path } = toDialectError({ ...dialect, pathMapping, fields }, name, failure, {
      workspaceTool,
    })
    return { ...failure, message, hint, ...(path === undefined ? {} : { path }) }
  }
}

const noCalls: CallExplanation['verdict'] = {
  decision: 'allow',
  reason: 'It reaches no file and no command',
  rules: [],
}
