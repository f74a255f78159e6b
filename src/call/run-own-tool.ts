import { errorHints, ToolError, withHint } from '../errors.ts'
import type { Access } from '../policy/access.ts'
import type { Receipt } from '../storage/backend.ts'
import type { BuiltinContext, BuiltinDraft, PlanState, ResultFields } from '../tools/builtin-tool.ts'
import { checkedContext } from '../tools/check-context.ts'
import { checkDraft, checkShown } from '../tools/check-draft.ts'
import { checkPlan } from '../tools/check-tool.ts'
import type { ShownVersion, Tool } from '../tools/define-tool.ts'
import { didYouMean } from '../util/check-options.ts'
import { ignoreRejection } from '../util/ignore-rejection.ts'
import { inEnglish } from '../util/object-schema.ts'
import { strictSchema } from '../util/strict-schema.ts'
import { withTimeout } from '../util/timers.ts'
import type { AuthorizedCall } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

type Input = AuthorizedCall['input']
type OwnTools = Pick<WorkspaceState, 'ownTools'>

/** Returns the input schema of a tool. That of an own tool refuses unknown fields, also if its author forgot to. */
export function inputSchemaOf({ ownTools }: OwnTools, tool: Tool): Tool['input'] {
  return ownTools.has(tool) ? strictSchema(tool.input) : tool.input
}

/** Returns the plan of a tool. The plan of an own tool is checked. */
export async function planOf(
  { ownTools }: OwnTools,
  tool: Tool,
  input: Input,
  state: PlanState,
): Promise<readonly Access[]> {
  // A built-in tool may load its code first.
  if (!ownTools.has(tool)) return await tool.plan(input, state)
  try {
    const planned: unknown = ignoreRejection(tool.plan(input, state))
    checkPlan(planned)
    return planned
  } catch (error) {
    throw ownToolError(tool, 'plan', error)
  }
}

/** Returns the command line of a call, if its tool runs one. */
export function commandLineOf({ ownTools }: OwnTools, tool: Tool, input: Input): string | undefined {
  if (!ownTools.has(tool)) return tool.commandLine?.(input)
  try {
    const line: unknown = ignoreRejection(tool.commandLine?.(input))
    if (line !== undefined && typeof line !== 'string') throw new TypeError('commandLine did not return a string')
    return line
  } catch (error) {
    throw ownToolError(tool, 'commandLine', error)
  }
}

/** Returns the draft of a call. The draft of an own tool is checked. */
export async function draftOf(
  { ownTools }: OwnTools,
  { tool, input }: AuthorizedCall,
  context: BuiltinContext,
): Promise<BuiltinDraft<unknown>> {
  if (!ownTools.has(tool)) return tool.draft(input, context)
  try {
    const draft = checkDraft(tool, await tool.draft(input, checkedContext(context)))
    if (!context.warnings.every((warning) => typeof warning === 'string')) {
      throw new TypeError('"warnings" of the context must be strings')
    }
    return draft
  } catch (error) {
    throw ownToolError(tool, 'draft', error)
  }
}

/**
 * Returns the result fields of a committed draft. Those of an own tool are parsed with its `output`, which drops the fields
 * that it does not define. An own tool has `hookTimeoutMs`, because the outcome of the call is recorded afterwards.
 */
export async function resultOf(
  { ownTools, limits: { hookTimeoutMs } }: Pick<WorkspaceState, 'ownTools' | 'limits'>,
  tool: Tool,
  draft: BuiltinDraft<unknown>,
  receipt: Receipt,
): Promise<object> {
  if (!ownTools.has(tool)) return (await draft.result(receipt)) as object
  try {
    const parsed = await withTimeout(
      Promise.resolve(draft.result(receipt)).then((fields) => tool.output.safeParseAsync(fields, inEnglish)),
      hookTimeoutMs,
      () => new TypeError(`result did not answer within ${hookTimeoutMs} ms`),
    )
    if (parsed.success) return parsed.data
    const issues = parsed.error.issues.map(
      ({ path, message }) => `${path.map(String).join('.') || 'result'}: ${message}`,
    )
    throw new TypeError(`result does not match the output of the tool: ${issues.join('; ')}`)
  } catch (error) {
    throw ownToolError(tool, 'result', error, receipt.applied.length > 0)
  }
}

/** Returns the versions that a committed draft shows. Those of an own tool are checked. */
export function shownOf(
  { ownTools }: OwnTools,
  tool: Tool,
  { shown }: BuiltinDraft<unknown>,
  receipt: Receipt,
): readonly ShownVersion[] {
  if (shown === undefined) return []
  if (!ownTools.has(tool)) return shown(receipt)
  try {
    return checkShown(ignoreRejection(shown(receipt)))
  } catch (error) {
    throw ownToolError(tool, 'shown', error, receipt.applied.length > 0)
  }
}

/** Returns the complete text of a committed draft. */
export function fullOutputOf(
  { ownTools }: OwnTools,
  tool: Tool,
  { text }: NonNullable<BuiltinDraft<unknown>['fullOutput']>,
  receipt: Receipt,
): string {
  if (!ownTools.has(tool)) return text()
  try {
    const output: unknown = ignoreRejection(text())
    if (typeof output !== 'string') throw new TypeError('"text" of fullOutput did not return a string')
    return output
  } catch (error) {
    throw ownToolError(tool, 'fullOutput', error, receipt.applied.length > 0)
  }
}

/** Passes the final answer of a call to its draft. */
export function passAnswer(
  { ownTools }: OwnTools,
  tool: Tool,
  { onResult }: BuiltinDraft<unknown>,
  answer: ResultFields,
  receipt: Receipt,
): void {
  try {
    ignoreRejection(onResult?.(answer))
  } catch (error) {
    if (!ownTools.has(tool)) throw error
    throw ownToolError(tool, 'onResult', error, receipt.applied.length > 0)
  }
}

/**
 * Returns the error for an exception in a function of an own tool. The message names the function, and the cause is the
 * exception. A `ToolError` is the answer of the tool and stays.
 */
function ownToolError({ name }: Pick<Tool, 'name'>, step: string, error: unknown, isCommitted = false): ToolError {
  if (error instanceof ToolError) {
    if (Object.hasOwn(errorHints, error.code)) return isCommitted ? withHint(error, CHANGES_STAND) : error
    const help = didYouMean(String(error.code), Object.keys(errorHints))
    const cause = new TypeError(`Unknown error code ${JSON.stringify(error.code)}${help}`, { cause: error })
    return ownToolError({ name }, step, cause, isCommitted)
  }
  const kind = error instanceof Error && /^[A-Za-z]{1,40}$/.test(error.name) ? ` (${error.name})` : ''
  const effect = isCommitted ? ` ${CHANGES_STAND}` : ''
  return new ToolError(
    'BACKEND_ERROR',
    `The tool ${name} failed in ${step}${kind}`,
    { tool: name, step, hint: `This is an error of the tool, not of the call.${effect} Report it to the user.` },
    { cause: error },
  )
}

const CHANGES_STAND = 'The changes of the call stand; only its result is missing.'
