import type { CallOptions } from '../../call/state/call.ts'
import { resultToText } from './result-text.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type CallResult,
  callOptionsOf,
  type OfferOptions,
} from './select-tools.ts'

/** The tools of a workspace in the form of one model API, and what carries out a call that its model makes. */
export interface Toolbox<Tool, Call, Result> {
  /** For the request. */
  readonly tools: Tool[]
  /**
   * Carries out one call of the model, and gives the block that answers it in the next request. Never rejects for anything
   * that a model, a file or a backend can cause: a refusal is an answer.
   */
  call(call: Call, options?: { readonly signal?: AbortSignal }): Promise<Result>
}

/** One call as every API knows it. */
interface Asked {
  readonly name: string
  readonly input: unknown
  readonly id: string | undefined
}

/** Carries out calls, and gives for each the text that the model is shown. */
export function createCaller(workspace: CallableTools | CallableDialectTools, options: OfferOptions) {
  const run: { callTool(name: string, input: unknown, options?: CallOptions): Promise<CallResult> } =
    options.run ?? workspace
  const offers = options.tools === undefined ? undefined : new Set(options.tools)
  return async ({ name, input, id }: Asked, { signal }: { readonly signal?: AbortSignal } = {}) => {
    if (offers?.has(name) === false)
      return { text: `UNKNOWN_TOOL: ${JSON.stringify(name)} is not offered here`, isError: true }
    return resultToText(name, await run.callTool(name, input, callOptionsOf(options, id, signal)))
  }
}

/** Arguments as models write them. What is no JSON goes on as it is, for the workspace to refuse. */
export function parseArguments(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
