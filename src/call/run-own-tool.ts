import { errorHints, ToolError, withHint } from '../errors.ts'
import type { Receipt } from '../storage/backend.ts'
import type { BuiltinContext, BuiltinDraft } from '../tools/builtin-tool.ts'
import { checkedContext } from '../tools/check-context.ts'
import { checkDraft, checkShown } from '../tools/check-draft.ts'
import { checkPlan } from '../tools/check-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { didYouMean } from '../util/check-options.ts'
import { ignoreRejection } from '../util/ignore-rejection.ts'
import { fieldProblem, inEnglish } from '../util/in-english.ts'
import { strictSchema } from '../util/strict-schema.ts'
import { withTimeout } from '../util/timers.ts'
import type { AuthorizedCall } from './state/call.ts'
import type { ToolRunner } from './state/tool-runner.ts'

/**
 * Creates what calls the functions of own tools. It checks all that they return.
 *
 * @param hookTimeoutMs the time that `result` may take, because the outcome of the call is recorded afterwards
 */
export function createOwnToolRunner(hookTimeoutMs: number): ToolRunner {
  return {
    // Refuses unknown fields, also if the author of the tool forgot to.
    inputSchema: ({ input }) => strictSchema(input),
    async plan(tool, input, state) {
      try {
        const planned: unknown = ignoreRejection(tool.plan(input, state))
        checkPlan(planned)
        return planned
      } catch (error) {
        throw ownToolError(tool, 'plan', error)
      }
    },
    commandLine(tool, input) {
      try {
        const line: unknown = ignoreRejection(tool.commandLine?.(input))
        if (line !== undefined && typeof line !== 'string') throw new TypeError('commandLine did not return a string')
        return line
      } catch (error) {
        throw ownToolError(tool, 'commandLine', error)
      }
    },
    draft: draftOf,
    result: (tool, draft, receipt) => resultOf(tool, draft, receipt, hookTimeoutMs),
    shown(tool, { shown }, receipt) {
      if (shown === undefined) return []
      try {
        return checkShown(ignoreRejection(shown(receipt)))
      } catch (error) {
        throw ownToolError(tool, 'shown', error, receipt.applied.length > 0)
      }
    },
    fullOutput(tool, { text }, receipt) {
      try {
        const output: unknown = ignoreRejection(text())
        if (typeof output !== 'string') throw new TypeError('"text" of fullOutput did not return a string')
        return output
      } catch (error) {
        throw ownToolError(tool, 'fullOutput', error, receipt.applied.length > 0)
      }
    },
    passAnswer(tool, { onResult }, answer, receipt) {
      try {
        ignoreRejection(onResult?.(answer))
      } catch (error) {
        throw ownToolError(tool, 'onResult', error, receipt.applied.length > 0)
      }
    },
  }
}

async function draftOf(
  { tool, input }: Pick<AuthorizedCall, 'tool' | 'input'>,
  context: BuiltinContext,
): Promise<BuiltinDraft<unknown>> {
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

/** Returns the result fields as `output` parses them, which drops the fields that it does not define. */
async function resultOf(
  tool: Tool,
  draft: BuiltinDraft<unknown>,
  receipt: Receipt,
  hookTimeoutMs: number,
): Promise<object> {
  try {
    const parsed = await withTimeout(
      Promise.resolve(draft.result(receipt)).then((fields) => tool.output.safeParseAsync(fields, inEnglish)),
      hookTimeoutMs,
      () => new TypeError(`result did not answer within ${hookTimeoutMs} ms`),
    )
    if (parsed.success) return parsed.data
    const issues = parsed.error.issues.map(({ path, message }) =>
      fieldProblem(path.map(String).join('.') || 'result', message),
    )
    throw new TypeError(`result does not match the output of the tool: ${issues.join('; ')}`)
  } catch (error) {
    throw ownToolError(tool, 'result', error, receipt.applied.length > 0)
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
