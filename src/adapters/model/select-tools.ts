import type { CallOptions, Success } from '../../call/state/call.ts'
import type { DialectResult, DialectToolInfo } from '../../dialects/runtime/types.ts'
import type { Failure } from '../../errors.ts'
import type { ApproveHandler } from '../../policy/approval.ts'
import {
  checkArgument,
  didYouMean,
  isFunction,
  isListOf,
  isObjectWith,
  isText,
  must,
  type OptionTable,
} from '../../util/check-options.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'

/** A workspace, or an object that forwards calls to one. */
export interface CallableTools {
  readonly tools: readonly ToolDescription[]
  /** Calls a tool by its name. Never rejects for anything that a model, a file or a backend can cause. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<Success | Failure>
}

/** Like {@link CallableTools}, with the tools of a dialect. */
export interface CallableDialectTools {
  readonly tools: readonly DialectToolInfo[]
  /** Calls a tool by its name. Never rejects for anything that a model, a file or a backend can cause. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<DialectResult>
}

/** The result of a call, with or without a dialect. */
export type CallResult = Success | Failure | DialectResult

/** The tools that a model is offered, and how its calls are made. */
export interface OfferOptions {
  /** The run that the model's calls belong to. Default: the workspace's own. */
  readonly run?: Pick<CallableTools, 'callTool'> | Pick<CallableDialectTools, 'callTool'>
  /** Only these tools of the workspace. Default: all of them. */
  readonly tools?: readonly string[]
  /** Answers approval requests if the workspace has no `approve`. */
  readonly approve?: ApproveHandler
}

/** The checks of {@link OfferOptions}. */
export const offerTable: OptionTable<OfferOptions> = {
  run: isObjectWith('a run', 'callTool'),
  tools: isListOf(isText),
  approve: isFunction,
}

/** Checks an argument that takes the tools of a workspace. */
export const isToolList = must(
  'the tools of a workspace, such as workspace.tools',
  (tools) =>
    Array.isArray(tools) &&
    tools.every((tool) => typeof tool?.name === 'string' && typeof tool.inputSchema?.safeParse === 'function'),
)

const isToolSource = isObjectWith('a workspace, or an object with its tools and callTool()', 'callTool')

/**
 * Returns the offered tools in the order of the workspace.
 *
 * @param owner the function in messages, such as `aiSdkTools()`
 * @throws TypeError for a name that the workspace does not have, a name that is listed twice, and an empty list
 */
export function selectTools(
  owner: string,
  workspace: CallableTools | CallableDialectTools,
  { tools: names }: OfferOptions,
): (ToolDescription | DialectToolInfo)[] {
  checkArgument(owner, 'workspace', workspace, isToolSource)
  checkArgument(owner, 'workspace.tools', workspace.tools, isToolList)
  const toolNames = workspace.tools.map(({ name }) => name)
  const twice = names?.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`Tool ${JSON.stringify(twice)} is listed twice`)
  const unknown = names?.find((name) => !toolNames.includes(name))
  if (unknown !== undefined || names?.length === 0) {
    const help = didYouMean(unknown ?? '', toolNames, 'the tools are')
    throw new TypeError(`The workspace has no tool ${JSON.stringify(unknown ?? names)}${help}`)
  }
  return workspace.tools.filter(({ name }) => names?.includes(name) ?? true)
}

/** Returns the options of one call: the caller's step, the signal, the approval handler and the media that the model takes. */
export function callOptionsOf(
  { approve, media }: OfferOptions & Pick<CallOptions, 'media'>,
  step: string | undefined,
  signal: AbortSignal | undefined,
): CallOptions {
  return {
    ...(step !== undefined && { step }),
    ...(signal && { signal }),
    ...(approve && { approve }),
    ...(media && { media }),
  }
}
