import type { CallOptions } from '../../call/state/call.ts'
import { checkOptions, isAbortSignal } from '../../util/check-options.ts'
import { type ModelMedia, mediaOf } from './media.ts'
import { resultToText } from './result-text.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type CallResult,
  callOptionsOf,
  type OfferOptions,
} from './select-tools.ts'

/** The tools of a workspace in the form of one model API, and a function that runs the calls of its model. */
export interface Toolbox<Tool, Call, Result> {
  /** Definitions for the request. */
  readonly tools: Tool[]
  /**
   * Runs one call of the model and returns the block that answers it in the next request. Never rejects for anything that a model,
   * a file or a backend can cause: a refusal is an answer.
   */
  call(call: Call, options?: { readonly signal?: AbortSignal }): Promise<Result>
}

/** One call, independent of the API. */
interface ModelCall {
  readonly name: string
  readonly input: unknown
  readonly id: string | undefined
}

/** What a model gets for a call. */
export interface ModelAnswer {
  readonly text: string
  readonly isError: boolean
  /** None, unless the options of the caller take media. */
  readonly media: readonly ModelMedia[]
}

/** Returns a function that runs a call and returns what the model gets. */
export function createCaller(
  workspace: CallableTools | CallableDialectTools,
  options: OfferOptions & Pick<CallOptions, 'media'>,
) {
  const run: { callTool(name: string, input: unknown, options?: CallOptions): Promise<CallResult> } =
    options.run ?? workspace
  const offers = options.tools === undefined ? undefined : new Set(options.tools)
  return async (
    { name, input, id }: ModelCall,
    callOptions?: { readonly signal?: AbortSignal },
  ): Promise<ModelAnswer> => {
    const { signal } = checkOptions<{ readonly signal?: AbortSignal }>('call()', callOptions, { signal: isAbortSignal })
    if (offers?.has(name) === false)
      return { text: `UNKNOWN_TOOL: ${JSON.stringify(name)} is not offered here`, isError: true, media: [] }
    return modelAnswer(name, await run.callTool(name, input, callOptionsOf(options, id, signal)), options.media)
  }
}

/** Returns what a model gets for a result. */
export function modelAnswer(name: string, result: CallResult, taken: CallOptions['media']): ModelAnswer {
  return { ...resultToText(name, result), media: mediaOf(result, taken) }
}
